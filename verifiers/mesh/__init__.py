"""Triangle meshes: read, measured, compared.

from practicum.verifiers.mesh import Hole, MeshSpec, verify
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.mesh.spec import Alignment, Hole, MeshSpec, Probe, Region, Section, Thickness
from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.verdict import Verdict

__all__ = ["Alignment", "Hole", "MeshSpec", "Probe", "Region", "Section", "Thickness", "verify"]


def verify(
    candidate: Path, reference: Path, spec: MeshSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """Compare two mesh files; `before`, where given, is the stock and earns nothing."""
    from practicum.verifiers.mesh import compare  # noqa: PLC0415 - numpy and scipy are paid for at use

    return compare.verify(candidate, reference, spec, before=before)


FAMILY = Family(
    kind="mesh",
    title="Triangle meshes",
    spec=MeshSpec,
    verify=verify,
    suffixes=(".stl", ".obj", ".ply", ".off", ".3mf", ".glb"),
    before="the stock, the part before the work",
    facts=(
        Fact("readable", "", "the file is a mesh with facets and finite coordinates; a gate"),
        Fact("not rescaled", "", "its size is not off by a unit's factor such as 25.4, 10 or 1000; a gate"),
        Fact("beats the stock", "share", "it is nearer to the reference than the stock by a margin; a gate"),
        Fact(
            "surface",
            "file units",
            "the largest exact point-to-facet distance, both ways; precision, recall and F at the tolerance",
            "Cignoni et al., Metro, 1998; Guthe et al., 2005; Ericson, 2005",
        ),
        Fact(
            "aligned by",
            "4 × 4 motion",
            "the proper rigid motion used where asked; never fails",
            "Chen, Medioni, 1992",
        ),
        Fact("volume", "cubic file units", "signed volume of the united bodies", "divergence theorem"),
        Fact("bodies", "count", "closed shells that bound material from outside, and cavities"),
        Fact("watertight", "", "every edge is walked as often one way as the other"),
        Fact("not mirrored", "", "it is not the reference's mirror image"),
        Fact(
            "<probe>", "file units", "a hole, a wall, a section or a region named in the spec", "Kåsa, 1976"
        ),
        Fact(
            "facts",
            "file units",
            "area, centre of mass, principal moments, V − E + F; never fails",
            "Eberly, 2002",
        ),
        Fact("tolerated and mended", "", "what the reader put up with; never fails"),
        Fact("boolean IoU", "share", "intersection over union, for the record; never fails", "manifold3d"),
    ),
)
