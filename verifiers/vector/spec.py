"""What a drawing is asked for."""

from __future__ import annotations

import msgspec


class VectorSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Lengths in millimetres on the page.

    `distance_mm` is how far an outline may stray anywhere. `delta_e` is CIEDE2000. With `text_mm` None the
    place of texts is not looked at: it depends on fonts where text was centred by eye. `extra_shapes` allows
    shapes and texts that the reference does not have.
    """

    distance_mm: float = 0.5
    page_mm: float = 0.2
    delta_e: float = 2.0
    text_mm: float | None = 1.0
    font_size_fraction: float = 0.05
    font_family: bool = False
    extra_shapes: bool = False
