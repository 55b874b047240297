"""XLSX workbooks: the first visible sheet that is not the guideline.

calamine reads the values. Four things it does not report are read from the sheet's XML, in workbooks that have them:
errors, formulas without a stored result, percentages, and texts that Excel protects from being read as formulas.
"""

import posixpath
import re
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from evenhand.errors import InputError, Problem
from evenhand.formats.problems import Problems
from evenhand.formats.tables.cells import AsItIs, looks_made_safe
from evenhand.formats.tables.header import Content, Row, checked_header, fitted, letters

GUIDELINE = "Guideline"
MERGED = "; merged header cells count as one name: unmerge them"
PERCENT_FORMATS = {"9", "10"}
"""The numbers of the two percent formats that every workbook has."""

_NOT_A_CHARACTER = re.compile(r"_x([Ff]{3}[EeFf])_")
"""U+FFFE and U+FFFF in the notation of the XLSX standard, which calamine decodes for other characters only."""

_BROKEN = (
    CalamineError, BadZipFile, zlib.error, ElementTree.ParseError, EOFError, KeyError, NotImplementedError,
    RuntimeError, StopIteration, ValueError,
)  # fmt: skip
"""What calamine, zipfile and the XML parser raise for a damaged or hostile archive."""

Place = tuple[int, int]
"""A row and a column, both counted from 1."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """What is special about cells, by their place; errors with the text that the cell shows."""

    errors: dict[Place, str] = field(default_factory=dict[Place, str])
    without_result: set[Place] = field(default_factory=set[Place])
    percent: set[Place] = field(default_factory=set[Place])
    quoted: set[Place] = field(default_factory=set[Place])


def read_xlsx(path: Path) -> Content:
    """An XLSX workbook, opened once."""
    _check_beginning(path)
    with _translated(path):
        sheet, name = _sheet(path)
        marks = _read_marks(path, name)
    problems = Problems(str(path))
    rows = _rows(sheet, marks, (), Problems(str(path)))
    number, header = next(rows, (1, ()))
    if not header:
        raise InputError(str(path), "the sheet is empty; its first row must name the columns")
    columns = checked_header(header, problems, number, hint=MERGED)
    if next(rows, None) is None:
        raise InputError(str(path), [Problem("there is no row below the header", row=number)])

    def read(problems: Problems) -> Iterator[Row]:
        width = len(columns)
        for row, cells in _rows(sheet, marks, columns, problems):
            if row > number and (len(cells) <= width or fitted(cells, width, row, problems)):
                yield row, [*cells[:width], *[None] * (width - len(cells))]

    return Content(columns, read)


def _check_beginning(path: Path) -> None:
    with path.open("rb") as file:
        beginning = file.read(8)
    if not beginning:
        raise InputError(str(path), "the file is empty")
    if beginning.startswith(b"\xd0\xcf\x11\xe0"):
        what = "the workbook is protected by a password, or in the old .xls format"
        raise InputError(str(path), [Problem(what, fix="save it as plain .xlsx")])


def _sheet(path: Path) -> tuple[CalamineSheet, str]:
    book = CalamineWorkbook.from_path(path)  # pyright: ignore[reportUnknownMemberType]
    for sheet in book.sheets_metadata:
        is_page = sheet.typ is SheetTypeEnum.WorkSheet and sheet.visible is SheetVisibleEnum.Visible
        if is_page and sheet.name.casefold() != GUIDELINE.casefold():
            return book.get_sheet_by_name(sheet.name), sheet.name
    raise InputError(str(path), f"the workbook has no visible sheet other than {GUIDELINE!r}")


def _rows(sheet: CalamineSheet, marks: _Marks, columns: Sequence[str], problems: Problems) -> Iterator[Row]:
    """The rows that are not blank, without the empty cells at their end."""
    before = [""] * (sheet.start[1] if sheet.start else 0)
    special = bool(marks.errors or marks.without_result or marks.percent or marks.quoted)
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [_plain(value) for value in (*before, *row)]
        if special:
            cells = [
                _marked(value, (number, place), marks, columns, problems) for place, value in enumerate(cells, start=1)
            ]
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            yield number, cells


def _plain(value: object) -> object:
    """A value with whole numbers as such, None for an empty cell."""
    if isinstance(value, str):
        if "_x" in value:
            value = _NOT_A_CHARACTER.sub(lambda found: chr(int(found[1], 16)), value)
        return value or None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _marked(value: object, place: Place, marks: _Marks, columns: Sequence[str], problems: Problems) -> object:
    if place in marks.errors or place in marks.without_result:
        row, number = place
        column = columns[number - 1] if number <= len(columns) else letters(number)
        if place in marks.errors:
            problems.add(
                f"the cell shows the error {marks.errors[place]}", row=row, column=column, fix="enter a value instead"
            )
        else:
            fix = "open the file in Excel and save it again"
            problems.add("a formula without a stored result", row=row, column=column, fix=fix)
        return None
    if place in marks.percent and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value * 100:.10g}%"
    if place in marks.quoted and isinstance(value, str) and looks_made_safe(value):
        return AsItIs(value)
    return value


def _read_marks(path: Path, sheet: str) -> _Marks:
    marks = _Marks()
    with ZipFile(path) as archive:
        book = next(part for _, kind, part in _relations(archive, "") if kind == "officeDocument")
        related = _relations(archive, book)
        pages = ElementTree.fromstring(archive.read(book)).iterfind("{*}sheets/{*}sheet")
        page = next(page for page in pages if page.get("name") == sheet)
        relation = next(value for key, value in page.attrib.items() if key.endswith("}id"))
        data = archive.read(next(part for name, _, part in related if name == relation))
        styles = _styles(archive, next((part for _, kind, part in related if kind == "styles"), None))
    numbers = b"|".join(number.encode() for number in styles)
    if re.search(rb"""\bt=["']e["']|<(?:\w+:)?f[ />]|\bs=["'](?:%s)["']""" % (numbers or b"-"), data):
        for place, cell in _cells(data):
            _mark(marks, place, cell, styles)
    return marks


