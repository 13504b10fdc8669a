import { $, data, element, facts, overlay } from "./common.js";

const sides = data();
const count = Math.max(...Object.values(sides).map((side) => side.film.moments.length));
const same = (index) => {
  const [left, right] = ["left", "right"].map((name) => sides[name].film.moments[index]);
  return left && right && left.tool === right.tool && left.arguments === right.arguments && left.text === right.text;
};
const first = [...Array(count).keys()].find((index) => !same(index));
let at = first ?? 0;

function half(name) {
  const { film, links } = sides[name];
  const box = $(name);
  const moment = film.moments[at];
  const picture = moment ? (moment.before ?? moment.after) : null;
  const [image, svg] = [box.querySelector("img"), box.querySelector("svg")];
  box.querySelector(".blank").hidden = picture != null;
  image.hidden = picture == null;
  if (picture != null) {
    image.src = `${links.frames}${film.frames[picture].sha256}.png`;
    box.querySelector(".frame").style.aspectRatio = `${film.frames[picture].width} / ${film.frames[picture].height}`;
  }
  overlay(svg, moment && moment.before != null ? moment : { shape: {} }, picture == null ? null : film.frames[picture]);
  const told = moment ? [element("h3", { text: `${moment.n}. ${moment.title}` }), ...facts(moment)] : [element("p", { text: "ended before" })];
  box.querySelector(".now").replaceChildren(...told);
}

function show(index) {
  at = Math.max(0, Math.min(count - 1, index));
  $("go").value = at + 1;
  half("left");
  half("right");
  const where = first === undefined ? "The two never diverge." : `First divergence at step ${first + 1}.`;
  $("divergence").textContent = at === first ? `${where} Shown now.` : where;
  document.body.classList.toggle("apart", !same(at));
}

$("prev").addEventListener("click", () => show(at - 1));
$("next").addEventListener("click", () => show(at + 1));
$("go").addEventListener("change", () => show(Number($("go").value) - 1));
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input")) return;
  if (event.key === "ArrowLeft") show(at - 1);
  if (event.key === "ArrowRight") show(at + 1);
});
show(at);
