"""The transform between a desk's pixels and the picture a model was shown of it. One view, one picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from practicum.infra.desk.actions import Point
from practicum.infra.desk.desk import Element


class Space(StrEnum):
    """What a model family means by a coordinate."""

    PIXELS = "pixels"
    """Pixels of the picture as sent."""
    THOUSANDTHS = "0-1000"
    """0 is one edge, 1000 the other."""
    GRID_999 = "0-999"
    """0 is one edge, 999 the other."""
    FRACTION = "fraction"
    """0.0 is one edge, 1.0 the other."""


class BadPlace(ValueError):
    """A place that is not in the picture. The model's mistake; the message is for it to read."""


@dataclass(frozen=True, slots=True)
class Size:
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class View:
    """How one sent picture maps to the desk. `marks[n - 1]` is what mark n in the picture stands on;
    `pointer` is where the agent last pointed, in desk pixels.

    The map takes edges to edges: 0 to the first pixel and the space's upper end to the last. Within a
    picture pixel it always lands on a desk pixel that this picture pixel shows.
    """

    desk: Size
    sent: Size
    space: Space = Space.PIXELS
    marks: tuple[Element, ...] = ()
    pointer: Point | None = None

    @property
    def exact(self) -> bool:
        """A coordinate of the model is a desk pixel."""
        return self.space is Space.PIXELS and self.sent == self.desk

    @property
    def ends(self) -> tuple[float, float]:
        """The largest x and y of the model's space."""
        match self.space:
            case Space.PIXELS:
                return self.sent.width - 1, self.sent.height - 1
            case Space.THOUSANDTHS:
                return 1000, 1000
            case Space.GRID_999:
                return 999, 999
            case Space.FRACTION:
                return 1.0, 1.0

    @property
    def whole(self) -> bool:
        """Coordinates of this space are whole numbers."""
        return self.space is not Space.FRACTION

    @property
    def spelled(self) -> str:
        """How the model is to write coordinates, in a sentence."""
        match self.space:
            case Space.PIXELS:
                unit = f"pixels of the {self.sent.width}×{self.sent.height} screenshot"
            case Space.THOUSANDTHS:
                unit = "thousandths of the screenshot's width and height, from 0 to 1000"
            case Space.GRID_999:
                unit = "a grid over the screenshot, from 0 to 999 in both directions"
            case Space.FRACTION:
                unit = "fractions of the screenshot's width and height, from 0.0 to 1.0"
        return f"Coordinates are {unit}; x runs to the right, y down, (0, 0) is the top-left corner."

    def to_desk(self, x: float, y: float) -> Point:
        """The desk pixel of a model's place. Raises `BadPlace`."""
        end_x, end_y = self.ends
        if not (0 <= x <= end_x and 0 <= y <= end_y):
            raise BadPlace(f"({x:g}, {y:g}) is outside the picture: x is 0 to {end_x:g}, y is 0 to {end_y:g}")
        return Point(_stretch(x, end_x, self.desk.width - 1), _stretch(y, end_y, self.desk.height - 1))

    def to_model(self, point: Point) -> tuple[float, float]:
        """The place in the model's space of a desk pixel; whole numbers where the space has only those."""
        end_x, end_y = self.ends
        x = _shrink(point.x, self.desk.width - 1, end_x)
        y = _shrink(point.y, self.desk.height - 1, end_y)
        return (round_half_up(x), round_half_up(y)) if self.whole else (x, y)

    def mark(self, number: int) -> Point:
        """The middle of what a mark stands on. Raises `BadPlace`."""
        if not 1 <= number <= len(self.marks):
            there = f"there are marks 1 to {len(self.marks)}" if self.marks else "it has no marks"
            raise BadPlace(f"no mark {number} in this picture; {there}")
        box = self.marks[number - 1]
        return Point(
            min(max(box.x + box.width // 2, 0), self.desk.width - 1),
            min(max(box.y + box.height // 2, 0), self.desk.height - 1),
        )


def round_half_up(value: float) -> int:
    """Monotone, unlike rounding half to even."""
    return math.floor(value + 0.5)


def _stretch(value: float, end: float, last: int) -> int:
    return round_half_up(value * last / end) if end else 0


def _shrink(pixel: int, last: int, end: float) -> float:
    return pixel * end / last if last else 0.0
