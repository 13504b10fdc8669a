"""What a machining or printing program is asked for. Lengths in mm, feeds in mm a minute."""

from __future__ import annotations

import msgspec

Corner = tuple[float, float, float]


class Solid(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A box of material or fixture that no rapid move may pass through."""

    name: str
    low: Corner
    high: Corner


class Visit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place the tool must reach while feeding, within `tolerance`."""

    name: str
    at: Corner
    tolerance: float = 0.05
    weight: float = 1.0


class GcodeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default asks for the reference's path within `distance`, its extrusion and feeds within fractions.

    `direction` also asks that the path is walked the same way. `rapids_clear` is what rapids must avoid.
    """

    distance: float = 0.05
    length_fraction: float = 0.02
    extrusion_fraction: float = 0.02
    feed_fraction: float | None = 0.05
    direction: bool = False
    rapids_clear: tuple[Solid, ...] = ()
    visits: tuple[Visit, ...] = ()
