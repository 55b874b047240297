"""Parquet files, through the optional package pyarrow."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evenhand.errors import InputError, Problems, optional_module
from evenhand.files import MOST_VALUES, check_size
from evenhand.formats.tables.cells import clean
from evenhand.formats.tables.table import InputTable, Row, Sheet, checked_header, within_limit

BATCH = 2_000
"""Rows read at once."""

LONGEST_FOOTER = 20_000_000
"""Bytes of the description at the end of a file: each takes a dozen bytes of memory."""

DAMAGED = "not a Parquet file, or a damaged one"
TOO_MANY = f"more than {MOST_VALUES:,} values in a few rows, which is the limit; split it, or save it as JSON Lines"


def read_parquet(path: Path) -> InputTable:
    """A Parquet file; rows are numbered from 1."""
    source = str(path)
    with _opened(path) as file:
        columns = checked_header(list(file.schema_arrow.names), source, row=1)
        for place in range(file.metadata.num_row_groups):
            check_size(source, file.metadata.row_group(place).total_byte_size, f"row group {place + 1}, once unpacked,")
        _check_lists(file, source)
        # A text that many cells share is read once, as the file has it: repeated, a small file could fill the memory.
        shared = [column.path for column in file.schema if column.logical_type.type == "STRING"]
        if not file.metadata.num_rows:
            raise InputError(source, "the file has columns and no rows")

    def read(problems: Problems) -> Iterator[Row]:
        number = 0
        try:
            with _opened(path, read_dictionary=shared) as file:
                for batch in file.iter_batches(batch_size=BATCH):
                    named = zip(columns, batch.columns, strict=True)
                    for cells in zip(*[_cells(part, name, number, problems) for name, part in named], strict=True):
                        number += 1
                        yield number, cells
        except (_pyarrow().ArrowException, OSError, KeyError) as error:  # a place outside of a dictionary
            what = f"damaged: it cannot be read further than this row ({' '.join(str(error).split())[:200]})"
            problems.add(what, row=number + 1, fix="write it again, or save it as CSV")
        except _TooLarge:
            raise InputError(source, TOO_MANY) from None

    return InputTable(source, columns, lambda problems: within_limit(source, read(problems)))


def _check_lists(file: Any, source: str) -> None:
    """Raise InputError for lists that are damaged or have more values than can be read."""
    for place, column in enumerate(file.schema):
        if not column.max_repetition_level:
            continue
        try:
            file.scan_contents([column.path])  # without it, a damaged description of the column would end the process
        except (_pyarrow().ArrowException, OSError) as error:
            raise InputError(source, DAMAGED) from error
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        if any(group.column(place).num_values > 4 * MOST_VALUES for group in groups):
            raise InputError(source, TOO_MANY)


class _TooLarge(Exception):
    """More values than are turned into Python objects at once."""


def _cells(column: Any, name: str, before: int, problems: Problems) -> list[object]:
    """The values of a column. One that Python cannot hold is reported."""
    try:
        return _values(column)
    except (ValueError, OverflowError):
        return [_cell(cell, name, before + row, problems) for row, cell in enumerate(column, start=1)]


def _values(column: Any) -> list[object]:
    """The values of an array, in which equal texts are one object, within lists and objects too."""
    if len(column) > MOST_VALUES:
        raise _TooLarge
    if hasattr(column, "dictionary"):
        places, texts = column.indices, column.dictionary
        if len(texts) > len(places):  # it may be that of a hundred batches
            used = places.unique().drop_null()
            places, texts = _pyarrow("pyarrow.compute").index_in(places, used), texts.take(used)
        known: list[object] = texts.to_pylist()
        by_place: dict[int | None, object] = {None: None, **dict(enumerate(known))}
        return list(map(by_place.__getitem__, places.to_pylist()))
    if isinstance(column, _pyarrow().StructArray) and column.type.num_fields:
        names = [field.name for field in column.type]
        rows = zip(*map(_values, column.flatten()), strict=True)
        found = [dict(zip(names, row, strict=True)) for row in rows]
    elif hasattr(column, "value_lengths") and not hasattr(column, "keys"):  # a list, and not a map
        parts = iter(_values(column.flatten()))
        found = [list(islice(parts, length or 0)) for length in column.value_lengths().to_pylist()]
    else:
        return column.to_pylist()
    return [value if valid else None for value, valid in zip(found, column.is_valid().to_pylist(), strict=True)]


def _cell(cell: Any, name: str, row: int, problems: Problems) -> object:
    try:
        return cell.as_py()
    except (ValueError, OverflowError) as error:
        fix = "times are whole microseconds in the years 1 to 9999, texts are UTF-8"
        return problems.add(f"cannot be read: {error}", row=row, column=name, fix=fix)


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


def _opened(path: Path, **options: object) -> Any:
    parquet = _pyarrow("pyarrow.parquet")
    try:
        with path.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            footer = file.read()
            if footer.endswith(b"PAR1") and int.from_bytes(footer[:4], "little") > LONGEST_FOOTER:
                raise InputError(str(path), f"the description of its columns has more than {LONGEST_FOOTER:,} bytes")
        return parquet.ParquetFile(path, pre_buffer=False, **options)
    except (_pyarrow().ArrowException, EOFError, OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), DAMAGED) from error


def _pyarrow(module: str = "pyarrow") -> Any:
    return optional_module(module, "Parquet", "parquet")
