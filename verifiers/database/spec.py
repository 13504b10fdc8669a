"""What a database is asked for."""

from __future__ import annotations

import msgspec

from practicum.verifiers.tables.values import Column


class TableRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table. Empty `columns` are all of the reference's, an empty `key` its primary key."""

    name: str
    columns: tuple[Column, ...] = ()
    key: tuple[str, ...] = ()
    extra_columns: bool = False
    extra_rows: bool = False
    weight: float = 1.0


class Allowed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change that is neither asked for nor held against the candidate; `*` stands for any."""

    table: str = "*"
    column: str = "*"


class DatabaseSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tables of the reference without a rule are compared by the default rule.

    `schema` also asks for the same affinities, primary keys and foreign keys. `ignored` tables are not looked
    at. `allowed` counts only where a database from before the work is given.
    """

    tables: tuple[TableRule, ...] = ()
    ignored: tuple[str, ...] = ()
    extra_tables: bool = False
    schema: bool = False
    allowed: tuple[Allowed, ...] = ()
