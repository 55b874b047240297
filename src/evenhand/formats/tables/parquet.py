"""Parquet files, through the optional package pyarrow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError, Problems, optional_module
from evenhand.formats.tables.cells import clean
from evenhand.formats.tables.table import InputTable, Row, Sheet, checked_header

BATCH = 2_000


def read_parquet(path: Path) -> InputTable:
    """A Parquet file; rows are numbered from 1."""
    with _opened(path) as file:
        columns = checked_header(list(file.schema_arrow.names), str(path), row=1)
        if not file.metadata.num_rows:
            raise InputError(str(path), "the file has columns and no rows")

    def read(problems: Problems) -> Iterator[Row]:
        number = 0
        with _opened(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, cells

    return InputTable(str(path), columns, read)


def write_parquet(path: Path, sheet: Sheet) -> int:
    """Write a Parquet file. Columns that hold texts and numbers, such as values of several scales, become text."""
    arrow, parquet = _pyarrow(), _pyarrow("pyarrow.parquet")
    rows = list(sheet.rows)
    columns = {name: [row[place] for row in rows] for place, name in enumerate(sheet.columns)}
    parquet.write_table(arrow.table({name: _array(arrow, cells) for name, cells in columns.items()}), path)
    return len(rows)


def _array(arrow: Any, cells: Sequence[object]) -> Any:
    """A column without a single value is one of texts, too, so that a reader of the file need not care."""
    if any(isinstance(cell, str) for cell in cells) or all(cell is None for cell in cells):
        return arrow.array([None if cell is None else clean(str(cell)) for cell in cells], type=arrow.string())
    return arrow.array(cells)


def _opened(path: Path) -> Any:
    parquet = _pyarrow("pyarrow.parquet")
    try:
        return parquet.ParquetFile(path)
    except (_pyarrow().ArrowException, EOFError, OSError) as error:
        raise InputError(str(path), "not a Parquet file, or a damaged one") from error


def _pyarrow(module: str = "pyarrow") -> Any:
    return optional_module(module, "Parquet", "parquet")
