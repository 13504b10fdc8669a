"""Actions as the host sends them, carried out one after another."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from practicum.vm_images.handsd.keyboard import Keyboard
from practicum.vm_images.handsd.pointer import BUTTONS, Place, Pointer

if TYPE_CHECKING:
    from practicum.vm_images.handsd.display import Display

_APART = 0.55
_APART_FROM_DOUBLE = 0.9
_NEAR = 6.0


class Hands:
    """An action is an object with `do` and its own fields: places are [x, y], keys X names or characters."""

    def __init__(self, keyboard: Keyboard, pointer: Pointer, display: Display) -> None:
        self._keyboard = keyboard
        self._pointer = pointer
        self._display = display
        self._apart_until: tuple[float, Place] = (-math.inf, (0, 0))
        self._clicked = False

    def do(self, action: dict[str, Any]) -> None:
        """Raises `CannotType`; KeyError and TypeError for what is no action."""
        getattr(self, f"_{action['do']}")(action)

    def _move(self, action: dict[str, Any]) -> None:
        self._pointer.move(_place(action["to"]))

    def _click(self, action: dict[str, Any]) -> None:
        place = _place(action["at"])
        self._stay_apart(place)
        with self._keyboard.held(action["held"]):
            self._pointer.click(place, BUTTONS[action["button"]], action["count"])
        apart = _APART if action["count"] == 1 else _APART_FROM_DOUBLE
        self._apart_until = (time.monotonic() + apart, place)
        self._clicked = True

    def _drag(self, action: dict[str, Any]) -> None:
        with self._keyboard.held(action["held"]):
            self._pointer.drag([_place(point) for point in action["path"]], BUTTONS[action["button"]])
        self._clicked = True

    def _down(self, action: dict[str, Any]) -> None:
        self._pointer.button(BUTTONS[action["button"]], press=True)

    def _up(self, action: dict[str, Any]) -> None:
        self._pointer.button(BUTTONS[action["button"]], press=False)
        self._clicked = True

    def _scroll(self, action: dict[str, Any]) -> None:
        with self._keyboard.held(action["held"]):
            self._pointer.scroll(_place(action["at"]), action["dx"], action["dy"])

    def _type(self, action: dict[str, Any]) -> None:
        self._let_focus_follow()
        self._keyboard.type(action["text"])

    def _key(self, action: dict[str, Any]) -> None:
        self._let_focus_follow()
        with self._keyboard.held(action["chord"]):
            if action["hold"] > 0:
                self._display.pace(action["hold"])

    def _wait(self, action: dict[str, Any]) -> None:
        self._display.pace(action["seconds"])

    def _stay_apart(self, place: Place) -> None:
        """Two clicks are not a double click: whoever wants one asks for it."""
        until, there = self._apart_until
        left = until - time.monotonic()
        if left > 0 and math.dist(there, place) <= _NEAR:
            self._display.pace(left)

    def _let_focus_follow(self) -> None:
        """The focus moves some time after the click that asked for it, and keys go where it is."""
        if self._clicked:
            self._clicked = False
            self._display.x.sync()
            self._display.settle(0.03, 0.5)


def _place(pair: list[int]) -> Place:
    x, y = pair
    return int(x), int(y)
