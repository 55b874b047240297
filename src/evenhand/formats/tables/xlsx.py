"""XLSX workbooks: the first visible sheet that is not the guideline is read, and sheets are written cell by cell.

A workbook is an archive of XML parts. They are read as streams, and no part may be larger than the limit, so that a
small archive cannot take much memory or time, whatever it unpacks to.
"""

import math
import posixpath
import re
import zlib
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, reduce
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, cast
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from xlsxwriter import Workbook  # pyright: ignore[reportMissingTypeStubs]
from xlsxwriter.exceptions import FileCreateError  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import InputError, Problem, Problems
from evenhand.files import check_size
from evenhand.formats.tables.cells import AsItIs, clean, looks_made_safe, looks_risky
from evenhand.formats.tables.table import InputTable, Row, Sheet, headed_table, letters, within_limit
from evenhand.text import quoted

GUIDELINE = "Guideline"
BROKEN, SAVE_AGAIN = "not an XLSX workbook, or a damaged one", "save it again as .xlsx, or as CSV"

LONGEST_CELL = 32_767
"""In UTF-16 code units, which is what Excel counts."""

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384
MOST_CELLS, MOST_PLACES, LONGEST_TEXT = 3_000_000, 30_000_000, 2_000_000
"""Far more than a sheet within the limit of size has, unless its cells are empty; that with the empty places between
them; and far more than a cell can hold."""

MOST_ELEMENTS, MOST_DEFINITIONS, DEEPEST = 12_000_000, 500_000, 100
"""XML elements of a part: a cell has three or four; of a part with styles or relations, which are kept; and within
each other."""

_BUILT_IN_FORMATS = {"9": "percent", "10": "percent", "46": "duration"} | dict.fromkeys(
    map(str, (*range(14, 23), *range(27, 37), 45, 47, *range(50, 59))), "date"
)
_NOT_IN_FORMAT = re.compile(r'"[^"]*"|\\.|[_*].|\[(?![hms]+\])[^\[\]]*\]', re.I)
"""What a number format shows as it is, and its colours and conditions."""

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A character that XML cannot hold, in the notation of the XLSX standard."""


class TooLarge(Exception):
    """More rows, a longer text or more of anything else than a sheet can hold, or than is read."""


_DAMAGE = (
    BadZipFile, zlib.error, expat.ExpatError, EOFError, LookupError, NotImplementedError, RuntimeError, StopIteration,
    ValueError, TooLarge,
)  # fmt: skip
"""What zipfile, the XML parser and the functions below raise for a damaged or hostile archive."""

Attributes = dict[str, str]
Event = tuple[str, Attributes | None, str]
"""The beginning of an XML element, with its attributes, or its end, with its text."""


class _BadCell(Exception):
    """A cell that cannot be used: what is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class _Book:
    """What is needed to read a sheet: its part of the archive, the texts that cells refer to, and the styles that
    matter by their number: `percent`, `date`, `duration`, or `quoted` for a text that is not to become a formula."""

    path: Path
    sheet: str
    texts: Sequence[str]
    styles: Mapping[str, str]
    first_day: datetime


def read_xlsx(path: Path) -> InputTable:
    """An XLSX workbook."""
    source = str(path)
    with path.open("rb") as file:
        beginning = file.read(8)
    if not beginning:
        raise InputError(source, "the file is empty")
    if beginning.startswith(b"\xd0\xcf\x11\xe0"):
        what = "the workbook is protected by a password, or in the old .xls format"
        raise InputError(source, [Problem(what, fix="save it as plain .xlsx")])
    try:
        with ZipFile(path) as archive:
            book = _book(path, archive)
    except _DAMAGE as error:
        raise InputError(source, [_problem(error)]) from error
    return headed_table(source, lambda problems, columns: within_limit(source, _rows(book, problems, columns)))


def _book(path: Path, archive: ZipFile) -> _Book:
    root = next(part for _, kind, part in _relations(archive, "") if kind == "officeDocument")
    related = {name: (kind, part) for name, kind, part in _relations(archive, root)}
    parts = dict(related.values())
    first_day, sheets = datetime(1899, 12, 30), list[str]()
    for name, attributes, _ in _events(archive, root, ("workbookPr", "sheet"), MOST_DEFINITIONS):
        if name == "workbookPr" and attributes and attributes.get("date1904") in ("1", "true"):
            first_day = datetime(1904, 1, 1)
        elif name == "sheet" and attributes and attributes.get("state", "visible") == "visible":
            relation = next(value for key, value in attributes.items() if key.endswith(":id"))
            kind, part = related[relation]
            if kind == "worksheet" and attributes.get("name", "").casefold() != GUIDELINE.casefold():
                sheets.append(part)
    if not sheets:
        raise InputError(str(path), f"the workbook has no visible sheet other than {GUIDELINE!r}")
    texts = list(_texts(archive, parts["sharedStrings"])) if "sharedStrings" in parts else []
    styles = _styles(archive, parts["styles"]) if "styles" in parts else dict[str, str]()
    return _Book(path, sheets[0], texts, styles, first_day)


