"""Tables and workbooks: read as typed cells, recalculated where formulas must live, compared.

from practicum.verifiers.tables import CellFact, Column, TableSpec, verify
from practicum.verifiers.tables import workbook  # values, formulas, formats of single cells
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from practicum.verifiers.tables.spec import CellFact, Column, Decimal, Kind, TableSpec

if TYPE_CHECKING:
    from practicum.verifiers.verdict import Verdict

__all__ = ["CellFact", "Column", "Decimal", "Kind", "TableSpec", "verify"]


def verify(candidate: Path, reference: Path, spec: TableSpec | None = None) -> Verdict:
    """Compare two tables; where `reference` is no file, only the spec's single cells are checked."""
    from practicum.verifiers.tables import compare  # noqa: PLC0415 - spreadsheets are paid for at use

    return compare.verify(candidate, reference, spec)
