"""Area, centre of mass and inertia of a closed mesh at unit density.

Source: D. Eberly, *Polyhedral Mass Properties (Revisited)*, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from practicum.verifiers.mesh.soup import F8, areas
from practicum.verifiers.mesh.topology import Solid


@dataclass(frozen=True, slots=True, eq=False)
class MassProperties:
    """`moments` are the principal moments of inertia about the centre, ascending, in unit⁵."""

    volume: float
    area: float
    centre: F8
    moments: F8


def mass_properties(solid: Solid) -> MassProperties:
    """Meaningful where the solid is watertight; signed tetrahedra from a point near it keep the digits."""
    origin = solid.mesh.bounds.mean(axis=0)
    corners = solid.mesh.triangles - origin
    six_volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    volume = float(six_volumes.sum() / 6.0)
    area = float(areas(solid.mesh.triangles).sum())
    if volume == 0.0:
        return MassProperties(0.0, area, origin, np.zeros(3))
    total = corners.sum(axis=1)
    centre = (six_volumes[:, None] * total).sum(axis=0) / (24.0 * volume)
    squares = np.einsum("nki,nkj->nij", corners, corners) + np.einsum("ni,nj->nij", total, total)
    second = np.einsum("n,nij->ij", six_volumes, squares) / 120.0 - volume * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    return MassProperties(volume, area, origin + centre, np.linalg.eigvalsh(inertia))
