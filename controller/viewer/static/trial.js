import { $, Virtual, data, dollars, element, facts, looks, overlay, says, seconds } from "./common.js";

const page = data();
let { frames, moments } = page.film;
let at = 0;
let mode = "before";
let found = null;
let timer = null;

const modes = ["before", "after", "diff"];
const source = (index) => `${page.links.frames}${frames[index].sha256}.png`;

function caption(moment, index) {
  const made = element("div", {
    class: `step${index === at ? " on" : ""}${moment.error ? " failed" : ""}${moment.fault ? " struck" : ""}`,
    role: "option", id: `s-${index}`, "aria-selected": String(index === at),
  }, element("b", { text: moment.n }), element("span", { text: moment.title }));
  made.addEventListener("click", () => show(index));
  return made;
}

const visible = () => found ?? moments.map((_, index) => index);
const steps = new Virtual($("steps"), 24, (row) => caption(moments[visible()[row]], visible()[row]));

const strip = new Virtual($("strip"), 132, (index) => {
  const moment = moments[index];
  const picture = moment.before ?? moment.after;
  const made = element("button", { class: `thumb${index === at ? " on" : ""}`, tabindex: -1, "aria-label": `step ${moment.n}` },
    picture == null ? element("span", { class: "none" })
      : element("img", { src: `${page.links.thumbs}${frames[picture].sha256}.jpg`, alt: "", loading: "lazy", width: 124, height: 78 }),
    element("i", { text: moment.n }));
  made.addEventListener("click", () => show(index));
  return made;
}, { horizontal: true, spare: 6 });

function picture() {
  const moment = moments[at];
  const first = moment ? (mode === "after" ? moment.after : (moment.before ?? moment.after)) : null;
  const has = first != null;
  $("blank").hidden = has;
  $("under").hidden = !has;
  $("over").hidden = !(has && mode === "diff" && moment.after != null);
  if (!has) return $("overlay").replaceChildren();
  const frame = frames[first];
  $("frame").style.aspectRatio = `${frame.width} / ${frame.height}`;
  $("under").src = source(first);
  $("under").alt = `screen ${mode === "after" ? "after" : "before"} step ${moment.n}`;
  if (mode === "diff" && moment.after != null) $("over").src = source(moment.after);
  const decided = mode !== "after" && moment.before != null;
  overlay($("overlay"), decided ? moment : { shape: {} }, frame);
}

function outcome(cell) {
  const cost = `${cell.steps} steps · ${seconds(cell.seconds)} · ${dollars(cell.cost)}`;
  $("outcome").replaceChildren(element("i", { class: `dot ${looks(cell)}` }), ` ${says(cell)} · ${cost}`);
}

function show(index, { quiet = false } = {}) {
  if (!moments.length) return picture();
  at = Math.max(0, Math.min(moments.length - 1, index));
  const moment = moments[at];
  picture();
  $("now").replaceChildren(element("h2", { text: `${moment.n}. ${moment.title}` }), ...facts(moment));
  $("go").value = moment.n;
  $("clock").textContent = `${at + 1} of ${moments.length} · ${moment.at.slice(11, 19)}`;
  $("steps").setAttribute("aria-activedescendant", `s-${at}`);
  const row = visible().indexOf(at);
  steps.mark((node, place) => select(node, visible()[place] === at));
  strip.mark((node, place) => node.classList.toggle("on", place === at));
  if (row >= 0) steps.reveal(row);
  strip.reveal(at);
  if (!quiet) history.replaceState(null, "", `#step=${moment.n}`);
}

function select(node, on) {
  node.classList.toggle("on", on);
  node.setAttribute("aria-selected", String(on));
}

function goTo(number) {
  const index = moments.findIndex((moment) => moment.n >= number);
  if (moments.length) show(index < 0 ? moments.length - 1 : index);
}

function set(name) {
  mode = name;
  for (const each of modes) $(`m-${each}`).setAttribute("aria-pressed", String(each === name));
  picture();
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => (at + 1 < moments.length ? show(at + 1) : play(false)), 700) : null;
  $("play").setAttribute("aria-pressed", String(on));
  $("play").textContent = on ? "❚❚" : "▶";
}

function search() {
  const text = $("find").value.toLowerCase();
  const holds = (moment) => [moment.title, moment.text, moment.arguments, moment.fault, ...moment.notes,
    ...moment.thoughts.flatMap((thought) => [thought.text, thought.thought])].some((part) => part.toLowerCase().includes(text));
  found = text ? moments.map((_, index) => index).filter((index) => holds(moments[index])) : null;
  steps.set(visible().length);
}

const keys = {
  ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1), ArrowUp: () => show(at - 1), ArrowDown: () => show(at + 1),
  Home: () => show(0), End: () => show(moments.length - 1),
  " ": () => play(!timer), g: () => $("go").select(), "/": () => $("find").focus(),
  b: () => set("before"), a: () => set("after"), d: () => set("diff"),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, summary, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  if (event.key === " " && event.target.matches("button, a")) return;
  event.preventDefault();
  keys[event.key]();
});
$("go").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  goTo(Number($("go").value));
  $("go").blur();
});
$("find").addEventListener("input", search);
$("prev").addEventListener("click", () => show(at - 1));
$("next").addEventListener("click", () => show(at + 1));
$("play").addEventListener("click", () => play(!timer));
for (const each of modes) $(`m-${each}`).addEventListener("click", () => set(each));
const linked = () => Number(/^#step=(\d+)$/.exec(location.hash)?.[1] ?? 0);
addEventListener("hashchange", () => linked() && goTo(linked()));

outcome(page.cell);
steps.set(moments.length);
strip.set(moments.length);
if (linked()) goTo(linked());
else show(0, { quiet: true });

if (location.protocol !== "file:" && page.cell.state === "pending") {
  const stream = new EventSource(`events?attempt=${page.attempt}`);
  stream.addEventListener("update", (event) => {
    const news = JSON.parse(event.data);
    const following = at >= moments.length - 1;
    ({ frames, moments } = news.film);
    outcome(news.cell);
    search();
    strip.set(moments.length);
    show(following ? moments.length - 1 : at, { quiet: true });
    if (news.cell.state !== "pending") {
      stream.close();
      location.reload();
    }
  });
}
