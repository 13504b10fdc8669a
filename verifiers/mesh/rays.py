"""Where a line meets a mesh.

Source: T. Möller, B. Trumbore, *Fast, Minimum Storage Ray/Triangle Intersection*, J. Graphics Tools 2, 1997.
"""

from __future__ import annotations

import numpy as np

from practicum.verifiers.mesh.soup import F8, I8

_EDGE = 1e-9
"""Barycentric slack: a line through a shared edge meets at least one of its facets."""


def crossings(origin: F8, direction: F8, triangles: F8) -> tuple[F8, I8, F8]:
    """All crossings of the whole line with the facets, by distance along `direction` (unit) and facet.

    The third column is the cosine between direction and facet normal: negative where the line enters.
    """
    edge1, edge2 = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    normal = np.cross(edge1, edge2)
    length = np.linalg.norm(normal, axis=1)
    towards = normal @ direction
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = origin - triangles[:, 0]
        q = np.cross(offset, direction)
        u = np.einsum("ij,ij->i", edge2, q) / -towards
        v = np.einsum("ij,ij->i", edge1, q) / towards
        t = np.einsum("ij,ij->i", normal, offset) / -towards
        cosine = towards / length
        hit = (np.abs(cosine) > 1e-9) & (u >= -_EDGE) & (v >= -_EDGE) & (u + v <= 1.0 + _EDGE)
    facet = np.flatnonzero(hit)
    order = facet[np.argsort(t[facet], kind="stable")]
    return t[order], order, cosine[order]


def merged(distance: F8, cosine: F8, gap: float) -> tuple[F8, F8]:
    """Crossings nearer than `gap` with the same sense are one: the line went through a shared edge."""
    if len(distance) < 2:
        return distance, cosine
    new = np.ones(len(distance), bool)
    new[1:] = (np.diff(distance) > gap) | (np.sign(cosine[1:]) != np.sign(cosine[:-1]))
    return distance[new], cosine[new]
