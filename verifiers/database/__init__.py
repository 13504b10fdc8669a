"""SQLite databases, compared as sets of facts.

from practicum.verifiers.database import Allowed, DatabaseSpec, TableRule, verify
from practicum.verifiers.database import sqlite  # tables as plain rows, read without trust
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from practicum.verifiers.database.spec import Allowed, DatabaseSpec, TableRule

if TYPE_CHECKING:
    from practicum.verifiers.verdict import Verdict

__all__ = ["Allowed", "DatabaseSpec", "TableRule", "verify"]


def verify(
    candidate: Path, reference: Path, spec: DatabaseSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """Compare two databases; `before`, where given, is the one the work began with."""
    from practicum.verifiers.database import compare  # noqa: PLC0415 - sqlite3 is paid for at use

    return compare.verify(candidate, reference, spec, before=before)
