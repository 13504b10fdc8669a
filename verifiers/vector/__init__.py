"""Vector drawings by what they show, whatever way they are written.

from practicum.verifiers.vector import VectorSpec, verify
from practicum.verifiers.vector import svg  # shapes and texts in page coordinates
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.vector.spec import VectorSpec
from practicum.verifiers.verdict import Verdict

__all__ = ["VectorSpec", "verify"]


def verify(candidate: Path, reference: Path, spec: VectorSpec | None = None) -> Verdict:
    """Compare two SVG files."""
    from practicum.verifiers.vector import compare  # noqa: PLC0415 - numpy and scipy are paid for at use

    return compare.verify(candidate, reference, spec)


FAMILY = Family(
    kind="vector",
    title="Vector drawings",
    spec=VectorSpec,
    verify=verify,
    suffixes=(".svg",),
    facts=(
        Fact("readable", "", "the file is an SVG without entities; a gate", "SVG 2"),
        Fact("page size", "mm", "width and height as printed", "CSS 2.2: 96 px to the inch"),
        Fact(
            "shapes",
            "mm, ΔE00",
            "outline, fill, stroke, opacity of each shape after all transforms",
            "CIEDE2000",
        ),
        Fact("stacking", "", "of two shapes that overlap the same one is above"),
        Fact("no other shapes", "count", "nothing else leaves paint on the page"),
        Fact("texts", "mm, ΔE00", "content, place, size and colour of each text"),
        Fact("no other texts", "count", "no further text"),
    ),
)
