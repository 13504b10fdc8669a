"""The state of a world: typed tables of frozen rows, and a hash of them that costs only what changed.

The hash is additive: the sum, modulo 2^256, of one BLAKE2b digest per row (Bellare and Micciancio 1997,
"Incrementality at Reduced Cost"). It does not depend on the order in which rows were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Protocol, TypeVar, cast

import msgspec

_MODULUS = 1 << 256
_encode = msgspec.json.Encoder(order="deterministic").encode


class Row(Protocol):
    """A frozen dataclass whose `id` names it within its table."""

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Row)


class Change(msgspec.Struct, frozen=True, gc=False):
    """One row written: `None` before means made, `None` after means removed."""

    table: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class Tables:
    """Rows by table and id, ids in order. A row type's name is its table's name."""

    __slots__ = ("_kinds", "_rows", "_sum")

    def __init__(self, kinds: Iterable[type[Row]], rows: Iterable[Row] = ()) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._rows: dict[type[Row], dict[str, Row]] = {kind: {} for kind in self._kinds.values()}
        self._sum = 0
        for row in rows:
            if row.id in self._rows[type(row)]:
                raise ValueError(f"two rows {row.id!r} in table {type(row).__name__}")
            self.exchange(type(row), row.id, row)
            self.account(type(row), row.id, None)

    def of(self, kind: type[R]) -> Mapping[str, R]:
        return cast("Mapping[str, R]", self._rows[kind])

    def exchange(self, kind: type[Row], key: str, row: Row | None) -> Row | None:
        """Put a row, or remove it with `None`; returns what stood there. The hash waits for `account`."""
        rows = self._rows[kind]
        old = rows.get(key)
        if row is None:
            rows.pop(key, None)
        elif old is not None:
            rows[key] = row
        else:
            in_order = not rows or key > next(reversed(rows))
            rows[key] = row
            if not in_order:
                self._rows[kind] = dict(sorted(rows.items()))
        return old

    def account(self, kind: type[Row], key: str, before: Row | None) -> Change | None:
        """Bring the hash up to date with the row at `key`, which was `before`; `None` if it is the same."""
        after = self._rows[kind].get(key)
        if after == before:
            return None
        table = kind.__name__
        self._sum = (self._sum - _digest(table, before) + _digest(table, after)) % _MODULUS
        return Change(table, key, _plain(before), _plain(after))

    def replay(self, change: Change) -> None:
        """Apply a journaled change. Raises `ValueError` when the row before is not the one journaled."""
        kind = self._kinds.get(change.table)
        if kind is None:
            raise ValueError(f"no table {change.table!r}")
        row = None if change.after is None else msgspec.convert(change.after, kind)
        old = self.exchange(kind, change.id, row)
        if _plain(old) != change.before:
            raise ValueError(f"{change.table} {change.id!r} was not what the journal says")
        self.account(kind, change.id, old)

    @property
    def digest(self) -> str:
        return f"{self._sum:064x}"

    def plain(self) -> dict[str, list[dict[str, Any]]]:
        """All rows as JSON values."""
        return {
            kind.__name__: [msgspec.to_builtins(row) for row in rows.values()]
            for kind, rows in self._rows.items()
        }

    @classmethod
    def load(cls, kinds: Iterable[type[Row]], plain: Mapping[str, Any]) -> Tables:
        """Inverse of `plain`. Raises `msgspec.ValidationError` or `ValueError` where it does not fit."""
        by_name = {kind.__name__: kind for kind in kinds}
        if unknown := set(plain) - set(by_name):
            raise ValueError(f"unknown tables {sorted(unknown)}")
        rows = (msgspec.convert(row, by_name[name]) for name, table in plain.items() for row in table)
        return cls(by_name.values(), rows)

    def copy(self) -> Tables:
        twin = Tables(self._kinds.values())
        twin._rows = {kind: dict(rows) for kind, rows in self._rows.items()}
        twin._sum = self._sum
        return twin


def _plain(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else msgspec.to_builtins(row)


def _digest(table: str, row: Row | None) -> int:
    if row is None:
        return 0
    return int.from_bytes(blake2b(_encode((table, row)), digest_size=32).digest())
