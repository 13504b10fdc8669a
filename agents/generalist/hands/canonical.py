"""The house's own dialect: the tools as the environment declares them, places in the picture's space."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from practicum.agents.agent import Reply
from practicum.agents.generalist.hands.reading import (
    COMPUTER,
    FINISH_TOOL,
    Unreadable,
    computer_call,
    finish_or_silence,
    pair,
    place,
    read_calls,
    whole,
)
from practicum.agents.generalist.layers import Act, Intent, Wish
from practicum.agents.generalist.view import BadPlace, View
from practicum.infra.desk.actions import Point
from practicum.infra.environment import Tool, ToolCall


@dataclass(frozen=True, slots=True)
class CanonicalHands:
    name: str = "canonical"

    def offer(self, tools: Sequence[Tool], view: View | None) -> tuple[Tool, ...]:
        shown = (_fit(tool, view) if tool.name == COMPUTER and view else tool for tool in tools)
        return (*shown, FINISH_TOOL)

    def guide(self, tools: Sequence[Tool]) -> str:
        return ""

    def read(self, reply: Reply, view: View | None) -> tuple[Wish, ...]:
        def reader(call: ToolCall) -> Iterable[Intent]:
            yield Act(ToolCall(call.id, call.name, _to_desk(dict(call.arguments), view)))

        return read_calls(reply, COMPUTER, reader) or finish_or_silence(reply)

    def render(self, call: ToolCall, view: View | None) -> Reply:
        if call.name == COMPUTER and view is not None:
            computer_call(call)
            call = ToolCall(call.id, call.name, _to_model(dict(call.arguments), view))
        return Reply("", (call,))


def _to_desk(arguments: dict[str, Any], view: View | None) -> dict[str, Any]:
    """Places into desk pixels; everything else is for the environment to judge."""
    if "mark" in arguments:
        point = _mark(whole(arguments.pop("mark"), "mark"), view)
        return arguments | {"x": point.x, "y": point.y}
    if arguments.get("action") == "elements" and view is not None and not view.exact:
        raise Unreadable("elements", "not offered: its boxes would not fit this picture")
    if "x" in arguments and "y" in arguments:
        point = place(arguments["x"], arguments["y"], view)
        arguments |= {"x": point.x, "y": point.y}
    path = arguments.get("path")
    if isinstance(path, list):
        points = [pair(each, "a point of path", view) for each in path]
        arguments["path"] = [[point.x, point.y] for point in points]
    return arguments


def _mark(number: int, view: View | None) -> Point:
    if view is None:
        raise Unreadable(str(number), "no screenshot was shown yet: take one first")
    try:
        return view.mark(number)
    except BadPlace as error:
        raise Unreadable(str(number), str(error)) from error


def _to_model(arguments: dict[str, Any], view: View) -> dict[str, Any]:
    if "x" in arguments:
        x, y = view.to_model(Point(arguments["x"], arguments["y"]))
        arguments |= {"x": x, "y": y}
    if "path" in arguments:
        arguments["path"] = [list(view.to_model(Point(x, y))) for x, y in arguments["path"]]
    return arguments


def _fit(tool: Tool, view: View) -> Tool:
    """The computer tool with the units of the picture where they are not the desk's, and marks if any."""
    if view.exact and not view.marks:
        return tool
    parameters: dict[str, Any] = copy.deepcopy(dict(tool.parameters))
    properties = parameters["properties"]
    description = tool.description
    if not view.exact:
        description = f"{_ACTIONS} {view.spelled}"
        _rescale(properties, view)
    if view.marks:
        description += " In `click`, `move` and `scroll`, `mark` may stand in place of x and y."
        properties["mark"] = {"type": "integer", "minimum": 1, "maximum": len(view.marks)}
    return Tool(tool.name, description, parameters)


_ACTIONS = (
    "Look at and operate the screen. Every action answers with a screenshot taken once the screen is quiet. "
    "`click` {x, y, button, count, keys}; `move` {x, y}; `drag` {path, button, keys}; "
    "`scroll` {x, y, dx, dy, keys} in wheel notches, positive dy towards the end; `type` {text}; "
    "`key` {keys, hold} such as ctrl+shift+s; `mouse_down`, `mouse_up` {button}; `wait` {seconds}; "
    "`screenshot`."
)


def _rescale(properties: dict[str, Any], view: View) -> None:
    kind = "integer" if view.whole else "number"
    for axis, end in zip(("x", "y"), view.ends, strict=True):
        properties[axis] = {"type": kind, "minimum": 0, "maximum": end}
    properties["path"]["items"]["items"] = {"type": kind}
    properties["path"]["description"] = "points [x, y], from press to release"
    properties["action"]["enum"] = [each for each in properties["action"]["enum"] if each != "elements"]
