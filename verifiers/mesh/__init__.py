"""Triangle meshes: read, measured, compared.

from practicum.verifiers.mesh import Hole, MeshSpec, verify
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from practicum.verifiers.mesh.spec import Alignment, Hole, MeshSpec, Probe, Region, Section, Thickness

if TYPE_CHECKING:
    from practicum.verifiers.verdict import Verdict

__all__ = ["Alignment", "Hole", "MeshSpec", "Probe", "Region", "Section", "Thickness", "verify"]


def verify(
    candidate: Path, reference: Path, spec: MeshSpec | None = None, *, stock: Path | None = None
) -> Verdict:
    """Compare two mesh files; `stock`, where given, is the part before the work and earns nothing."""
    from practicum.verifiers.mesh import compare  # noqa: PLC0415 - numpy and scipy are paid for at use

    return compare.verify(candidate, reference, spec, stock=stock)
