"""Compare a table with its reference, cell by typed cell, and say which differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.tables import columnar, delimited, workbook
from practicum.verifiers.tables.spec import CellFact, TableSpec
from practicum.verifiers.tables.values import Column, Kind, Value, date, number, same, text
from practicum.verifiers.verdict import Check, Verdict, all_of, check

_SHOWN = 3
Row = tuple[Value, ...]
Pairing = list[tuple[Row, Row | None]]
Labeller = Callable[["Table", Row], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Table:
    """Header names as written, and rows as wide as the header."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, name: str) -> int | None:
        """Letter case and blanks around and inside a name do not matter."""
        wanted = _plain(name)
        return next((i for i, given in enumerate(self.header) if _plain(given) == wanted), None)


def verify(candidate: Path, reference: Path, spec: TableSpec | None = None) -> Verdict:
    """Raises `Unreadable` for the reference, `BadSpec`, and `MissingExtra` for a format."""
    spec = spec or TableSpec()
    if reference.is_dir() and not spec.cells:
        raise BadSpec(f"{reference.name} is a folder, and the spec names no cells to check")
    truth = None if reference.is_dir() else read_table(reference, spec.reference_sheet, spec.header_row)
    try:
        facts = cell_checks(candidate, spec.cells)
        if truth is None:
            return Verdict((_readable("a workbook"), *facts))
        made = read_table(candidate, spec.sheet, spec.header_row, recalculate=spec.recalculate)
    except Unreadable as error:
        return Verdict((check("readable", False, expected="a table", found=error.reason).as_gate(),))
    return Verdict((_readable(f"{len(made.rows)} rows"), *table_checks(made, truth, spec), *facts))


def read_table(path: Path, sheet: str = "", header_row: int = 1, *, recalculate: bool = False) -> Table:
    """The first row in use from `header_row` on names the columns. Raises `Unreadable`."""
    rows = _rows(path, sheet, recalculate)[header_row - 1 :]
    if not rows:
        raise Unreadable(path, "a table without a header")
    header = tuple(text(value) if value is not None else "" for value in rows[0])
    width = len(header)
    body = tuple(tuple(row[:width]) + (None,) * (width - len(row)) for row in rows[1:])
    return Table(header, tuple(row for row in body if any(value not in (None, "") for value in row)))


def _rows(path: Path, sheet: str, recalculate: bool) -> tuple[Row, ...]:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".txt"):
        return delimited.read(path, delimiter="\t" if suffix == ".tsv" else "").rows
    if suffix in (".xlsx", ".xlsm"):
        return _sheet_rows(path, workbook.read(path, recalculate=recalculate), sheet)
    if suffix == ".ods":
        return _sheet_rows(path, workbook.read_converted(path), sheet)
    if suffix == ".parquet":
        return columnar.read(path)
    read_bytes(path)
    raise Unreadable(path, f"{suffix or 'a name without suffix'} is no table format known here")


def _sheet_rows(path: Path, book: workbook.Workbook, name: str) -> tuple[Row, ...]:
    found = book.sheet(name)
    if found is None:
        raise Unreadable(
            path, f"no sheet {name!r}; there are {', '.join(sheet.name for sheet in book.sheets)}"
        )
    return found.rows()


def table_checks(made: Table, truth: Table, spec: TableSpec) -> tuple[Check, ...]:
    columns = spec.columns or tuple(_typed(truth, name) for name in truth.header)
    for column in columns:
        if truth.column(column.name) is None:
            raise BadSpec(f"the reference has no column {column.name!r}")
    missing = [column.name for column in columns if made.column(column.name) is None]
    extra = [name for name in made.header if all(_plain(name) != _plain(column.name) for column in columns)]
    named = check(
        "columns",
        not missing,
        expected=_listed([c.name for c in columns]),
        found=_listed(made.header),
        reason=f"missing: {_listed(missing)}",
        score=1.0 - len(missing) / len(columns),
    )
    checks = [named]
    if not spec.extra_columns:
        checks.append(
            check(
                "no other columns", not extra, found=_listed(extra), reason=f"not asked for: {_listed(extra)}"
            )
        )
    present = tuple(column for column in columns if made.column(column.name) is not None)
    if not present:
        return tuple(checks)
    pairs, surplus = _paired(made, truth, present, spec)
    return (*checks, *_row_checks(pairs, surplus, spec), _cells(pairs, made, truth, columns))


def _typed(truth: Table, name: str) -> Column:
    """A column of text that holds nothing but numbers or ISO dates in the reference is compared as such."""
    values = [row[truth.header.index(name)] for row in truth.rows]
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if not texts or len(texts) < sum(value is not None and value != "" for value in values):
        return Column(name=name)
    if all(number(value) is not None and not _coded(value) for value in texts):
        return Column(name=name, kind=Kind.NUMBER)
    if all(date(value) is not None for value in texts):
        return Column(name=name, kind=Kind.DATE)
    return Column(name=name, kind=Kind.TEXT)


def _coded(value: str) -> bool:
    """Digits that name something: leading zeros would be lost in a number."""
    bare = value.strip()
    return len(bare) > 1 and bare.startswith("0") and bare.isdigit()


