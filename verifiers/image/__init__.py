"""Pictures, compared as they are seen.

from practicum.verifiers.image import Area, ColourShare, ImageSpec, verify
from practicum.verifiers.image import measures, raster
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.image.spec import Area, ColourShare, ImageSpec
from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.verdict import Verdict

__all__ = ["Area", "ColourShare", "ImageSpec", "verify"]


def verify(
    candidate: Path, reference: Path, spec: ImageSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """Compare two pictures; `before`, where given, is the untouched input and earns nothing."""
    from practicum.verifiers.image import compare  # noqa: PLC0415 - numpy and Pillow are paid for at use

    return compare.verify(candidate, reference, spec, before=before)


FAMILY = Family(
    kind="image",
    title="Pictures",
    spec=ImageSpec,
    verify=verify,
    suffixes=(".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif", ".ppm"),
    before="the untouched input",
    facts=(
        Fact("readable", "", "the file opens as a picture within bounds; a gate"),
        Fact("size", "pixels", "the same width and height: nothing is ever resized; a gate where it fails"),
        Fact("beats the input", "share", "how much of the input's difference is gone; a gate"),
        Fact("colour, mean", "ΔE00", "mean colour difference over all pixels", "Sharma, Wu, Dalal, 2005"),
        Fact(
            "colour, 95 %", "ΔE00", "the 95th percentile of the colour difference", "Sharma, Wu, Dalal, 2005"
        ),
        Fact("worst place", "ΔE00", "the mean over the worst small square"),
        Fact("transparency", "0–1", "mean difference of alpha"),
        Fact("structure", "SSIM", "mean structural similarity of luma", "Wang et al., 2004"),
        Fact("format", "", "the container the spec names"),
        Fact("<area>", "ΔE00", "a rectangle with bounds of its own"),
        Fact("<colour>", "share", "how much of the picture is near a colour"),
    ),
)
