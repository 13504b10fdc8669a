"""OpenAI's computer-use actions, one or a batch, as a function of the chat API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from practicum.agents.agent import Reply
from practicum.agents.generalist.hands.reading import (
    COMPUTER,
    FINISH_TOOL,
    UNSCALED,
    Spoken,
    Unreadable,
    acts,
    checked,
    chord,
    computer_call,
    finish_or_silence,
    number,
    place,
    read_calls,
    spell,
    text,
)
from practicum.agents.generalist.layers import Inexpressible, Intent, Wish
from practicum.agents.generalist.view import View, round_half_up
from practicum.infra.desk import keys as key_names
from practicum.infra.desk.arguments import (
    ClickCall,
    DragCall,
    KeyCall,
    MoveCall,
    ScreenshotCall,
    ScrollCall,
    TypeCall,
    WaitCall,
)
from practicum.infra.environment import Tool, ToolCall

NOTCH = 100
"""Pixels of scrolling in one notch of the wheel."""

_TYPES = ("click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait")
_BUTTONS: Mapping[str, str] = {"left": "left", "right": "right", "wheel": "middle", "middle": "middle"}


@dataclass(frozen=True, slots=True)
class OpenAIHands:
    name: str = "openai"

    def offer(self, tools: Sequence[Tool], view: View | None) -> tuple[Tool, ...]:
        return (*(_tool(view) if tool.name == COMPUTER else tool for tool in tools), FINISH_TOOL)

    def guide(self, tools: Sequence[Tool]) -> str:
        return ""

    def read(self, reply: Reply, view: View | None) -> tuple[Wish, ...]:
        def reader(call: ToolCall) -> Iterable[Intent]:
            batch = call.arguments.get("actions", [call.arguments])
            if not isinstance(batch, list) or not batch:
                raise Unreadable(str(batch), "actions is not a list of actions")
            return acts([_read_checked(each, view) for each in batch], call.id)

        return read_calls(reply, COMPUTER, reader) or finish_or_silence(reply)

    def render(self, call: ToolCall, view: View | None) -> Reply:
        if call.name != COMPUTER:
            return Reply("", (call,))
        return Reply("", (ToolCall(call.id, COMPUTER, _say(call, view or UNSCALED)),))


def _read_checked(said: Any, view: View | None) -> Spoken:
    if not isinstance(said, Mapping):
        raise Unreadable(str(said), "an action is an object with a type")
    return checked(_read(said, view), view, str(dict(said)))


def _read(said: Mapping[str, Any], view: View | None) -> Spoken:
    kind = text(said.get("type", said.get("action")), "type")
    match kind:
        case "click" | "double_click":
            return _read_click(said, view, 2 if kind == "double_click" else 1)
        case "drag":
            path = said.get("path")
            points = [_point(each, view) for each in path] if isinstance(path, list) else []
            return {"action": "drag", "path": points} | _held(said)
        case "keypress":
            names = said.get("keys")
            return {"action": "key", "keys": chord(names if isinstance(names, list) else [names])}
        case "move":
            return {"action": "move"} | _at(said, view)
        case "screenshot":
            return {"action": "screenshot"}
        case "scroll":
            turned = {"dx": _notches(said, "scroll_x"), "dy": _notches(said, "scroll_y")}
            return {"action": "scroll"} | _at(said, view) | turned | _held(said)
        case "type":
            return {"action": "type", "text": text(said.get("text"), "text")}
        case "wait":
            return {"action": "wait", "seconds": number(said.get("ms", 1000), "ms") / 1000}
    raise Unreadable(kind, f"no action type {kind!r}; there are: {', '.join(_TYPES)}")


def _read_click(said: Mapping[str, Any], view: View | None, count: int) -> Spoken:
    button = text(said.get("button", "left"), "button")
    if button not in _BUTTONS:
        raise Unreadable(button, f"no button {button!r} at this desk; there are: left, right, wheel")
    pressed = {"button": _BUTTONS[button], "count": count}
    return {"action": "click"} | _at(said, view) | pressed | _held(said)


def _at(said: Mapping[str, Any], view: View | None) -> dict[str, Any]:
    point = place(said.get("x"), said.get("y"), view)
    return {"x": point.x, "y": point.y}


def _point(said: Any, view: View | None) -> list[int]:
    x, y = (said.get("x"), said.get("y")) if isinstance(said, Mapping) else (None, None)
    if isinstance(said, list) and len(said) == 2:
        x, y = said
    point = place(x, y, view)
    return [point.x, point.y]


def _held(said: Mapping[str, Any]) -> dict[str, Any]:
    names = said.get("keys")
    return {"keys": chord(names)} if isinstance(names, list) and names else {}


def _notches(said: Mapping[str, Any], name: str) -> int:
    """Pixels to notches, away from zero: a small scroll is never none."""
    pixels = number(said.get(name, 0), name)
    size = -(-abs(pixels) // NOTCH)
    return round_half_up(size if pixels > 0 else -size)


def _say(call: ToolCall, view: View) -> dict[str, Any]:
    def at(x: int, y: int) -> dict[str, Any]:
        return dict(zip(("x", "y"), spell(view, x, y), strict=True))

    match computer_call(call):
        case ScreenshotCall():
            return {"type": "screenshot"}
        case ClickCall(x, y, button, 1, keys):
            spoken = "wheel" if button.value == "middle" else button.value
            return {"type": "click", "button": spoken} | at(x, y) | _say_held(keys)
        case ClickCall(x, y, "left", 2, keys):
            return {"type": "double_click"} | at(x, y) | _say_held(keys)
        case MoveCall(x, y):
            return {"type": "move"} | at(x, y)
        case DragCall(path, "left", keys):
            return {"type": "drag", "path": [at(*point) for point in path]} | _say_held(keys)
        case ScrollCall(x, y, dx, dy, keys):
            turned = {"scroll_x": dx * NOTCH, "scroll_y": dy * NOTCH}
            return {"type": "scroll"} | at(x, y) | turned | _say_held(keys)
        case TypeCall(typed):
            return {"type": "type", "text": typed}
        case KeyCall(keys, 0.0):
            return {"type": "keypress", "keys": list(key_names.parse_chord(keys))}
        case WaitCall(seconds):
            return {"type": "wait", "ms": round(seconds * 1000)}
        case other:
            raise Inexpressible(f"OpenAI's computer-use actions have no words for {other}")


def _say_held(keys: str) -> dict[str, Any]:
    return {"keys": list(key_names.parse_chord(keys))} if keys else {}


def _tool(view: View | None) -> Tool:
    spelled = view.spelled if view is not None else "Take a screenshot first."
    number_ = {"type": "number"}
    point = {"type": "object", "properties": {"x": number_, "y": number_}, "required": ["x", "y"]}
    return Tool(
        COMPUTER,
        f"One action at the screen; each answers with a screenshot. {spelled} `scroll_x` and `scroll_y` are "
        "pixels, positive to the right and down; `keys` is a list pressed together; `ms` is for `wait`.",
        {
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": list(_TYPES)},
                "x": number_,
                "y": number_,
                "button": {"type": "string", "enum": ["left", "right", "wheel"]},
                "path": {"type": "array", "items": point},
                "keys": {"type": "array", "items": {"type": "string"}},
                "scroll_x": number_,
                "scroll_y": number_,
                "text": {"type": "string"},
                "ms": {"type": "number", "minimum": 0},
            },
            "required": ["type"],
        },
    )
