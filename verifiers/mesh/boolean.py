"""Volumes of unions and intersections, exact for manifold input.

Source: manifold3d, an implementation of J. Smith, *Towards Robust Inexact Geometric Computation*, 2009.
"""

from __future__ import annotations

import manifold3d  # type: ignore[import-not-found] # ships no type information
import numpy as np

from practicum.verifiers.mesh.topology import Solid
from practicum.verifiers.verdict import Check, Role

_MAX_FACETS = 400_000


def union_volume(solid: Solid) -> float:
    """Material counted once where bodies overlap; the signed volume where the mesh is no manifold."""
    if solid.bodies < 2:
        return solid.volume
    body = _manifold(solid)
    return solid.volume if isinstance(body, str) else float(body.volume())


def overlap(candidate: Solid, reference: Solid) -> Check:
    """Intersection over union of the materials, for the record: it hardly sees small features."""
    found = _iou(candidate, reference)
    score, text = (found, f"{found:.5f}") if isinstance(found, float) else (0.0, f"not computed: {found}")
    return Check("boolean IoU", True, score, found=text, weight=0.0, role=Role.BONUS)


def _iou(candidate: Solid, reference: Solid) -> float | str:
    ours = _manifold(candidate)
    if isinstance(ours, str):
        return f"candidate {ours}"
    theirs = _manifold(reference)
    if isinstance(theirs, str):
        return f"reference {theirs}"
    common = (ours ^ theirs).volume()
    union = ours.volume() + theirs.volume() - common
    return min(1.0, max(0.0, common / union)) if union > 0.0 else "no volume"


def _manifold(solid: Solid) -> manifold3d.Manifold | str:
    """The union of the bodies less the cavities, or why there is none."""
    if not (solid.watertight and solid.manifold):
        return "is not a closed manifold"
    if len(solid.faces) > _MAX_FACETS:
        return f"has more than {_MAX_FACETS} facets"
    shells = [_shell(solid, number) for number in range(len(solid.volumes))]
    broken = next((shell for shell in shells if shell.status() != manifold3d.Error.NoError), None)
    if broken is not None:
        return f"is refused: {broken.status().name}"
    add = [shell for shell, volume in zip(shells, solid.volumes, strict=True) if volume > 0.0]
    cut = [shell for shell, volume in zip(shells, solid.volumes, strict=True) if volume < 0.0]
    body = manifold3d.Manifold.batch_boolean(add, manifold3d.OpType.Add) if add else manifold3d.Manifold()
    for hollow in cut:
        body -= hollow
    return body


def _shell(solid: Solid, number: int) -> manifold3d.Manifold:
    faces = solid.faces[solid.shell == number]
    if solid.volumes[number] < 0.0:
        faces = faces[:, ::-1]
    used, local = np.unique(faces, return_inverse=True)
    mesh = manifold3d.Mesh64(
        vert_properties=np.ascontiguousarray(solid.vertices[used]),
        tri_verts=np.ascontiguousarray(local.reshape(-1, 3).astype(np.uint64)),
    )
    return manifold3d.Manifold(mesh)
