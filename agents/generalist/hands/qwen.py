"""Qwen-VL's `computer_use` function, called or written between `<tool_call>` tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from practicum.agents.agent import Reply
from practicum.agents.generalist.hands.openai import NOTCH
from practicum.agents.generalist.hands.reading import (
    COMPUTER,
    FINISH,
    LONGEST_SPAN,
    UNSCALED,
    Spoken,
    Unreadable,
    acts,
    checked,
    chord,
    computer_call,
    finish_or_silence,
    mistake,
    number,
    pair,
    pointer,
    pointer_or_middle,
    read_calls,
    spell,
    text,
    whole,
)
from practicum.agents.generalist.layers import Act, Finish, Inexpressible, Intent, Mistake, Wish
from practicum.agents.generalist.view import View
from practicum.infra.desk import keys as key_names
from practicum.infra.desk.arguments import (
    ClickCall,
    DragCall,
    KeyCall,
    MoveCall,
    ScrollCall,
    TypeCall,
    WaitCall,
)
from practicum.infra.environment import Tool, ToolCall

TOOL = "computer_use"
_TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_CLICKS: Mapping[str, tuple[str, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_CLICK_NAMES = {spoken: name for name, spoken in _CLICKS.items()}
_ACTIONS = (
    *_CLICKS,
    *("mouse_move", "left_click_drag", "scroll", "hscroll", "type", "key", "wait", "answer", "terminate"),
)


@dataclass(frozen=True, slots=True)
class QwenHands:
    """`left_click_drag` begins where the agent last pointed, as in the model's own tool."""

    name: str = "qwen"

    def offer(self, tools: Sequence[Tool], view: View | None) -> tuple[Tool, ...]:
        return tuple(_tool(view) if tool.name == COMPUTER else tool for tool in tools)

    def guide(self, tools: Sequence[Tool]) -> str:
        return f"When the task is done, or cannot be done, call `{TOOL}` with action `terminate`."

    def read(self, reply: Reply, view: View | None) -> tuple[Wish, ...]:
        def reader(call: ToolCall) -> Iterable[Intent]:
            return _read(call.arguments, call.id, view)

        called = read_calls(reply, TOOL, reader)
        written = tuple(_written(body, n, view) for n, body in enumerate(_TAGGED.findall(reply.text), 1))
        return (*called, *written) or finish_or_silence(reply)

    def render(self, call: ToolCall, view: View | None) -> Reply:
        if call.name != COMPUTER:
            return Reply("", (call,))
        return Reply("", (ToolCall(call.id, TOOL, _say(call, view or UNSCALED)),))


def _written(body: str, number_: int, view: View | None) -> Wish:
    try:
        said = json.loads(body)
        arguments = said["arguments"]
        if said["name"] == TOOL and isinstance(arguments, dict):
            return Wish(None, tuple(_read(arguments, f"said-{number_}", view)))
        if isinstance(said["name"], str) and isinstance(arguments, dict) and said["name"] != FINISH:
            return Wish(None, (Act(ToolCall(f"said-{number_}", said["name"], arguments)),))
        reason = "it needs a name and an object of arguments"
    except (ValueError, RecursionError) as error:
        reason = f"not JSON: {error}"
    except (KeyError, TypeError):
        reason = "it needs a name and an object of arguments"
    except Unreadable as error:
        return Wish(None, (mistake(error),))
    return Wish(None, (Mistake(body.strip()[:LONGEST_SPAN], reason),))


def _read(said: Mapping[str, Any], call_id: str, view: View | None) -> Iterable[Intent]:
    action = text(said.get("action"), "action")
    if action in {"terminate", "answer"}:
        return (_read_end(action, said),)
    span = str(dict(said))
    return acts([checked(_read_action(action, said, view, span), view, span)], call_id)


def _read_end(action: str, said: Mapping[str, Any]) -> Finish:
    if action == "answer":
        return Finish(True, text(said.get("text"), "text"))
    status = text(said.get("status"), "status")
    if status not in {"success", "failure"}:
        raise Unreadable(status, "status is success or failure")
    return Finish(status == "success", str(said.get("text", "")))


