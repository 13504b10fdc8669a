"""Exact closest points on a triangle mesh: a bounding-volume hierarchy traversed for all queries at once.

Facets stand in the order in which a k-d tree of their middles visits them; blocks of eight neighbours are the
leaves of the hierarchy, blocks of eight blocks the nodes above. The facets with the nearest middles give each
query an upper bound, a breadth-first descent then keeps only boxes nearer than that. All of it is float64
array arithmetic in a fixed order, so the digits do not depend on threads.

Sources: closest point on a triangle, C. Ericson, *Real-Time Collision Detection*, 2005, §5.1.5; k-d tree,
S. Maneewongvatana, D. Mount, *Analysis of Approximate Nearest Neighbor Searching with Clustered Point Sets*,
1999, as in scipy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from practicum.verifiers.mesh.soup import F8, I8

_FAN = 8
_CHUNK = 4096
_PAIRS = 1 << 20
_SEEDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Closest:
    """Per query: the distance, the closest point on the surface and the index of its facet."""

    distance: F8
    point: F8
    facet: I8


class Index:
    """Built once for (n, 3, 3) triangles; queried by (m, 3) points."""

    def __init__(self, triangles: F8) -> None:
        a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
        boxes = np.empty((len(triangles), 6))
        np.minimum(np.minimum(a, b, out=boxes[:, :3]), c, out=boxes[:, :3])
        np.maximum(np.maximum(a, b, out=boxes[:, 3:]), c, out=boxes[:, 3:])
        centres = (boxes[:, :3] + boxes[:, 3:]) * 0.5
        self._triangles = triangles
        self._tree = cKDTree(centres, leafsize=16, balanced_tree=False, compact_nodes=False)
        self._order = np.asarray(self._tree.indices, np.int64)
        self._boxes = boxes[self._order]
        self._levels = _hierarchy(self._boxes)

    def closest(self, points: F8) -> Closest:
        parts = [self._chunk(points[i : i + _CHUNK]) for i in range(0, len(points), _CHUNK)]
        if not parts:
            return Closest(np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64))
        squared, near, facet = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Closest(np.sqrt(squared), near, facet)

    def distance(self, points: F8) -> F8:
        return self.closest(points).distance

    def facets(self, numbers: I8) -> F8:
        """The triangles with these numbers, as `Closest.facet` counts them."""
        return self._triangles[numbers]

    def _chunk(self, points: F8) -> tuple[F8, F8, I8]:
        best = _Best(points, self._triangles)
        near = np.asarray(self._tree.query(points, k=min(_SEEDS, len(self._order)))[1], np.int64)
        seeds = near.reshape(len(points), -1)
        best.offer(np.repeat(np.arange(len(points)), seeds.shape[1]), seeds.ravel())
        query = np.repeat(np.arange(len(points)), len(self._levels[-1]))
        node = np.tile(np.arange(len(self._levels[-1])), len(points))
        self._search(best, len(self._levels) - 1, query, node)
        return best.squared, best.near, best.facet

    def _search(self, best: _Best, level: int, query: I8, node: I8) -> None:
        keep = _box_distance(best.points[query], self._levels[level][node]) < best.squared[query]
        query, node = query[keep], node[keep]
        below = len(self._levels[level - 1]) if level else len(self._triangles)
        step = max(1, _PAIRS // _FAN)
        for start in range(0, len(query), step):
            pairs = _expand(query[start : start + step], node[start : start + step], below)
            if level:
                self._search(best, level - 1, *pairs)
            else:
                self._offer(best, *pairs)

    def _offer(self, best: _Best, query: I8, slot: I8) -> None:
        near = np.flatnonzero(_box_distance(best.points[query], self._boxes[slot]) < best.squared[query])
        best.offer(query[near], self._order[slot[near]])


class _Best:
    """The nearest facet found so far, per query."""

    def __init__(self, points: F8, triangles: F8) -> None:
        self.points = points
        self._triangles = triangles
        self.squared = np.full(len(points), np.inf)
        self.near = np.zeros((len(points), 3))
        self.facet = np.zeros(len(points), np.int64)

    def offer(self, query: I8, facet: I8) -> None:
        if not len(query):
            return
        points = self.points[query]
        near = closest_on_triangles(points, self._triangles[facet])
        squared = _squared(points - near)
        first = np.lexsort((facet, squared, query))
        first = first[np.unique(query[first], return_index=True)[1]]
        first = first[squared[first] < self.squared[query[first]]]
        winner = query[first]
        self.squared[winner], self.near[winner], self.facet[winner] = (
            squared[first],
            near[first],
            facet[first],
        )


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


def _hierarchy(boxes: F8) -> list[F8]:
    """(n, 6) boxes as lowest and highest corner, from the leaves up."""
    levels = []
    while True:
        starts = np.arange(0, len(boxes), _FAN)
        low = np.minimum.reduceat(boxes[:, :3], starts, axis=0)
        high = np.maximum.reduceat(boxes[:, 3:], starts, axis=0)
        boxes = np.concatenate([low, high], axis=1)
        levels.append(boxes)
        if len(boxes) <= _FAN:
            return levels


def _expand(query: I8, node: I8, below: int) -> tuple[I8, I8]:
    """All (query, child) pairs of (query, node) pairs, where `below` children exist in all."""
    children = (node[:, None] * _FAN + np.arange(_FAN)).ravel()
    queries = np.repeat(query, _FAN)
    if len(children) and children.max() >= below:
        real = children < below
        return queries[real], children[real]
    return queries, children


def _box_distance(points: F8, boxes: F8) -> F8:
    """Squared distance to a box, 0 inside."""
    gap = np.maximum(boxes[:, :3] - points, points - boxes[:, 3:])
    np.maximum(gap, 0.0, out=gap)
    return _squared(gap)


def _dot(a: F8, b: F8) -> F8:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _squared(a: F8) -> F8:
    return np.asarray(np.einsum("ij,ij->i", a, a))
