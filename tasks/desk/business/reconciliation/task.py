"""A ledger reconciled with a bank statement by live formulas, which are recalculated and put to the test."""

from __future__ import annotations

import datetime
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from openpyxl import load_workbook
from openpyxl.workbook import Workbook as OpenBook

from practicum.infra.operator import Operator
from practicum.tasks import oracle
from practicum.tasks.desk.business.reconciliation.books import (
    SUMMARY_LABELS,
    Answers,
    Books,
    answers,
    changed,
    draw_lots,
    formulas,
    save_frozen,
    workbook,
)
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.tables import workbook as sheets
from practicum.verifiers.verdict import Check, Verdict, all_of, check

RESULT = "reconciliation.xlsx"
INPUT = "books.xlsx"
CENT = 0.005
_COMPANIES = ("Fjellvik Bakery", "Torrent Bikes", "Mäkelä & Sons", "Harbour Books", "Okafor Ceramics")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")

Cells = dict[str, float]
"""Values by `Sheet!A1`."""


class _Truth(msgspec.Struct, frozen=True):
    """What the filled cells must hold, before and after the changes that ask whether they are alive."""

    cells: Cells
    changes: dict[str, str | float]
    after: Cells


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    month = rng.randrange(1, 11)
    books = draw_lots(rng, 2026, month)
    other = changed(books, rng)
    save_frozen(workbook(books), inputs / INPUT)
    save_frozen(workbook(books), reference / INPUT)
    truth = _Truth(_filled(books), _changes(books, other), _filled(other))
    (reference / "truth.json").write_bytes(msgspec.json.encode(truth))
    return {
        "say": {
            "company": rng.choice(_COMPANIES),
            "month": f"{_MONTHS[month - 1]} 2026",
            "ledger_last": str(books.ledger_last),
            "bank_last": str(books.bank_last),
        },
        "formulas": formulas(books),
        "references": [entry.reference for entry in books.ledger],
        "total": f"{sum(entry.amount for entry in books.ledger)}",
    }


def facts(params: Params) -> Mapping[str, str]:
    rows = {f"entry {number}": text for number, text in enumerate(params["references"], 1)}
    labels = {f"B{row}": label for row, label in enumerate(SUMMARY_LABELS, 2)}
    return rows | labels | {"currency": "All amounts are in euros", "live": "must hold a live formula"}


def secrets(params: Params) -> Iterable[str]:
    yield params["total"]


def solve(hands: Operator, params: Params) -> None:
    """In Calc's own window: click the head of each column, type it downwards, save, quit."""
    made = f"outputs/{RESULT}"
    hands.bash(f"cp inputs/{INPUT} {made}; setsid -f soffice --calc {made} > /dev/null 2>&1")
    for sheet, cells in params["formulas"].items():
        oracle.find(hands, role="table", name=sheet)
        for column in _columns(cells):
            first, last = next(iter(column)), list(column)[-1]
            x, y = _on_screen(hands, first).centre
            hands.click(x, y + _menu_height(hands))
            hands.type("".join(f"{_in_calc(formula)}\n" for formula in column.values()))
            _on_screen(hands, last, filled=True)
        hands.key("ctrl+s" if sheet == "Summary" else "ctrl+page_down")
    hands.click(*oracle.find(hands, role="button", name="Excel").centre)
    oracle.gone(hands, name="Excel")
    hands.key("ctrl+q")
    hands.bash("for office in $(pgrep -x soffice.bin); do tail --pid=$office -f /dev/null; done")


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    book = load_workbook(reference / INPUT)
    for sheet, cells in params["formulas"].items():
        for cell, formula in cells.items():
            book[sheet][cell] = formula
    save_frozen(book, outputs / RESULT)


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    del params
    truth = msgspec.json.decode((reference / "truth.json").read_bytes(), type=_Truth)
    given = sheets.read(reference / INPUT)
    try:
        saved = sheets.read(outputs / RESULT)
        filled = [cell for cell in truth.cells if _formula(saved, cell)]
        started = check(
            "formulas", bool(filled), expected="live formulas in the empty cells", found="none"
        ).as_gate()
        if not filled:
            return Verdict((started,))
        now = sheets.read(outputs / RESULT, recalculate=True)
        then = sheets.read(outputs / RESULT, changes=truth.changes)
    except Unreadable as error:
        return Verdict((check("workbook", False, expected="an xlsx", reason=error.reason).as_gate(),))
    return Verdict((started, _untouched(given, saved), *_answer_checks(truth, now, then)))


