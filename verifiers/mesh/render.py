"""A picture of where two surfaces differ: drawn in memory, without a display or a graphics card.

Facets are projected along one axis of a fixed view and resolved by a depth buffer; each visible point is then
coloured by its exact distance to the other surface.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.soup import F8, I8, Mesh, doubled_normals
from practicum.verifiers.verdict import Evidence

U1 = npt.NDArray[np.uint8]

_WIDTH, _HEIGHT, _MARGIN, _CAPTION = 420, 360, 16, 26
_LINES = 1 << 15
_STEP = 2
_VIEW = np.array([[-0.7071, 0.7071, 0.0], [-0.4082, -0.4082, 0.8165], [0.5774, 0.5774, 0.5774]])
"""Rows: right, up and towards the eye, of an isometric view."""
_LIGHT = np.array([0.25, 0.55, 0.80])
_STOPS = np.array([0.0, 0.5, 1.0, 4.0, 16.0])
_COLOURS = np.array(
    [[188, 196, 206], [140, 190, 170], [245, 205, 80], [230, 90, 50], [150, 20, 40]], np.float64
)
_PAPER = np.array([250.0, 250.0, 250.0])


def deviation_picture(candidate: Mesh, reference: Mesh, tolerance: float) -> Evidence:
    """Both surfaces side by side, each coloured by its distance to the other."""
    low = np.minimum(candidate.bounds[0], reference.bounds[0])
    high = np.maximum(candidate.bounds[1], reference.bounds[1])
    sheet = Image.new("RGB", (2 * _WIDTH, _HEIGHT + 2 * _CAPTION), tuple(int(value) for value in _PAPER))
    for place, (name, one, other) in enumerate(
        (("candidate", candidate, reference), ("reference", reference, candidate))
    ):
        pixels = _panel(one, Index(other.triangles), tolerance, np.stack([low, high]))
        sheet.paste(Image.fromarray(pixels), (place * _WIDTH, _CAPTION))
        ImageDraw.Draw(sheet).text((place * _WIDTH + 12, 8), name, fill=(40, 40, 40))
    _legend(sheet, tolerance)
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG", optimize=True)
    return Evidence(
        "deviation.png", "image/png", buffer.getvalue(), f"distance in tolerances of {tolerance:.4g}"
    )


def _panel(mesh: Mesh, other: Index, tolerance: float, bounds: F8) -> U1:
    scale, offset = _fit(bounds)
    seen = mesh.triangles @ _VIEW.T
    flat = seen.copy()
    flat[..., 0] = seen[..., 0] * scale + offset[0]
    flat[..., 1] = offset[1] - seen[..., 1] * scale
    facet, depth = _depth_buffer(flat)
    image = np.broadcast_to(_PAPER, (_HEIGHT, _WIDTH, 3)).copy()
    rows, columns = np.nonzero(facet >= 0)
    if len(rows):
        right = (columns + 0.5 - offset[0]) / scale
        up = (offset[1] - rows - 0.5) / scale
        points = np.column_stack([right, up, depth[rows, columns]]) @ _VIEW
        shade = _shade(mesh, facet[rows, columns])
        image[rows, columns] = _colour(_coarse(points, rows, columns, other) / tolerance) * shade[:, None]
    return np.asarray(np.round(np.clip(image, 0, 255)), np.uint8)


def _fit(bounds: F8) -> tuple[float, tuple[float, float]]:
    corners = np.array(list(product(*bounds.T)))
    flat = corners @ _VIEW[:2].T
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = np.array([_WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN])
    scale = float((room / np.maximum(high - low, 1e-12)).min())
    middle = (low + high) / 2.0
    return scale, (_WIDTH / 2 - middle[0] * scale, _HEIGHT / 2 + middle[1] * scale)


def _depth_buffer(flat: F8) -> tuple[I8, F8]:
    """Facet and depth in front at each pixel's middle; facet -1 where there is none."""
    facet = np.full(_WIDTH * _HEIGHT, -1)
    depth = np.full(_WIDTH * _HEIGHT, -np.inf)
    origin, slope_x, slope_y = _planes(flat)
    for number, column, row in _covered(flat):
        height = origin[number] + slope_x[number] * (column + 0.5) + slope_y[number] * (row + 0.5)
        pixel = row * _WIDTH + column
        order = np.lexsort((-number, height, pixel))
        last = order[np.flatnonzero(np.diff(pixel[order], append=-1))]
        last = last[height[last] > depth[pixel[last]]]
        facet[pixel[last]], depth[pixel[last]] = number[last], height[last]
    return facet.reshape(_HEIGHT, _WIDTH), depth.reshape(_HEIGHT, _WIDTH)


