"""What every dialect needs to read arguments a model wrote, and to say where it went wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from practicum.agents.agent import Reply
from practicum.agents.generalist.layers import Act, Finish, Inexpressible, Intent, Mistake, Wish
from practicum.agents.generalist.view import BadPlace, Size, View
from practicum.infra.desk import keys
from practicum.infra.desk.actions import Point
from practicum.infra.desk.arguments import ArgumentError, ComputerCall, read_computer
from practicum.infra.environment import Tool, ToolCall

COMPUTER = "computer"
FINISH = "finish"
LONGEST_SPAN = 500

UNSCALED = View(Size(1 << 16, 1 << 16), Size(1 << 16, 1 << 16))
"""For saying a call where no picture was shown: desk pixels as they are."""

FINISH_TOOL = Tool(
    FINISH,
    "Say that the work is over. `success` is false only where the task cannot be done at all.",
    {
        "type": "object",
        "properties": {"success": {"type": "boolean"}, "message": {"type": "string"}},
        "required": ["success", "message"],
        "additionalProperties": False,
    },
)


class Unreadable(Exception):
    """Internal to the dialects: a `Mistake` on its way to `read`."""

    def __init__(self, span: str, reason: str) -> None:
        super().__init__(reason)
        self.span = span
        self.reason = reason


Spoken = Mapping[str, Any]
"""Arguments of one canonical `computer` call."""


def number(value: Any, what: str) -> float:
    """A finite number, 0 included. Raises `Unreadable`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unreadable(_quote(value), f"{what} is not a number")
    return value


def whole(value: Any, what: str) -> int:
    """A whole number, also where it was written as 3.0. Raises `Unreadable`."""
    read = number(value, what)
    if read != int(read):
        raise Unreadable(_quote(value), f"{what} is not a whole number")
    return int(read)


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise Unreadable(_quote(value), f"{what} is not a string")
    return value


def place(x: Any, y: Any, view: View | None) -> Point:
    """The desk pixel of a place in the newest picture. Raises `Unreadable`."""
    if view is None:
        raise Unreadable(f"({x}, {y})", "no screenshot was shown yet: take one first")
    try:
        return view.to_desk(number(x, "x"), number(y, "y"))
    except BadPlace as error:
        raise Unreadable(f"({x}, {y})", str(error)) from error


def pair(value: Any, what: str, view: View | None) -> Point:
    """A place written as a list of two numbers. Raises `Unreadable`."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Unreadable(_quote(value), f"{what} is not a pair [x, y]")
    return place(value[0], value[1], view)


def pointer(view: View | None, span: str) -> Point:
    """Where the agent last pointed. Raises `Unreadable` where it never did."""
    if view is None or view.pointer is None:
        raise Unreadable(span, "it says no place, and nothing was pointed at before")
    return view.pointer


def pointer_or_middle(view: View | None, span: str) -> Point:
    """For the wheel: where the agent last pointed, else the middle of the screen."""
    if view is not None and view.pointer is None:
        return Point(view.desk.width // 2, view.desk.height // 2)
    return pointer(view, span)


def chord(names: Iterable[Any]) -> str:
    """Key names of any vendor as a canonical chord. Raises `Unreadable`."""
    listed = [text(name, "a key name") for name in names]
    try:
        return keys.render_chord(keys.chord(listed))
    except keys.UnknownKey as error:
        raise Unreadable(error.name, str(error)) from error


def split_chord(written: Any) -> list[str]:
    """`ctrl+s` and `ctrl++` into names."""
    spelled = text(written, "keys")
    if spelled == "+":
        return ["+"]
    if spelled.endswith("++"):
        return [*spelled[:-2].split("+"), "+"]
    return spelled.split("+")


def bind(
    names: tuple[str, ...], given: tuple[Any, ...], named: Mapping[str, Any], span: str
) -> dict[str, Any]:
    """Positional and named arguments by name, as Python would. Raises `Unreadable`."""
    if len(given) > len(names):
        raise Unreadable(span, f"too many arguments; it takes {', '.join(names) or 'none'}")
    bound = dict(zip(names, given, strict=False))
    for name, value in named.items():
        if name not in names:
            raise Unreadable(span, f"no argument {name!r}; it takes {', '.join(names) or 'none'}")
        if name in bound:
            raise Unreadable(span, f"argument {name!r} is given twice")
        bound[name] = value
    return bound


def checked(spoken: Spoken, view: View | None, span: str) -> Spoken:
    """The arguments, once the desk's own reader accepts them. Raises `Unreadable`."""
    try:
        size = (
            (view.desk.width, view.desk.height)
            if view is not None
            else (UNSCALED.desk.width, UNSCALED.desk.height)
        )
        read_computer(spoken, *size)
    except ArgumentError as error:
        raise Unreadable(span, str(error)) from error
    return spoken


def acts(spoken: Iterable[Spoken], call_id: str) -> tuple[Act, ...]:
    """Canonical calls with ids of their own, numbered where one utterance makes several."""
    listed = list(spoken)
    if len(listed) == 1:
        return (Act(ToolCall(call_id, COMPUTER, listed[0])),)
    return tuple(
        Act(ToolCall(f"{call_id}.{n}", COMPUTER, arguments)) for n, arguments in enumerate(listed, 1)
    )


def read_calls(reply: Reply, name: str, reader: Callable[[ToolCall], Iterable[Intent]]) -> tuple[Wish, ...]:
    """Wishes of a reply's tool calls: `reader` takes calls of the tool `name`, `finish` finishes, all other
    calls are canonical already, and malformed ones are mistakes."""
    wishes = []
    for call in reply.calls:
        try:
            intents = tuple(reader(call)) if call.name == name else (_canonical(call),)
        except Unreadable as error:
            intents = (mistake(error),)
        wishes.append(Wish(call.id, intents))
    for bad in reply.malformed:
        reason = f"{bad.reason} (the answer was cut at its length limit)" if reply.cut else bad.reason
        wishes.append(Wish(None, (Mistake(bad.span[:LONGEST_SPAN], f"call of {bad.name!r}: {reason}"),)))
    return tuple(wishes)


def finish_or_silence(reply: Reply) -> tuple[Wish, ...]:
    """What a reply without any call means where calls are the only way to act: the model is done talking."""
    if reply.cut:
        return (Wish(None, (Mistake(reply.text[-80:], "the answer was cut at its length limit"),)),)
    if not reply.text.strip():
        return (Wish(None, (Mistake("", "the answer was empty"),)),)
    return (Wish(None, (Finish(True, reply.text),)),)


def mistake(error: Unreadable) -> Mistake:
    return Mistake(error.span[:LONGEST_SPAN], error.reason)


def computer_call(call: ToolCall) -> ComputerCall:
    """A canonical `computer` call as its typed request, to be rendered. Raises `Inexpressible`."""
    if call.name != COMPUTER:
        raise Inexpressible(f"{call.name} is no action at the screen")
    try:
        return read_computer(call.arguments, UNSCALED.desk.width, UNSCALED.desk.height)
    except ArgumentError as error:
        raise Inexpressible(str(error)) from error


def spell(view: View, x: int, y: int) -> tuple[float, float]:
    """A desk pixel in the model's space."""
    return view.to_model(Point(x, y))


def _canonical(call: ToolCall) -> Intent:
    if call.name != FINISH:
        return Act(call)
    success, message = call.arguments.get("success"), call.arguments.get("message", "")
    if not isinstance(success, bool):
        raise Unreadable(_quote(success), "success is neither true nor false")
    return Finish(success, text(message, "message"))


def _quote(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=repr).decode()[:LONGEST_SPAN]
