"""Vector drawings by what they show, whatever way they are written.

from practicum.verifiers.vector import VectorSpec, verify
from practicum.verifiers.vector import svg  # shapes and texts in page coordinates
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from practicum.verifiers.vector.spec import VectorSpec

if TYPE_CHECKING:
    from practicum.verifiers.verdict import Verdict

__all__ = ["VectorSpec", "verify"]


def verify(candidate: Path, reference: Path, spec: VectorSpec | None = None) -> Verdict:
    """Compare two SVG files."""
    from practicum.verifiers.vector import compare  # noqa: PLC0415 - numpy and scipy are paid for at use

    return compare.verify(candidate, reference, spec)
