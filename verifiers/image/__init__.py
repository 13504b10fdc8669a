"""Pictures, compared as they are seen.

from practicum.verifiers.image import Area, ColourShare, ImageSpec, verify
from practicum.verifiers.image import measures, raster
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from practicum.verifiers.image.spec import Area, ColourShare, ImageSpec

if TYPE_CHECKING:
    from practicum.verifiers.verdict import Verdict

__all__ = ["Area", "ColourShare", "ImageSpec", "verify"]


def verify(
    candidate: Path, reference: Path, spec: ImageSpec | None = None, *, untouched: Path | None = None
) -> Verdict:
    """Compare two pictures; `untouched`, where given, is the input before the work and earns nothing."""
    from practicum.verifiers.image import compare  # noqa: PLC0415 - numpy and Pillow are paid for at use

    return compare.verify(candidate, reference, spec, untouched=untouched)
