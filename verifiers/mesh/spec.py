"""What a mesh is asked for. Lengths are in the files' unit unless they are named a fraction."""

from __future__ import annotations

from enum import StrEnum

import msgspec

Vector = tuple[float, float, float]


class Alignment(StrEnum):
    NONE = "none"
    RIGID = "rigid"


class Hole(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="hole"):
    """A round hole: `centre` lies on its axis inside it. `length` is the depth it must keep its diameter for.

    With `through`, the axis must also leave the part at both ends (True) or must not (False).
    """

    name: str
    centre: Vector
    axis: Vector
    diameter: float
    length: float = 0.0
    tolerance: float = 0.1
    through: bool | None = None
    weight: float = 1.0


class Thickness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="thickness"):
    """Material along a ray: from where it first enters to where it next leaves."""

    name: str
    origin: Vector
    direction: Vector
    thickness: float
    tolerance: float = 0.1
    weight: float = 1.0


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="section"):
    """The area of material cut by a plane; tolerance as a fraction of the expected area."""

    name: str
    point: Vector
    normal: Vector
    area: float
    tolerance_fraction: float = 0.005
    weight: float = 1.0


class Region(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="region"):
    """Both surfaces agree within `tolerance` inside a box."""

    name: str
    low: Vector
    high: Vector
    tolerance: float
    weight: float = 1.0


Probe = Hole | Thickness | Section | Region


class MeshSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default is the rule of `practicum verify mesh`: a file passes when nothing but rounding differs.

    `distance_fraction` is of the reference's bounding-box diagonal; `distance` overrides it in file units.
    `stock_margin` is how much of the way from stock to reference must at least be gone.
    `samples` measure shares of the area, `search` pieces are looked at for the largest distance.
    """

    distance_fraction: float = 0.002
    distance: float | None = None
    volume_fraction: float = 0.005
    same_bodies: bool = True
    samples: int = 6_000
    search: int = 8_000
    alignment: Alignment = Alignment.NONE
    probes: tuple[Probe, ...] = ()
    surface_weight: float = 1.0
    stock_margin: float = 0.1
    picture: bool = True
