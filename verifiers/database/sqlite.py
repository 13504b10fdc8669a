"""A SQLite file as plain tables, read without trusting it.

The file is copied with its write-ahead log, so that what was committed but not yet checkpointed is seen, and
opened so that nothing in it can act: no attaching, no extensions, no virtual tables, no untrusted functions
from its schema, a bound on steps, rows and lengths.

Source: sqlite.org, *Defense Against The Dark Arts* and *Write-Ahead Logging*.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable

MAX_BYTES = 256 << 20
_MAX_ROWS = 2_000_000
_MAX_LENGTH = 16 << 20
_MAX_STEPS = 2_000
_STEP = 1_000_000
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA}
)
_MAGIC = b"SQLite format 3\0"

SqlValue = None | int | float | str | bytes


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """`affinity` is SQLite's: TEXT, NUMERIC, INTEGER, REAL or BLOB. `primary` counts from 1, 0 is no part."""

    name: str
    affinity: str
    not_null: bool
    primary: int


@dataclass(frozen=True, slots=True)
class SqlTable:
    name: str
    columns: tuple[ColumnInfo, ...]
    rows: tuple[tuple[SqlValue, ...], ...]
    foreign_keys: frozenset[tuple[str, str, str]]
    """(column, table, column) pairs."""


@dataclass(frozen=True, slots=True)
class Database:
    """Real tables by name; views and virtual tables are named but not read."""

    tables: dict[str, SqlTable]
    views: frozenset[str]

    def table(self, name: str) -> SqlTable | None:
        """Letter case does not matter, as in SQL."""
        return next((table for key, table in self.tables.items() if key.casefold() == name.casefold()), None)


def read(path: Path) -> Database:
    """Raises `Unreadable` for what is missing, damaged, hostile or no SQLite database."""
    if not read_bytes(path, limit=MAX_BYTES).startswith(_MAGIC):
        raise Unreadable(path, "not a SQLite 3 database")
    try:
        with _opened(path) as connection:
            return _database(path, connection)
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        raise Unreadable(path, f"damaged or hostile database: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="sqlite-") as scratch:
        copy = Path(scratch) / "copy.db"
        shutil.copyfile(path, copy)
        log = path.with_name(path.name + "-wal")
        if log.is_file() and not log.is_symlink() and log.stat().st_size <= MAX_BYTES:
            shutil.copyfile(log, copy.with_name("copy.db-wal"))
        with closing(sqlite3.connect(copy)) as connection:
            _disarm(connection)
            if (sound := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise Unreadable(path, f"damaged database: {sound}")
            yield connection


def _disarm(connection: sqlite3.Connection) -> None:
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_LENGTH)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
    for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")
    steps = iter(range(_MAX_STEPS))
    connection.set_progress_handler(lambda: next(steps, None) is None, _STEP)
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
    )


def _database(path: Path, connection: sqlite3.Connection) -> Database:
    listed = connection.execute("PRAGMA table_list").fetchall()
    names = [
        (name, kind)
        for schema, name, kind, *_ in listed
        if schema == "main" and not name.startswith("sqlite_")
    ]
    tables, room = {}, _MAX_ROWS
    for name in sorted(name for name, kind in names if kind == "table"):
        table = _table(path, connection, name, room)
        room -= len(table.rows)
        tables[name] = table
    return Database(tables, frozenset(name for name, kind in names if kind == "view"))


def _table(path: Path, connection: sqlite3.Connection, name: str, room: int) -> SqlTable:
    quoted = '"' + name.replace('"', '""') + '"'
    info = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
    columns = tuple(
        ColumnInfo(str(column), _affinity(kind or ""), bool(required), int(primary))
        for _, column, kind, required, _, primary, hidden in info
        if hidden != 1
    )
    cursor = connection.execute(f"SELECT * FROM {quoted}")
    rows = cursor.fetchmany(room + 1)
    if len(rows) > room:
        raise Unreadable(path, f"more than {_MAX_ROWS} rows")
    keys = connection.execute(f"PRAGMA foreign_key_list({quoted})").fetchall()
    foreign = frozenset((str(key[3]), str(key[2]), str(key[4] or "")) for key in keys)
    return SqlTable(name, columns, tuple(map(tuple, rows)), foreign)


def _affinity(declared: str) -> str:
    """Source: sqlite.org, *Datatypes In SQLite*, §3.1."""
    upper = declared.upper()
    for affinity, parts in (
        ("INTEGER", ("INT",)),
        ("TEXT", ("CHAR", "CLOB", "TEXT")),
        ("BLOB", ("BLOB",)),
        ("REAL", ("REAL", "FLOA", "DOUB")),
    ):
        if any(part in upper for part in parts):
            return affinity
    return "NUMERIC" if upper else "BLOB"