def _events(archive: ZipFile, part: str, wanted: Collection[str], most: int = MOST_ELEMENTS) -> Iterator[Event]:
    """The beginnings and ends of the wanted elements of an XML part, by their names without a prefix."""
    check_size(str(archive.filename), archive.getinfo(part).file_size, f"{part}, once unpacked,")
    events, pieces, length, count, depth = list[Event](), list[str](), 0, 0, 0
    names = {name: name for name in wanted}

    def start(name: str, attributes: Attributes) -> None:
        nonlocal length, count, depth
        length, count, depth = 0, count + 1, depth + 1
        if count > most or depth > DEEPEST:
            raise TooLarge(f"more than {most:,} elements in {part}, or {DEEPEST} within each other")
        pieces.clear()
        if local := names.get(name) or names.get(name.rpartition(":")[2]):
            events.append((local, attributes, ""))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        if local := names.get(name) or names.get(name.rpartition(":")[2]):
            events.append((local, None, "".join(pieces)))
        pieces.clear()

    def read(text: str) -> None:
        nonlocal length
        length += len(text)
        if length > LONGEST_TEXT:
            raise TooLarge(f"a text of more than {LONGEST_TEXT:,} characters")
        pieces.append(text)

    def refuse(*_: object) -> None:
        raise ValueError("a document type, which can make a small part expand enormously")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = read, refuse
    with archive.open(part) as file:
        while chunk := file.read(1 << 16):
            parser.Parse(chunk)
            # The parser reads an unfinished tag or comment from its beginning at each chunk.
            if file.tell() - parser.CurrentByteIndex > LONGEST_TEXT:
                raise TooLarge(f"a tag or comment of more than {LONGEST_TEXT:,} bytes")
            yield from events
            events.clear()
        parser.Parse(b"", True)


def _relations(archive: ZipFile, part: str) -> Iterator[tuple[str, str, str]]:
    """The parts of the archive that a part refers to: id, kind and path."""
    folder, name = posixpath.split(part)
    part = posixpath.join(folder, "_rels", f"{name}.rels")
    relations = _events(archive, part, ("Relationship",), MOST_DEFINITIONS)
    for attributes in (attributes for _, attributes, _ in relations if attributes is not None):
        target = posixpath.normpath(posixpath.join(folder, attributes.get("Target", ""))).lstrip("/")
        yield attributes.get("Id", ""), posixpath.basename(attributes.get("Type", "")), target


def _texts(archive: ZipFile, part: str) -> Iterator[str]:
    """The texts that cells refer to, without the pronunciation of Japanese ones."""
    pieces, spoken, count = list[str](), False, 0
    for name, attributes, text in _events(archive, part, ("si", "t", "rPh")):
        if name == "rPh":
            spoken = attributes is not None
        elif name == "si" and attributes is None:
            yield _unescaped("".join(pieces))
            pieces.clear()
            count += 1
        elif name == "t" and attributes is None and not spoken:
            count += bool(pieces)
            pieces.append(text)
        if count > MOST_CELLS:
            raise TooLarge(f"more than {MOST_CELLS:,} texts")


def _styles(archive: ZipFile, part: str) -> Mapping[str, str]:
    formats, styles = dict(_BUILT_IN_FORMATS), dict[str, str]()
    number, within = 0, False
    for name, attributes, _ in _events(archive, part, ("numFmt", "cellXfs", "xf"), MOST_DEFINITIONS):
        if name == "cellXfs":
            within = attributes is not None
        elif attributes is None:
            continue
        elif name == "numFmt":
            if kind := _format_kind(attributes.get("formatCode", "")):
                formats[attributes.get("numFmtId", "")] = kind
        elif within:
            kind = formats.get(attributes.get("numFmtId", ""))
            if kind is None and attributes.get("quotePrefix") in ("1", "true"):
                kind = "quoted"
            if kind is not None:
                styles[str(number)] = kind
            number += 1
    return styles


def _format_kind(code: str) -> str | None:
    plain = _NOT_IN_FORMAT.sub("", code)
    if code.endswith("%"):
        return "percent"
    if "[" in plain:
        return "duration"
    return "date" if re.search("[dmyhs]", plain, re.I) else None


