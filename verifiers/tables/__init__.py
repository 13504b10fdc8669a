"""Tables and workbooks: read as typed cells, recalculated where formulas must live, compared.

from practicum.verifiers.tables import CellFact, Column, TableSpec, verify
from practicum.verifiers.tables import workbook  # values, formulas, formats of single cells
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.tables.spec import CellFact, Column, Decimal, Kind, TableSpec
from practicum.verifiers.verdict import Verdict

__all__ = ["CellFact", "Column", "Decimal", "Kind", "TableSpec", "verify"]


def verify(candidate: Path, reference: Path, spec: TableSpec | None = None) -> Verdict:
    """Compare two tables; where `reference` is a folder, only the spec's single cells are checked."""
    from practicum.verifiers.tables import compare  # noqa: PLC0415 - spreadsheets are paid for at use

    return compare.verify(candidate, reference, spec)


FAMILY = Family(
    kind="tables",
    title="Tables and workbooks",
    spec=TableSpec,
    verify=verify,
    suffixes=(".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".ods", ".parquet"),
    facts=(
        Fact("readable", "", "the file opens as a table; a gate", "RFC 4180; ECMA-376"),
        Fact("columns", "names", "every column asked for is there, whatever the order and letter case"),
        Fact("no other columns", "names", "no further column"),
        Fact("rows", "count", "every row of the reference is there, by key or by place"),
        Fact("no other rows", "count", "no further row"),
        Fact("cells", "typed values", "values agree column by column: 33 is 33.00, dates are dates"),
        Fact(
            "<cell>", "typed value", "a single cell: value, live formula, number format, and that it follows"
        ),
    ),
)
