"""A triangle mesh as an array, and the small amount of linear algebra everything else stands on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F8 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """`triangles` is (n, 3, 3) float64 in file units, n ≥ 1; `notes` says what the reader had to tolerate."""

    triangles: F8
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.triangles)

    @property
    def bounds(self) -> F8:
        """(2, 3): the least and the greatest corner."""
        flat = self.triangles.reshape(-1, 3)
        return np.stack([flat.min(axis=0), flat.max(axis=0)])

    @property
    def diagonal(self) -> float:
        low, high = self.bounds
        return float(np.linalg.norm(high - low))

    def moved(self, matrix: F8) -> Mesh:
        """By a 4 × 4 affine map; a reflecting map keeps the winding outward."""
        linear, offset = matrix[:3, :3], matrix[:3, 3]
        triangles = self.triangles @ linear.T + offset
        if np.linalg.det(linear) < 0:
            triangles = triangles[:, ::-1]
        return Mesh(np.ascontiguousarray(triangles), self.notes)


def doubled_normals(triangles: F8) -> F8:
    """(n, 3) normals whose length is twice the facet's area."""
    normals: F8 = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return normals


def areas(triangles: F8) -> F8:
    return np.asarray(np.linalg.norm(doubled_normals(triangles), axis=1) / 2.0)


def content_seed(mesh: Mesh) -> int:
    """A seed that depends on the surface only: not on the order of facets or of their corners."""
    bits = (mesh.triangles + 0.0).view(np.uint64)
    mixed = (bits * np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)).sum(
        axis=2
    )
    mixed ^= mixed >> np.uint64(31)
    total = int((mixed * np.uint64(0xD6E8FEB86659FD93)).sum(dtype=np.uint64))
    return int.from_bytes(hashlib.sha256(total.to_bytes(8, "little")).digest()[:8], "little")