def _relations(archive: ZipFile, part: str) -> Sequence[tuple[str, str, str]]:
    """The parts of the archive that a part refers to: id, kind and path."""
    folder, name = posixpath.split(part)
    root = ElementTree.fromstring(archive.read(posixpath.join(folder, "_rels", f"{name}.rels")))
    return [
        (
            relation.get("Id", ""),
            posixpath.basename(relation.get("Type", "")),
            posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/"),
        )
        for relation in root
    ]


def _styles(archive: ZipFile, part: str | None) -> Mapping[str, str]:
    """The styles that matter, by their number: `percent`, or `quoted` for a text that is not to become a formula."""
    if part is None:
        return {}
    root = ElementTree.fromstring(archive.read(part))
    formats = root.iterfind("{*}numFmts/{*}numFmt")
    percent = {one.get("numFmtId") for one in formats if one.get("formatCode", "").endswith("%")} | PERCENT_FORMATS
    styles: dict[str, str] = {}
    for number, style in enumerate(root.iterfind("{*}cellXfs/{*}xf")):
        if style.get("numFmtId") in percent:
            styles[str(number)] = "percent"
        elif style.get("quotePrefix") in ("1", "true"):
            styles[str(number)] = "quoted"
    return styles


def _cells(data: bytes) -> Iterator[tuple[Place, ElementTree.Element]]:
    """The cells of a sheet. A file may leave their places out: then each is the one after the cell before."""
    number = 0
    for _, row in ElementTree.iterparse(BytesIO(data)):
        if row.tag.rpartition("}")[2] != "row":
            continue
        number, column = int(row.get("r", number + 1)), 0
        for cell in row:
            name = re.match("[A-Z]+", cell.get("r", ""))
            column = _column(name[0]) if name else column + 1
            yield (number, column), cell
        row.clear()


def _column(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _mark(marks: _Marks, place: Place, cell: ElementTree.Element, styles: Mapping[str, str]) -> None:
    style = styles.get(cell.get("s", "0"))
    if cell.get("t") == "e":
        marks.errors[place] = cell.findtext("{*}v") or "of a formula"
    elif cell.find("{*}f") is not None and cell.get("t") != "str" and not cell.findtext("{*}v"):
        marks.without_result.add(place)
    elif style == "percent":
        marks.percent.add(place)
    elif style == "quoted":
        marks.quoted.add(place)


@contextmanager
def _translated(path: Path) -> Generator[None]:
    """Whatever goes wrong in a damaged or hostile archive is one error for the user."""
    try:
        yield
    except _BROKEN as error:
        what = "not an XLSX workbook, or a damaged one"
        raise InputError(str(path), [Problem(what, fix="save it again as .xlsx, or as CSV")]) from error
