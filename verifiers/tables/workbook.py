"""Spreadsheets: values, formulas and number formats of an xlsx, and values after a real recalculation."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from xml.etree.ElementTree import ParseError

import openpyxl
from openpyxl.utils.cell import column_index_from_string, coordinate_from_string
from openpyxl.utils.exceptions import CellCoordinatesException, InvalidFileException

from practicum.verifiers.bounds import check_zip
from practicum.verifiers.errors import MissingExtra, Unreadable
from practicum.verifiers.jail import confined
from practicum.verifiers.tables.values import Value

_MAX_CELLS = 2_000_000
_PARSER_ERRORS = (
    InvalidFileException,
    CellCoordinatesException,
    zipfile.BadZipFile,
    ParseError,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    OSError,
    EOFError,
    NotImplementedError,
)
"""What openpyxl raises on files it was never meant for: it validates by running into things."""
_RECALC_SECONDS = 60.0
_USER = "-env:UserInstallation=file:///tmp/work/profile"
_AGAIN = frozenset({79, 81})
"""`EXITHELPER_CRASH_WITH_RESTART` and `EXITHELPER_NORMAL_RESTART` of LibreOffice."""
_STARTS = 3
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="ODFRecalcMode" oor:op="fuse">
<value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse">
<value>2</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel"
 oor:op="fuse"><value>3</value></prop></item>
</oor:items>
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """`formula` is the text after "=", or None for a constant. Empty number format is General."""

    value: Value
    formula: str | None = None
    number_format: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Cells by (row, column), both from 1."""

    name: str
    cells: Mapping[tuple[int, int], Cell] = field(repr=False)

    def __getitem__(self, address: str) -> Cell:
        """The cell at an address such as "B4"; an empty one where there is nothing."""
        letters, row = coordinate_from_string(address)
        return self.cells.get((row, column_index_from_string(letters)), Cell(None))

    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """A rectangle of values from A1 to the last cell in use."""
        height = max((row for row, _ in self.cells), default=0)
        width = max((column for _, column in self.cells), default=0)
        return tuple(
            tuple(
                self.cells[key].value if (key := (r, c)) in self.cells else None for c in range(1, width + 1)
            )
            for r in range(1, height + 1)
        )


@dataclass(frozen=True, slots=True)
class Workbook:
    sheets: tuple[Sheet, ...]

    def sheet(self, name: str) -> Sheet | None:
        """By name, letter case and outer blanks ignored; the first sheet for an empty name."""
        if not name:
            return self.sheets[0]
        wanted = name.strip().casefold()
        return next((sheet for sheet in self.sheets if sheet.name.strip().casefold() == wanted), None)


def read(path: Path, *, recalculate: bool = False, changes: Mapping[str, Value] | None = None) -> Workbook:
    """An xlsx as it was saved, or with all formulas calculated anew by LibreOffice.

    A file that a library wrote has formulas without values: only `recalculate` shows them. `changes` sets
    cells ("Sheet!B4": value) before recalculating, so that one can see whether a result is alive.

    Raises `Unreadable`, and `MissingExtra` where LibreOffice is needed and absent.
    """
    formulas = _load(path, values=False)
    if not (recalculate or changes):
        return _joined(formulas, _load(path, values=True))
    with tempfile.TemporaryDirectory(prefix="recalc-") as scratch:
        calculated = _recalculated(path, formulas, changes or {}, Path(scratch))
        return _joined(formulas, _load(calculated, values=True))


def read_converted(path: Path) -> Workbook:
    """A spreadsheet in another format that LibreOffice opens, such as ods. Raises as `read` does."""
    check_zip(path)
    with tempfile.TemporaryDirectory(prefix="convert-") as scratch:
        book = _load(convert(path, Path(scratch), "xlsx"), values=False)
        return _joined(book, _load(Path(scratch) / "converted" / "source.xlsx", values=True))


