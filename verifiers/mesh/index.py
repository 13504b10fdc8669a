"""Exact closest points on a triangle mesh: a bounding-volume hierarchy traversed for all queries at once.

Facets are laid along a Morton curve through their centroids; blocks of eight neighbours are the leaves, and
blocks of eight blocks the nodes above. The leaf with the nearest centre gives each query an upper bound, a
breadth-first descent then keeps only boxes nearer than that. All of it is float64 array arithmetic in a fixed
order, so the digits do not depend on threads.

Sources: closest point on a triangle, C. Ericson, *Real-Time Collision Detection*, 2005, §5.1.5;
hierarchies in Morton order, T. Karras, *Maximizing Parallelism in the Construction of BVHs*, HPG 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from practicum.verifiers.mesh.soup import F8, I8

_FAN = 8
_CHUNK = 4096
_PAIRS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Closest:
    """Per query: the distance, the closest point on the surface and the index of its facet."""

    distance: F8
    point: F8
    facet: I8


class Index:
    """Built once for (n, 3, 3) triangles; queried by (m, 3) points."""

    def __init__(self, triangles: F8) -> None:
        low, high = triangles.min(axis=1), triangles.max(axis=1)
        self._given = triangles
        self._order = _morton_order((low + high) / 2.0)
        self._triangles = triangles[self._order]
        self._levels = _hierarchy(low[self._order], high[self._order])
        centres = (self._levels[0][0] + self._levels[0][1]) / 2.0
        self._leaves = cKDTree(centres, balanced_tree=False, compact_nodes=False)

    def closest(self, points: F8) -> Closest:
        parts = [self._chunk(points[i : i + _CHUNK]) for i in range(0, len(points), _CHUNK)]
        if not parts:
            return Closest(np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64))
        squared, near, slot = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Closest(np.sqrt(squared), near, self._order[slot])

    def distance(self, points: F8) -> F8:
        return self.closest(points).distance

    def facets(self, numbers: I8) -> F8:
        """The triangles with these numbers, as `Closest.facet` counts them."""
        return self._given[numbers]

    def _chunk(self, points: F8) -> tuple[F8, F8, I8]:
        best = _Best(points, self._triangles)
        seeds = np.asarray(self._leaves.query(points)[1], np.int64)
        best.offer(*_expand(np.arange(len(points)), seeds, len(self._triangles)))
        query = np.repeat(np.arange(len(points)), len(self._levels[-1][0]))
        node = np.tile(np.arange(len(self._levels[-1][0])), len(points))
        self._search(best, len(self._levels) - 1, query, node)
        return best.squared, best.near, best.slot

    def _search(self, best: _Best, level: int, query: I8, node: I8) -> None:
        low, high = self._levels[level]
        keep = _box_distance(best.points[query], low[node], high[node]) < best.squared[query]
        query, node = query[keep], node[keep]
        below = len(self._levels[level - 1][0]) if level else len(self._triangles)
        step = max(1, _PAIRS // _FAN)
        for start in range(0, len(query), step):
            pairs = _expand(query[start : start + step], node[start : start + step], below)
            if level:
                self._search(best, level - 1, *pairs)
            else:
                best.offer(*pairs)


class _Best:
    """The nearest facet found so far, per query."""

    def __init__(self, points: F8, triangles: F8) -> None:
        self.points = points
        self._triangles = triangles
        self.squared = np.full(len(points), np.inf)
        self.near = np.zeros((len(points), 3))
        self.slot = np.zeros(len(points), np.int64)

    def offer(self, query: I8, slot: I8) -> None:
        points = self.points[query]
        triangles = self._triangles[slot]
        gap = _box_distance(points, triangles.min(axis=1), triangles.max(axis=1))
        hopeful = np.flatnonzero(gap < self.squared[query])
        if not len(hopeful):
            return
        query, slot = query[hopeful], slot[hopeful]
        near = closest_on_triangles(points[hopeful], triangles[hopeful])
        squared = _squared(points[hopeful] - near)
        first = np.lexsort((slot, squared, query))
        first = first[np.unique(query[first], return_index=True)[1]]
        first = first[squared[first] < self.squared[query[first]]]
        winner = query[first]
        self.squared[winner], self.near[winner], self.slot[winner] = squared[first], near[first], slot[first]


def closest_on_triangles(points: F8, triangles: F8) -> F8:
    """Row by row, the point of triangle i nearest to point i; degenerate facets are segments or points."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    squared_normal = _squared(normal)
    ap = points - a
    with np.errstate(divide="ignore", invalid="ignore"):
        v = _dot(np.cross(ap, ac), normal) / squared_normal
        w = _dot(np.cross(ab, ap), normal) / squared_normal
        inside = (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
    near = a + np.where(inside, v, 0.0)[:, None] * ab + np.where(inside, w, 0.0)[:, None] * ac
    outside = np.flatnonzero(~inside)
    if len(outside):
        near[outside] = _closest_on_edges(points[outside], a[outside], b[outside], c[outside])
    return near


def _closest_on_edges(points: F8, a: F8, b: F8, c: F8) -> F8:
    best, squared = np.empty_like(points), np.full(len(points), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        length = _squared(edge)
        t = np.clip(_dot(points - start, edge) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
        near = start + t[:, None] * edge
        gap = _squared(points - near)
        better = gap < squared
        best[better], squared[better] = near[better], gap[better]
    return best


def _hierarchy(low: F8, high: F8) -> list[tuple[F8, F8]]:
    levels = []
    while True:
        starts = np.arange(0, len(low), _FAN)
        low, high = np.minimum.reduceat(low, starts, axis=0), np.maximum.reduceat(high, starts, axis=0)
        levels.append((low, high))
        if len(low) <= _FAN:
            return levels


def _morton_order(centres: F8) -> I8:
    low = centres.min(axis=0)
    extent = float((centres.max(axis=0) - low).max()) or 1.0
    cells = ((centres - low) * (((1 << 21) - 1) / extent)).astype(np.uint64)
    code = np.zeros(len(centres), np.uint64)
    for axis in range(3):
        code |= _spread(cells[:, axis]) << np.uint64(axis)
    return np.argsort(code, kind="stable")


def _spread(bits: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Two zero bits after each of 21 bits."""
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        bits = (bits | bits << np.uint64(shift)) & np.uint64(mask)
    return bits


def _expand(query: I8, node: I8, below: int) -> tuple[I8, I8]:
    """All (query, child) pairs of (query, node) pairs, where `below` children exist in all."""
    children = (node[:, None] * _FAN + np.arange(_FAN)).ravel()
    queries = np.repeat(query, _FAN)
    if len(children) and children.max() >= below:
        real = children < below
        return queries[real], children[real]
    return queries, children


def _box_distance(points: F8, low: F8, high: F8) -> F8:
    """Squared distance to a box, 0 inside."""
    gap = np.maximum(np.maximum(low - points, points - high), 0.0)
    return np.asarray(np.einsum("...i,...i->...", gap, gap))


def _dot(a: F8, b: F8) -> F8:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _squared(a: F8) -> F8:
    return np.asarray(np.einsum("ij,ij->i", a, a))