def _answer_checks(truth: _Truth, now: sheets.Workbook, then: sheets.Workbook) -> Iterator[Check]:
    for name, weight, cells in _groups(truth.cells):
        yield all_of(
            name,
            (
                _values("value", cells, truth.cells, now),
                check(
                    "formula",
                    all(_formula(now, cell) for cell in cells),
                    expected="a formula in each cell",
                    found=", ".join(cell for cell in cells if not _formula(now, cell)),
                ),
                _values("follows", cells, truth.after, then),
            ),
        ).weighing(weight)


def _groups(cells: Cells) -> Iterator[tuple[str, float, list[str]]]:
    """A column is one answer and weighs as three figures."""
    for name, place in (("bank amount", "Ledger!E"), ("difference", "Ledger!F"), ("in ledger", "Bank!D")):
        yield name, 3.0, [cell for cell in cells if cell.startswith(place)]
    for cell in cells:
        if cell.startswith("Summary!"):
            yield cell.removeprefix("Summary!"), 1.0, [cell]


def _values(name: str, cells: list[str], wanted: Cells, book: sheets.Workbook) -> Check:
    wrong = []
    for cell in cells:
        found = _at(book, cell).value
        if isinstance(found, bool) or not isinstance(found, int | float) or abs(found - wanted[cell]) > CENT:
            wrong.append(f"{cell}: {found!r} for {wanted[cell]:.2f}")
    right = 1 - len(wrong) / len(cells)
    return check(name, not wrong, expected="right to the cent", found="; ".join(wrong[:3]), score=right)


def _untouched(given: sheets.Workbook, saved: sheets.Workbook) -> Check:
    moved = [
        f"{sheet.name}!{row},{column}"
        for sheet in given.sheets
        for (row, column), cell in sheet.cells.items()
        if cell.value is not None and not _same(cell.value, _cell(saved, sheet.name, row, column))
    ]
    return check("given cells", not moved, expected="as they were", found=", ".join(moved[:5]))


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    del outputs
    ledger, bank = int(params["say"]["ledger_last"]), int(params["say"]["bank_last"])
    first_part = f"=IFERROR(VLOOKUP(B{{n}},Bank!$B$2:$C${bank},2,FALSE),0)"
    short = f"=SUM(Ledger!D2:D{ledger - 1})"
    unsigned = f"=SUMPRODUCT((Ledger!E2:E{ledger}<>0)*ABS(Ledger!F2:F{ledger}))"
    yield Mutant("total typed in as a number", "B2/formula", _set({"Summary!B2": float(params["total"])}))
    yield Mutant("total typed in as a formula", "B2/follows", _set({"Summary!B2": f"={params['total']}"}))
    yield Mutant(
        "only the first part of a payment", "bank amount/value", _set(_column("Ledger!E", ledger, first_part))
    )
    yield Mutant(
        "differences the wrong way round", "difference/value", _set(_column("Ledger!F", ledger, "=E{n}-D{n}"))
    )
    yield Mutant("last row forgotten", "difference/value", _set({f"Ledger!F{ledger}": None}))
    yield Mutant("all bank lines called known", "in ledger/value", _set(_column("Bank!D", bank, "=1")))
    yield Mutant("a range one row short", "B2/value", _set({"Summary!B2": short}))
    yield Mutant(
        "missing entries counted by difference",
        "B4/value",
        _set({"Summary!B4": f'=COUNTIF(Ledger!F2:F{ledger},"<>0")'}),
    )
    yield Mutant("sum without signs", "B9/value", _set({"Summary!B9": unsigned}))
    yield Mutant("an amount of the ledger changed", "given cells", _bump)


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    del outputs
    bank = params["say"]["bank_last"]
    other = f"=SUMPRODUCT((Bank!$B$2:$B${bank}=B{{n}})*Bank!$C$2:$C${bank})"
    yield Benign("saved again by LibreOffice", _resaved)
    yield Benign("formulas without saved values", _set({}))
    yield Benign(
        "another function for the same", _set(_column("Ledger!E", int(params["say"]["ledger_last"]), other))
    )
    yield Benign("percent style, bold, wider columns", _styled)


