"""pandas, Polars and other data frames as tables, through narwhals; lists of dicts as tables; and columns as frames."""

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
from narwhals.typing import IntoFrame

from evenhand.errors import UserError
from evenhand.formats.problems import Problems
from evenhand.formats.tables.header import Row
from evenhand.formats.tables.table import InputTable, open_table

TableSource = str | Path | Sequence[Mapping[str, object]] | IntoFrame
"""What tables are made from: the path of a file, a list of dicts, or a data frame."""


def table_of(source: TableSource) -> InputTable:
    """The table in a file, in a list of dicts or in a data frame."""
    if isinstance(source, str | Path):
        return open_table(source)
    return rows_table(source) if isinstance(source, Sequence) else frame_table(source)


def frame_table(frame: IntoFrame) -> InputTable:
    """The table in a pandas or Polars frame, or in any other that narwhals knows; rows are numbered from 1."""
    try:
        known = nw.from_native(frame)
    except TypeError:
        raise UserError(f"a pandas or Polars data frame is needed, not {type(frame).__name__}") from None
    eager: nw.DataFrame[Any] = known.collect() if isinstance(known, nw.LazyFrame) else known

    def read(problems: Problems) -> Iterator[Row]:
        for number, row in enumerate(eager.iter_rows(), start=1):
            yield number, [None if _missing(cell) else cell for cell in row]

    return InputTable("data frame", [str(column) for column in eager.columns], False, read)


def rows_table(rows: Sequence[Mapping[str, object]], source: str = "rows") -> InputTable:
    """The table in a list of dicts; rows are numbered from 1, and a key that a dict lacks is an empty cell."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def read(problems: Problems) -> Iterator[Row]:
        for number, row in enumerate(rows, start=1):
            yield number, [None if _missing(cell) else cell for cell in map(row.get, names)]

    return InputTable(source, [str(name) for name in names], False, read)


def data_frame(library: Literal["pandas", "polars"], columns: Mapping[str, Sequence[object]]) -> Any:
    """A pandas or Polars data frame. Raises UserError that names the extra to install if the library is missing."""
    try:
        module = import_module(library)
    except ModuleNotFoundError as error:
        raise UserError(f"{library} is not installed; install it with: pip install 'evenhand[{library}]'") from error
    return module.DataFrame(dict(columns))


def _missing(cell: object) -> bool:
    """pandas has None, NaN and NA for a missing cell; none of them equals itself as a value does."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return type(cell).__name__ in ("NAType", "NaTType")
