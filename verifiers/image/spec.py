"""What a picture is asked for. Colour differences are CIEDE2000."""

from __future__ import annotations

import msgspec

Rgb = tuple[int, int, int]


class Area(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rectangle (left, top, right, bottom in pixels) with bounds of its own."""

    name: str
    box: tuple[int, int, int, int]
    mean: float = 2.0
    p95: float = 5.0
    weight: float = 1.0


class ColourShare(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of pixels within `delta_e` of a colour lies between `least` and `most`."""

    name: str
    colour: Rgb
    least: float = 0.0
    most: float = 1.0
    delta_e: float = 5.0
    weight: float = 1.0


class ImageSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default asks for the same picture up to re-encoding.

    `mean` and `p95` bound the colour difference over all pixels, `worst_block` its mean over the worst
    `block` × `block` square, which sees what is wrong in one place. `ssim` bounds mean structural
    similarity. `margin` is how much of the untouched input's difference must be gone where that is given.
    `formats` are Pillow's names ("PNG"); empty allows any.
    """

    mean: float = 1.5
    p95: float = 4.0
    worst_block: float = 8.0
    block: int = 16
    ssim: float | None = 0.95
    alpha: float = 0.02
    margin: float = 0.5
    formats: tuple[str, ...] = ()
    areas: tuple[Area, ...] = ()
    palette: tuple[ColourShare, ...] = ()
