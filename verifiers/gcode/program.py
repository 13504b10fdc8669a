"""A G-code program as the moves it makes.

Arcs become chords; absolute and relative coordinates, inches and millimetres, resets of the origin (G92) and
the plane of arcs are followed. What moves nothing is passed over.

Source: ISO 6983-1:2009; NIST RS274/NGC Interpreter, version 3, 2000.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable

F8 = npt.NDArray[np.float64]

MAX_BYTES = 64 << 20
_MAX_MOVES = 1_000_000
_CHORD = 0.01
"""How far a chord may stray from its arc, in millimetres."""
_COMMENT = re.compile(r"\([^)]*\)|;.*")
_WORD = re.compile(r"([A-Z])\s*([-+]?(?:\d+\.?\d*|\.\d+))")
_AXES = "XYZ"
_PLANES = {17: (0, 1, 2), 18: (2, 0, 1), 19: (1, 2, 0)}


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Moves in order, (n, 3) each: from `start` to `end` in mm; `feed` mm/min; `extruded` mm of filament."""

    start: F8
    end: F8
    rapid: npt.NDArray[np.bool_]
    feed: F8
    extruded: F8

    @property
    def lengths(self) -> F8:
        return np.asarray(np.linalg.norm(self.end - self.start, axis=1))


def read(path: Path) -> Program:
    """Raises `Unreadable` for what is no program, makes no move, or is broken."""
    text = read_bytes(path, limit=MAX_BYTES).decode("utf-8", "replace")
    machine = _Machine()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            machine.obey(line)
        except _Broken as error:
            raise Unreadable(path, f"line {number}: {error}") from error
        if len(machine.moves) > _MAX_MOVES:
            raise Unreadable(path, f"more than {_MAX_MOVES} moves")
    if not machine.moves:
        raise Unreadable(path, "a program that moves nothing")
    start, end, rapid, feed, extruded = zip(*machine.moves, strict=True)
    return Program(np.array(start), np.array(end), np.array(rapid), np.array(feed), np.array(extruded))


class _Broken(ValueError):
    pass


@dataclass(slots=True)
class _Machine:
    moves: list[tuple[F8, F8, bool, float, float]] = field(default_factory=list)
    at: F8 = field(default_factory=lambda: np.zeros(3))
    offset: F8 = field(default_factory=lambda: np.zeros(3))
    filament: float = 0.0
    feed: float = 0.0
    unit: float = 1.0
    motion: int | None = None
    relative: bool = False
    relative_filament: bool = False
    plane: tuple[int, int, int] = (0, 1, 2)
    ended: bool = False

    def obey(self, line: str) -> None:
        words = [(letter, float(value)) for letter, value in _WORD.findall(_COMMENT.sub("", line).upper())]
        values = {letter: value for letter, value in words if letter not in "GMN"}
        if self.ended or not words:
            return
        reset = False
        for letter, value in words:
            if letter == "G":
                reset |= self._mode(value)
            elif letter == "M":
                self._miscellaneous(value)
        if "F" in values:
            self.feed = values["F"] * self.unit
        if reset:
            self._reset(values)
        elif self.motion is not None and any(axis in values for axis in (*_AXES, "E", "I", "J", "K")):
            self._move(values)

    def _mode(self, code: float) -> bool:
        """Whether the line sets the position instead of moving there."""
        if code in (0, 1, 2, 3):
            self.motion = int(code)
        elif code in (17, 18, 19):
            self.plane = _PLANES[int(code)]
        elif code in (20, 21):
            self.unit = 25.4 if code == 20 else 1.0
        elif code in (90, 91):
            self.relative = self.relative_filament = code == 91
        return code == 92

    def _miscellaneous(self, code: float) -> None:
        if code in (82, 83):
            self.relative_filament = code == 83
        elif code in (2, 30):
            self.ended = True

    def _reset(self, values: dict[str, float]) -> None:
        for axis, name in enumerate(_AXES):
            if name in values:
                self.offset[axis] = self.at[axis] - values[name] * self.unit
        if "E" in values:
            self.filament = values["E"] * self.unit

    def _move(self, values: dict[str, float]) -> None:
        target = self.at.copy()
        for axis, name in enumerate(_AXES):
            if name in values:
                given = values[name] * self.unit
                target[axis] = self.at[axis] + given if self.relative else given + self.offset[axis]
        extruded = 0.0
        if "E" in values:
            given = values["E"] * self.unit
            extruded = given if self.relative_filament else given - self.filament
            self.filament += extruded
        points = [target] if self.motion in (0, 1) else self._arc(target, values)
        for point in points:
            self.moves.append((self.at, point, self.motion == 0, self.feed, extruded / len(points)))
            self.at = point

    def _arc(self, target: F8, values: dict[str, float]) -> list[F8]:
        first, second, along = self.plane
        centre = self._centre(target, values)
        begin = math.atan2(self.at[second] - centre[1], self.at[first] - centre[0])
        end = math.atan2(target[second] - centre[1], target[first] - centre[0])
        radius = math.hypot(self.at[first] - centre[0], self.at[second] - centre[1])
        if not radius > 0.0:
            raise _Broken("an arc without radius")
        swept = (begin - end) % (2 * math.pi) if self.motion == 2 else (end - begin) % (2 * math.pi)
        swept = (swept or 2 * math.pi) * (-1 if self.motion == 2 else 1)
        step = 2 * math.acos(max(-1.0, 1.0 - min(_CHORD, radius) / radius))
        count = min(5000, max(1, math.ceil(abs(swept) / max(step, 1e-3))))
        points = []
        for part in range(1, count):
            point = self.at + (target - self.at) * (part / count)
            point[first] = centre[0] + radius * math.cos(begin + swept * part / count)
            point[second] = centre[1] + radius * math.sin(begin + swept * part / count)
            point[along] = self.at[along] + (target[along] - self.at[along]) * part / count
            points.append(point)
        return [*points, target]

    def _centre(self, target: F8, values: dict[str, float]) -> tuple[float, float]:
        first, second, _ = self.plane
        if "R" not in values:
            return (
                float(self.at[first]) + values.get("IJK"[first], 0.0) * self.unit,
                float(self.at[second]) + values.get("IJK"[second], 0.0) * self.unit,
            )
        radius = values["R"] * self.unit
        chord = complex(target[first] - self.at[first], target[second] - self.at[second])
        half = abs(chord) / 2
        if half == 0.0 or half > abs(radius) * 1.001:
            raise _Broken("a radius that reaches no arc")
        height = math.sqrt(max(0.0, radius * radius - half * half))
        side = -1 if (self.motion == 2) == (radius > 0) else 1
        middle = (
            complex(self.at[first], self.at[second]) + chord / 2 + side * 1j * chord / abs(chord) * height
        )
        return middle.real, middle.imag
