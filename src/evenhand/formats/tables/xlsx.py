"""XLSX workbooks: the first visible sheet that is not the guideline is read, and sheets are written cell by cell.

calamine reads the values. Four things it does not report are read from the sheet's XML, in workbooks that have them:
errors, formulas without a stored result, percentages, and texts that Excel protects from being read as formulas.
"""

import posixpath
import re
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum
from xlsxwriter import Workbook  # pyright: ignore[reportMissingTypeStubs]
from xlsxwriter.exceptions import FileCreateError  # pyright: ignore[reportMissingTypeStubs]
from xlsxwriter.utility import xl_cell_to_rowcol  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import InputError, Problem, Problems
from evenhand.formats.tables.cells import AsItIs, clean, looks_made_safe, looks_risky
from evenhand.formats.tables.table import InputTable, Row, Sheet, fitted, headed_table, letters

GUIDELINE = "Guideline"
EMPTY = "the sheet is empty; its first row must name the columns"
MERGED = "; merged header cells count as one name: unmerge them"
PERCENT_FORMATS = {"9", "10"}
"""The numbers of the two percent formats that every workbook has."""

LONGEST_CELL = 32_767
"""In UTF-16 code units, which is what Excel counts."""

MOST_ROWS = 1_048_576

_NOT_A_CHARACTER = re.compile(r"_x([Ff]{3}[EeFf])_")
"""U+FFFE and U+FFFF in the notation of the XLSX standard, which calamine decodes for other characters only."""

_BROKEN = (
    CalamineError, BadZipFile, zlib.error, ElementTree.ParseError, EOFError, KeyError, NotImplementedError,
    RuntimeError, StopIteration, ValueError,
)  # fmt: skip
"""What calamine, zipfile and the XML parser raise for a damaged or hostile archive."""

Marks = Mapping[tuple[int, int], str]
"""What is special about cells, by row and column, both counted from 1: `percent`, `quoted` for a text that is not to
become a formula, `formula` for one without a stored result, or an error as the cell shows it, such as `#N/A`."""


class TooLarge(Exception):
    """More rows or a longer text than a sheet can hold."""


def read_xlsx(path: Path) -> InputTable:
    """An XLSX workbook, opened once."""
    source = str(path)
    with path.open("rb") as file:
        beginning = file.read(8)
    if not beginning:
        raise InputError(source, "the file is empty")
    if beginning.startswith(b"\xd0\xcf\x11\xe0"):
        what = "the workbook is protected by a password, or in the old .xls format"
        raise InputError(source, [Problem(what, fix="save it as plain .xlsx")])
    try:
        sheet, marks = _sheet(path)
    except _BROKEN as error:
        what = "not an XLSX workbook, or a damaged one"
        raise InputError(source, [Problem(what, fix="save it again as .xlsx, or as CSV")]) from error
    return headed_table(source, partial(_rows, sheet, marks), empty=EMPTY, hint=MERGED)


def _sheet(path: Path) -> tuple[CalamineSheet, Marks]:
    book = CalamineWorkbook.from_path(path)  # pyright: ignore[reportUnknownMemberType]
    for sheet in book.sheets_metadata:
        is_page = sheet.typ is SheetTypeEnum.WorkSheet and sheet.visible is SheetVisibleEnum.Visible
        if is_page and sheet.name.casefold() != GUIDELINE.casefold():
            return book.get_sheet_by_name(sheet.name), _marks(path, sheet.name)
    raise InputError(str(path), f"the workbook has no visible sheet other than {GUIDELINE!r}")


def _rows(sheet: CalamineSheet, marks: Marks, problems: Problems, columns: Sequence[str]) -> Iterator[Row]:
    """The rows that are not blank. With columns, a longer one is reported, and a shorter one gets empty cells."""
    width = len(columns)
    before = [""] * (sheet.start[1] if sheet.start else 0)
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [_plain(value) for value in (*before, *row)]
        for place, value in enumerate(cells if marks else (), start=1):
            if mark := marks.get((number, place)):
                column = columns[place - 1] if place <= len(columns) else letters(place)
                cells[place - 1] = _marked(value, mark, number, column, problems)
        while cells and cells[-1] is None:
            cells.pop()
        if cells and (not width or len(cells) <= width or fitted(cells, width, number, problems)):
            yield number, [*cells[: width or None], *[None] * (width - len(cells))]


