"""Values of cells, and when two are the same.

33, 33.0 and "33" in a number column are one value; so are "2024-03-01" and a date in a date column. Text is
compared after Unicode normalisation (NFC) and with outer blanks stripped.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from enum import StrEnum

import msgspec

Value = None | bool | int | float | str | dt.datetime | dt.date | dt.time | dt.timedelta


class Kind(StrEnum):
    """What a column holds. AUTO takes the type of the reference's value."""

    AUTO = "auto"
    NUMBER = "number"
    TEXT = "text"
    DATE = "date"
    BOOLEAN = "boolean"


class Decimal(StrEnum):
    """How numbers are written in text. AUTO accepts both where only one reading is possible."""

    AUTO = "auto"
    POINT = "point"
    COMMA = "comma"


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`tolerance` is absolute, `relative` a fraction of the expected value; the larger counts.

    `date_format` (strptime) is tried after ISO 8601. `casefold` ignores letter case.
    """

    name: str
    kind: Kind = Kind.AUTO
    tolerance: float = 0.0
    relative: float = 1e-9
    date_format: str = ""
    casefold: bool = False
    decimal: Decimal = Decimal.AUTO
    weight: float = 1.0


_SPACES = re.compile(r"[\s\u00a0\u202f']")
_POINT = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?|[+-]?,\d+([eE][+-]?\d+)?")
_TRUE, _FALSE = (
    frozenset({"true", "yes", "1", "wahr", "ja"}),
    frozenset({"false", "no", "0", "falsch", "nein"}),
)
_MAX_DIGITS = 400


def plain(value: object) -> Value:
    """A value of another library as one of ours; what it has no counterpart for becomes text."""
    return value if isinstance(value, Value) else str(value)


def same(expected: Value, found: Value, column: Column) -> bool:
    kind = kind_of(expected) if column.kind is Kind.AUTO else column.kind
    if blank(expected) or blank(found):
        return blank(expected) and blank(found)
    match kind:
        case Kind.NUMBER:
            return _same_number(number(expected), readings(found, column.decimal), column)
        case Kind.DATE:
            return (when := date(expected, column.date_format)) is not None and when == date(
                found, column.date_format
            )
        case Kind.BOOLEAN:
            return (truth := boolean(expected)) is not None and truth == boolean(found)
        case Kind.TEXT | Kind.AUTO:
            return text(expected, casefold=column.casefold) == text(found, casefold=column.casefold)


def kind_of(value: Value) -> Kind:
    match value:
        case bool():
            return Kind.BOOLEAN
        case int() | float():
            return Kind.NUMBER
        case dt.datetime() | dt.date():
            return Kind.DATE
        case _:
            return Kind.TEXT


def blank(value: Value) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def number(value: Value, decimal: Decimal = Decimal.POINT) -> float | None:
    """The one number this value is, or None."""
    found = readings(value, decimal)
    return found[0] if len(found) == 1 else None


def readings(value: Value, decimal: Decimal = Decimal.AUTO) -> tuple[float, ...]:
    """All numbers a value may mean: "1,234" is 1234 where commas group and 1.234 where they divide."""
    if isinstance(value, bool):
        return ()
    if isinstance(value, int | float):
        return (_finite(value),)
    if not isinstance(value, str) or len(value) > _MAX_DIGITS:
        return ()
    bare = _SPACES.sub("", value).replace("−", "-")
    found = []
    if decimal is not Decimal.COMMA and _POINT.fullmatch(bare):
        found.append(float(bare.replace(",", "")))
    if decimal is not Decimal.POINT and _COMMA.fullmatch(bare):
        found.append(float(bare.replace(".", "").replace(",", ".")))
    return tuple(dict.fromkeys(found))


def _finite(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _same_number(expected: float | None, found: tuple[float, ...], column: Column) -> bool:
    if expected is None:
        return False
    room = max(column.tolerance, column.relative * abs(expected))
    return any(abs(value - expected) <= room for value in found)


def date(value: Value, pattern: str = "") -> dt.datetime | None:
    """A date without time is midnight; a zone is dropped after conversion to UTC."""
    if isinstance(value, dt.datetime):
        return _naive(value)
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001 - civil dates of a file have no zone
    if not isinstance(value, str):
        return None
    stripped = value.strip()
    try:
        return _naive(dt.datetime.fromisoformat(stripped))
    except ValueError:
        pass
    if not pattern:
        return None
    try:
        return _naive(dt.datetime.strptime(stripped, pattern))  # noqa: DTZ007 - as above
    except ValueError:
        return None


def _naive(value: dt.datetime) -> dt.datetime:
    return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)


def boolean(value: Value) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    folded = text(value, casefold=True)
    return True if folded in _TRUE else False if folded in _FALSE else None


def text(value: Value, *, casefold: bool = False) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        value = value.date()
    plain = value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
    plain = unicodedata.normalize("NFC", plain).strip().replace("\r\n", "\n")
    return plain.casefold() if casefold else plain
