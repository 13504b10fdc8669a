"""What a text is asked for."""

from __future__ import annotations

import msgspec


class Mention(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A phrase that must occur between `least` and `most` times, blanks and letter case ignored."""

    name: str
    phrase: str
    least: int = 1
    most: int | None = None
    weight: float = 1.0


class TextSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default compares line by line once line ends, BOM, Unicode form and trailing blanks are made equal.

    With `digits`, numbers compare as numbers to that many significant digits; 0 compares them as text. With
    `ordered` False lines may stand in any order. `lines` False compares nothing but `mentions`.
    """

    lines: bool = True
    ordered: bool = True
    blank_lines: bool = False
    casefold: bool = False
    digits: int = 12
    mentions: tuple[Mention, ...] = ()
