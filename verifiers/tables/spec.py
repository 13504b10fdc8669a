"""What a table or a workbook is asked for."""

from __future__ import annotations

import msgspec

from practicum.verifiers.tables.values import Column, Decimal, Kind

__all__ = ["CellFact", "Column", "Decimal", "Kind", "TableSpec"]


class CellFact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cell of a workbook, `cell` as "B4".

    `formula` demands a live one. `follows` proves it alive: after setting the cells on the left
    ("Sheet!B4": value) and recalculating, the fact's cell must hold `then`.
    """

    name: str
    cell: str
    value: str | float | bool | None = None
    sheet: str = ""
    kind: Kind = Kind.AUTO
    tolerance: float = 0.0
    relative: float = 1e-9
    date_format: str = ""
    formula: bool = False
    number_format: str | None = None
    follows: dict[str, str | float | bool | None] = {}
    then: str | float | bool | None = None
    weight: float = 1.0


class TableSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The default compares all columns of the reference by position of rows, extra rows and columns failing.

    `columns` are those compared; empty means all of the reference's. `key` pairs rows by their values there,
    so that their order does not matter; without it, `ordered=False` pairs equal rows wherever they stand.
    `header_row` counts from 1. `sheet` names the candidate's sheet, `reference_sheet` the reference's.
    """

    columns: tuple[Column, ...] = ()
    key: tuple[str, ...] = ()
    ordered: bool = True
    sheet: str = ""
    reference_sheet: str = ""
    header_row: int = 1
    extra_columns: bool = False
    extra_rows: bool = False
    recalculate: bool = False
    cells: tuple[CellFact, ...] = ()
