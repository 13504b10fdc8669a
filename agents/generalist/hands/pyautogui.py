"""Models that answer with `pyautogui` code. The code is read as data and never run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from practicum.agents.agent import Reply
from practicum.agents.generalist.hands.calls import Call, read_statements
from practicum.agents.generalist.hands.reading import (
    COMPUTER,
    UNSCALED,
    Spoken,
    Unreadable,
    acts,
    bind,
    checked,
    chord,
    computer_call,
    mistake,
    number,
    place,
    pointer_or_middle,
    read_calls,
    spell,
    text,
    whole,
)
from practicum.agents.generalist.layers import Finish, Inexpressible, Intent, Wish
from practicum.agents.generalist.view import View
from practicum.infra.desk import keys as key_names
from practicum.infra.desk.actions import Point
from practicum.infra.desk.arguments import (
    ClickCall,
    DragCall,
    KeyCall,
    MouseDownCall,
    MouseUpCall,
    MoveCall,
    ScreenshotCall,
    ScrollCall,
    TypeCall,
    WaitCall,
)
from practicum.infra.environment import Tool, ToolCall

PAUSE = 3.0
"""Seconds of a bare `WAIT`."""

_BLOCK = re.compile(r"```(?:[a-zA-Z]+\n)?(.*?)```", re.DOTALL)
_IMPORTS = frozenset({"pyautogui", "time", "computer"})
_CLICKS = {
    "click": ("left", 1),
    "leftClick": ("left", 1),
    "rightClick": ("right", 1),
    "middleClick": ("middle", 1),
    "doubleClick": ("left", 2),
    "tripleClick": ("left", 3),
}

_GUIDE = """Answer with one block of Python code between ``` marks that calls pyautogui; nothing else is read:
click, doubleClick, tripleClick, rightClick, middleClick (x, y), moveTo(x, y), dragTo(x, y),
scroll(notches, x, y) with positive upwards, hscroll, write(text), press(key), hotkey(*keys),
keyDown and keyUp (key), mouseDown, mouseUp, time.sleep(seconds).
Only literal arguments are read: no variables, loops or functions.
Answer WAIT to look again later, DONE when the task is done, FAIL when it cannot be done."""


@dataclass(frozen=True, slots=True)
class PyAutoGuiHands:
    """An utterance with one unreadable statement does nothing at all."""

    name: str = "pyautogui"

    def offer(self, tools: Sequence[Tool], view: View | None) -> tuple[Tool, ...]:
        return tuple(tool for tool in tools if tool.name != COMPUTER)

    def guide(self, tools: Sequence[Tool]) -> str:
        return _GUIDE

    def read(self, reply: Reply, view: View | None) -> tuple[Wish, ...]:
        called = read_calls(reply, COMPUTER, _refuse)
        if called:
            return called
        try:
            return (Wish(None, _read(reply, view)),)
        except Unreadable as error:
            return (Wish(None, (mistake(error),)),)

    def render(self, call: ToolCall, view: View | None) -> Reply:
        if call.name != COMPUTER:
            return Reply("", (call,))
        return Reply(f"```python\n{_say(call, view or UNSCALED)}\n```")


def _refuse(call: ToolCall) -> Sequence[Intent]:
    raise Unreadable(call.name, "write the action as pyautogui code")


def _read(reply: Reply, view: View | None) -> tuple[Intent, ...]:
    blocks = _BLOCK.findall(reply.text)
    code = (blocks[-1] if blocks else reply.text).strip()
    match code.upper():
        case "DONE":
            return (Finish(True, ""),)
        case "FAIL":
            return (Finish(False, ""),)
        case "WAIT":
            return acts([{"action": "wait", "seconds": PAUSE}], "said")
    if not blocks and reply.cut:
        raise Unreadable(reply.text[-80:], "the answer was cut before its code ended")
    calls = read_statements(code, imports=_IMPORTS)
    if not calls:
        raise Unreadable(code, "it has no code")
    return _Run(view).over(calls)


@dataclass(slots=True)
class _Run:
    """One reading of a snippet: where the pointer would be, which keys are down and not yet used."""

    view: View | None
    pointer: Point | None = None
    held: list[str] = field(default_factory=list)
    unused: set[str] = field(default_factory=set)
    spoken: list[Spoken] = field(default_factory=list)

    def over(self, calls: Sequence[Call]) -> tuple[Intent, ...]:
        if self.view is not None:
            self.pointer = self.view.pointer
        for call in calls:
            end = self._step(call)
            if end is not None:
                return (*acts(self.spoken, "said"), end)
        if self.held:
            raise Unreadable(calls[-1].span, f"{', '.join(self.held)} would stay down: keyUp is missing")
        return acts(self.spoken, "said")

    def _step(self, call: Call) -> Finish | None:
        module, _, name = call.function.rpartition(".")
        if module == "computer" and name == "terminate":
            return self._end(call)
        if (module, name) in {("time", "sleep"), ("pyautogui", "sleep"), ("computer", "wait")}:
            seconds = bind(("secs",), call.given, call.named, call.span).get("secs", PAUSE)
            self._say(call, {"action": "wait", "seconds": number(seconds, "seconds")})
        elif module not in {"pyautogui", "computer"}:
            raise Unreadable(call.span, f"{call.function} is no action")
        elif name in _CLICKS:
            self._click(call, name)
        else:
            self._other(call, name)
        return None

    def _other(self, call: Call, name: str) -> None:
        match name:
            case "moveTo":
                self.pointer = self._point(self._bind(call, "x", "y", "duration"), call)
                self._say(call, {"action": "move", "x": self.pointer.x, "y": self.pointer.y})
            case "dragTo":
                self._drag(call)
            case "scroll" | "vscroll" | "hscroll":
                self._scroll(call, name)
            case "write" | "typewrite":
                typed = self._bind(call, "message", "interval").get("message")
                self._say(call, {"action": "type", "text": self._typed(typed)})
            case "press":
                self._press(call)
            case "hotkey":
                call_keys = [each for given in call.given for each in _listed(given)]
                self._key(call, call_keys)
            case "keyDown" | "keyUp":
                key = text(self._bind(call, "key").get("key"), "key")
                self._down(key) if name == "keyDown" else self._up(call, key)
            case "mouseDown" | "mouseUp":
                self._button(call, "mouse_down" if name == "mouseDown" else "mouse_up")
            case "screenshot":
                self._say(call, {"action": "screenshot"})
            case _:
                raise Unreadable(call.span, f"pyautogui.{name} is no action here")

    def _click(self, call: Call, name: str) -> None:
        button, count = _CLICKS[name]
        said = self._bind(call, "x", "y", "clicks", "interval", "button", "duration")
        point = self._point(said, call)
        pressed = {"button": said.get("button", button), "count": whole(said.get("clicks", count), "clicks")}
        self._say(call, {"action": "click", "x": point.x, "y": point.y} | pressed | self._modifiers())

    def _drag(self, call: Call) -> None:
        said = self._bind(call, "x", "y", "duration", "tween", "button")
        start = self._where(call)
        end = self._point(said, call)
        path = [[start.x, start.y], [end.x, end.y]]
        spoken = {"action": "drag", "path": path, "button": said.get("button", "left")}
        self._say(call, spoken | self._modifiers())

    def _scroll(self, call: Call, name: str) -> None:
        said = self._bind(call, "clicks", "x", "y")
        placed = said.get("x") is not None or self.pointer is not None
        point = self._point(said, call) if placed else pointer_or_middle(self.view, call.span)
        turn = whole(said.get("clicks"), "clicks")
        axis = {"dx": turn} if name == "hscroll" else {"dy": -turn}
        self._say(call, {"action": "scroll", "x": point.x, "y": point.y} | axis | self._modifiers())

    def _press(self, call: Call) -> None:
        said = self._bind(call, "keys", "presses", "interval")
        times = whole(said.get("presses", 1), "presses")
        if not 1 <= times <= 100:
            raise Unreadable(call.span, "presses is between 1 and 100")
        for _ in range(times):
            for key in _listed(said.get("keys")):
                self._key(call, [key])

    def _button(self, call: Call, action: str) -> None:
        said = self._bind(call, "x", "y", "button")
        if said.get("x") is not None:
            point = self._point(said, call)
            self._say(call, {"action": "move", "x": point.x, "y": point.y})
        self._say(call, {"action": action, "button": said.get("button", "left")})

    def _key(self, call: Call, names: Sequence[Any]) -> None:
        self.unused.clear()
        self._say(call, {"action": "key", "keys": chord([*self.held, *names])})

    def _down(self, key: str) -> None:
        self.held.append(key)
        self.unused.add(key)

    def _up(self, call: Call, key: str) -> None:
        if key not in self.held:
            raise Unreadable(call.span, f"{key} is not down")
        if key in self.unused:
            self._key(call, [])
        self.held.remove(key)

    def _modifiers(self) -> dict[str, str]:
        self.unused.clear()
        return {"keys": chord(self.held)} if self.held else {}

    def _typed(self, typed: Any) -> str:
        if self.held:
            raise Unreadable(str(typed), "write while keys are held down: use press or hotkey")
        return text("".join(typed) if _is_strings(typed) else typed, "message")

    def _bind(self, call: Call, *names: str) -> dict[str, Any]:
        given, named = call.given, dict(call.named)
        named = {_SPELLED.get(name, name) if name not in names else name: v for name, v in named.items()}
        if given and isinstance(given[0], list) and names[:2] == ("x", "y"):
            given = (*given[0], *given[1:])
        named.pop("_pause", None)
        return bind(names, given, named, call.span)

    def _point(self, said: dict[str, Any], call: Call) -> Point:
        if said.get("x") is None and said.get("y") is None:
            return self._where(call)
        self.pointer = place(said.get("x"), said.get("y"), self.view)
        return self.pointer

    def _where(self, call: Call) -> Point:
        if self.pointer is None:
            raise Unreadable(call.span, "it says no place, and nothing was pointed at before")
        return self.pointer

    def _end(self, call: Call) -> Finish:
        said = bind(("status", "answer"), call.given, call.named, call.span)
        status = text(said.get("status"), "status")
        if status not in {"success", "failure"}:
            raise Unreadable(call.span, "status is success or failure")
        return Finish(status == "success", str(said.get("answer", "")))

    def _say(self, call: Call, spoken: Spoken) -> None:
        self.spoken.append(checked(spoken, self.view, call.span))


_SPELLED = {"text": "message", "key": "keys", "seconds": "secs"}


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _say(call: ToolCall, view: View) -> str:
    def at(x: int, y: int) -> str:
        return "{:g}, {:g}".format(*spell(view, x, y))

    match computer_call(call):
        case ScreenshotCall():
            return "pyautogui.screenshot()"
        case ClickCall(x, y, button, count, keys):
            click = f"pyautogui.click({at(x, y)}, clicks={count}, button={button.value!r})"
            return _say_held(keys, click)
        case MoveCall(x, y):
            return f"pyautogui.moveTo({at(x, y)})"
        case DragCall([start, end], button, keys) if view.pointer == Point(*start):
            return _say_held(keys, f"pyautogui.dragTo({at(*end)}, button={button.value!r})")
        case ScrollCall(x, y, 0, dy, keys):
            return _say_held(keys, f"pyautogui.scroll({-dy}, {at(x, y)})")
        case ScrollCall(x, y, dx, 0, keys):
            return _say_held(keys, f"pyautogui.hscroll({dx}, {at(x, y)})")
        case TypeCall(typed):
            return f"pyautogui.write({typed!r})"
        case KeyCall(keys, 0.0):
            return f"pyautogui.hotkey({', '.join(map(repr, key_names.parse_chord(keys)))})"
        case MouseDownCall(button):
            return f"pyautogui.mouseDown(button={button.value!r})"
        case MouseUpCall(button):
            return f"pyautogui.mouseUp(button={button.value!r})"
        case WaitCall(seconds):
            return f"time.sleep({seconds!r})"
        case other:
            raise Inexpressible(f"pyautogui has no words for {other}")


def _say_held(keys: str, action: str) -> str:
    names = key_names.parse_chord(keys) if keys else ()
    down = [f"pyautogui.keyDown({name!r})" for name in names]
    up = [f"pyautogui.keyUp({name!r})" for name in reversed(names)]
    return "\n".join((*down, action, *up))
