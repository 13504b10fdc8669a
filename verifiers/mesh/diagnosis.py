"""What went wrong when a shape is right and its size or handedness is not."""

from __future__ import annotations

import numpy as np

from practicum.verifiers.mesh.distance import sample
from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.soup import F8, Mesh, content_seed

_FACTORS = (25.4, 10.0, 100.0, 1000.0, 304.8, 12.0)
"""Inch, centimetre, metre (of centimetres, of millimetres), foot, foot of inches."""
_NEAR = 0.02
_SAMPLES = 1000


def rescaled_by(candidate: Mesh, reference: Mesh) -> str | None:
    """The unit factor between two bounding boxes with the same proportions, or None."""
    ours, theirs = (np.ptp(mesh.bounds, axis=0) for mesh in (candidate, reference))
    if not (theirs > 0.0).all() or not (ours > 0.0).all():
        return None
    ratios = np.sort(ours)[::-1] / np.sort(theirs)[::-1]
    for factor in _FACTORS:
        if (np.abs(ratios / factor - 1.0) <= _NEAR).all():
            return f"{factor:g}"
        if (np.abs(ratios * factor - 1.0) <= _NEAR).all():
            return f"1/{factor:g}"
    return None


def mirror_axis(candidate: Mesh, reference: Mesh, tolerance: float) -> str | None:
    """The axis along which the candidate is the reference's mirror image, in place or about its middle."""
    ours, theirs = Index(candidate.triangles), Index(reference.triangles)
    points, truth = _points(candidate, reference), _points(reference, reference)
    middle = reference.bounds.mean(axis=0)
    for axis, name in enumerate("xyz"):
        for about in (middle[axis], 0.0):
            mirror, offset = np.ones(3), np.zeros(3)
            mirror[axis], offset[axis] = -1.0, 2.0 * about
            if (theirs.distance(points * mirror + offset) <= tolerance).all() and (
                ours.distance(truth * mirror + offset) <= tolerance
            ).all():
                return name
    return None


def _points(mesh: Mesh, seed: Mesh) -> F8:
    corners = np.unique(mesh.triangles.reshape(-1, 3), axis=0)
    return np.concatenate(
        [sample(mesh, _SAMPLES, content_seed(seed)), corners[:: 1 + len(corners) // _SAMPLES]]
    )
