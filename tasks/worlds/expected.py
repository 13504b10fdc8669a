"""What a right ending looks like: which rows must differ from the start, which may, and what is handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from practicum.infra.world.tables import Row

Fields = Mapping[str, Any]
ANY = "*"


class Became(msgspec.Struct, frozen=True, tag=True):
    """A row that was there ends with these fields."""

    table: str
    id: str
    fields: dict[str, Any]
    within: dict[str, float] = {}

    @property
    def name(self) -> str:
        return f"{self.table}.{self.id}"


class Made(msgspec.Struct, frozen=True, tag=True):
    """Exactly one new row has these fields."""

    table: str
    fields: dict[str, Any]
    within: dict[str, float] = {}

    @property
    def name(self) -> str:
        return f"new {self.table} " + " ".join(str(value) for value in self.fields.values())


class Gone(msgspec.Struct, frozen=True, tag=True):
    """A row that was there is no more."""

    table: str
    id: str

    @property
    def name(self) -> str:
        return f"{self.table}.{self.id} gone"


Required = Became | Made | Gone


class May(msgspec.Struct, frozen=True):
    """Rows and fields that may change and need not; `*` is any."""

    table: str
    id: str = ANY
    fields: tuple[str, ...] = (ANY,)


class Cell(msgspec.Struct, frozen=True):
    """One field of one row."""

    table: str
    id: str
    field: str


class Answer(msgspec.Struct, frozen=True):
    """What is handed in. Numbers match within a tolerance where one is given, lists in any order unless
    their field is `ordered`. `told` fields must agree with a cell of the final state, whatever it became."""

    fields: dict[str, Any]
    told: dict[str, Cell] = {}
    within: dict[str, float] = {}
    ordered: tuple[str, ...] = ()


class Expected(msgspec.Struct, frozen=True):
    required: tuple[Required, ...]
    answer: Answer
    allowed: tuple[May, ...] = ()


def became(kind: type[Row], key: str, within: Mapping[str, float] | None = None, /, **fields: Any) -> Became:
    return Became(kind.__name__, key, msgspec.to_builtins(fields), dict(within or {}))


def made(kind: type[Row], within: Mapping[str, float] | None = None, /, **fields: Any) -> Made:
    return Made(kind.__name__, msgspec.to_builtins(fields), dict(within or {}))


def gone(kind: type[Row], key: str) -> Gone:
    return Gone(kind.__name__, key)


def may(kind: type[Row], key: str = ANY, *fields: str) -> May:
    """All fields unless some are named."""
    return May(kind.__name__, key, fields or (ANY,))


def handed_in(
    answer: object,
    *,
    within: Mapping[str, float] | None = None,
    ordered: Iterable[str] = (),
    told: Mapping[str, Cell] | None = None,
) -> Answer:
    """The expected submission, an instance of the scenario's answer type; `told` fields go before it."""
    told = dict(told or {})
    fields: dict[str, Any] = msgspec.to_builtins(answer)
    fields = {name: value for name, value in fields.items() if name not in told}
    return Answer(fields, told, dict(within or {}), tuple(ordered))


def cell(kind: type[Row], key: str, name: str) -> Cell:
    return Cell(kind.__name__, key, name)


def matches(expected: Any, found: Any, tolerance: float = 0.0, *, ordered: bool = True) -> bool:
    """Equality of JSON values. `True` is not 1, and `1` is `1.0`."""
    if isinstance(expected, list) and isinstance(found, list):
        if not ordered:
            expected, found = sorted(expected, key=_sort_key), sorted(found, key=_sort_key)
        return len(expected) == len(found) and all(
            matches(one, other, tolerance) for one, other in zip(expected, found, strict=True)
        )
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return abs(expected - found) <= tolerance + 1e-9
    return bool(expected == found)


def _sort_key(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


@dataclass(frozen=True, slots=True)
class Difference:
    """What really changed between two states: fields of rows that stayed, rows made, rows removed."""

    fields: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    made: dict[tuple[str, str], Fields] = field(default_factory=dict)
    gone: tuple[tuple[str, str], ...] = ()


def difference(before: Mapping[str, list[Any]], after: Mapping[str, list[Any]]) -> Difference:
    """Of two states as `Tables.plain` gives them."""
    old, new = _by_key(before), _by_key(after)
    changed = {key: _changed(old[key], row) for key, row in new.items() if key in old and old[key] != row}
    made_rows = {key: row for key, row in new.items() if key not in old}
    return Difference(changed, made_rows, tuple(key for key in old if key not in new))


def _by_key(state: Mapping[str, list[Any]]) -> dict[tuple[str, str], Fields]:
    return {(table, row["id"]): row for table, rows in state.items() for row in rows}


def _changed(old: Fields, new: Fields) -> dict[str, Any]:
    return {name: value for name, value in new.items() if old.get(name) != value}
