"""From actions to what goes over the monitor: pure, so that all rules of hands are tested without a machine.

Event names are those of QEMU's `input-send-event`. Each event is sent on its own: a guest that reads a press
and its release in one report sees neither.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
from practicum.infra.desk.keys import MODIFIERS
from practicum.infra.desk.vm.keymap import Keymap, Stroke, names_of, parts_of
from practicum.infra.errors import Unsupported

FULL_SCALE = 0x8000
"""Positions the emulated tablet tells apart on each axis."""

_STEP = 8.0
_MAX_STEPS = 32
_REPEAT_PACE, _PRESSED_PACE, _MOTION_PACE, _RELEASE_PACE = 0.01, 0.03, 0.008, 0.05


_BACK, _FORTH = "side", "extra"
"""Buttons that the guest's display takes for notches: vertical ones on the tablet, else on the mouse."""


class Device(StrEnum):
    """The emulated devices. The mouse is there for its buttons, which stand for horizontal notches."""

    KEYBOARD = "keyboard"
    TABLET = "tablet"
    MOUSE = "mouse"


@dataclass(frozen=True, slots=True)
class Report:
    """Events that belong together, from one device."""

    device: Device
    events: tuple[dict[str, Any], ...]

    @property
    def moves(self) -> bool:
        return bool(self.events[0]["type"] == "abs")

    @property
    def presses(self) -> bool:
        """Whether a real button goes down or up; notches are none."""
        return any(event["data"].get("button") in list(Button) for event in self.events)


@dataclass(frozen=True, slots=True)
class Pace:
    """Give the guest a moment, as a person's hand does."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Lend:
    """Give keys the meanings of these names or characters before going on."""

    loans: tuple[tuple[str, int], ...]


Step = Report | Pace | Lend


@dataclass(frozen=True, slots=True)
class Keyboard:
    """The guest's keyboard as it is now: its layout, and which locks are on."""

    keymap: Keymap
    caps_lock: bool = False
    num_lock: bool = True


def uses_keys(action: Action) -> bool:
    """Whether the keyboard must be known to carry it out."""
    return isinstance(action, Key | TypeText) or bool(getattr(action, "held", ()))


def steps_of(action: Action, size: tuple[int, int], keyboard: Callable[[], Keyboard]) -> Iterator[Step]:
    """What carries out one action on a screen of `size`. Raises `Unsupported` before the first step."""
    match action:
        case Move(to):
            yield move(to, size)
        case Click(at, button, count, held):
            yield from _holding(held, keyboard, _click(at, button, count, size))
        case Drag(path, button, held):
            yield from _holding(held, keyboard, _drag(path, button, size))
        case ButtonDown(button):
            yield _press(Device.TABLET, button.value, down=True)
        case ButtonUp(button):
            yield _press(Device.TABLET, button.value, down=False)
        case Scroll(at, dx, dy, held):
            yield from _holding(held, keyboard, _scroll(at, dx, dy, size))
        case TypeText(text):
            yield from _type(names_of(text), keyboard())
        case Key(chord, hold):
            yield from _holding(chord, keyboard, iter((Pace(hold),)) if hold > 0 else iter(()))
        case Wait(seconds):
            yield Pace(seconds)


def move(to: Point, size: tuple[int, int]) -> Report:
    """To the middle of a pixel: from there the guest's own rounding finds that pixel again."""
    return Report(
        Device.TABLET,
        tuple(
            {"type": "abs", "data": {"axis": axis, "value": _scaled(place, extent)}}
            for axis, place, extent in (("x", to.x, size[0]), ("y", to.y, size[1]))
        ),
    )


def _scaled(place: int, extent: int) -> int:
    return min(FULL_SCALE - 1, max(0, math.floor((place + 0.5) * FULL_SCALE / extent)))


def _press(device: Device, button: str, *, down: bool) -> Report:
    return Report(device, ({"type": "btn", "data": {"down": down, "button": button}},))


def _tap(device: Device, button: str) -> tuple[Report, Report]:
    return _press(device, button, down=True), _press(device, button, down=False)


def _click(at: Point, button: Button, count: int, size: tuple[int, int]) -> Iterator[Step]:
    """Chromium takes presses of one and the same millisecond for one press."""
    yield move(at, size)
    for press in range(count):
        if press:
            yield Pace(_REPEAT_PACE)
        yield from _tap(Device.TABLET, button.value)


def _scroll(at: Point, dx: int, dy: int, size: tuple[int, int]) -> Iterator[Step]:
    yield move(at, size)
    for _ in range(abs(dy)):
        yield from _tap(Device.TABLET, _FORTH if dy > 0 else _BACK)
    for _ in range(abs(dx)):
        yield from _tap(Device.MOUSE, _FORTH if dx > 0 else _BACK)