def _rows(book: _Book, problems: Problems, columns: Sequence[str]) -> Iterator[Row]:
    """The rows that are not blank, at least as wide as the columns."""
    number = size = 0
    try:
        with ZipFile(book.path) as archive:
            for number, cells in groupby(_cells(archive, book.sheet), key=itemgetter(0)):
                values: dict[int, object] = {}
                for _, place, attributes, parts in cells:
                    try:
                        values[place] = _value(book, attributes, parts)
                    except _BadCell as error:
                        column = columns[place - 1] if place <= len(columns) else letters(place)
                        what, fix = error.args
                        problems.add(what, row=number, column=column, fix=fix)
                if filled := [place for place, value in values.items() if value is not None]:
                    width = max(len(columns), *filled)
                    size += width
                    if size > MOST_PLACES:
                        raise TooLarge(f"more than {MOST_PLACES:,} cells, most of them empty")
                    yield number, [values.get(place) for place in range(1, width + 1)]
    except _DAMAGE as error:
        problems.extend([_problem(error, number + 1)])


def _problem(error: Exception, row: int | None = None) -> Problem:
    """Why an archive cannot be read, or cannot be read further than this row."""
    if isinstance(error, TooLarge):
        return Problem(str(error), row=row, fix="split it, or save it as CSV")
    return Problem(f"{BROKEN}{', from here on' if row else ''}: {error}", row=row, fix=SAVE_AGAIN)


def _cells(archive: ZipFile, part: str) -> Iterator[tuple[int, int, Attributes, Mapping[str, str]]]:
    """The cells that are not empty: row, column, attributes, and the texts of their parts.

    A file may leave their places out: then each is the one after the cell before.
    """
    row = column = rows = count = 0
    given, parts, spoken = dict[str, str](), dict[str, list[str]](), False
    for name, attributes, text in _events(archive, part, ("row", "c", "v", "f", "t", "rPh")):
        if name == "c":
            if attributes is None:
                if parts:
                    yield row, column, given, {part: "".join(pieces) for part, pieces in parts.items()}
                continue
            given, parts, count = attributes, {}, count + 1
            column = _column(attributes["r"].rstrip("0123456789")) if "r" in attributes else column + 1
        elif name == "row" and attributes is not None:
            row, column, rows = int(attributes.get("r", row + 1)), 0, rows + 1
        elif name == "rPh":
            spoken = attributes is not None
        elif attributes is None and not spoken:
            count += name in parts
            parts.setdefault(name, []).append(text)
            continue
        if max(row, rows) > MOST_ROWS or column > MOST_COLUMNS or count > MOST_CELLS:
            most = f"{MOST_ROWS:,} rows, {MOST_COLUMNS:,} columns and {MOST_CELLS:,} cells"
            raise TooLarge(f"a sheet has at most {most}")


@lru_cache(maxsize=MOST_COLUMNS)
def _column(name: str) -> int:
    """The place of a column by its letters, counted from 1."""
    if not re.fullmatch("[A-Za-z]{1,3}", name):
        return MOST_COLUMNS + 1
    return reduce(lambda place, letter: 26 * place + ord(letter) - ord("A") + 1, name.upper(), 0)


def _value(book: _Book, attributes: Attributes, parts: Mapping[str, str]) -> object:
    """The value of a cell, whole numbers as such; None if it is empty. Raises _BadCell."""
    kind, content, style = attributes.get("t", "n"), parts.get("v", ""), book.styles.get(attributes.get("s", "0"))
    if kind == "e":
        raise _BadCell(f"the cell shows the error {content or 'of a formula'}", "enter a value instead")
    if "f" in parts and not content and kind != "str":
        raise _BadCell("a formula without a stored result", "open the file in Excel and save it again")
    try:
        if kind in ("s", "str", "inlineStr"):
            text = _unescaped(parts.get("t", content) if kind == "inlineStr" else content)
            if kind == "s" and content:
                text = book.texts[int(content) if content.isdecimal() else len(book.texts)]
            return AsItIs(text) if style == "quoted" and looks_made_safe(text) else text or None
        if not content:
            return None
        if kind == "b":
            return content in ("1", "true")
        return datetime.fromisoformat(content) if kind == "d" else _number(float(content), style, book.first_day)
    except (ValueError, IndexError, OverflowError):
        of_what = f"one of the workbook's {len(book.texts):,} texts" if kind == "s" else "a value that a cell can have"
        raise _BadCell(f"the file is damaged: {quoted(content)} is not {of_what}", SAVE_AGAIN) from None


def _number(number: float, style: str | None, first_day: datetime) -> object:
    if not math.isfinite(number):
        raise ValueError(number)
    if style == "percent":
        return f"{number * 100:.10g}%"
    if style in ("date", "duration"):
        passed = timedelta(seconds=round(number * 86_400, 3))
        if style == "duration":
            return passed
        # The first calendar has a day that never was, 29 February 1900, after which its days count one more.
        day = first_day + passed + timedelta(days=1 <= number < 60 and first_day.year == 1899)
        return day.time() if 0 <= number < 1 else day.date() if number.is_integer() else day
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _unescaped(text: str) -> str:
    if "_x" not in text:
        return text
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
