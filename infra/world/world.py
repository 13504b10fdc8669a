"""What a tool sees of the state: a `View` to read it, a `World` to write it inside one transaction.

Tools are pure: their whole effect is what they put into the world they are given and what they return.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Never

from practicum.infra.world.tables import Change, R, Row, Tables

CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Clock:
    """The one row that holds the time. It stands still until a tool moves it."""

    id: str
    now: datetime


class Refused(Exception):
    """The world says no: a rule of the workplace forbids what was asked. Nothing changed."""


class View:
    """Read access to the state of a world."""

    __slots__ = ("_tables",)

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def now(self) -> datetime:
        return self._tables.of(Clock)[CLOCK].now

    def minutes_since(self, moment: datetime) -> int:
        """Whole minutes, also past midnight."""
        return int((self.now - moment).total_seconds() // 60)

    def find(self, kind: type[R], key: str) -> R | None:
        return self._tables.of(kind).get(key)

    def get(self, kind: type[R], key: str) -> R:
        """Raises `Refused` when there is no such row."""
        row = self._tables.of(kind).get(key)
        if row is None:
            raise Refused(f"there is no {kind.__name__.lower()} {key!r}")
        return row

    def all(self, kind: type[R]) -> list[R]:
        """The whole table, by id."""
        return list(self._tables.of(kind).values())

    def one(self, kind: type[R]) -> R:
        """The row of a table that always has exactly one."""
        (row,) = self._tables.of(kind).values()
        return row


class World(View):
    """Write access within one transaction."""

    __slots__ = ("_before",)

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self._before: dict[tuple[type[Row], str], Row | None] = {}

    def put(self, row: R) -> R:
        """Make or replace the row of this id."""
        kind = type(row)
        self._before.setdefault((kind, row.id), self._tables.exchange(kind, row.id, row))
        return row

    def drop(self, row: Row) -> None:
        kind = type(row)
        self._before.setdefault((kind, row.id), self._tables.exchange(kind, row.id, None))

    def advance(self, minutes: float) -> datetime:
        """Let time pass; returns the new time."""
        if minutes < 0:
            raise ValueError("time does not run backwards")
        return self.put(Clock(CLOCK, self.now + timedelta(minutes=minutes))).now

    def fresh(self, kind: type[Row], prefix: str) -> str:
        """The next free id of a table: `PREFIX-1`, `PREFIX-2`, …"""
        rows = self._tables.of(kind)
        number = len(rows) + 1
        while f"{prefix}-{number}" in rows:
            number += 1
        return f"{prefix}-{number}"

    def refuse(self, why: str) -> Never:
        raise Refused(why)

    def commit(self) -> tuple[Change, ...]:
        """End the transaction; the changes it made, without rows put back as they were."""
        accounted = (self._tables.account(kind, key, old) for (kind, key), old in self._before.items())
        changes = tuple(change for change in accounted if change is not None)
        self._before.clear()
        return changes

    def rollback(self) -> None:
        """Undo everything since the last commit."""
        for (kind, key), old in self._before.items():
            self._tables.exchange(kind, key, old)
        self._before.clear()


Rule = Callable[[View], str | None]
"""A rule of the workplace: `None` while it holds, else in words how it is broken."""
