"""What structured data is asked for."""

from __future__ import annotations

import msgspec


class At(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one place is compared. `path` is `a.b[*].c`: names, `[n]` or `[*]` for items; `*` for any name.

    `ignore` leaves the place out. `ordered` False pairs the items of a list in any order; `tolerance` is
    absolute, for numbers there and below.
    """

    path: str
    ignore: bool = False
    ordered: bool = True
    tolerance: float | None = None


class StructuredSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default asks for the same data: names in any order, lists in order, numbers within rounding.

    `extra` allows names that the reference does not have. `blanks` makes an absent name and null the same.
    """

    relative: float = 1e-9
    tolerance: float = 0.0
    extra: bool = False
    blanks: bool = False
    ordered: bool = True
    at: tuple[At, ...] = ()
