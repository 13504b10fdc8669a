"""SQLite databases, compared as sets of facts.

from practicum.verifiers.database import Allowed, DatabaseSpec, TableRule, verify
from practicum.verifiers.database import sqlite  # tables as plain rows, read without trust
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.database.spec import Allowed, DatabaseSpec, TableRule
from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.verdict import Verdict

__all__ = ["Allowed", "DatabaseSpec", "TableRule", "verify"]


def verify(
    candidate: Path, reference: Path, spec: DatabaseSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """Compare two databases; `before`, where given, is the one the work began with."""
    from practicum.verifiers.database import compare  # noqa: PLC0415 - sqlite3 is paid for at use

    return compare.verify(candidate, reference, spec, before=before)


FAMILY = Family(
    kind="database",
    title="SQLite databases",
    spec=DatabaseSpec,
    verify=verify,
    suffixes=(".sqlite", ".sqlite3", ".db"),
    before="the database the work began with",
    facts=(
        Fact("readable", "", "the file is a sound SQLite 3 database; a gate", "sqlite.org"),
        Fact(
            "<table>", "typed values", "columns, rows and cells of one table, by its key; its schema if asked"
        ),
        Fact("no other tables", "names", "no further table"),
        Fact("work done", "share", "some of the required changes are there; a gate"),
        Fact("required changes", "count", "required ⊆ actual: rows added, removed and cells set"),
        Fact("no other changes", "count", "actual ⊆ required ∪ allowed"),
    ),
)
