import { $ } from "./common.js";

const frame = $("frame");
const [width, height] = [Number(frame.dataset.width), Number(frame.dataset.height)];
let taken = false;
let tag = null;
let pressed = null;
let here = [0, 0];
let lastEscape = 0;
// A single click waits this long to see whether it is the first of a double click.
let pending = 0;
let queue = Promise.resolve();

function say(text) {
  $("state").textContent = text;
}

async function look() {
  const answer = await fetch("/live/frame", { headers: tag ? { "if-none-match": tag } : {}, cache: "no-store" });
  if (answer.status === 200) {
    tag = answer.headers.get("etag");
    const old = $("under").src;
    $("under").src = URL.createObjectURL(await answer.blob());
    if (old.startsWith("blob:")) URL.revokeObjectURL(old);
  } else if (answer.status !== 304) {
    say(`The desk is gone: ${await answer.text()}`);
    return;
  }
  setTimeout(look, document.hidden ? 1000 : 120);
}

// One after the other: what a person did first must happen first.
function act(call) {
  queue = queue.then(async () => {
    const answer = await fetch("/live/act", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(call) });
    say(answer.ok ? "" : await answer.text());
    $("script").textContent = await (await fetch("/live/script")).text();
  });
}

function place(event) {
  const box = $("under").getBoundingClientRect();
  const along = (at, start, size, pixels) => Math.max(0, Math.min(pixels - 1, Math.floor(((at - start) / size) * pixels)));
  return [along(event.clientX, box.left, box.width, width), along(event.clientY, box.top, box.height, height)];
}

function take(on) {
  taken = on;
  $("take").setAttribute("aria-pressed", String(on));
  $("take").textContent = on ? "hand back" : "take mouse and keyboard";
  frame.classList.toggle("taken", on);
  if (on) frame.focus();
}

const named = {
  Enter: "enter", Tab: "tab", Escape: "escape", Backspace: "backspace", Delete: "delete", Insert: "insert", Home: "home", End: "end",
  PageUp: "page_up", PageDown: "page_down", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", ContextMenu: "menu",
};

function chord(event) {
  const held = [["ctrlKey", "ctrl"], ["altKey", "alt"], ["shiftKey", "shift"], ["metaKey", "super"]].filter(([flag]) => event[flag]);
  const key = named[event.key] ?? (/^F\d+$/.test(event.key) ? event.key.toLowerCase() : [...event.key].length === 1 ? event.key : null);
  if (!key) return null;
  const plain = [...event.key].length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey;
  if (plain || event.getModifierState("AltGraph")) return { action: "type", text: event.key };
  return { action: "key", keys: [...held.map(([, name]) => name), key === "+" ? "plus" : key].join("+") };
}

frame.addEventListener("keydown", (event) => {
  if (!taken) return;
  event.preventDefault();
  if (event.key === "Escape") {
    if (event.timeStamp - lastEscape < 400) return take(false);
    lastEscape = event.timeStamp;
  }
  const call = chord(event);
  if (call) act(call);
});
// Pointer events know fractions of a pixel, mouse events know how often it was clicked.
for (const kind of ["pointerdown", "pointerup"]) frame.addEventListener(kind, (event) => { here = place(event); });
frame.addEventListener("mousedown", (event) => {
  if (!taken) return;
  event.preventDefault();
  frame.focus();
  pressed = here;
});
frame.addEventListener("mouseup", (event) => {
  if (!taken || !pressed) return;
  const [button, at] = [["left", "middle", "right"][event.button], here];
  const moved = Math.hypot(at[0] - pressed[0], at[1] - pressed[1]) > 4;
  const click = { action: "click", x: pressed[0], y: pressed[1], ...(button === "left" ? {} : { button }) };
  pressed = null;
  clearTimeout(pending);
  if (moved) act({ action: "drag", path: [[click.x, click.y], at], ...(button === "left" ? {} : { button }) });
  else if (event.detail > 1) act({ ...click, count: Math.min(3, event.detail) });
  else pending = setTimeout(() => act(click), 220);
});
frame.addEventListener("contextmenu", (event) => taken && event.preventDefault());
frame.addEventListener("wheel", (event) => {
  if (!taken) return;
  event.preventDefault();
  const [x, y] = place(event);
  act({ action: "scroll", x, y, dx: Math.sign(event.deltaX), dy: Math.sign(event.deltaY) });
}, { passive: false });
$("take").addEventListener("click", () => take(!taken));
$("copy").addEventListener("click", () => navigator.clipboard.writeText($("script").textContent));
$("grade")?.addEventListener("click", async () => {
  $("verdict").textContent = "grading…";
  const answer = await fetch("/live/grade", { method: "POST" });
  // The server's own template, escaped there.
  $("verdict").innerHTML = answer.ok ? await answer.text() : "";
  if (!answer.ok) say(await answer.text());
});
look();
