"""CSV and TSV: encoding and delimiter are found, not presumed.

Source: RFC 4180, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, 2005.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable

_DELIMITERS = (",", ";", "\t", "|")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_MAX_CELLS = 5_000_000
_SAMPLE_ROWS = 50


@dataclass(frozen=True, slots=True)
class Delimited:
    """Rows of text, and how they were written."""

    rows: tuple[tuple[str, ...], ...]
    encoding: str
    delimiter: str


def read(path: Path, *, delimiter: str = "", encoding: str = "") -> Delimited:
    """Raises `Unreadable`. Empty lines are dropped; a first line `sep=;` is obeyed."""
    data = read_bytes(path)
    plain, used = _decoded(path, data, encoding)
    head, _, rest = plain.partition("\n")
    if head.strip().lower().startswith("sep=") and len(head.strip()) == 5:
        plain, delimiter = rest, head.strip()[4]
    separator = delimiter or _delimiter(plain)
    return Delimited(_parsed(path, plain, separator), used, separator)


def _decoded(path: Path, data: bytes, encoding: str) -> tuple[str, str]:
    bom = next((name for mark, name in _BOMS if data.startswith(mark)), "")
    for name in (bom or encoding or "utf-8", "cp1252"):
        try:
            return data.decode(name), name
        except UnicodeError:
            if bom or encoding:
                raise Unreadable(path, f"not text in {name}") from None
    raise Unreadable(path, "neither UTF-8 nor Windows-1252 text")


def _delimiter(plain: str) -> str:
    """The one that divides the first rows into the most equal number of fields, more than one."""
    sample = "\n".join(plain.splitlines()[:_SAMPLE_ROWS])

    def merit(candidate: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=candidate) if row]
        typical = max(set(widths), key=widths.count, default=1)
        return typical > 1, widths.count(typical) / max(1, len(widths)), typical

    return max(_DELIMITERS, key=merit)


def _parsed(path: Path, plain: str, separator: str) -> tuple[tuple[str, ...], ...]:
    rows, cells = [], 0
    if "\0" in plain:
        raise Unreadable(path, "NUL characters in text")
    try:
        for row in csv.reader(io.StringIO(plain, newline=""), delimiter=separator):
            cells += len(row)
            if cells > _MAX_CELLS:
                raise Unreadable(path, f"more than {_MAX_CELLS} cells")
            if any(field.strip() for field in row):
                rows.append(tuple(row))
    except csv.Error as error:
        raise Unreadable(path, f"broken CSV: {error}") from error
    return tuple(rows)