def _filled(books: Books) -> Cells:
    found = answers(books)
    places = {
        "bank_amount": "Ledger!E",
        "difference": "Ledger!F",
        "in_ledger": "Bank!D",
        "summary": "Summary!B",
    }
    return {
        f"{places[field.name]}{row}": float(value)
        for field in fields(Answers)
        for row, value in enumerate(getattr(found, field.name), 2)
    }


def _changes(before: Books, after: Books) -> dict[str, str | float]:
    changes: dict[str, str | float] = {}
    for sheet, column, old, new in (
        ("Ledger", "D", before.ledger, after.ledger),
        ("Bank", "C", before.bank, after.bank),
    ):
        for row, (one, other) in enumerate(zip(old, new, strict=True), 2):
            if one.amount != other.amount:
                changes[f"{sheet}!{column}{row}"] = float(other.amount)
            if one.reference != other.reference:
                changes[f"{sheet}!B{row}"] = other.reference
    return changes


def _columns(cells: Mapping[str, str]) -> Iterator[dict[str, str]]:
    for letter in dict.fromkeys(cell[0] for cell in cells):
        yield {cell: formula for cell, formula in cells.items() if cell[0] == letter}


def _in_calc(formula: str) -> str:
    """In Calc's own notation, which no locale changes."""
    return formula.replace("!", ".").replace(",", ";")


def _on_screen(hands: Operator, cell: str, *, filled: bool = False) -> oracle.Found:
    def fits(item: oracle.Found) -> bool:
        return "cell" in item.role and item.name == cell and bool(item.text or not filled)

    return oracle.look(hands, fits, f"cell {cell}")


def _menu_height(hands: Operator) -> int:
    """By how many pixels Calc tells the place of its cells too high: it forgets its own menu bar."""
    window = oracle.find(hands, role="frame", name="LibreOffice")
    inside = oracle.find(hands, role="root pane")
    return window.y + window.height - inside.y - inside.height


def _at(book: sheets.Workbook, cell: str) -> sheets.Cell:
    name, _, address = cell.partition("!")
    sheet = book.sheet(name)
    return sheets.Cell(None) if sheet is None else sheet[address]


def _formula(book: sheets.Workbook, cell: str) -> bool:
    return _at(book, cell).formula is not None


def _cell(book: sheets.Workbook, name: str, row: int, column: int) -> Any:
    sheet = book.sheet(name)
    return None if sheet is None else sheet.cells.get((row, column), sheets.Cell(None)).value


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, datetime.date) and isinstance(found, datetime.date):
        return wanted.isoformat()[:10] == found.isoformat()[:10]
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return abs(wanted - found) < CENT
    return bool(wanted == found)


def _column(place: str, last: int, formula: str) -> dict[str, str]:
    return {f"{place}{n}": formula.replace("{n}", str(n)) for n in range(2, last + 1)}


def _edited(change: Callable[[OpenBook], None]) -> Callable[[Path], None]:
    def apply(outputs: Path) -> None:
        book = load_workbook(outputs / RESULT)
        change(book)
        book.save(outputs / RESULT)

    return apply


def _set(cells: Mapping[str, str | float | None]) -> Callable[[Path], None]:
    def change(book: OpenBook) -> None:
        for cell, value in cells.items():
            sheet, _, address = cell.partition("!")
            book[sheet][address] = value

    return _edited(change)


def _bump(outputs: Path) -> None:
    _edited(lambda book: _add(book, "Ledger", "D3"))(outputs)


def _add(book: OpenBook, sheet: str, address: str) -> None:
    cell = book[sheet][address]
    cell.value = float(cell.value) + 1.0


def _styled(outputs: Path) -> None:
    def change(book: OpenBook) -> None:
        for sheet in book.worksheets:
            sheet.column_dimensions["B"].width = 40
        book["Ledger"]["E2"].number_format = "0.00"

    _edited(change)(outputs)


def _resaved(outputs: Path) -> None:
    """Through LibreOffice's own file format and back."""
    path = outputs / RESULT
    with tempfile.TemporaryDirectory(prefix="resaved-") as name:
        native = sheets.convert(path, Path(name), "ods")
        shutil.copyfile(sheets.convert(native, Path(name), "xlsx"), path)
