"""Anthropic's computer tool (`computer_20250124` and later), as a function of the chat API."""

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
    pair,
    pointer,
    pointer_or_middle,
    read_calls,
    spell,
    split_chord,
    text,
    whole,
)
from practicum.agents.generalist.layers import Inexpressible, Intent, Wish
from practicum.agents.generalist.view import View
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

_CLICKS: Mapping[str, tuple[str, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_CLICK_NAMES = {spoken: name for name, spoken in _CLICKS.items()}
_WHEEL: Mapping[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


@dataclass(frozen=True, slots=True)
class AnthropicHands:
    name: str = "anthropic"

    def offer(self, tools: Sequence[Tool], view: View | None) -> tuple[Tool, ...]:
        return (*(_tool(view) if tool.name == COMPUTER else tool for tool in tools), FINISH_TOOL)

    def guide(self, tools: Sequence[Tool]) -> str:
        return ""

    def read(self, reply: Reply, view: View | None) -> tuple[Wish, ...]:
        def reader(call: ToolCall) -> Iterable[Intent]:
            span = str(dict(call.arguments))
            return acts([checked(each, view, span) for each in _read(call.arguments, view, span)], call.id)

        return read_calls(reply, COMPUTER, reader) or finish_or_silence(reply)

    def render(self, call: ToolCall, view: View | None) -> Reply:
        if call.name != COMPUTER:
            return Reply("", (call,))
        return Reply("", (ToolCall(call.id, COMPUTER, _say(call, view or UNSCALED)),))


def _read(said: Mapping[str, Any], view: View | None, span: str) -> Sequence[Spoken]:
    action = text(said.get("action"), "action")
    match action:
        case "screenshot":
            return [{"action": "screenshot"}]
        case "mouse_move":
            point = pair(said.get("coordinate"), "coordinate", view)
            return [{"action": "move", "x": point.x, "y": point.y}]
        case "left_click_drag":
            return [_read_drag(said, view, span)]
        case "scroll":
            return [_read_scroll(said, view, span)]
        case "type":
            return [{"action": "type", "text": text(said.get("text"), "text")}]
        case "key":
            chords = text(said.get("text"), "text").split() or [""]
            return [{"action": "key", "keys": chord(split_chord(each))} for each in chords]
        case "hold_key":
            keys = chord(split_chord(said.get("text")))
            return [{"action": "key", "keys": keys, "hold": number(said.get("duration"), "duration")}]
        case "wait":
            return [{"action": "wait", "seconds": number(said.get("duration", 1), "duration")}]
        case "left_mouse_down" | "left_mouse_up":
            return [{"action": action.removeprefix("left_"), "button": "left"}]
        case _ if action in _CLICKS:
            return [_read_click(action, said, view, span)]
    raise Unreadable(action, f"no action {action!r}; there are: {', '.join(sorted(_ACTIONS))}")


def _read_click(action: str, said: Mapping[str, Any], view: View | None, span: str) -> Spoken:
    button, count = _CLICKS[action]
    point = _at_or_pointer(said.get("coordinate"), view, span)
    held = said.get("text") or said.get("key")
    spoken: dict[str, Any] = {"action": "click", "x": point.x, "y": point.y, "button": button, "count": count}
    return spoken | ({"keys": chord(split_chord(held))} if held else {})


def _read_drag(said: Mapping[str, Any], view: View | None, span: str) -> Spoken:
    start = _at_or_pointer(said.get("start_coordinate"), view, span)
    end = pair(said.get("coordinate"), "coordinate", view)
    return {"action": "drag", "path": [[start.x, start.y], [end.x, end.y]]}


def _read_scroll(said: Mapping[str, Any], view: View | None, span: str) -> Spoken:
    at = said.get("coordinate")
    point = pointer_or_middle(view, span) if at is None else pair(at, "coordinate", view)
    direction = text(said.get("scroll_direction"), "scroll_direction")
    if direction not in _WHEEL:
        raise Unreadable(direction, f"scroll_direction is one of {', '.join(_WHEEL)}")
    amount = whole(said.get("scroll_amount", 3), "scroll_amount")
    dx, dy = _WHEEL[direction]
    return {"action": "scroll", "x": point.x, "y": point.y, "dx": dx * amount, "dy": dy * amount}


def _at_or_pointer(at: Any, view: View | None, span: str) -> Point:
    return pointer(view, span) if at is None else pair(at, "coordinate", view)


_ACTIONS = (
    *_CLICKS,
    *("screenshot", "mouse_move", "left_click_drag", "scroll", "type", "key", "hold_key", "wait"),
    *("left_mouse_down", "left_mouse_up"),
)


def _say(call: ToolCall, view: View) -> dict[str, Any]:
    def at(x: int, y: int) -> list[float]:
        return list(spell(view, x, y))

    match computer_call(call):
        case ScreenshotCall():
            return {"action": "screenshot"}
        case ClickCall(x, y, button, count, keys) if (button.value, count) in _CLICK_NAMES:
            named = {"action": _CLICK_NAMES[button.value, count], "coordinate": at(x, y)}
            return named | ({"text": keys} if keys else {})
        case MoveCall(x, y):
            return {"action": "mouse_move", "coordinate": at(x, y)}
        case DragCall([start, end], "left", ""):
            return {"action": "left_click_drag", "start_coordinate": at(*start), "coordinate": at(*end)}
        case ScrollCall(x, y, dx, dy, "") if (dx == 0) != (dy == 0):
            return {"action": "scroll", "coordinate": at(x, y)} | _wheel(dx, dy)
        case TypeCall(typed):
            return {"action": "type", "text": typed}
        case KeyCall(keys, 0.0):
            return {"action": "key", "text": keys}
        case KeyCall(keys, hold):
            return {"action": "hold_key", "text": keys, "duration": hold}
        case MouseDownCall("left"):
            return {"action": "left_mouse_down"}
        case MouseUpCall("left"):
            return {"action": "left_mouse_up"}
        case WaitCall(seconds):
            return {"action": "wait", "duration": seconds}
        case other:
            raise Inexpressible(f"Anthropic's computer tool has no words for {other}")


def _wheel(dx: int, dy: int) -> dict[str, Any]:
    unit = ((dx > 0) - (dx < 0), (dy > 0) - (dy < 0))
    direction = next(name for name, step in _WHEEL.items() if step == unit)
    return {"scroll_direction": direction, "scroll_amount": abs(dx + dy)}


def _tool(view: View | None) -> Tool:
    spelled = view.spelled if view is not None else "Take a screenshot first."
    point = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return Tool(
        COMPUTER,
        f"Use a mouse and keyboard to interact with a computer, and take screenshots. {spelled} "
        "`text` is what to type, the chord for `key` and `hold_key` (xdotool names such as ctrl+s, Return), "
        "or modifiers held during a click. `duration` is in seconds.",
        {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": list(_ACTIONS)},
                "coordinate": point,
                "start_coordinate": point,
                "text": {"type": "string"},
                "scroll_direction": {"type": "string", "enum": list(_WHEEL)},
                "scroll_amount": {"type": "integer", "minimum": 0},
                "duration": {"type": "number", "minimum": 0},
            },
            "required": ["action"],
        },
    )
