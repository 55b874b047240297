"""Tables → files, whole or not at all: written beside the target, forced to the disk, then renamed."""

import csv
import errno
import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from evenhand.errors import UserError
from evenhand.formats.cells import looks_risky, made_safe
from evenhand.formats.header import letters
from evenhand.formats.parquet import pyarrow

LONGEST_XLSX_CELL = 32_767
MOST_XLSX_ROWS = 1_048_576
BATCH = 2_000

_UNFIT_FOR_XLSX = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
"""What XML cannot hold, and what would be read as the notation for it."""
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table on its way to a file. Cells are str, int, float or None; None is an empty cell.

    `for_people`: a CSV or TSV file gets a byte order mark, without which spreadsheet programs do not take it for UTF-8.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    for_people: bool = False


def write_table(path: str | Path, sheet: Sheet, *, overwrite: bool = False) -> int:
    """Write a table in the format that the end of the file's name tells, and say how many rows it has.

    An existing file is refused unless `overwrite`. Texts that a spreadsheet program would take for formulas are made
    safe: in CSV and TSV with an apostrophe, in XLSX with the mark that Excel itself sets for one. Raises UserError for
    what stands in the way; the target is then as it was.
    """
    path = Path(path)
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        raise UserError(
            f"{path}: the end of the name, {path.suffix!r}, tells no format; valid are {', '.join(WRITERS)}"
        )
    with replacing(path, overwrite=overwrite) as temporary:
        return write(temporary, Sheet(sheet.columns, map(_writable, sheet.rows), sheet.for_people), str(path))


@contextmanager
def replacing(path: Path, *, overwrite: bool = False) -> Generator[Path]:
    """A temporary file that takes the place of `path` when the block ends well, and is removed when it does not."""
    try:
        if path.is_dir():
            raise UserError(f"{path}: this is a folder; give the name of a file")
        if path.exists() and not path.is_file():
            raise UserError(f"{path}: this is a device or a pipe; give the name of a file")
        if path.exists() and not overwrite:
            raise UserError(f"{path}: the file is already there; choose another name, or replace it with --overwrite")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {_advice(error, path)}") from error
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {_advice(error, path)}") from error
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    """Remove what was left of a file that could not be finished; in a folder that takes nothing, there is nothing."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def _advice(error: OSError, path: Path) -> str:
    folder = path.absolute().parent
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full; make room, or choose another folder than {folder}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"nothing may be written in the folder {folder}; choose another one"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"there is no folder {folder}; make it first"
    return error.strerror or str(error)


def _write_delimited(path: Path, sheet: Sheet, delimiter: str) -> int:
    count = 0
    with path.open("w", encoding="utf-8-sig" if sheet.for_people else "utf-8", newline="") as file:
        # A line end of both characters makes the writer quote cells that hold either of them.
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(map(_safe, sheet.columns))
        for count, row in enumerate(sheet.rows, start=1):  # noqa: B007
            writer.writerow(map(_safe, row))
    return count


def _write_csv(path: Path, sheet: Sheet, target: str) -> int:
    return _write_delimited(path, sheet, ",")


def _write_tsv(path: Path, sheet: Sheet, target: str) -> int:
    return _write_delimited(path, sheet, "\t")


def _write_json_lines(path: Path, sheet: Sheet, target: str) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for count, row in enumerate(sheet.rows, start=1):  # noqa: B007
            json.dump(dict(zip(sheet.columns, map(_without_nul, row), strict=True)), file, ensure_ascii=False)
            file.write("\n")
    return count


def _write_xlsx(path: Path, sheet: Sheet, target: str) -> int:
    count = -1
    with new_workbook(path) as book:
        page = book.create_sheet("Ratings")
        page.freeze_panes = "A2"
        for count, row in enumerate(_with_header(sheet)):
            page.append([xlsx_cell(page, cell, target, count + 1, place) for place, cell in enumerate(row, start=1)])
    return count


def _write_parquet(path: Path, sheet: Sheet, target: str) -> int:
    """Columns that hold texts and numbers, such as values of several scales, become text."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    rows = list(sheet.rows)
    columns = {name: [row[place] for row in rows] for place, name in enumerate(sheet.columns)}
    table = arrow.table({name: arrow.array(_alike(cells), **_typed(arrow, cells)) for name, cells in columns.items()})
    parquet.write_table(table, path)
    return len(rows)


def _alike(cells: Sequence[object]) -> Sequence[object]:
    if any(isinstance(cell, str) for cell in cells):
        return [None if cell is None else str(cell) for cell in cells]
    return cells


def _typed(arrow: Any, cells: Sequence[object]) -> Mapping[str, Any]:
    """A column without a single value is one of texts, so that a reader of the file need not care."""
    return {} if any(cell is not None for cell in cells) else {"type": arrow.string()}


def _with_header(sheet: Sheet) -> Iterator[Sequence[object]]:
    yield sheet.columns
    yield from sheet.rows


def _writable(row: Sequence[object]) -> Sequence[object]:
    """A row without halves of surrogate pairs, which no file can hold: each becomes the replacement character."""
    return [_HALF.sub("\ufffd", cell) if isinstance(cell, str) and not cell.isascii() else cell for cell in row]


def _without_nul(cell: object) -> object:
    """A NUL becomes the replacement character in files whose readers, ours among them, take none."""
    return cell.replace("\0", "\ufffd") if isinstance(cell, str) else cell


def _safe(cell: object) -> object:
    return made_safe(cell.replace("\0", "\ufffd")) if isinstance(cell, str) else cell


def xlsx_cell(page: Any, cell: object, target: str, row: int, place: int) -> Any:
    """A cell for a write-only sheet: a text stays a text, whatever it looks like; one that is too long is refused.

    A text that looks like a formula has `quotePrefix`, which an apostrophe typed in Excel leaves: it is not shown, and
    the cell stays a text when somebody edits it.
    """
    if row > MOST_XLSX_ROWS:
        raise UserError(f"{target}: an XLSX sheet has at most {MOST_XLSX_ROWS:,} rows; write .csv or .jsonl")
    if not isinstance(cell, str):
        return cell
    text = xlsx_text(cell)
    if len(text) > LONGEST_XLSX_CELL:
        raise UserError(
            f"{target}: row {row}, column {letters(place)} would have {len(text):,} characters, and XLSX holds "
            f"{LONGEST_XLSX_CELL:,} in a cell; write .csv or .jsonl"
        )
    made = WriteOnlyCell(page, text)
    made.data_type = "s"
    if looks_risky(cell):
        made.quotePrefix = True
    return made


def xlsx_text(text: str) -> str:
    """A text with the characters that XML cannot hold in the notation of the XLSX standard."""
    return _UNFIT_FOR_XLSX.sub(lambda found: f"_x{ord(found[0]):04X}_", _HALF.sub("\ufffd", text))


@contextmanager
def new_workbook(path: Path) -> Generator[Workbook]:
    """A write-only workbook, saved when the block ends well. Its pages are closed in any case."""
    book = Workbook(write_only=True)
    try:
        yield book
        book.save(path)
    finally:
        for page in cast("Any", book.worksheets):
            if not page.closed:
                page.close()


WRITERS: Mapping[str, Callable[[Path, Sheet, str], int]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".xlsx": _write_xlsx,
    ".parquet": _write_parquet,
}
"""Writers by the end of the file's name: the path, the table, and what to call the file in messages."""
