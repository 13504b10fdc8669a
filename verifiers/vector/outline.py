"""Basic shapes as polylines, and how far two outlines are apart.

Source: SVG 2, W3C Candidate Recommendation, §10 *Basic Shapes*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from lxml import etree

from practicum.verifiers.vector.paths import polylines

F8 = npt.NDArray[np.float64]
Length = Callable[[str | None], float]
_SAMPLES = 160


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """(n, 2) points; a closed line repeats its first point at the end."""

    points: F8
    closed: bool


def of(element: etree._Element, tag: str, length: Length) -> list[Line]:
    """The outlines of one shape element in its own coordinates. Raises `ValueError`."""
    get = element.get
    match tag:
        case "path":
            return _from_data(get("d") or "")
        case "rect" | "image":
            return _rectangle(element, length)
        case "circle":
            return _ellipse(length(get("cx")), length(get("cy")), length(get("r")), length(get("r")))
        case "ellipse":
            return _ellipse(length(get("cx")), length(get("cy")), length(get("rx")), length(get("ry")))
        case "line":
            ends = [[length(get("x1")), length(get("y1"))], [length(get("x2")), length(get("y2"))]]
            return [Line(np.array(ends), closed=False)]
        case "polyline" | "polygon":
            points = (get("points") or "").strip()
            return _from_data(f"M{points}{'Z' if tag == 'polygon' else ''}") if points else []
        case _:
            return []


def _from_data(data: str) -> list[Line]:
    lines = []
    for points, closed in polylines(data):
        ring = [*points, points[0]] if closed and points[0] != points[-1] else points
        array = np.array(ring)
        lines.append(Line(np.column_stack([array.real, array.imag]), closed or ring[0] == ring[-1]))
    return lines


def _rectangle(element: etree._Element, length: Length) -> list[Line]:
    x, y, w, h = (length(element.get(name)) for name in ("x", "y", "width", "height"))
    if w <= 0.0 or h <= 0.0:
        return []
    given = [element.get(name) for name in ("rx", "ry")]
    rx, ry = (length(one if one not in (None, "auto") else other) for one, other in (given, given[::-1]))
    rx, ry = min(max(rx, 0.0), w / 2), min(max(ry, 0.0), h / 2)
    if rx == 0.0 or ry == 0.0:
        return _from_data(f"M{x!r},{y!r}h{w!r}v{h!r}h{-w!r}Z")
    a = f"a{rx!r} {ry!r} 0 0 1 "
    return _from_data(
        f"M{x + rx!r},{y!r}h{w - 2 * rx!r}{a}{rx!r},{ry!r}v{h - 2 * ry!r}{a}{-rx!r},{ry!r}"
        f"h{2 * rx - w!r}{a}{-rx!r},{-ry!r}v{2 * ry - h!r}{a}{rx!r},{-ry!r}Z"
    )


def _ellipse(cx: float, cy: float, rx: float, ry: float) -> list[Line]:
    if rx <= 0.0 or ry <= 0.0:
        return []
    half = f"a{rx!r} {ry!r} 0 0 1 "
    return _from_data(f"M{cx + rx!r},{cy!r}{half}{-2 * rx!r},0{half}{2 * rx!r},0Z")


def signed_area(points: F8) -> float:
    x, y = points[:, 0], points[:, 1]
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2.0)


def distance(first: Sequence[F8], second: Sequence[F8]) -> float:
    """The largest distance from either set of outlines to the other, seen at 160 points on each."""
    return max(_one_way(first, second), _one_way(second, first))


def _one_way(source: Sequence[F8], target: Sequence[F8]) -> float:
    points = np.concatenate([_spread(line) for line in source])
    starts = np.concatenate([line[:-1] for line in target])
    spans = np.concatenate([np.diff(line, axis=0) for line in target])
    squared = np.einsum("ij,ij->i", spans, spans)
    nearest = np.full(len(points), np.inf)
    for begin in range(0, len(starts), 512):
        block = slice(begin, begin + 512)
        offset = points[:, None] - starts[None, block]
        along = np.einsum("ijk,jk->ij", offset, spans[block]) / np.where(
            squared[block] > 0, squared[block], 1.0
        )
        gap = offset - np.clip(along, 0.0, 1.0)[..., None] * spans[None, block]
        nearest = np.minimum(nearest, np.einsum("ijk,ijk->ij", gap, gap).min(axis=1))
    return float(np.sqrt(nearest.max()))


def _spread(line: F8) -> F8:
    """Points at equal steps along a line, and its corners where they are few."""
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    walked = np.concatenate([[0.0], np.cumsum(steps)])
    where = np.linspace(0.0, walked[-1], _SAMPLES)
    spread = np.column_stack([np.interp(where, walked, line[:, axis]) for axis in (0, 1)])
    return np.concatenate([spread, line]) if len(line) <= _SAMPLES else spread
