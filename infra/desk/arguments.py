"""Reading a model's tool arguments into typed requests. What does not fit is the model's own mistake."""

from __future__ import annotations

from typing import Annotated, TypeVar, assert_never

import msgspec
from msgspec import Meta

from practicum.infra.desk import keys
from practicum.infra.desk.actions import (
    Action,
    Button,
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Key,
    Move,
    Point,
    Scroll,
    TypeText,
    Wait,
)
from practicum.infra.environment import JSON

MAX_WAIT = 30.0
MAX_TIMEOUT = 600.0

Coordinate = Annotated[int, Meta(ge=0)]
Notches = Annotated[int, Meta(ge=-100, le=100)]


class ArgumentError(ValueError):
    """The arguments do not fit the tool; the message says which and why."""


class _Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="action"):
    """One `computer` call, told apart by its `action`."""


class ScreenshotCall(_Call, frozen=True, tag="screenshot"):
    pass


class ElementsCall(_Call, frozen=True, tag="elements"):
    pass


class ClickCall(_Call, frozen=True, tag="click"):
    x: Coordinate
    y: Coordinate
    button: Button = Button.LEFT
    count: Annotated[int, Meta(ge=1, le=3)] = 1
    keys: str = ""


class MoveCall(_Call, frozen=True, tag="move"):
    x: Coordinate
    y: Coordinate


class DragCall(_Call, frozen=True, tag="drag"):
    path: Annotated[list[tuple[Coordinate, Coordinate]], Meta(min_length=2, max_length=1000)]
    button: Button = Button.LEFT
    keys: str = ""


class ScrollCall(_Call, frozen=True, tag="scroll"):
    x: Coordinate
    y: Coordinate
    dx: Notches = 0
    dy: Notches = 0
    keys: str = ""


class TypeCall(_Call, frozen=True, tag="type"):
    text: Annotated[str, Meta(max_length=20_000)]


class KeyCall(_Call, frozen=True, tag="key"):
    keys: str
    hold: Annotated[float, Meta(ge=0, le=10)] = 0.0


class MouseDownCall(_Call, frozen=True, tag="mouse_down"):
    button: Button = Button.LEFT


class MouseUpCall(_Call, frozen=True, tag="mouse_up"):
    button: Button = Button.LEFT


class WaitCall(_Call, frozen=True, tag="wait"):
    seconds: Annotated[float, Meta(ge=0, le=MAX_WAIT)]


ComputerCall = (
    ScreenshotCall
    | ElementsCall
    | ClickCall
    | MoveCall
    | DragCall
    | ScrollCall
    | TypeCall
    | KeyCall
    | MouseDownCall
    | MouseUpCall
    | WaitCall
)


class BashCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    timeout: Annotated[float, Meta(gt=0, le=MAX_TIMEOUT)] = 120.0


class ReadFileCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str


class WriteFileCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    text: str


T = TypeVar("T", BashCall, ReadFileCall, WriteFileCall)


def read(arguments: JSON, kind: type[T]) -> T:
    """The arguments of one simple tool. Raises `ArgumentError`."""
    try:
        return msgspec.convert(dict(arguments), type=kind)
    except msgspec.ValidationError as error:
        raise ArgumentError(str(error)) from error


def read_computer(arguments: JSON, width: int, height: int) -> ComputerCall:
    """A `computer` call whose points all lie on a screen of this size. Raises `ArgumentError`."""
    try:
        call: ComputerCall = msgspec.convert(dict(arguments), type=ComputerCall)
    except msgspec.ValidationError as error:
        raise ArgumentError(str(error)) from error
    for point in _points(call):
        if point.x >= width or point.y >= height:
            raise ArgumentError(f"({point.x}, {point.y}) is off the {width}×{height} screen")
    return call


def action(call: ComputerCall) -> Action | None:
    """What the hands do for this call; `None` where it only looks. Raises `ArgumentError`."""
    match call:
        case ClickCall(x, y, button, count, held):
            return Click(Point(x, y), button, count, _held(held))
        case MoveCall(x, y):
            return Move(Point(x, y))
        case DragCall(path, button, held):
            return Drag(tuple(Point(x, y) for x, y in path), button, _held(held))
        case ScrollCall(x, y, dx, dy, held):
            return Scroll(Point(x, y), dx, dy, _held(held))
        case TypeCall(text):
            return TypeText(text)
        case KeyCall(chord, hold):
            return Key(_chord(chord), hold)
        case MouseDownCall(button):
            return ButtonDown(button)
        case MouseUpCall(button):
            return ButtonUp(button)
        case WaitCall(seconds):
            return Wait(seconds)
        case ScreenshotCall() | ElementsCall():
            return None
        case _ as never:
            assert_never(never)


def _points(call: ComputerCall) -> tuple[Point, ...]:
    match call:
        case ClickCall(x, y) | MoveCall(x, y) | ScrollCall(x, y):
            return (Point(x, y),)
        case DragCall(path):
            return tuple(Point(x, y) for x, y in path)
        case _:
            return ()


def _held(text: str) -> tuple[str, ...]:
    return _chord(text) if text else ()


def _chord(text: str) -> tuple[str, ...]:
    try:
        return keys.parse_chord(text)
    except keys.UnknownKey as error:
        raise ArgumentError(str(error)) from error
