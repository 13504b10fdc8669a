"""Path data to polylines.

Source: SVG 2, W3C Candidate Recommendation, §9 *Paths* and appendix B.2 on elliptical arcs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

_TOKEN = re.compile(r"([MmZzLlHhVvCcSsQqTtAa])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_ARITY = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_CURVE_STEPS = 24
_ARC_STEPS = 64
_MAX_POINTS = 400_000

Point = complex
Polyline = list[Point]


class BrokenPath(ValueError):
    """Path data outside the grammar."""


def polylines(data: str) -> list[tuple[Polyline, bool]]:
    """Each subpath as points and whether it is closed. Raises `BrokenPath`."""
    pen = _Pen()
    for command, numbers in _commands(data):
        pen.draw(command, numbers)
        if pen.count > _MAX_POINTS:
            raise BrokenPath(f"more than {_MAX_POINTS} points")
    return [(points, closed) for points, closed in pen.subpaths if len(points) > 1]


def _commands(data: str) -> Iterator[tuple[str, list[float]]]:
    command, pending, fed = "Z", list[float](), True
    for token in _tokens(data):
        if isinstance(token, str):
            if pending or not fed:
                raise BrokenPath(f"{command} without all its numbers")
            command, fed = token, token in "Zz"
            if fed:
                yield command, []
            continue
        if command in "Zz":
            raise BrokenPath("a number where a command must be")
        pending.append(token)
        if len(pending) == _ARITY[command.upper()]:
            yield command, pending
            pending, fed = [], True
            command = {"M": "L", "m": "l"}.get(command, command)
    if pending or not fed:
        raise BrokenPath(f"{command} without all its numbers")


def _tokens(data: str) -> Iterator[str | float]:
    """Arc flags may be written without separators ("a5 5 0 0110 10"), so their place must be known."""
    place, command, index = 0, "", 0
    while place < len(data):
        if data[place] in " \t\r\n\f,":
            place += 1
            continue
        if command and command in "Aa" and index % 7 in (3, 4):
            if data[place] not in "01":
                raise BrokenPath(f"{data[place]!r} where an arc has a flag")
            yield float(data[place])
            place, index = place + 1, index + 1
            continue
        match = _TOKEN.match(data, place)
        if match is None:
            raise BrokenPath(f"unexpected {data[place : place + 12]!r}")
        place = match.end()
        if match[1]:
            command, index = match[1], 0
            yield command
        else:
            index += 1
            value = float(match[2])
            if not math.isfinite(value):
                raise BrokenPath("a number without bound")
            yield value


class _Pen:
    def __init__(self) -> None:
        self.subpaths: list[tuple[Polyline, bool]] = []
        self.count = 0
        self._at: Point = 0j
        self._start: Point = 0j
        self._control: Point | None = None
        self._last = ""

    def draw(self, command: str, v: list[float]) -> None:
        upper = command.upper()
        if upper == "Z":
            self._close()
        elif upper == "M":
            self._move(self._point(command, v[0], v[1]))
        elif not self.subpaths and upper != "M":
            raise BrokenPath("path data that does not begin with a move")
        else:
            self._segment(command, upper, v)
        self._last = upper

    def _segment(self, command: str, upper: str, v: list[float]) -> None:
        origin = 0j if command.isupper() else self._at
        if upper == "H":
            self._line(complex(v[0] + origin.real, self._at.imag))
        elif upper == "V":
            self._line(complex(self._at.real, v[0] + origin.imag))
        elif upper == "L":
            self._line(origin + complex(v[0], v[1]))
        elif upper == "A":
            self._arc(v, origin + complex(v[5], v[6]))
        else:
            points = [origin + complex(v[i], v[i + 1]) for i in range(0, len(v), 2)]
            self._curve(upper, points)

    def _point(self, command: str, x: float, y: float) -> Point:
        return complex(x, y) + (0j if command.isupper() else self._at)

    def _move(self, to: Point) -> None:
        self.subpaths.append(([to], False))
        self._at = self._start = to
        self.count += 1

    def _close(self) -> None:
        if not self.subpaths:
            raise BrokenPath("path data that does not begin with a move")
        points, _ = self.subpaths[-1]
        self.subpaths[-1] = (points, True)
        self._at = self._start

    def _line(self, to: Point) -> None:
        if self._last == "Z":
            self._move(self._at)
        self.subpaths[-1][0].append(to)
        self._at = to
        self.count += 1

    def _curve(self, upper: str, points: list[Point]) -> None:
        start = self._at
        smooth = {"S": ("C", "S"), "T": ("Q", "T")}
        if upper in smooth:
            known = self._control if self._control is not None and self._last in smooth[upper] else start
            points = [2 * start - known, *points]
        self._control = points[-2]
        if len(points) == 2:
            points = [
                start + (points[0] - start) * 2 / 3,
                points[1] + (points[0] - points[1]) * 2 / 3,
                points[1],
            ]
        a, b, end = points
        for step in range(1, _CURVE_STEPS + 1):
            t = step / _CURVE_STEPS
            s = 1 - t
            self._line(s**3 * start + 3 * s * s * t * a + 3 * s * t * t * b + t**3 * end)
            self._last = upper

    def _arc(self, v: list[float], end: Point) -> None:
        radii = (abs(v[0]), abs(v[1]))
        for point in arc(self._at, end, radii, v[2], large=bool(v[3]), sweep=bool(v[4])):
            self._line(point)
            self._last = "A"


def arc(
    start: Point, end: Point, radii: tuple[float, float], turn: float, *, large: bool, sweep: bool
) -> Iterator[Point]:
    """Points of an elliptical arc after its start; a line where a radius is 0."""
    rx, ry = radii
    if rx == 0.0 or ry == 0.0 or start == end:
        yield end
        return
    rotation = complex(math.cos(math.radians(turn)), math.sin(math.radians(turn)))
    half = (start - end) / 2 / rotation
    x, y = half.real / rx, half.imag / ry
    grow = max(1.0, math.hypot(x, y))
    rx, ry, x, y = rx * grow, ry * grow, x / grow, y / grow
    squared = x * x + y * y
    factor = math.sqrt(max(0.0, 1.0 / squared - 1.0)) * (-1 if large == sweep else 1)
    centre = complex(factor * y, -factor * x)
    first, last = complex(x, y) - centre, complex(-x, -y) - centre
    begin = math.atan2(first.imag, first.real)
    swept = math.atan2(last.imag, last.real) - begin
    swept += 2 * math.pi * ((swept < 0) if sweep else -(swept > 0))
    middle = complex(rx * centre.real, ry * centre.imag) * rotation + (start + end) / 2
    steps = max(2, round(_ARC_STEPS * abs(swept) / (2 * math.pi)))
    for step in range(1, steps):
        angle = begin + swept * step / steps
        yield complex(rx * math.cos(angle), ry * math.sin(angle)) * rotation + middle
    yield end
