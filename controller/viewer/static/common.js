// Small helpers that every page shares. Text from records only ever goes through textContent.
export const $ = (id) => document.getElementById(id);

export const data = () => JSON.parse($("data").textContent);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export const dollars = (nano) => (nano == null ? "unknown" : `$${(nano / 1e9).toFixed(nano && nano < 1e7 ? 4 : 2)}`);

export const seconds = (value) =>
  value < 10 ? `${value.toFixed(2)} s` : value < 120 ? `${value.toFixed(0)} s` : `${(value / 60).toFixed(1)} min`;

export function looks(cell) {
  if (cell.state !== "scored") return cell.running ? "running" : cell.state;
  return cell.passed ? "pass" : cell.score > 0 ? "part" : "zero";
}

export function says(cell) {
  if (cell.state !== "scored") return cell.running ? "running" : cell.state;
  return `${cell.passed ? "passed" : "not passed"}, score ${cell.score.toFixed(3)}, ${cell.ending}`;
}

// A list of fixed-size items of which only the visible ones exist.
export class Virtual {
  constructor(box, size, make, { horizontal = false, spare = 12 } = {}) {
    Object.assign(this, { box, size, make, horizontal, spare, count: 0, live: new Map() });
    this.inner = element("div", { class: "virtual" });
    box.replaceChildren(this.inner);
    box.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(box);
  }
  set(count) {
    this.count = count;
    this.inner.style[this.horizontal ? "width" : "height"] = `${count * this.size}px`;
    this.refresh();
  }
  refresh() {
    for (const node of this.live.values()) node.remove();
    this.live.clear();
    this.paint();
  }
  paint() {
    const offset = this.horizontal ? this.box.scrollLeft : this.box.scrollTop;
    const room = this.horizontal ? this.box.clientWidth : this.box.clientHeight;
    const first = Math.max(0, Math.floor(offset / this.size) - this.spare);
    const last = Math.min(this.count, Math.ceil((offset + room) / this.size) + this.spare);
    for (const [index, node] of this.live) {
      if (index < first || index >= last) {
        node.remove();
        this.live.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      if (this.live.has(index)) continue;
      const node = this.make(index);
      node.style[this.horizontal ? "left" : "top"] = `${index * this.size}px`;
      this.live.set(index, node);
      this.inner.append(node);
    }
  }
  // Change what exists without making it anew.
  mark(change) {
    for (const [index, node] of this.live) change(node, index);
  }
  reveal(index) {
    const along = this.horizontal ? "scrollLeft" : "scrollTop";
    const room = this.horizontal ? this.box.clientWidth : this.box.clientHeight;
    const start = index * this.size;
    if (start < this.box[along] || start + this.size > this.box[along] + room) {
      this.box[along] = start - room / 2 + this.size / 2;
    }
    this.paint();
  }
}

const SVG = "http://www.w3.org/2000/svg";

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text != null) made.textContent = text;
  return made;
}

// The action in the pixels of the frame it was decided on: the view box is the frame.
export function overlay(svg, moment, frame) {
  svg.replaceChildren();
  if (!frame) return;
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  const shape = moment.shape;
  if (shape.shape === "ring") {
    const at = { cx: shape.x + 0.5, cy: shape.y + 0.5 };
    svg.append(drawn("circle", { ...at, r: 14, class: `ring ${shape.button}` }));
    if (shape.count > 1) svg.append(drawn("circle", { ...at, r: 20, class: `ring ${shape.button}` }));
    svg.append(drawn("circle", { ...at, r: 2, class: "spot" }));
  } else if (shape.shape === "path") {
    const points = shape.points.map(([x, y]) => `${x + 0.5},${y + 0.5}`).join(" ");
    const [x, y] = shape.points.at(-1);
    svg.append(drawn("polyline", { points, class: "path" }), drawn("circle", { cx: x + 0.5, cy: y + 0.5, r: 5, class: "spot" }));
  } else if (shape.shape === "arrow") {
    const far = (notches) => Math.sign(notches) * Math.min(160, 24 + 12 * Math.abs(notches)) * (notches ? 1 : 0);
    const [x, y] = [shape.x + far(shape.dx), shape.y + far(shape.dy)];
    svg.append(drawn("line", { x1: shape.x, y1: shape.y, x2: x, y2: y, class: "path" }), drawn("circle", { cx: x, cy: y, r: 6, class: "spot" }));
  } else if (shape.shape === "caption") {
    const y = frame.height - 22;
    const label = shape.text.length > 90 ? `${shape.text.slice(0, 90)}…` : shape.text;
    svg.append(drawn("rect", { x: 12, y: y - 26, rx: 5, width: 22 + label.length * 10.2, height: 38, class: "plate" }));
    svg.append(drawn("text", { x: 22, y, class: "caption" }, label.replaceAll("\n", "⏎")));
  }
}

export function facts(moment) {
  const rows = [];
  for (const thought of moment.thoughts) {
    const cost = `${thought.model} · ${thought.tokens ?? "?"} tokens · ${dollars(thought.cost)} · ${seconds(thought.seconds)}`;
    rows.push(element("h3", { text: thought.purpose === "agent" ? "thought" : thought.purpose }), element("p", { class: "small", text: cost }));
    for (const text of [thought.thought, thought.text]) if (text) rows.push(element("pre", { class: "prose", text }));
    for (const text of thought.problems) rows.push(element("p", { class: "reason", text }));
  }
  for (const text of moment.notes) rows.push(element("p", { class: "note", text }));
  if (moment.tool) {
    rows.push(element("h3", { text: `call: ${moment.tool}` }), element("pre", { text: moment.arguments }));
    if (moment.fault) rows.push(element("p", { class: "injected", text: `injected fault: ${moment.fault}` }));
    rows.push(element("h3", { text: moment.error ? `answer: ${moment.error}` : "answer" }));
    if (moment.text) rows.push(element("pre", { text: moment.text }));
    const settle = moment.after == null ? "" : ` · settled in ${seconds(moment.waited)}${moment.settled ? "" : " (not settled)"}`;
    rows.push(element("p", { class: "small", text: `${seconds(moment.seconds)} in the tool${settle} · ${dollars(moment.cost)} so far` }));
  }
  return rows;
}