def _planes(flat: F8) -> tuple[F8, F8, F8]:
    """Depth as an affine function of the pixel; facets seen edge on are as deep as their first corner."""
    normal = doubled_normals(flat)
    upright = np.abs(normal[:, 2]) > 1e-12
    down = np.where(upright, normal[:, 2], 1.0)
    slope_x, slope_y = (np.where(upright, -normal[:, axis] / down, 0.0) for axis in (0, 1))
    return flat[:, 0, 2] - slope_x * flat[:, 0, 0] - slope_y * flat[:, 0, 1], slope_x, slope_y


def _covered(flat: F8) -> Iterator[tuple[I8, I8, I8]]:
    """(facet, column, row) of the pixels whose middle a facet covers, in batches, by scan lines."""
    first = np.clip(np.ceil(flat[..., 1].min(axis=1) - 0.5), 0, _HEIGHT).astype(np.int64)
    end = np.clip(np.ceil(flat[..., 1].max(axis=1) - 0.5), 0, _HEIGHT).astype(np.int64)
    number, row = _expanded(np.arange(len(flat)), first, end)
    for start in range(0, len(number), _LINES):
        lines = slice(start, start + _LINES)
        low, high = _span(flat[number[lines]], np.asarray(row[lines], np.float64) + 0.5)
        left, right = (np.clip(np.ceil(x - 0.5), 0, _WIDTH).astype(np.int64) for x in (low, high))
        line, column = _expanded(np.arange(len(left)), left, np.maximum(left, right))
        yield number[lines][line], column, row[lines][line]


def _span(facets: F8, y: F8) -> tuple[F8, F8]:
    """Where a horizontal line enters and leaves each facet."""
    low, high = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for corner in range(3):
        p, q = facets[:, corner], facets[:, (corner + 1) % 3]
        crosses = (p[:, 1] <= y) != (q[:, 1] <= y)
        rise = np.where(crosses, q[:, 1] - p[:, 1], 1.0)
        x = p[:, 0] + (y - p[:, 1]) / rise * (q[:, 0] - p[:, 0])
        low = np.where(crosses, np.minimum(low, x), low)
        high = np.where(crosses, np.maximum(high, x), high)
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)


def _expanded(owner: I8, first: I8, end: I8) -> tuple[I8, I8]:
    """Each owner once for every whole number from `first` up to, not including, `end`."""
    count = end - first
    owners = np.repeat(owner, count)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(count) - count, count)
    return owners, np.repeat(first, count) + within


def _coarse(points: F8, rows: I8, columns: I8, other: Index) -> F8:
    """Distances at every second pixel, shared with its neighbours."""
    block = (rows // _STEP) * _WIDTH + columns // _STEP
    _, first, inverse = np.unique(block, return_index=True, return_inverse=True)
    return other.distance(points[first])[inverse]


def _shade(mesh: Mesh, facet: I8) -> F8:
    normals = doubled_normals(mesh.triangles[facet]) @ _VIEW.T
    length = np.linalg.norm(normals, axis=1)
    facing = np.abs(normals @ _LIGHT) / np.where(length > 0, length, 1.0)
    return np.asarray(0.55 + 0.45 * np.clip(facing, 0.0, 1.0))


def _colour(ratio: F8) -> F8:
    return np.stack([np.interp(ratio, _STOPS, _COLOURS[:, channel]) for channel in range(3)], axis=-1)


def _legend(sheet: Image.Image, tolerance: float) -> None:
    draw = ImageDraw.Draw(sheet)
    top, left, right = _HEIGHT + _CAPTION, 12, 2 * _WIDTH - 12
    step = (right - left) / len(_STOPS)
    for place, (stop, colour) in enumerate(zip(_STOPS, _COLOURS, strict=True)):
        x = left + place * step
        draw.rectangle((x, top + 4, x + 18, top + 18), fill=tuple(int(value) for value in colour))
        draw.text((x + 24, top + 5), f"{stop:g} x tolerance = {stop * tolerance:.3g}", fill=(40, 40, 40))