def _plain(value: object) -> object:
    """A value with whole numbers as such, None for an empty cell."""
    if isinstance(value, str):
        if "_x" in value:
            value = _NOT_A_CHARACTER.sub(lambda found: chr(int(found[1], 16)), value)
        return value or None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _marked(value: object, mark: str, row: int, column: str, problems: Problems) -> object:
    if mark == "percent":
        return f"{value * 100:.10g}%" if isinstance(value, int | float) and not isinstance(value, bool) else value
    if mark == "quoted":
        return AsItIs(value) if isinstance(value, str) and looks_made_safe(value) else value
    if mark == "formula":
        fix = "open the file in Excel and save it again"
        problems.add("a formula without a stored result", row=row, column=column, fix=fix)
    else:
        problems.add(f"the cell shows the error {mark}", row=row, column=column, fix="enter a value instead")
    return None


def _marks(path: Path, sheet: str) -> Marks:
    with ZipFile(path) as archive:
        book = next(part for _, kind, part in _relations(archive, "") if kind == "officeDocument")
        related = _relations(archive, book)
        pages = ElementTree.fromstring(archive.read(book)).iterfind("{*}sheets/{*}sheet")
        page = next(page for page in pages if page.get("name") == sheet)
        relation = next(value for key, value in page.attrib.items() if key.endswith("}id"))
        data = archive.read(next(part for name, _, part in related if name == relation))
        styles = _styles(archive, next((part for _, kind, part in related if kind == "styles"), None))
    numbers = b"|".join(number.encode() for number in styles)
    if not re.search(rb"""\bt=["']e["']|<(?:\w+:)?f[ />]|\bs=["'](?:%s)["']""" % (numbers or b"-"), data):
        return {}
    return {place: mark for place, cell in _cells(data) if (mark := _mark(cell, styles))}


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
    """The styles that matter, by their number: `percent` or `quoted`."""
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


def _cells(data: bytes) -> Iterator[tuple[tuple[int, int], ElementTree.Element]]:
    """The cells of a sheet. A file may leave their places out: then each is the one after the cell before."""
    number = 0
    for _, row in ElementTree.iterparse(BytesIO(data)):
        if row.tag.rpartition("}")[2] != "row":
            continue
        number, column = int(row.get("r", number + 1)), 0
        for cell in row:
            name = cell.get("r")
            column = xl_cell_to_rowcol(name)[1] + 1 if name else column + 1
            yield (number, column), cell
        row.clear()


def _mark(cell: ElementTree.Element, styles: Mapping[str, str]) -> str | None:
    if cell.get("t") == "e":
        return cell.findtext("{*}v") or "of a formula"
    if cell.find("{*}f") is not None and cell.get("t") != "str" and not cell.findtext("{*}v"):
        return "formula"
    return styles.get(cell.get("s", "0"))


def write_xlsx(path: Path, sheet: Sheet) -> int:
    count = 0
    with new_workbook(path) as book:
        page = book.add_worksheet("Ratings")
        page.freeze_panes(1, 0)
        cells = XlsxCells(book, page)
        cells.write(0, sheet.columns)
        for count, row in enumerate(sheet.rows, start=1):
            cells.write(count, row)
    return count


class XlsxCells:
    """Writes cells of one sheet: a text stays a text, whatever it looks like; one that is too long is refused.

    A text that looks like a formula gets the mark that an apostrophe typed in Excel leaves: it is not shown, and the
    cell stays a text if it is edited. `style` is what all cells have in common.
    """

    def __init__(self, book: Any, page: Any, **style: object) -> None:
        self._page = page
        self._plain = book.add_format(style)
        self._quoted = book.add_format({**style, "quote_prefix": True})

    def write(self, row: int, cells: Sequence[object], first: int = 0) -> None:
        """Write cells next to each other, from the column `first`; rows and columns count from 0. Raises TooLarge."""
        if row >= MOST_ROWS:
            raise TooLarge(f"an XLSX sheet has at most {MOST_ROWS:,} rows")
        for column, cell in enumerate(cells, start=first):
            if isinstance(cell, str):
                text = clean(cell)
                if (length := utf16_length(text)) > LONGEST_CELL:
                    place = f"row {row + 1}, column {letters(column + 1)}"
                    what = f"would have {length:,} characters, and XLSX holds {LONGEST_CELL:,} in a cell"
                    raise TooLarge(f"{place} {what}")
                self._page.write_string(row, column, text, self._quoted if looks_risky(text) else self._plain)
            elif cell is None:
                self._page.write_blank(row, column, None, self._plain)
            else:
                self._page.write_number(row, column, cast("float", cell), self._plain)


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@contextmanager
def new_workbook(path: Path) -> Generator[Any]:
    """A workbook that is written to `path` when the block ends, in constant memory: row by row, from the top."""
    book: Any = Workbook(str(path), {"constant_memory": True, "strings_to_urls": False})
    try:
        yield book
    finally:
        # Also after an error: it closes the temporary files. The caller removes what is written then.
        try:
            book.close()
        except FileCreateError as error:
            raise OSError(*error.args[0].args) from error
