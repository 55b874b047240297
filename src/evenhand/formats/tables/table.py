"""Tables: named columns and numbered rows, read row by row; data frames and lists of dicts as tables and back."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, cast

import narwhals as nw
from narwhals.typing import IntoFrame
from xlsxwriter.utility import xl_col_to_name  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import InputError, Problem, Problems, UserError, optional_module
from evenhand.files import check_size
from evenhand.text import counted

EMPTY = "the file or sheet is empty; its first row must name the columns"

UNNAMED = "Unnamed: 0"
"""What pandas calls a first column without a name, which is how it writes its index."""

Row = tuple[int, Sequence[object]]
"""A row's number and its cells, one for each column."""


@dataclass(frozen=True, slots=True)
class InputTable:
    """A file with named columns. `rows` opens it again each time, so it can be read twice: (row number, cells).

    Row numbers are those a spreadsheet shows (the header is row 1), in JSON Lines those of the lines, in JSON and
    Parquet the count from 1. Cells are `str` from delimited text, Python objects otherwise; None for an empty cell.
    Rows that cannot be used are left out, and the collector given to `rows` has their problems. `spreadsheet` says
    whether a spreadsheet program may have opened it, so that cells may have been made safe, but for those that come
    `AsItIs`.
    """

    source: str
    columns: Sequence[str]
    rows: Callable[[Problems], Iterator[Row]] = field(repr=False)
    spreadsheet: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table on its way to a file. Cells are str, int, float or None; None is an empty cell.

    `for_people`: delimited text gets a byte order mark, without which spreadsheet programs do not take it for UTF-8.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    for_people: bool = False


def objects_table(source: str, read: Callable[[Problems], Iterable[tuple[int, Mapping[str, object]]]]) -> InputTable:
    """The table in numbered objects; its columns are all keys, and a key that an object lacks is an empty cell."""
    problems = Problems(source)
    columns = list(dict.fromkeys(key for _, value in read(problems) for key in value))
    problems.raise_if_any()
    return InputTable(
        source, columns, lambda problems: ((row, list(map(value.get, columns))) for row, value in read(problems))
    )


def headed_table(source: str, read: Callable[[Problems, Sequence[str]], Iterator[Row]]) -> InputTable:
    """The table of a spreadsheet program. `read` gives all records, the header first, and gets the columns if known."""
    problems = Problems(source)
    first = list(islice(read(problems, ()), 2))
    if len(first) < 2:
        problems.raise_if_any()
    if not first:
        raise InputError(source, EMPTY)
    columns = checked_header(first[0][1], source, first[0][0])
    if len(first) < 2:
        raise InputError(source, [Problem("there is no row below the header", row=first[0][0])])
    width = len(columns)

    def rows(problems: Problems) -> Iterator[Row]:
        for number, cells in islice(read(problems, columns), 1, None):
            if len(cells) == width:
                yield number, cells
            elif _fits(cells, width, number, problems):
                yield number, cells[:width]

    return InputTable(source, columns, rows, spreadsheet=True)


def within_limit(source: str, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of a file in which many cells may share a text. Raises InputError if a thousand rows are too large."""
    size = 0
    for count, (number, cells) in enumerate(rows):
        size = (size if count % 1_000 else 0) + sum(map(_characters, cells))
        if size > 10_000_000:
            check_size(source, size, f"what is in the rows up to {number:,}")
        yield number, cells


def _characters(cell: object) -> int:
    """The characters in a cell, its lists and its objects."""
    if isinstance(cell, list):
        return sum(map(_characters, cast("list[object]", cell)))
    if isinstance(cell, dict):
        return sum(map(_characters, cast("dict[str, object]", cell).values()))
    return len(cell) if isinstance(cell, str) else 0


def frame_table(frame: IntoFrame) -> InputTable:
    """The table in a pandas or Polars frame, or in any other that narwhals knows; rows are numbered from 1."""
    eager = eager_frame(frame)

    def read(problems: Problems) -> Iterator[Row]:
        for number, row in enumerate(eager.iter_rows(), start=1):
            yield number, list(map(_plain, row))

    return InputTable("data frame", list(map(str, eager.columns)), read)


def eager_frame(frame: IntoFrame) -> nw.DataFrame[Any]:
    """The frame with its values computed. Raises UserError for anything else."""
    try:
        known = nw.from_native(frame)
    except TypeError:
        raise UserError(f"a pandas or Polars data frame is needed, not {type(frame).__name__}") from None
    return known.collect() if isinstance(known, nw.LazyFrame) else known


def rows_table(rows: Sequence[Mapping[str, object]]) -> InputTable:
    """The table in a list of dicts; rows are numbered from 1, and a key that a dict lacks is an empty cell."""
    named = [{str(name): _plain(cell) for name, cell in row.items()} for row in rows]
    return objects_table("rows", lambda _: enumerate(named, start=1))


def _plain(cell: Any) -> object:
    """A cell as Python has it: NumPy's arrays, which frames hold for lists, become lists; None if it is missing.

    pandas has None, NaN, NA and NaT for a missing cell.
    """
    cell = cell.tolist() if hasattr(cell, "tolist") else cell
    if (isinstance(cell, float) and math.isnan(cell)) or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    return cell


def data_frame(library: Literal["pandas", "polars"], columns: Mapping[str, Sequence[object]]) -> Any:
    """A pandas or Polars data frame. Raises MissingExtraError if the library is not installed."""
    return optional_module(library, f"A {library} data frame", library).DataFrame(dict(columns))


def checked_header(cells: Sequence[object], source: str, row: int) -> list[str]:
    """The column names without outer white space. Unnamed columns at the end, as spreadsheets leave them, are cut.

    An unnamed first column is called UNNAMED. Raises InputError for every other column without a name and for every
    name that is there twice.
    """
    problems = Problems(source)
    names = ["" if cell is None else str(cell).strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if names and not names[0]:
        names[0] = UNNAMED
    if not names:
        problems.add("the header has no column names", row=row, fix="name the columns in the first row")
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        here = f"{place} ({letters(place)})"
        if not name:
            problems.add(f"column {here} has no name", row=row, fix="name it or delete it; unmerge merged cells")
        elif (before := first.setdefault(name, place)) != place:
            what = f"the name is there twice, in columns {before} ({letters(before)}) and {here}"
            problems.add(what, row=row, column=name, fix="rename or delete one of them")
    problems.raise_if_any()
    return names


def letters(place: int) -> str:
    """A column's place, counted from 1, as spreadsheets write it: A, B, …, Z, AA."""
    return xl_col_to_name(place - 1)


def _fits(cells: Sequence[object], width: int, row: int, problems: Problems) -> bool:
    """Whether a row of another length than the header only has empty cells at its end; otherwise it is reported."""
    count = len(cells)
    while count > width and (cells[count - 1] is None or not str(cells[count - 1]).strip()):
        count -= 1
    if count == width:
        return True
    problems.add(
        f"{counted(count, 'cell')} where the header has {width}",
        row=row,
        fix="a cell that holds the separator, a quotation mark or a line break must stand in quotation marks",
    )
    return False
