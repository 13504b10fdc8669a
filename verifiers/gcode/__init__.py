"""G-code: the path a machining or printing program makes.

from practicum.verifiers.gcode import GcodeSpec, Solid, Visit, verify
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.gcode.spec import GcodeSpec, Solid, Visit
from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.verdict import Verdict

__all__ = ["GcodeSpec", "Solid", "Visit", "verify"]


def verify(candidate: Path, reference: Path, spec: GcodeSpec | None = None) -> Verdict:
    """Compare two programs."""
    from practicum.verifiers.gcode import compare  # noqa: PLC0415 - numpy and scipy are paid for at use

    return compare.verify(candidate, reference, spec)


FAMILY = Family(
    kind="gcode",
    title="Machining and printing programs",
    spec=GcodeSpec,
    verify=verify,
    suffixes=(".gcode", ".nc", ".ngc", ".tap"),
    facts=(
        Fact("readable", "", "the file is a program with feeding moves; a gate", "ISO 6983-1"),
        Fact("path", "mm", "the feeding moves cover the reference's path, both ways", "NIST RS274/NGC"),
        Fact("extents", "mm", "the box around the feeding moves"),
        Fact("length of cut", "mm", "the length fed, so that nothing is cut twice"),
        Fact("extrusion", "mm of filament", "the filament used"),
        Fact("feed", "mm/min", "the feed along the path"),
        Fact("direction", "share", "the way the path is walked, where asked"),
        Fact("<rapids clear of …>", "count", "no rapid passes through a box of material"),
        Fact("<visit>", "mm", "a place the tool must reach while feeding"),
    ),
)
