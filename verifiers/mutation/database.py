"""Damage and rewriting of SQLite databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting, amount

_SCHEMA = """
CREATE TABLE part (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mass REAL, bin TEXT);
CREATE TABLE move (part INTEGER REFERENCES part(id), day TEXT, quantity INTEGER, PRIMARY KEY (part, day));
"""
_NAMES = ("Mutter", "écrou", "bolt", "ナット", "Schraube")


def sample(path: Path, random: Random) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_SCHEMA)
        for number in range(1, random.randint(10, 20)):
            row = (
                number,
                f"{random.choice(_NAMES)} {number}",
                random.randint(1, 4000) / 8,
                f"B{random.randint(1, 9)}",
            )
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
            for day in random.sample(range(1, 29), 2):
                move = (number, f"2024-03-{day:02d}", random.randint(1, 500))
                connection.execute("INSERT INTO move VALUES (?, ?, ?)", move)
        connection.commit()


def _run(*statements: str) -> Callable[[Path, float, Random], None]:
    """Statements over a share of the parts: `:count` of them, in the order of `:key`."""

    def apply(path: Path, severity: float, random: Random) -> None:
        with closing(sqlite3.connect(path)) as connection:
            whole = connection.execute("SELECT count(*) FROM part").fetchone()[0]
            count, key = amount(severity * 0.9, whole), random.randint(3, 97)
            chosen = f"(SELECT id FROM part ORDER BY (id * {key}) % 101 LIMIT {count})"
            for statement in statements:
                connection.execute(statement.replace(":some", chosen))
            connection.commit()

    return apply


def _script(sql: str) -> Callable[[Path, Random], None]:
    def apply(path: Path, random: Random) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(sql)

    return apply


def _once(sql: str) -> Callable[[Path, float, Random], None]:
    return lambda path, severity, random: _script(sql)(path, random)


def _swapped(path: Path, severity: float, random: Random) -> None:
    """The heaviest and the lightest part exchange their masses."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, mass FROM part ORDER BY mass").fetchall()
        (a, low), (b, high) = rows[0], rows[-1]
        connection.executemany("UPDATE part SET mass = ? WHERE id = ?", [(high, a), (low, b)])
        connection.execute("UPDATE part SET mass = mass + 1 WHERE id = ? AND mass = ?", (a, low))
        connection.commit()


def _logged(path: Path, random: Random) -> None:
    """In write-ahead mode, the last change only in the log, as after a crash."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    mass = connection.execute("SELECT mass FROM part WHERE id = 1").fetchone()[0]
    connection.execute("UPDATE part SET mass = -1 WHERE id = 1")
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("UPDATE part SET mass = ? WHERE id = 1", (mass,))
    connection.commit()
    log = path.with_name(path.name + "-wal")
    main, ahead = path.read_bytes(), log.read_bytes()
    connection.close()
    path.write_bytes(main)
    log.write_bytes(ahead)


_REBUILT = """
CREATE TABLE other (bin TEXT, mass REAL, name TEXT NOT NULL, id INTEGER PRIMARY KEY);
INSERT INTO other SELECT bin, mass, name, id FROM part ORDER BY name DESC;
DROP TABLE part; ALTER TABLE other RENAME TO part;
"""

KIT = Kit(
    kind="database",
    suffix=".sqlite",
    sample=sample,
    damages=(
        Damage(
            "mass changed", "part/cells/mass", _run("UPDATE part SET mass = mass + 0.125 WHERE id IN :some")
        ),
        Damage("mass missing", "part/cells/mass", _run("UPDATE part SET mass = NULL WHERE id IN :some")),
        Damage(
            "name misspelled", "part/cells/name", _run("UPDATE part SET name = name || 'x' WHERE id IN :some")
        ),
        Damage("parts deleted", "part/rows", _run("DELETE FROM part WHERE id IN :some")),
        Damage(
            "parts added",
            "part/no other rows",
            _run("INSERT INTO part SELECT id + 1000, name, mass, bin FROM part WHERE id IN :some"),
        ),
        Damage("numbers renumbered", "part/rows", _run("UPDATE part SET id = id + 1000 WHERE id IN :some")),
        Damage("moves deleted", "move/rows", _run("DELETE FROM move WHERE part IN :some")),
        Damage(
            "quantity halved",
            "move/cells/quantity",
            _run("UPDATE move SET quantity = -quantity WHERE part IN :some"),
        ),
        Damage(
            "days as text in another order",
            "move/rows",
            _run("UPDATE move SET day = substr(day, 9) || '.03.2024' WHERE part IN :some"),
        ),
        Damage("masses exchanged", "part/cells/mass", _swapped, graded=False),
        Damage("table dropped", "move", _once("DROP TABLE move;"), graded=False),
        Damage("table added", "no other tables", _once("CREATE TABLE scratch (x);"), graded=False),
        Damage(
            "column renamed",
            "part/columns",
            _once("ALTER TABLE part RENAME COLUMN mass TO weight;"),
            graded=False,
        ),
    ),
    rewritings=(
        Rewriting("vacuumed", _script("VACUUM;")),
        Rewriting("another page size", _script("PRAGMA page_size = 8192; VACUUM;")),
        Rewriting("UTF-16 inside", _script("PRAGMA journal_mode = DELETE; VACUUM;")),
        Rewriting(
            "indexed", _script("CREATE INDEX by_name ON part (name); CREATE INDEX by_day ON move (day);")
        ),
        Rewriting(
            "views and triggers beside",
            _script(
                "CREATE VIEW heavy AS SELECT * FROM part WHERE mass > 9;"
                "CREATE TRIGGER watch AFTER INSERT ON part BEGIN SELECT 1; END;"
            ),
        ),
        Rewriting("column and row order", _script(_REBUILT)),
        Rewriting("whole numbers as reals", _script("UPDATE move SET quantity = CAST(quantity AS REAL);")),
        Rewriting("last change in the write-ahead log", _logged),
    ),
)
