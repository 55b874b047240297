"""Delimited text, such as CSV and TSV: UTF-8 with or without a byte order mark, read row by row."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from evenhand.errors import InputError, Problem, Problems
from evenhand.formats.tables.cells import LONGEST_CELL, clean, made_safe
from evenhand.formats.tables.table import EMPTY, InputTable, Row, Sheet, headed_table

CONVERT = "save it as UTF-8: in Excel choose 'CSV UTF-8', in a shell use iconv -f {} -t UTF-8 OLD > NEW"
OTHERS = {
    b"PK\x03\x04": ("an XLSX workbook or another zip file", "give it the ending .xlsx, or save it as CSV UTF-8"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook (.xls)", "save it as .xlsx, or as CSV UTF-8"),
    b"PAR1": ("a Parquet file", "give it the ending .parquet"),
    b"\x1f\x8b": ("compressed with gzip", "decompress it with: gzip -d FILE.gz"),
}
"""The first bytes of files that are not text, whatever their name; what they are, and what to do."""

TWICE = 'a quotation mark within a quoted cell is written twice: ""'

NOT_TEXT = re.compile("[\udc80-\udcff\0]")
"""What is not UTF-8 text, as it is read with surrogates in place of such bytes."""


class LineTooLong(Exception):
    """A line with more characters than are read at once."""


def read_delimited(path: Path, delimiter: str) -> InputTable:
    """Delimited text. A CSV file (`,`) whose header has semicolons or tabs only is read with those."""
    source = str(path)
    refuse_other(path)
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    _, header = next(_records(path, delimiter, Problems(source), ()), (1, ()))
    if delimiter == "," and len(header) == 1 and (other := re.search(r"[;\t]", str(header[0]))):
        delimiter = other[0]
    return headed_table(source, partial(_records, path, delimiter))


def _records(path: Path, delimiter: str, problems: Problems, columns: Sequence[str]) -> Iterator[Row]:
    """The records that are not blank, each with its row number."""
    number = 0
    try:
        for number, record in enumerate(csv.reader(text_lines(path), delimiter=delimiter, strict=True), start=1):
            if any(record):
                yield number, record
    except (csv.Error, LineTooLong) as error:
        problems.extend([_syntax(str(error), number + 1)])
    except UnicodeError:
        problems.extend([_not_text(path, delimiter)])


def _syntax(error: str, row: int) -> Problem:
    """The csv module's complaint in our words."""
    if "unexpected end of data" in error:
        what = "a quotation mark opens a cell and is not closed before the end of the file"
        return Problem(what, row=row, fix=f"close it; {TWICE}")
    if "field limit" in error or "line has more" in error:
        what = f"a cell or line has more than {LONGEST_CELL:,} characters; perhaps a quotation mark is not closed"
        return Problem(what, row=row, fix=f"close it; {TWICE}")
    if "expected after" in error:
        return Problem("text follows a closing quotation mark within the same cell", row=row, fix=TWICE)
    return Problem(f"cannot be read as a table: {error}", row=row)


def _not_text(path: Path, delimiter: str) -> Problem:
    """Where a file stops being UTF-8 text; it is read once more with undecodable bytes kept as surrogates."""
    with suppress(csv.Error, LineTooLong):
        header: Sequence[str] = ()
        lines = text_lines(path, errors="surrogateescape")
        for row, record in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
            header = header or record
            for place, cell in enumerate(record):
                if found := NOT_TEXT.search(cell):
                    name = header[place].strip() if place < len(header) else ""
                    return replace(not_text(found[0]), row=row, column=NOT_TEXT.sub("?", name) or None)
    return Problem("not UTF-8 text", fix=CONVERT.format("WINDOWS-1252"))


def not_text(character: str) -> Problem:
    """What is wrong with a byte that is not part of a UTF-8 text, given as the surrogate that stands for it."""
    if character == "\0":
        what = "a NUL byte, which no text has: the file is damaged or not a text file"
        return Problem(what, fix="export it again")
    byte = ord(character) - 0xDC00
    meant = bytes([byte]).decode("cp1252", errors="replace")
    what = f'not UTF-8 text: byte 0x{byte:02X} (in Latin-1 or Windows-1252 it would be "{meant}")'
    return Problem(what, fix=CONVERT.format("WINDOWS-1252"))


def refuse_other(path: Path) -> None:
    """Raise InputError for an empty file, for a file that is not text at all, and for UTF-16 or UTF-32."""
    with path.open("rb") as file:
        start = file.read(4096)
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InputError(str(path), EMPTY)
    for beginning, (what, fix) in OTHERS.items():
        if start.startswith(beginning):
            what = f"the file is {what}, though its name ends in {path.suffix}"
            raise InputError(str(path), [Problem(what, fix=fix)])
    marked = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if marked or (len(start) > 3 and start[:64].count(0) >= len(start[:64]) // 3):
        raise InputError(str(path), [Problem("the file is UTF-16, not UTF-8", fix=CONVERT.format("UTF-16"))])


def text_lines(path: Path, errors: str = "strict") -> Iterator[str]:
    """The lines of a UTF-8 file with their ends, its byte order mark passed over.

    Raises UnicodeError for bytes that are not UTF-8, and for a NUL byte, unless `errors` says how to read them;
    LineTooLong for a line that is too long.
    """
    with path.open(encoding="utf-8-sig", newline="", errors=errors) as file:
        while line := file.readline(LONGEST_CELL + 1):
            if errors == "strict" and "\0" in line:
                raise UnicodeError("a NUL byte")
            if len(line) > LONGEST_CELL:
                raise LineTooLong(f"a line has more than {LONGEST_CELL:,} characters, which is the limit")
            yield line


def write_delimited(path: Path, sheet: Sheet, delimiter: str) -> int:
    count = 0
    with path.open("w", encoding="utf-8-sig" if sheet.for_people else "utf-8", newline="") as file:
        # A line end of both characters makes the writer quote cells that hold either of them.
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(map(_safe, sheet.columns))
        for count, row in enumerate(sheet.rows, start=1):  # noqa: B007
            writer.writerow(map(_safe, row))
    return count


def _safe(cell: object) -> object:
    return made_safe(clean(cell, nul=False)) if isinstance(cell, str) else cell