def _paired(
    made: Table, truth: Table, columns: Sequence[Column], spec: TableSpec
) -> tuple[Pairing, list[Row]]:
    if not spec.key and spec.ordered:
        found = [*made.rows[: len(truth.rows)], *[None] * (len(truth.rows) - len(made.rows))]
        return list(zip(truth.rows, found, strict=True)), list(made.rows[len(truth.rows) :])
    by_name = {column.name: column for column in columns}
    keys = [by_name.get(name, Column(name=name)) for name in spec.key] or list(columns)
    label = _labeller(made, truth, keys)
    waiting: dict[tuple[str, ...], list[Row]] = {}
    for row in made.rows:
        waiting.setdefault(label(made, row), []).append(row)
    pairs: Pairing = []
    for row in truth.rows:
        queue = waiting.get(label(truth, row))
        pairs.append((row, queue.pop(0) if queue else None))
    return pairs, [row for queue in waiting.values() for row in queue]


def _labeller(made: Table, truth: Table, keys: Sequence[Column]) -> Labeller:
    """A row's key as text that is equal where the values are the same; AUTO kinds follow the reference."""
    kinds = {}
    for key in keys:
        place = truth.column(key.name)
        if place is None or made.column(key.name) is None:
            raise BadSpec(f"key column {key.name!r} is missing")
        kinds[key.name] = key if key.kind is not Kind.AUTO else _typed(truth, truth.header[place])

    def label(table: Table, row: Row) -> tuple[str, ...]:
        return tuple(_canonical(row[table.column(key.name) or 0], kinds[key.name]) for key in keys)

    return label


def _canonical(value: Value, column: Column) -> str:
    if column.kind in (Kind.NUMBER, Kind.AUTO) and (plain := number(value, column.decimal)) is not None:
        return f"{plain:.12g}"
    if column.kind in (Kind.DATE, Kind.AUTO) and (when := date(value, column.date_format)) is not None:
        return when.isoformat()
    return "" if value is None else text(value, casefold=column.casefold)


def _row_checks(pairs: Pairing, surplus: list[Row], spec: TableSpec) -> list[Check]:
    missing = [expected for expected, found in pairs if found is None]
    checks = [
        check(
            "rows",
            not missing,
            expected=f"{len(pairs)} rows",
            found=f"{len(pairs) - len(missing)} of them",
            reason=f"{len(missing)} missing, such as {_samples(missing)}",
            score=1.0 - len(missing) / max(1, len(pairs)),
        )
    ]
    if not spec.extra_rows:
        checks.append(
            check(
                "no other rows",
                not surplus,
                found=f"{len(surplus)} more",
                reason=f"{len(surplus)} rows not asked for, such as {_samples(surplus)}",
                score=1.0 / (1.0 + len(surplus)),
            )
        )
    return checks


def _cells(pairs: Pairing, made: Table, truth: Table, columns: Sequence[Column]) -> Check:
    return all_of("cells", [_column(pairs, made, truth, column) for column in columns])


def _column(pairs: Pairing, made: Table, truth: Table, column: Column) -> Check:
    there, here = truth.column(column.name), made.column(column.name)
    assert there is not None
    wrong, seen = [], Counter[bool]()
    for place, (expected, found) in enumerate(pairs, start=1):
        value = found[here] if found is not None and here is not None else None
        right = found is not None and here is not None and same(expected[there], value, column)
        seen[right] += 1
        if not right:
            wrong.append(f"row {place}: expected {expected[there]!r}, found {value!r}")
    return check(
        column.name,
        not wrong,
        expected=f"{len(pairs)} values",
        found=f"{seen[True]} right",
        reason="; ".join(wrong[:_SHOWN]),
        score=seen[True] / max(1, len(pairs)),
    ).weighing(column.weight)


def cell_checks(candidate: Path, facts: Sequence[CellFact]) -> tuple[Check, ...]:
    """Checks of single cells, all recalculated. Raises `Unreadable` and `MissingExtra`."""
    if not facts:
        return ()
    book = workbook.read(candidate, recalculate=True)
    return tuple(_fact(candidate, book, fact).weighing(fact.weight) for fact in facts)


def _fact(candidate: Path, book: workbook.Workbook, fact: CellFact) -> Check:
    sheet = book.sheet(fact.sheet)
    if sheet is None:
        return check(fact.name, False, expected=f"sheet {fact.sheet!r}", found="no such sheet")
    cell = sheet[fact.cell]
    column = Column(
        name=fact.name,
        kind=fact.kind,
        tolerance=fact.tolerance,
        relative=fact.relative,
        date_format=fact.date_format,
    )
    parts = [
        check(
            "value", same(fact.value, cell.value, column), expected=repr(fact.value), found=repr(cell.value)
        )
    ]
    if fact.formula:
        parts.append(
            check(
                "formula", cell.formula is not None, expected="a formula", found=cell.formula or "a constant"
            )
        )
    if fact.number_format is not None:
        parts.append(
            check(
                "format",
                cell.number_format == fact.number_format,
                expected=fact.number_format,
                found=cell.number_format or "General",
            )
        )
    if fact.follows:
        parts.append(_alive(candidate, fact, column))
    return all_of(fact.name, parts)


def _alive(candidate: Path, fact: CellFact, column: Column) -> Check:
    changes: Mapping[str, Value] = fact.follows
    sheet = workbook.read(candidate, changes=changes).sheet(fact.sheet)
    found = sheet[fact.cell].value if sheet is not None else None
    return check(
        "follows",
        same(fact.then, found, column),
        expected=f"{fact.then!r} after {dict(changes)}",
        found=repr(found),
    )


def _readable(found: str) -> Check:
    return check("readable", True, expected="a table", found=found).as_gate()


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "") if names else "none"


def _samples(rows: Sequence[Row]) -> str:
    return "; ".join(
        " | ".join("" if value is None else str(value) for value in row) for row in rows[:_SHOWN]
    )
