"""A small company's month: the ledger, the bank statement, and what a reconciliation of the two must say."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from random import Random

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.worksheet import Worksheet

from practicum.tasks.frozen import freeze_zip

CENT = Decimal("0.01")
SUMMARY_LABELS = (
    "Ledger, total",
    "Bank, total",
    "Ledger entries missing at the bank, number",
    "Ledger entries missing at the bank, total",
    "Bank lines missing in the ledger, number",
    "Bank lines missing in the ledger, total",
    "Entries with another amount, number",
    "Entries with another amount, total of differences",
    "Control figure",
)
_CUSTOMERS = (
    "Ahlgren",
    "Bekele",
    "Castellanos",
    "Dvořák",
    "Eriksen",
    "Fontaine",
    "Grünwald",
    "Håkansson",
    "Ito",
)
_REASONS = ("Invoice", "Deposit", "Final bill", "Service", "Spare parts", "Rent")


@dataclass(frozen=True, slots=True)
class Entry:
    date: datetime.date
    reference: str
    text: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Books:
    """`ledger` has each reference once; `bank` may have one several times."""

    ledger: tuple[Entry, ...]
    bank: tuple[Entry, ...]

    @property
    def ledger_last(self) -> int:
        return len(self.ledger) + 1

    @property
    def bank_last(self) -> int:
        return len(self.bank) + 1


@dataclass(frozen=True, slots=True)
class Answers:
    """The cells to be filled, in the order of their rows."""

    bank_amount: tuple[Decimal, ...]
    difference: tuple[Decimal, ...]
    in_ledger: tuple[int, ...]
    summary: tuple[Decimal, ...]


def draw_lots(rng: Random, year: int, month: int) -> Books:
    """Some entries lack at the bank, some bank lines not in the ledger; some differ, some come in parts."""
    count = rng.randrange(16, 21)
    references = [f"R{number}" for number in rng.sample(range(4000, 9999), count + 4)]
    ledger = tuple(sorted((_entry(rng, year, month, r) for r in references[:count]), key=lambda e: e.date))
    order = rng.sample(range(count), count)
    missing, other, parts = set(order[:3]), set(order[3:6]), set(order[6:9])
    bank: list[Entry] = [_entry(rng, year, month, r) for r in references[count:]]
    for index, entry in enumerate(ledger):
        if index not in missing:
            bank += _paid(rng, entry, differs=index in other, parts=index in parts)
    return Books(ledger, tuple(sorted(bank, key=lambda line: (line.date, line.reference, line.amount))))


def answers(books: Books) -> Answers:
    paid: dict[str, Decimal] = {}
    for line in books.bank:
        paid[line.reference] = paid.get(line.reference, Decimal(0)) + line.amount
    known = {entry.reference for entry in books.ledger}
    amounts = tuple(paid.get(entry.reference, Decimal(0)) for entry in books.ledger)
    differences = tuple(e.amount - paid_ for e, paid_ in zip(books.ledger, amounts, strict=True))
    unpaid = [entry.amount for entry in books.ledger if entry.reference not in paid]
    unknown = [line.amount for line in books.bank if line.reference not in known]
    other = [
        difference
        for entry, difference in zip(books.ledger, differences, strict=True)
        if entry.reference in paid and difference
    ]
    summary = (
        _sum(entry.amount for entry in books.ledger),
        _sum(line.amount for line in books.bank),
        Decimal(len(unpaid)),
        _sum(unpaid),
        Decimal(len(unknown)),
        _sum(unknown),
        Decimal(len(other)),
        _sum(other),
        Decimal(0),
    )
    return Answers(amounts, differences, tuple(int(line.reference in known) for line in books.bank), summary)


def changed(books: Books, rng: Random) -> Books:
    """The same rows with other amounts and references, to ask whether formulas are alive."""
    ledger, bank = list(books.ledger), list(books.bank)
    for row in rng.sample(range(len(ledger)), 4):
        ledger[row] = replace(ledger[row], amount=ledger[row].amount + rng.randrange(100, 90000) * CENT)
    for row in rng.sample(range(len(bank)), 4):
        bank[row] = replace(bank[row], amount=bank[row].amount + rng.randrange(100, 90000) * CENT)
    unknown = [line.reference for line in bank if line.reference not in {e.reference for e in ledger}]
    row = rng.randrange(len(ledger))
    ledger[row] = replace(ledger[row], reference=rng.choice(unknown))
    return Books(tuple(ledger), tuple(bank))


def workbook(books: Books) -> Workbook:
    book = Workbook()
    book.remove(book.worksheets[0])
    ledger, bank, summary = (book.create_sheet(name) for name in ("Ledger", "Bank", "Summary"))
    _head(
        ledger, ("Date", "Reference", "Text", "Amount", "Bank amount", "Difference"), (12, 12, 28, 12, 14, 12)
    )
    for row, entry in enumerate(books.ledger, 2):
        _write(ledger, row, (entry.date, entry.reference, entry.text, float(entry.amount)))
    _head(bank, ("Date", "Reference", "Amount", "In ledger"), (12, 12, 12, 12))
    for row, line in enumerate(books.bank, 2):
        _write(bank, row, (line.date, line.reference, float(line.amount)))
    _head(summary, ("Figure", "Value"), (52, 14))
    for row, label in enumerate(SUMMARY_LABELS, 2):
        summary.cell(row, 1, label)
    return book


def formulas(books: Books) -> dict[str, dict[str, str]]:
    """A right formula for each cell to be filled, by sheet and cell, in the notation of xlsx."""
    ledger, bank = books.ledger_last, books.bank_last
    refs, paid = f"Bank!$B$2:$B${bank}", f"Bank!$C$2:$C${bank}"
    known, amounts = f"Ledger!$B$2:$B${ledger}", f"Ledger!$D$2:$D${ledger}"
    sheet = {f"E{n}": f"=SUMIF({refs},B{n},{paid})" for n in range(2, ledger + 1)}
    sheet |= {f"F{n}": f"=D{n}-E{n}" for n in range(2, ledger + 1)}
    lines = {f"D{n}": f"=IF(COUNTIF({known},B{n})>0,1,0)" for n in range(2, bank + 1)}
    absent = f"(COUNTIF({refs},{known})=0)"
    differs = f"(COUNTIF({refs},{known})>0)*(ROUND(Ledger!$F$2:$F${ledger},2)<>0)"
    summary = {
        "B2": f"=SUM({amounts})",
        "B3": f"=SUM({paid})",
        "B4": f"=SUMPRODUCT(1*{absent})",
        "B5": f"=SUMPRODUCT({absent}*{amounts})",
        "B6": f"=COUNTIF(Bank!$D$2:$D${bank},0)",
        "B7": f"=SUMIF(Bank!$D$2:$D${bank},0,{paid})",
        "B8": f"=SUMPRODUCT({differs})",
        "B9": f"=SUMPRODUCT({differs}*Ledger!$F$2:$F${ledger})",
        "B10": "=ROUND(B2-B5-B9-(B3-B7),2)",
    }
    return {"Ledger": sheet, "Bank": lines, "Summary": summary}


def save_frozen(book: Workbook, path: Path) -> None:
    """Equal books give equal bytes."""
    book.save(path)
    freeze_zip(path)


def _entry(rng: Random, year: int, month: int, reference: str) -> Entry:
    text = f"{rng.choice(_REASONS)} {rng.choice(_CUSTOMERS)}"
    amount = rng.randrange(1500, 480000) * CENT
    return Entry(datetime.date(year, month, rng.randrange(1, 26)), reference, text, amount)


def _paid(rng: Random, entry: Entry, *, differs: bool, parts: bool) -> list[Entry]:
    amount = entry.amount
    if differs:
        amount += rng.choice((-1, 1)) * rng.choice((Decimal("0.10"), Decimal("9.00"), Decimal("2.70")))
    date = entry.date + datetime.timedelta(days=rng.randrange(0, 4))
    if not parts:
        return [replace(entry, date=date, amount=amount)]
    first = (amount * rng.randrange(30, 70) / 100).quantize(CENT)
    later = date + datetime.timedelta(days=1)
    return [replace(entry, date=date, amount=first), replace(entry, date=later, amount=amount - first)]


def _sum(values: Iterable[Decimal]) -> Decimal:
    return sum(values, Decimal(0))


def _head(sheet: Worksheet, titles: tuple[str, ...], widths: tuple[int, ...]) -> None:
    for column, (title, width) in enumerate(zip(titles, widths, strict=True), 1):
        cell = sheet.cell(1, column, title)
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="DDE6EA")
        cell.alignment = Alignment(wrap_text=True)
        sheet.column_dimensions[cell.column_letter].width = width
    sheet.freeze_panes = "A2"


def _write(sheet: Worksheet, row: int, values: tuple[datetime.date | str | float, ...]) -> None:
    for column, value in enumerate(values, 1):
        cell = sheet.cell(row, column, value)
        if isinstance(value, datetime.date):
            cell.number_format = "yyyy-mm-dd"
        elif isinstance(value, float):
            cell.number_format = "#,##0.00"
