"""UI-TARS: `Thought: … Action: click(start_box='(x,y)')`, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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
    place,
    pointer_or_middle,
    read_calls,
    spell,
    text,
)
from practicum.agents.generalist.layers import Finish, Inexpressible, Intent, Wish
from practicum.agents.generalist.view import View
from practicum.infra.desk import keys as key_names
from practicum.infra.desk.actions import Point
from practicum.infra.desk.arguments import ClickCall, DragCall, KeyCall, ScrollCall, TypeCall, WaitCall
from practicum.infra.environment import Tool, ToolCall

NOTCHES = 5
"""Wheel notches of one `scroll`."""
PAUSE = 5.0
"""Seconds of one `wait()`."""

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_PLACE = re.compile(rf"{_NUMBER}\s*[,\s]\s*{_NUMBER}(?:\s*[,\s]\s*{_NUMBER}\s*[,\s]\s*{_NUMBER})?")
_CLICKS = {"click": ("left", 1), "left_double": ("left", 2), "right_single": ("right", 1)}
_CLICK_NAMES = {spoken: name for name, spoken in _CLICKS.items()}
_WHEEL = {"up": (0, -NOTCHES), "down": (0, NOTCHES), "left": (-NOTCHES, 0), "right": (NOTCHES, 0)}
_WHEEL_NAMES = {turn: name for name, turn in _WHEEL.items()}

_GUIDE = """Answer in this form:
Thought: what you see and what to do next, in one or two sentences
Action: one of
click(start_box='(x,y)')
left_double(start_box='(x,y)')
right_single(start_box='(x,y)')
drag(start_box='(x,y)', end_box='(x,y)')
hotkey(key='ctrl c')
type(content='text; \\n is Enter')
scroll(start_box='(x,y)', direction='down')
wait()
finished(content='what was done')
call_user()  when the task cannot be done"""


@dataclass(frozen=True, slots=True)
class UiTarsHands:
    name: str = "ui-tars"

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
        return Reply(f"Thought: {call.id}\nAction: {_say(call, view or UNSCALED)}")


def _refuse(call: ToolCall) -> Sequence[Intent]:
    raise Unreadable(call.name, "write the action as text after `Action:`")


def _read(reply: Reply, view: View | None) -> tuple[Intent, ...]:
    _, marker, action = reply.text.rpartition("Action:")
    if not marker or not action.strip():
        reason = "the answer was cut before its `Action:`" if reply.cut else "it has no `Action:`"
        raise Unreadable(reply.text[-80:], reason)
    spoken: list[Spoken] = []
    for call in read_statements("\n".join(line.strip() for line in action.strip().splitlines())):
        if call.function in {"finished", "call_user"}:
            content = bind(("content",), call.given, call.named, call.span).get("content", "")
            return (*acts(spoken, "said"), Finish(call.function == "finished", text(content, "content")))
        spoken.append(checked(_read_call(call, view), view, call.span))
    return acts(spoken, "said")


def _read_call(call: Call, view: View | None) -> Spoken:
    match call.function:
        case "click" | "left_double" | "right_single":
            button, count = _CLICKS[call.function]
            point = _box(_arguments(call, "start_box"), "start_box", view, call.span)
            return {"action": "click", "x": point.x, "y": point.y, "button": button, "count": count}
        case "drag":
            said = _arguments(call, "start_box", "end_box")
            start, end = (_box(said, name, view, call.span) for name in ("start_box", "end_box"))
            return {"action": "drag", "path": [[start.x, start.y], [end.x, end.y]]}
        case "hotkey":
            names = text(_arguments(call, "key").get("key"), "key").split()
            return {"action": "key", "keys": chord(names)}
        case "type":
            return {"action": "type", "text": text(_arguments(call, "content").get("content"), "content")}
        case "scroll":
            return _read_scroll(call, view)
        case "wait":
            _arguments(call)
            return {"action": "wait", "seconds": PAUSE}
    raise Unreadable(call.span, f"no action {call.function!r}")


def _read_scroll(call: Call, view: View | None) -> Spoken:
    said = _arguments(call, "start_box", "direction")
    placed = "start_box" in said
    point = _box(said, "start_box", view, call.span) if placed else pointer_or_middle(view, call.span)
    direction = text(said.get("direction"), "direction")
    if direction not in _WHEEL:
        raise Unreadable(call.span, f"direction is one of {', '.join(_WHEEL)}")
    dx, dy = _WHEEL[direction]
    return {"action": "scroll", "x": point.x, "y": point.y, "dx": dx, "dy": dy}


def _arguments(call: Call, *names: str) -> dict[str, Any]:
    """The arguments by name; `point`, `start_point` and `end_point` are later spellings of the boxes."""
    spelled = {"point": "start_box", "start_point": "start_box", "end_point": "end_box"}
    named = {spelled.get(name, name): value for name, value in call.named.items()}
    return bind(names, call.given, named, call.span)


def _box(said: dict[str, Any], name: str, view: View | None, span: str) -> Point:
    """`(x,y)`, `<point>x y</point>`, `[x1,y1,x2,y2]` (its middle), with or without box tokens."""
    written = said.get(name)
    if isinstance(written, list):
        written = str(written)
    found = _PLACE.search(text(written, name))
    if found is None:
        raise Unreadable(span, f"{name} holds no place")
    x, y, right, bottom = found.groups()
    if right is None:
        return place(float(x), float(y), view)
    return place((float(x) + float(right)) / 2, (float(y) + float(bottom)) / 2, view)


def _say(call: ToolCall, view: View) -> str:
    def at(x: int, y: int) -> str:
        return "'({:g},{:g})'".format(*spell(view, x, y))

    match computer_call(call):
        case ClickCall(x, y, button, count, "") if (button.value, count) in _CLICK_NAMES:
            return f"{_CLICK_NAMES[button.value, count]}(start_box={at(x, y)})"
        case DragCall([start, end], "left", ""):
            return f"drag(start_box={at(*start)}, end_box={at(*end)})"
        case KeyCall(keys, 0.0):
            return f"hotkey(key={' '.join(key_names.parse_chord(keys))!r})"
        case TypeCall(typed):
            return f"type(content={typed!r})"
        case ScrollCall(x, y, dx, dy, "") if (dx, dy) in _WHEEL_NAMES:
            return f"scroll(start_box={at(x, y)}, direction={_WHEEL_NAMES[dx, dy]!r})"
        case WaitCall(seconds) if seconds == PAUSE:
            return "wait()"
        case other:
            raise Inexpressible(f"UI-TARS has no words for {other}")
