"""What hands can do, in desk pixels: x to the right, y down, (0, 0) the top-left pixel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Button(StrEnum):
    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


@dataclass(frozen=True, slots=True, order=True)
class Point:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Move:
    to: Point


@dataclass(frozen=True, slots=True)
class Click:
    """`count` presses at one place; `held` are canonical key names kept down meanwhile."""

    at: Point
    button: Button = Button.LEFT
    count: int = 1
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drag:
    """Press at the first point, move through the others with intermediate motion, release at the last."""

    path: tuple[Point, ...]
    button: Button = Button.LEFT
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ButtonDown:
    button: Button = Button.LEFT


@dataclass(frozen=True, slots=True)
class ButtonUp:
    button: Button = Button.LEFT


@dataclass(frozen=True, slots=True)
class Scroll:
    """Wheel notches; positive `dy` moves the content up (towards its end), positive `dx` to the right end."""

    at: Point
    dx: int = 0
    dy: int = 0
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeText:
    """Any text, `\\n` as Return and `\\t` as Tab; other control characters are refused as `Unsupported`."""

    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """A chord of canonical key names (see `infra.desk.keys`), pressed in order, released in reverse."""

    chord: tuple[str, ...]
    hold: float = 0.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Let the machine go on for `seconds` of its own time; an act of the agent, not synchronisation."""

    seconds: float


Action = Move | Click | Drag | ButtonDown | ButtonUp | Scroll | TypeText | Key | Wait
