"""Parquet files as rows, by pyarrow."""

from __future__ import annotations

import io
from pathlib import Path

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.extras import need
from practicum.verifiers.tables.values import Value, plain

_MAX_CELLS = 5_000_000


def read(path: Path) -> tuple[tuple[Value, ...], ...]:
    """The column names, then the rows. Raises `Unreadable`, and `MissingExtra` without pyarrow."""
    data = read_bytes(path)
    arrow, parquet = need("pyarrow", extra="parquet"), need("pyarrow.parquet", extra="parquet")
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        if file.metadata.num_rows * file.metadata.num_columns > _MAX_CELLS:
            raise Unreadable(path, f"more than {_MAX_CELLS} cells")
        table = file.read(use_threads=False)
        columns = [column.to_pylist() for column in table.columns]
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise Unreadable(path, f"broken Parquet: {error}") from error
    rows = [tuple(plain(value) for value in row) for row in zip(*columns, strict=True)]
    return (tuple(table.column_names), *rows)
