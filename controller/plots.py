"""Plots as SVG text, with nothing to load: dots with whiskers, a scatter, a forest.

Colours come from the page's CSS variables, so the plots follow its light and dark. Every value drawn is also
written, so that a plot can be read without its picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 720
ROW = 26
LEFT = 230
RIGHT = 150
TOP = 34
COLOURS = 6


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with its interval, in one series; `text` is written beside it."""

    label: str
    value: float
    low: float
    high: float
    text: str
    series: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """A point with an interval upwards."""

    label: str
    x: float
    y: float
    low: float
    high: float
    series: int = 0


def whiskers(title: str, dots: Sequence[Dot], low: float, high: float, unit: str) -> str:
    """One row a dot, values from `low` to `high` along the width; a line at 0 where that is inside."""
    height = TOP + ROW * len(dots) + 30
    scale = _Scale(low, high, LEFT, WIDTH - RIGHT)
    parts = [_axis(scale, height - 30, unit)]
    if low < 0 < high:
        parts.append(_line(scale(0), TOP - 8, scale(0), height - 30, "zero"))
    for row, dot in enumerate(dots):
        y = TOP + ROW * row + ROW / 2
        parts += [
            _text(LEFT - 12, y + 4, dot.label, "end"),
            _line(scale(dot.low), y, scale(dot.high), y, f"s{dot.series % COLOURS} whisker"),
            f'<circle cx="{scale(dot.value):.1f}" cy="{y:.1f}" r="4.5" class="s{dot.series % COLOURS}"/>',
            _text(WIDTH - RIGHT + 12, y + 4, dot.text, "start"),
        ]
    return _svg(title, height, parts)


def scatter(title: str, spots: Sequence[Spot], x_title: str, y_title: str) -> str:
    """Costs to the right, rates (0 to 1) upwards."""
    height, bottom = 320, 270
    across = _Scale(0.0, max((spot.x for spot in spots), default=1.0) * 1.15 or 1.0, 70, WIDTH - 40)
    up = _Scale(0.0, 1.0, bottom, TOP)
    parts = [_axis(across, bottom, "")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [
            _line(70, up(tick), WIDTH - 40, up(tick), "grid"),
            _text(62, up(tick) + 4, f"{100 * tick:.0f} %", "end"),
        ]
    for spot in spots:
        x, kind = across(spot.x), f"s{spot.series % COLOURS}"
        parts += [
            _line(x, up(spot.low), x, up(spot.high), f"{kind} whisker"),
            f'<circle cx="{x:.1f}" cy="{up(spot.y):.1f}" r="5" class="{kind}"/>',
            _text(x + 9, up(spot.y) - 7, spot.label, "start"),
        ]
    parts += [_text((70 + WIDTH - 40) / 2, height - 8, x_title, "middle"), _text(70, 16, y_title, "start")]
    return _svg(title, height, parts)


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    def ticks(self) -> Iterable[float]:
        """About five round numbers."""
        raw = (self.high - self.low) / 5
        magnitude = 10.0 ** math.floor(math.log10(raw))
        step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= raw)
        first = math.ceil(self.low / step)
        return (n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1))


def _axis(scale: _Scale, y: float, unit: str) -> str:
    parts = [_line(scale.start, y, scale.end, y, "axis")]
    for tick in scale.ticks():
        parts += [
            _line(scale(tick), y, scale(tick), y + 4, "axis"),
            _text(scale(tick), y + 18, f"{tick:g}{unit}"),
        ]
    return "".join(parts)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Iterable[str]) -> str:
    body = "".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title, quote=True)}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )
