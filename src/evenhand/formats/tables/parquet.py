"""Parquet files, through the optional package pyarrow."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from evenhand.errors import InputError, MissingExtraError
from evenhand.formats.problems import Problems
from evenhand.formats.tables.header import Content, Row, checked_header

BATCH = 2_000


def pyarrow(module: str = "pyarrow") -> Any:
    """A module of pyarrow, or MissingExtraError."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("Parquet", "parquet") from None


def parquet(path: Path) -> Content:
    """A Parquet file; rows are numbered from 1."""
    pyarrow("pyarrow.parquet")
    with _opened(path) as file:
        columns = checked_header(list(file.schema_arrow.names), Problems(str(path)), row=1)
        if not file.metadata.num_rows:
            raise InputError(str(path), "the file has columns and no rows")

    def read(problems: Problems) -> Iterator[Row]:
        number = 0
        with _opened(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, cells

    return Content(columns, read)


def _opened(path: Path) -> Any:
    try:
        return pyarrow("pyarrow.parquet").ParquetFile(path)
    except (pyarrow().ArrowException, EOFError, OSError) as error:
        raise InputError(str(path), "not a Parquet file, or a damaged one") from error
