"""Lay a candidate over its reference by a proper rigid motion: turned and moved, never mirrored or scaled.

Starts are the rotations that bring principal axes onto principal axes, with more where an axis of symmetry
leaves the angle open; the best of them are refined by iterative closest points, point to plane.

Source: Y. Chen, G. Medioni, *Object Modelling by Registration of Multiple Range Images*, Image and Vision
Computing 10(3), 1992.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from scipy.spatial.transform import Rotation

from practicum.verifiers.mesh.distance import sample
from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.soup import F8, Mesh, content_seed, doubled_normals

_COARSE, _FINE = 250, 1250
_KEPT = 4
_ROUNDS = 25
_TURNS = 12
_NEAR = 0.05
"""Principal moments this close, relative to the largest, leave the axes between them open."""


def rigid(candidate: Mesh, reference: Mesh) -> F8:
    """The 4 × 4 motion that brings the candidate nearest to the reference."""
    index, seed = Index(reference.triangles), content_seed(reference)
    ours, theirs = sample(candidate, _FINE, seed), sample(reference, _FINE, seed)
    scored = []
    for rotation in _starts(ours, theirs):
        motion = _motion(rotation, ours.mean(axis=0), theirs.mean(axis=0))
        scored.append((_residual(index, ours[:: _FINE // _COARSE], motion), motion))
    scored.sort(key=lambda pair: pair[0])
    refined = [_closest_points(index, ours, motion) for _, motion in scored[:_KEPT]]
    return min(refined, key=lambda pair: pair[0])[1]


def _starts(ours: F8, theirs: F8) -> list[F8]:
    (ours_axes, _), (axes, moments) = _principal(ours), _principal(theirs)
    starts = [axes @ turn @ ours_axes.T for turn in _cube_rotations()]
    spread = moments / moments.max()
    for first, second, axis in ((0, 1, 2), (1, 2, 0), (0, 2, 1)):
        if abs(spread[first] - spread[second]) < _NEAR:
            about = [Rotation.from_rotvec(axes[:, axis] * angle).as_matrix() for angle in _angles()]
            starts = [turn @ start for turn in about for start in starts]
            break
    return starts


def _angles() -> F8:
    return np.linspace(0.0, np.pi / 2, _TURNS, endpoint=False)


def _principal(points: F8) -> tuple[F8, F8]:
    moments, axes = np.linalg.eigh(np.cov((points - points.mean(axis=0)).T))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return axes, moments


def _cube_rotations() -> list[F8]:
    """The 24 proper rotations that map the axes onto themselves."""
    found = []
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        matrix = np.zeros((3, 3))
        matrix[range(3), order] = signs
        if np.linalg.det(matrix) > 0.0:
            found.append(matrix)
    return found


def _motion(rotation: F8, start: F8, end: F8) -> F8:
    motion = np.eye(4)
    motion[:3, :3] = rotation
    motion[:3, 3] = end - rotation @ start
    return motion


def _residual(index: Index, points: F8, motion: F8) -> float:
    return float((index.distance(points @ motion[:3, :3].T + motion[:3, 3]) ** 2).mean())


def _closest_points(index: Index, points: F8, motion: F8) -> tuple[float, F8]:
    best = _residual(index, points, motion)
    for _ in range(_ROUNDS):
        moved = points @ motion[:3, :3].T + motion[:3, 3]
        trial = _towards_planes(index, moved) @ motion
        residual = _residual(index, points, trial)
        if residual >= best * (1.0 - 1e-9):
            break
        best, motion = residual, trial
    return best, motion


def _towards_planes(index: Index, moved: F8) -> F8:
    """The small motion that brings points nearest to the planes of their closest facets, by least squares.

    Motions that change nothing, about an axis of symmetry, stay zero in the least-norm solution.
    """
    closest = index.closest(moved)
    normals = doubled_normals(index.facets(closest.facet))
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0.0, length, 1.0)
    middle = moved.mean(axis=0)
    system = np.hstack([np.cross(moved - middle, normals), normals])
    off = np.einsum("ij,ij->i", closest.point - moved, normals)
    turn, shift = np.split(np.linalg.lstsq(system, off, rcond=1e-9)[0], 2)
    return _motion(np.asarray(Rotation.from_rotvec(turn).as_matrix()), middle, middle + shift)
