"""Damage and rewriting of tables."""

from __future__ import annotations

import csv
import datetime as dt
import io
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting, amount

_NAMES = ("Ånes", "de la Cruz", "O'Neil", "Zoë Müller", "Li Wei", "Smith, John")
_ID, _NAME, _AMOUNT, _DAY = range(4)
Rows = list[list[str]]


def sample(path: Path, random: Random) -> None:
    rows = [["id", "name", "amount", "day"]]
    start = dt.date(2024, 1, 1)
    for number in range(1, random.randint(10, 26)):
        day = start + dt.timedelta(days=random.randint(0, 300))
        rows.append(
            [
                f"{number:04d}",
                f"{random.choice(_NAMES)} {number}",
                f"{random.randint(5, 99_999) / 100:.2f}",
                str(day),
            ]
        )
    _write(path, rows)


def _read(path: Path) -> Rows:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _How:
    delimiter: str = ","
    quoted: bool = False
    end: str = "\n"
    encoding: str = "utf-8"


def _write(path: Path, rows: Rows, how: _How = _How()) -> None:
    buffer = io.StringIO(newline="")
    dialect = "unix" if how.quoted else "excel"
    csv.writer(buffer, dialect, delimiter=how.delimiter, lineterminator=how.end).writerows(rows)
    path.write_bytes(buffer.getvalue().encode(how.encoding))


def _edit(change: Callable[[Rows, float, Random], Rows]) -> Callable[[Path, float, Random], None]:
    def apply(path: Path, severity: float, random: Random) -> None:
        _write(path, change(_read(path), severity, random))

    return apply


def _cells(column: int, change: Callable[[str], str]) -> Callable[[Path, float, Random], None]:
    def apply(rows: Rows, severity: float, random: Random) -> Rows:
        places = list(range(1, len(rows)))
        random.shuffle(places)
        for place in places[: amount(severity, len(places))]:
            rows[place][column] = change(rows[place][column])
        return rows

    return _edit(apply)


def _dropped(rows: Rows, severity: float, random: Random) -> Rows:
    return rows[: len(rows) - amount(severity * 0.9, len(rows) - 1)]


def _added(rows: Rows, severity: float, random: Random) -> Rows:
    extra = [
        [f"9{place:03d}", "nobody", "1.00", "2024-01-01"] for place in range(amount(severity, len(rows)))
    ]
    return rows + extra


def _repeated(rows: Rows, severity: float, random: Random) -> Rows:
    return rows + rows[1 : 1 + amount(severity, len(rows) - 1)]


def _without(column: int) -> Callable[[Rows, float, Random], Rows]:
    return lambda rows, severity, random: [row[:column] + row[column + 1 :] for row in rows]


def _renamed(rows: Rows, severity: float, random: Random) -> Rows:
    return [["id", "name", "total", "day"], *rows[1:]]


def _shifted(rows: Rows, severity: float, random: Random) -> Rows:
    """Amounts moved one row down: every value is there, next to the wrong name."""
    amounts = [row[_AMOUNT] for row in rows[1:]]
    turned = amounts[-1:] + amounts[:-1]
    return rows[:1] + [
        [row[_ID], row[_NAME], value, row[_DAY]] for row, value in zip(rows[1:], turned, strict=True)
    ]


def _next_day(text: str) -> str:
    return str(dt.date.fromisoformat(text) + dt.timedelta(days=1))


def _swapped_day(text: str) -> str:
    """Another date in the wrong order, never the same one."""
    year, month, day = text.split("-")
    return f"{year}-{day}-{month}" if int(day) <= 12 and day != month else _next_day(text)


def _rewritten(how: _How) -> Callable[[Path, Random], None]:
    return lambda path, random: _write(path, _read(path), how)


def _reordered(path: Path, random: Random) -> None:
    order = random.sample(range(4), 4)
    _write(path, [[row[column] for column in order] for row in _read(path)])


def _spelled(path: Path, random: Random) -> None:
    """Amounts without needless zeros, or with more of them."""
    rows = _read(path)
    for row in rows[1:]:
        row[_AMOUNT] = random.choice([f"{float(row[_AMOUNT]):g}", row[_AMOUNT] + "00", f"+{row[_AMOUNT]}"])
    _write(path, rows)


def _continental(path: Path, random: Random) -> None:
    rows = _read(path)
    for row in rows[1:]:
        row[_AMOUNT] = row[_AMOUNT].replace(".", ",")
    _write(path, rows, _How(delimiter=";"))


def _decomposed(path: Path, random: Random) -> None:
    path.write_text(unicodedata.normalize("NFD", path.read_text(encoding="utf-8")), encoding="utf-8")


def _headed(path: Path, random: Random) -> None:
    rows = _read(path)
    _write(path, [[f" {name.upper()} " for name in rows[0]], *rows[1:]])


KIT = Kit(
    kind="tables",
    suffix=".csv",
    sample=sample,
    damages=(
        Damage(
            "amount off by a cent", "cells/amount", _cells(_AMOUNT, lambda text: f"{float(text) + 0.01:.2f}")
        ),
        Damage("sign flipped", "cells/amount", _cells(_AMOUNT, lambda text: f"-{text}")),
        Damage("amount blank", "cells/amount", _cells(_AMOUNT, lambda text: "")),
        Damage("day after", "cells/day", _cells(_DAY, _next_day)),
        Damage("day and month swapped", "cells/day", _cells(_DAY, _swapped_day)),
        Damage("misspelled name", "cells/name", _cells(_NAME, lambda text: text + "x")),
        Damage("lost leading zeros", "cells/id", _cells(_ID, lambda text: text.lstrip("0"))),
        Damage("rows dropped", "rows", _edit(_dropped)),
        Damage("rows added", "no other rows", _edit(_added)),
        Damage("rows repeated", "no other rows", _edit(_repeated)),
        Damage("column dropped", "columns", _edit(_without(_AMOUNT)), graded=False),
        Damage("column renamed", "columns", _edit(_renamed), graded=False),
        Damage("amounts shifted by a row", "cells/amount", _edit(_shifted), graded=False),
    ),
    rewritings=(
        Rewriting("CRLF", _rewritten(_How(end="\r\n"))),
        Rewriting("BOM", _rewritten(_How(encoding="utf-8-sig"))),
        Rewriting("UTF-16", _rewritten(_How(encoding="utf-16"))),
        Rewriting("Windows-1252", _rewritten(_How(encoding="cp1252"))),
        Rewriting("semicolons", _rewritten(_How(delimiter=";"))),
        Rewriting("tabs", _rewritten(_How(delimiter="\t"))),
        Rewriting("everything quoted", _rewritten(_How(quoted=True))),
        Rewriting("column order", _reordered),
        Rewriting("number spelling", _spelled),
        Rewriting("decimal commas", _continental),
        Rewriting("decomposed Unicode", _decomposed),
        Rewriting("header in capitals", _headed),
    ),
)
