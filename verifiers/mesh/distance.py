"""How far one surface strays from another: percentiles over its area, and a maximum that is searched for.

The maximum is sought by subdivision: over a piece of the source the distance is at most that at its centre
plus its radius, and at most the largest distance of its corners to one facet of the target, because the
distance to a convex set is convex. Pieces that could exceed neither the largest distance seen nor the
tolerance are dropped, the most suspicious of the rest are split, until none is left or the budget is spent.

Sources: P. Cignoni et al., *Metro: Measuring Error on Simplified Surfaces*, Computer Graphics Forum 17(2),
1998; M. Guthe et al., *Fast and Accurate Hausdorff Distance Calculation between Meshes*, WSCG 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from practicum.verifiers.mesh.index import Index, closest_on_triangles
from practicum.verifiers.mesh.soup import F8, Mesh, areas
from practicum.verifiers.mesh.spec import MeshSpec

_ROUND = 2048
_CLOSE = 1.02
_MAX_CORNERS = 150_000


@dataclass(frozen=True, slots=True, eq=False)
class Deviation:
    """From a source surface to a target. Percentiles weigh by area; `largest` is attained at `worst`.

    No point of the source is farther than `bound`; the two differ by what the search left open.
    """

    distances: F8
    p50: float
    p95: float
    p99: float
    mean: float
    largest: float
    bound: float
    worst: tuple[float, float, float]

    def share_within(self, tolerance: float) -> float:
        return float((self.distances <= tolerance).mean())


def deviation(source: Mesh, target: Index, tolerance: float, spec: MeshSpec, seed: int) -> Deviation:
    points = sample(source, spec.samples, seed)
    distances = target.distance(points)
    largest, bound, worst = _Search(target, tolerance, spec.search).run(source, points, distances)
    p50, p95, p99 = (float(value) for value in np.percentile(distances, [50, 95, 99]))
    mean = float(distances.mean())
    x, y, z = (float(value) for value in worst)
    return Deviation(distances, p50, p95, p99, mean, largest, bound, (x, y, z))


def sample(mesh: Mesh, count: int, seed: int) -> F8:
    """`count` points spread evenly over the area: one at random in each of `count` equal strata."""
    random = np.random.Generator(np.random.PCG64(seed))
    cumulative = np.cumsum(areas(mesh.triangles))
    if cumulative[-1] <= 0.0:
        return np.asarray(mesh.triangles[np.arange(count) % len(mesh), 0])
    where = (np.arange(count) + random.random(count)) * (cumulative[-1] / count)
    facet = np.minimum(np.searchsorted(cumulative, where, side="right"), len(mesh) - 1)
    root, v = np.sqrt(random.random((count, 1))), random.random((count, 1))
    a, b, c = (mesh.triangles[facet, corner] for corner in range(3))
    return np.asarray((1.0 - root) * a + root * (1.0 - v) * b + root * v * c)


@dataclass(frozen=True, slots=True)
class _Search:
    target: Index
    tolerance: float
    budget: int

    def run(self, source: Mesh, points: F8, distances: F8) -> tuple[float, float, F8]:
        """The largest distance found, what none can exceed, and where it was."""
        largest, worst = self._corners(source, points, distances)
        pieces, bounds, spent = source.triangles, np.full(len(source), np.inf), 0
        while len(pieces) and spent < self.budget:
            turn = np.argsort(-bounds, kind="stable")[:_ROUND]
            rest = np.ones(len(pieces), bool)
            rest[turn] = False
            centre, found, upper = _bounds(pieces[turn], self.target)
            spent += len(turn)
            peak = int(found.argmax())
            if found[peak] > largest:
                largest, worst = float(found[peak]), centre[peak]
            enough = max(largest * _CLOSE, self.tolerance)
            undecided = upper > enough
            keep = rest & (bounds > enough)
            pieces = np.concatenate([pieces[keep], _halved(pieces[turn][undecided])])
            bounds = np.concatenate([bounds[keep], np.repeat(upper[undecided], 2)])
        left = float(bounds.max(initial=0.0)) if len(pieces) else 0.0
        return largest, max(largest * _CLOSE, self.tolerance, left), worst

    def _corners(self, source: Mesh, points: F8, distances: F8) -> tuple[float, F8]:
        corners = np.unique(source.triangles.reshape(-1, 3), axis=0)
        corners = corners[:: -(-len(corners) // _MAX_CORNERS)]
        seen = np.concatenate([points, corners])
        found = np.concatenate([distances, self.target.distance(corners)])
        best = int(found.argmax())
        return float(found[best]), seen[best]


def _bounds(pieces: F8, target: Index) -> tuple[F8, F8, F8]:
    centre = pieces.mean(axis=1)
    closest = target.closest(centre)
    radius = np.linalg.norm(pieces - centre[:, None], axis=2).max(axis=1)
    facet = target.facets(closest.facet)
    corner = [
        np.linalg.norm(pieces[:, k] - closest_on_triangles(pieces[:, k], facet), axis=1) for k in range(3)
    ]
    return centre, closest.distance, np.minimum(closest.distance + radius, np.max(corner, axis=0))


def _halved(pieces: F8) -> F8:
    """Across the longest edge."""
    edges = np.linalg.norm(np.roll(pieces, -1, axis=1) - pieces, axis=2)
    first = edges.argmax(axis=1)
    rows = np.arange(len(pieces))
    a, b, c = (pieces[rows, (first + k) % 3] for k in range(3))
    middle = (a + b) / 2.0
    halves = np.stack([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)], axis=1)
    return halves.reshape(-1, 3, 3)