def _read_action(action: str, said: Mapping[str, Any], view: View | None, span: str) -> Spoken:
    at = said.get("coordinate")
    match action:
        case "mouse_move":
            point = pair(at, "coordinate", view)
            return {"action": "move", "x": point.x, "y": point.y}
        case "left_click_drag":
            start, end = pointer(view, span), pair(at, "coordinate", view)
            return {"action": "drag", "path": [[start.x, start.y], [end.x, end.y]]}
        case "scroll" | "hscroll":
            point = pointer_or_middle(view, span) if at is None else pair(at, "coordinate", view)
            turned = _notches(said.get("pixels"), up_is_positive=action == "scroll")
            axis = "dy" if action == "scroll" else "dx"
            return {"action": "scroll", "x": point.x, "y": point.y, axis: turned}
        case "type":
            return {"action": "type", "text": text(said.get("text"), "text")}
        case "key":
            names = said.get("keys")
            return {"action": "key", "keys": chord(names if isinstance(names, list) else [names])}
        case "wait":
            return {"action": "wait", "seconds": number(said.get("time", 1), "time")}
        case _ if action in _CLICKS:
            button, count = _CLICKS[action]
            point = pointer(view, span) if at is None else pair(at, "coordinate", view)
            return {"action": "click", "x": point.x, "y": point.y, "button": button, "count": count}
    raise Unreadable(action, f"no action {action!r}; there are: {', '.join(_ACTIONS)}")


def _notches(value: Any, *, up_is_positive: bool) -> int:
    """Pixels to notches, away from zero. Qwen's `scroll` counts up as positive; `hscroll` counts right."""
    pixels = whole(value, "pixels")
    size = -(-abs(pixels) // NOTCH)
    return -size if (pixels > 0) == up_is_positive else size


def _say(call: ToolCall, view: View) -> dict[str, Any]:
    def at(x: int, y: int) -> list[float]:
        return list(spell(view, x, y))

    match computer_call(call):
        case ClickCall(x, y, button, count, "") if (button.value, count) in _CLICK_NAMES:
            return {"action": _CLICK_NAMES[button.value, count], "coordinate": at(x, y)}
        case MoveCall(x, y):
            return {"action": "mouse_move", "coordinate": at(x, y)}
        case DragCall([start, end], "left", "") if view.pointer is not None and start == (
            view.pointer.x,
            view.pointer.y,
        ):
            return {"action": "left_click_drag", "coordinate": at(*end)}
        case ScrollCall(x, y, 0, dy, ""):
            return {"action": "scroll", "coordinate": at(x, y), "pixels": -dy * NOTCH}
        case ScrollCall(x, y, dx, 0, ""):
            return {"action": "hscroll", "coordinate": at(x, y), "pixels": dx * NOTCH}
        case TypeCall(typed):
            return {"action": "type", "text": typed}
        case KeyCall(keys, 0.0):
            return {"action": "key", "keys": list(key_names.parse_chord(keys))}
        case WaitCall(seconds):
            return {"action": "wait", "time": seconds}
        case other:
            raise Inexpressible(f"Qwen's computer_use has no words for {other}")


def _tool(view: View | None) -> Tool:
    spelled = view.spelled if view is not None else "Take a screenshot first."
    return Tool(
        TOOL,
        f"Use a mouse and keyboard to interact with a computer. {spelled} `keys` is a list pressed together; "
        "`pixels` of `scroll` are positive upwards, of `hscroll` to the right; `time` is in seconds.",
        {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": list(_ACTIONS)},
                "coordinate": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                "keys": {"type": "array", "items": {"type": "string"}},
                "text": {"type": "string"},
                "pixels": {"type": "number"},
                "time": {"type": "number"},
                "status": {"type": "string", "enum": ["success", "failure"]},
            },
            "required": ["action"],
        },
    )