def convert(path: Path, folder: Path, target: str) -> Path:
    """Let LibreOffice rewrite `path` into `folder` as `target` ("xlsx", "csv"), all formulas calculated.

    It runs in an inner jail where neither other outputs nor the reference exist.
    """
    profile = folder / "profile" / "user"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "registrymodifications.xcu").write_text(_PROFILE)
    source = folder / f"source{path.suffix.lower()}"
    if path != source:
        shutil.copyfile(path, source)
    (folder / "converted").mkdir(exist_ok=True)
    done = _soffice(["--convert-to", target, "--outdir", "converted", source.name], folder)
    result = folder / "converted" / f"source.{target.partition(':')[0]}"
    if not result.is_file():
        detail = "took too long" if done.timed_out else done.stderr.decode(errors="replace").strip()[-300:]
        raise Unreadable(path, f"LibreOffice cannot calculate it: {detail or 'no output'}")
    return result


def _soffice(arguments: list[str], folder: Path) -> confined.Completed:
    """The program itself, not its launcher: that wants `/proc`. On a new profile it asks to start again."""
    launcher = shutil.which("soffice")
    if launcher is None:
        raise MissingExtra("LibreOffice", mend="apt-get install libreoffice-calc-nogui")
    program = Path(launcher).resolve().parent
    argv = [str(program / "soffice.bin"), "--headless", "--norestore", "--nolockcheck", _USER, *arguments]
    environment = {"LD_LIBRARY_PATH": str(program)}
    for _ in range(_STARTS):
        done = confined.run(argv, folder, seconds=_RECALC_SECONDS, environment=environment)
        if done.timed_out or done.status not in _AGAIN:
            break
    return done


def _recalculated(path: Path, book: Any, changes: Mapping[str, Value], scratch: Path) -> Path:
    if changes:
        path = scratch / "source.xlsx"
        for address, value in changes.items():
            sheet, _, cell = address.rpartition("!")
            book[_real_name(path, book, sheet)][cell].value = value
        book.save(path)
    return convert(path, scratch, "xlsx")


def _real_name(path: Path, book: Any, wanted: str) -> str:
    name = next((name for name in book.sheetnames if name.casefold() == wanted.casefold()), None)
    if name is None:
        raise Unreadable(path, f"no sheet {wanted!r}")
    return cast(str, name)


def _load(path: Path, *, values: bool) -> Any:
    check_zip(path)
    try:
        book = openpyxl.load_workbook(path, data_only=values, keep_links=False)
    except _PARSER_ERRORS as error:
        raise Unreadable(path, f"not an xlsx workbook: {error}") from error
    if not book.worksheets:
        raise Unreadable(path, "a workbook without sheets")
    if sum(len(sheet._cells) for sheet in book.worksheets) > _MAX_CELLS:
        raise Unreadable(path, f"more than {_MAX_CELLS} cells")
    return book


def _joined(formulas: Any, values: Any) -> Workbook:
    sheets = []
    for with_formulas in formulas.worksheets:
        name = with_formulas.title
        with_values = values[name] if name in values.sheetnames else with_formulas
        cells = {}
        for (row, column), cell in sorted(with_formulas._cells.items()):
            made = _cell(cell, with_values._cells.get((row, column)))
            if made.value is not None or made.formula is not None:
                cells[row, column] = made
        sheets.append(Sheet(name, cells))
    return Workbook(tuple(sheets))


_FUTURE = re.compile(r"_xl(?:fn|ws|udf|pm)\.", re.IGNORECASE)


def _cell(formula: Any, value: Any) -> Cell:
    text = formula.value
    if formula.data_type == "f":
        body = text if isinstance(text, str) else getattr(text, "text", None) or ""
        shown = value.value if value is not None else None
        return Cell(shown, _FUTURE.sub("", body.lstrip("=")), _format(formula))
    return Cell(text if isinstance(text, Value) else str(text), None, _format(formula))


def _format(cell: Any) -> str:
    return "" if cell.number_format == "General" else str(cell.number_format)
