"""Hands on the mouse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from practicum.vm_images.handsd.xlib import Connection, xtst

BUTTONS = {"left": 1, "middle": 2, "right": 3}
_UP, _DOWN, _LEFT, _RIGHT = 4, 5, 6, 7
_STEP = 8.0
_MAX_STEPS = 32

Place = tuple[int, int]


class Pointer:
    """`pace` lets the other side take in a movement, for some seconds; `taken` returns once the window
    manager has dealt with the presses before: it sees each first, and what happens meanwhile is held back
    and may be told with another place.
    """

    def __init__(
        self, connection: Connection, pace: Callable[[float], None], taken: Callable[[], None]
    ) -> None:
        self._x = connection
        self._pace = pace
        self._taken = taken

    def move(self, place: Place) -> None:
        xtst.XTestFakeMotionEvent(self._x.display, -1, place[0], place[1], 0)

    def button(self, button: int, *, press: bool) -> None:
        xtst.XTestFakeButtonEvent(self._x.display, button, int(press), 0)
        if button < _UP:
            self._taken()

    def click(self, place: Place, button: int, count: int) -> None:
        """Chromium takes presses of one and the same millisecond for one press."""
        self.move(place)
        for press in range(count):
            if press:
                self._pace(0.01)
            self.button(button, press=True)
            self.button(button, press=False)

    def scroll(self, place: Place, dx: int, dy: int) -> None:
        self.move(place)
        for amount, back, forth in ((dy, _UP, _DOWN), (dx, _LEFT, _RIGHT)):
            for _ in range(abs(amount)):
                self.button(forth if amount > 0 else back, press=True)
                self.button(forth if amount > 0 else back, press=False)

    def drag(self, path: Sequence[Place], button: int) -> None:
        """A toolkit starts a drag on motion after the press, and asks what lies under the pointer on the
        way: both take it a moment, as they would with a person's hand."""
        self.move(path[0])
        self.button(button, press=True)
        try:
            self._pace(0.03)
            for start, end in itertools.pairwise(path):
                for place in _between(start, end):
                    self.move(place)
                    self._pace(0.008)
            self._pace(0.05)
        finally:
            self.button(button, press=False)


def _between(start: Place, end: Place) -> list[Place]:
    """Points of the straight way, the start left out and the end included."""
    length = math.dist(start, end)
    steps = max(1, min(4, round(length)), min(_MAX_STEPS, math.ceil(length / _STEP)))
    return [
        (
            start[0] + round((end[0] - start[0]) * step / steps),
            start[1] + round((end[1] - start[1]) * step / steps),
        )
        for step in range(1, steps + 1)
    ]
