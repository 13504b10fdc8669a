import { $, Virtual, data, dollars, element, looks, says, seconds } from "./common.js";

const page = data();
const cells = new Map(page.cells.map((cell) => [cell.id, cell]));
const picked = new Set();
const columns = [
  ["task", (c) => c.task], ["agent", (c) => c.agent], ["seed", (c) => c.seed], ["tier", (c) => c.tier],
  ["outcome", (c) => (c.running ? "running" : c.state)], ["score", (c) => (c.score == null ? "" : c.score.toFixed(3))],
  ["ending", (c) => c.ending], ["steps", (c) => c.steps], ["time", (c) => c.seconds], ["cost", (c) => c.cost ?? -1],
  ["why", (c) => c.why],
];
let order = { by: null, down: false };
let shown = [];

const href = (cell) => `trial/${cell.id}/${page.suffix}`;
const filters = { tier: $("f-tier"), cluster: $("f-cluster"), agent: $("f-agent"), ending: $("f-ending") };

function fill(select, values) {
  const had = new Set([...select.options].map((option) => option.value));
  for (const value of [...new Set(values)].filter(Boolean).sort()) {
    if (!had.has(value)) select.append(element("option", { value, text: value }));
  }
}

function choices() {
  const all = [...cells.values()];
  for (const [key, select] of Object.entries(filters)) fill(select, all.map((cell) => cell[key]));
  fill($("f-state"), ["pass", "part", "zero", "fault", "cancelled", "pending", "running"]);
}

function wanted(cell) {
  const text = $("f-text").value.toLowerCase();
  return (
    Object.entries(filters).every(([key, select]) => !select.value || cell[key] === select.value) &&
    (!$("f-state").value || looks(cell) === $("f-state").value) &&
    (!text || cell.task.toLowerCase().includes(text) || cell.why.toLowerCase().includes(text))
  );
}

function square(cell) {
  const label = `${cell.task}, ${cell.agent}, seed ${cell.seed}: ${says(cell)}${cell.why ? `: ${cell.why}` : ""}`;
  return element("a", { class: `dot ${looks(cell)}`, id: `c-${cell.id}`, href: href(cell), title: label, "aria-label": label });
}

function heading(agent) {
  const scored = shown.filter((cell) => cell.agent === agent && cell.state === "scored");
  const passed = scored.filter((cell) => cell.passed).length;
  return element("th", { scope: "col" }, agent, element("small", { text: ` ${passed} of ${scored.length} passed` }));
}

function matrix() {
  const agents = [...new Set(shown.map((cell) => cell.agent))];
  const tasks = Map.groupBy ? Map.groupBy(shown, (cell) => cell.task) : group(shown);
  const head = element("tr", {}, element("th", { text: "task" }), ...agents.map(heading));
  const rows = [...tasks].map(([task, own]) =>
    element("tr", {}, element("th", { text: task, scope: "row" }), ...agents.map((agent) => {
      const mine = own.filter((cell) => cell.agent === agent);
      return element("td", {}, ...mine.map(square));
    })));
  $("matrix").replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

function group(all) {
  const grouped = new Map();
  for (const cell of all) grouped.set(cell.task, [...(grouped.get(cell.task) ?? []), cell]);
  return grouped;
}

function row(index) {
  const cell = shown[index];
  const tick = element("input", { type: "checkbox", "aria-label": `pick ${cell.task} ${cell.agent} for comparison`, checked: picked.has(cell.id) });
  tick.addEventListener("change", () => pick(cell.id, tick.checked));
  const text = [cell.task, cell.agent, cell.seed, cell.tier, "", cell.score == null ? "" : cell.score.toFixed(3), cell.ending,
    cell.steps, seconds(cell.seconds), dollars(cell.cost), cell.why];
  const made = element("div", { class: "row" }, element("span", {}, tick));
  text.forEach((value, place) => {
    const inside = place === 0 ? element("a", { href: href(cell), text: value })
      : place === 4 ? element("span", {}, element("i", { class: `dot ${looks(cell)}` }), ` ${cell.running ? "running" : cell.state}`)
      : element("span", { text: value });
    made.append(element("span", { class: place === 10 ? "wide" : "", title: place === 10 ? value : false }, inside));
  });
  return made;
}

function pick(id, on) {
  if (on) picked.add(id);
  else picked.delete(id);
  const [a, b] = [...picked].slice(-2);
  $("compare").hidden = picked.size < 2;
  $("compare").href = `compare/?a=${a}&b=${b}`;
}

const list = new Virtual($("rows"), 26, row);

function head() {
  $("head").replaceChildren(element("span"), ...columns.map(([name, key]) => {
    const made = element("button", { text: name + (order.by === key ? (order.down ? " ▾" : " ▴") : "") });
    made.addEventListener("click", () => {
      order = { by: key, down: order.by === key && !order.down };
      draw();
    });
    return element("span", { class: name === "why" ? "wide" : "" }, made);
  }));
}

function draw() {
  shown = [...cells.values()].filter(wanted);
  if (order.by) {
    const way = order.down ? -1 : 1;
    shown.sort((a, b) => (order.by(a) < order.by(b) ? -way : order.by(a) > order.by(b) ? way : 0));
  }
  head();
  list.set(shown.length);
  if (!$("matrix").hidden) matrix();
}

function sums(totals, money) {
  const words = ["scored", "fault", "cancelled", "pending"].map((name) => `${totals[name]} ${name}`).join(" + ");
  $("sums").textContent = `${totals.planned} planned = ${words} · ${totals.passed} passed` + (totals.running ? ` · ${totals.running} running` : "");
  $("money").textContent = `${dollars(money.spent)} spent${money.held ? ` · ${dollars(money.held)} reserved` : ""}${money.cap == null ? "" : ` of ${dollars(money.cap)}`}`;
}

function view(name) {
  for (const each of ["matrix", "list"]) {
    $(each).hidden = each !== name;
    $(`v-${each}`).setAttribute("aria-pressed", String(each === name));
  }
  draw();
}

for (const select of [...Object.values(filters), $("f-state"), $("f-text")]) select.addEventListener("input", draw);
$("v-matrix").addEventListener("click", () => view("matrix"));
$("v-list").addEventListener("click", () => view("list"));
choices();
sums(page.totals, page.money);
draw();

if (location.protocol !== "file:" && page.totals.pending) {
  const stream = new EventSource("events");
  stream.addEventListener("update", (event) => {
    const news = JSON.parse(event.data);
    const old = shown.length;
    for (const cell of news.cells) {
      cells.set(cell.id, cell);
      const place = $(`c-${cell.id}`);
      if (place) place.replaceWith(square(cell));
    }
    sums(news.totals, news.money);
    choices();
    if (!$("list").hidden || shown.length !== old) list.refresh();
    shown = shown.map((cell) => cells.get(cell.id));
    list.refresh();
    if (!news.totals.pending) stream.close();
  });
}
