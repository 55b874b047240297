"""Tables: named columns and numbered rows, whatever the file format, read row by row."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from evenhand.errors import InputError, Problem
from evenhand.formats.problems import Problems
from evenhand.formats.tables.csv import delimited
from evenhand.formats.tables.header import Content, Reader, Row
from evenhand.formats.tables.json import json_document, json_lines
from evenhand.formats.tables.parquet import parquet
from evenhand.formats.tables.xlsx import read_xlsx

FORMATS: Mapping[str, Callable[[Path], Content]] = {
    ".csv": partial(delimited, delimiter=","),
    ".tsv": partial(delimited, delimiter="\t"),
    ".json": json_document,
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".xlsx": read_xlsx,
    ".xlsm": read_xlsx,
    ".parquet": parquet,
}
"""Readers by the end of the file's name."""

SPREADSHEETS = (".csv", ".tsv", ".xlsx", ".xlsm")


@dataclass(frozen=True, slots=True)
class InputTable:
    """A file with named columns. Iterating opens it again, so it can be read twice, and yields (row number, cells).

    Row numbers are those a spreadsheet shows (the header is row 1), in JSON Lines those of the lines, in JSON and
    Parquet the count from 1. Cells are `str` from CSV and TSV, Python objects otherwise; None for an empty cell.
    `spreadsheet` says whether a spreadsheet program may have opened it, so that cells may have been made safe, but for
    those that come `AsItIs`.
    """

    source: str
    columns: Sequence[str]
    spreadsheet: bool
    _read: Reader = field(repr=False)

    def __iter__(self) -> Iterator[Row]:
        """The rows; after the last, InputError with every problem of the file itself."""
        problems = Problems(self.source)
        yield from self._read(problems)
        problems.raise_if_any()

    def rows(self, problems: Problems) -> Iterator[Row]:
        """The rows, for a reader with problems of its own: those of the file go into its collector.

        Rows that cannot be used are left out; the reader calls `problems.raise_if_any()` after the last.
        """
        return self._read(problems)


def open_table(path: str | Path) -> InputTable:
    """The table in a file, in the format that its name ends with. Raises InputError if it is not a table."""
    path = Path(path)
    content = _content(path)
    return InputTable(str(path), content.columns, path.suffix.lower() in SPREADSHEETS, content.read)


def _content(path: Path) -> Content:
    suffix = path.suffix.lower()
    try:
        if path.is_dir():
            raise InputError(str(path), "this is a folder; give a file")
        if not path.exists():
            raise InputError(str(path), [_missing(path)])
        if not path.is_file():
            raise InputError(str(path), "this is a device or a pipe; give a file, which can be read more than once")
        if suffix not in FORMATS:
            old = "; save the old .xls as .xlsx" if suffix == ".xls" else ""
            valid = f"valid are {', '.join(FORMATS)}{old}"
            raise InputError(str(path), f"the name ends in {suffix!r}, which is not a known format; {valid}")
        return FORMATS[suffix](path)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error


def _missing(path: Path) -> Problem:
    beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
    return Problem("no such file", fix=f"did you mean {path.parent / close[0]}?" if close else None)
