"""XLSX workbooks: the first visible sheet that is not the guideline."""

import re
import warnings
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, repeat
from pathlib import Path
from typing import Any, cast
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from evenhand.errors import InputError, Problem
from evenhand.formats.cells import AsItIs, looks_made_safe
from evenhand.formats.header import Content, Row, checked_header, fitted, letters
from evenhand.formats.problems import Problems

GUIDELINE = "Guideline"
MERGED = "; merged header cells count as one name: unmerge them"
ESCAPE = re.compile(r"_x(00[01][0-9A-Fa-f]|[Ff]{3}[EeFf]|005[Ff](?=_x[0-9A-Fa-f]{4}_))_")

_BROKEN = (BadZipFile, InvalidFileException, KeyError, ValueError, ParseError, EOFError, zlib.error, AttributeError)

Cells = Sequence[Any]
"""openpyxl's cells of one row; those that were never filled are of a class of their own without a common base."""


def workbook(path: Path) -> Content:
    """An XLSX workbook."""
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise InputError(str(path), "the file is empty")
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(
            str(path),
            [
                Problem(
                    "the workbook is protected by a password, or in the old .xls format", fix="save it as plain .xlsx"
                )
            ],
        )
    problems = Problems(str(path))
    formulas = False
    with closing(_sheet(path, problems, values=False)) as sheet:
        numbered = ((number, row) for number, row in enumerate(sheet, start=1) if not _blank(row))
        number, header = next(numbered, (1, ()))
        columns = checked_header([cell.value for cell in header], problems, number, hint=MERGED) if header else []
        first = next(numbered, None)
        for row in () if first is None else (first[1], *(row for _, row in numbered)):
            if any(cell.data_type == "f" for cell in row):
                formulas = True
                break
    problems.raise_if_any()
    if not header:
        raise InputError(str(path), "the sheet is empty; its first row must name the columns")
    if first is None:
        raise InputError(str(path), [Problem("there is no row below the header", row=number)])

    def read(problems: Problems) -> Iterator[Row]:
        return _rows(path, columns, number, problems, formulas=formulas)

    return Content(columns, read)


def _rows(path: Path, columns: Sequence[str], header: int, problems: Problems, *, formulas: bool) -> Iterator[Row]:
    """The rows below the header. Where the sheet has formulas, their stored results are read beside them."""
    width = len(columns)
    with closing(_sheet(path, problems, values=False)) as sheet, closing(_sheet(path, problems, values=True)) as stored:
        pairs = zip(sheet, stored, strict=False) if formulas else zip(sheet, repeat(None), strict=False)
        for number, (row, results) in enumerate(islice(pairs, header, None), start=header + 1):
            if _blank(row):
                continue
            cells = [
                _value(cell, results[place] if results and place < len(results) else None, number, columns, problems)
                for place, cell in enumerate(row)
            ]
            if len(cells) < width:
                cells += [None] * (width - len(cells))
            if len(cells) == width or fitted(cells, width, number, problems):
                yield number, cells[:width]


def _blank(row: Cells) -> bool:
    return all(cell.value is None or cell.value == "" for cell in row)


def _value(cell: Any, stored: Any, row: int, columns: Sequence[str], problems: Problems) -> object:
    """A cell's value: a formula's stored result, a percentage as it is shown, control characters as they were."""
    place = getattr(cell, "column", 0)
    column = columns[place - 1] if 0 < place <= len(columns) else letters(place)
    source = cell
    if cell.data_type == "f":
        source = stored
        if stored is None or stored.value is None:
            problems.add(
                "a formula without a stored result",
                row=row,
                column=column,
                fix="open the file in Excel and save it again",
            )
            return None
    value: object = source.value
    if source.data_type == "e":
        problems.add(f"the cell shows the error {value}", row=row, column=column, fix="put a value there")
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and str(source.number_format).endswith("%"):
        return f"{value * 100:.10g}%"
    if isinstance(value, str):
        if "_x" in value:
            value = ESCAPE.sub(lambda found: chr(int(found[1], 16)), value)
        if looks_made_safe(value) and source.style_array.quotePrefix:
            return AsItIs(value)
    return value


def _sheet(path: Path, problems: Problems, *, values: bool) -> Generator[Cells]:
    """The rows of the sheet from its first; `values`: the stored results in the place of formulas."""
    with _translated(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = load_workbook(path, read_only=True, data_only=values)
    try:
        with _translated(path):
            sheets = [sheet for sheet in book.worksheets if sheet.title.casefold() != GUIDELINE.casefold()]
            sheet = next((sheet for sheet in sheets if sheet.sheet_state == "visible"), None)
            if sheet is None:
                raise InputError(str(path), f"the workbook has no visible sheet beside {GUIDELINE!r}")
            cast("Any", sheet).reset_dimensions()
            yield from cast("Iterator[Cells]", sheet.rows)
    finally:
        book.close()


@contextmanager
def _translated(path: Path) -> Generator[None]:
    try:
        yield
    except _BROKEN as error:
        what = "not an XLSX workbook, or a damaged one"
        raise InputError(str(path), [Problem(what, fix="save it again as .xlsx, or as CSV")]) from error