def _drag(path: Sequence[Point], button: Button, size: tuple[int, int]) -> Iterator[Step]:
    """A toolkit starts a drag on motion after the press, and asks what lies under the pointer on the way."""
    yield move(path[0], size)
    yield _press(Device.TABLET, button.value, down=True)
    yield Pace(_PRESSED_PACE)
    for start, end in itertools.pairwise(path):
        for place in between(start, end):
            yield move(place, size)
            yield Pace(_MOTION_PACE)
    yield Pace(_RELEASE_PACE)
    yield _press(Device.TABLET, button.value, down=False)


def between(start: Point, end: Point) -> list[Point]:
    """Points of the straight way, the start left out and the end included."""
    length = math.dist((start.x, start.y), (end.x, end.y))
    count = max(1, min(4, round(length)), min(_MAX_STEPS, math.ceil(length / _STEP)))
    return [
        Point(start.x + round((end.x - start.x) * n / count), start.y + round((end.y - start.y) * n / count))
        for n in range(1, count + 1)
    ]


def _holding(names: Sequence[str], keyboard: Callable[[], Keyboard], inner: Iterator[Step]) -> Iterator[Step]:
    """Press keys in order, do the inner steps, release in reverse."""
    if not names:
        yield from inner
        return
    board = keyboard()
    keymap, lend = _with_loans(board.keymap, names)
    if lend is not None:
        yield lend
    strokes = [keymap.strokes[name] for name in names]
    pressed = list(_in_order(keymap, names, strokes))
    with_lock = any(stroke.modifiers & keymap.num_lock for stroke in strokes) and not board.num_lock
    if with_lock:
        yield from _strike(keymap.strokes["num_lock"])
    yield from (_key(stroke, down=True) for stroke in pressed)
    yield from inner
    yield from (_key(stroke, down=False) for stroke in reversed(pressed))
    if with_lock:
        yield from _strike(keymap.strokes["num_lock"])


def _with_loans(keymap: Keymap, names: Sequence[str]) -> tuple[Keymap, Lend | None]:
    missing = keymap.missing(names)
    if not missing:
        return keymap, None
    if len(missing) > len(keymap.lendable):
        raise Unsupported("this keyboard has too few spare keys")
    loans = dict(zip(missing, keymap.lendable, strict=False))
    return keymap.lent(loans), Lend(tuple(loans.items()))


def _in_order(keymap: Keymap, names: Sequence[str], strokes: Sequence[Stroke]) -> Iterator[Stroke]:
    """The keys of a chord, with the modifiers that a key's level needs and nobody named."""
    named = {stroke.keycode for name, stroke in zip(names, strokes, strict=True) if name in MODIFIERS}
    given = sum(bit for bit, holder in keymap.holders.items() if holder.keycode in named)
    for stroke in strokes:
        missing = stroke.modifiers & ~given & ~keymap.num_lock
        given |= missing
        yield from keymap.holding(missing)
        yield stroke


def _type(names: tuple[str, ...], board: Keyboard) -> Iterator[Step]:
    parts = list(parts_of(names, board.keymap))
    caps_lock = board.keymap.strokes.get("caps_lock") if board.caps_lock else None
    if caps_lock is not None:
        yield from _strike(caps_lock)
    for part, loans in parts:
        if loans:
            yield Lend(tuple(loans.items()))
        lent = board.keymap.lent(loans)
        yield from _strikes(lent, [lent.strokes[name] for name in part])
    if caps_lock is not None:
        yield from _strike(caps_lock)


def _strikes(keymap: Keymap, strokes: Iterable[Stroke]) -> Iterator[Step]:
    """One after another, holding on to modifiers that the next one needs too."""
    held = 0
    for stroke in strokes:
        yield from (_key(holder, down=False) for holder in keymap.holding(held & ~stroke.modifiers))
        yield from (_key(holder, down=True) for holder in keymap.holding(stroke.modifiers & ~held))
        held = stroke.modifiers
        yield from _strike(stroke)
    yield from (_key(holder, down=False) for holder in keymap.holding(held))


def _strike(stroke: Stroke) -> tuple[Report, Report]:
    return _key(stroke, down=True), _key(stroke, down=False)


def _key(stroke: Stroke, *, down: bool) -> Report:
    data = {"down": down, "key": {"type": "qcode", "data": stroke.qcode}}
    return Report(Device.KEYBOARD, ({"type": "key", "data": data},))
