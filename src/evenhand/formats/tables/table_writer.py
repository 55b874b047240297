"""Tables to files, completely or not at all: written next to the target, flushed to disk, then renamed."""

import csv
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from xlsxwriter import Workbook  # pyright: ignore[reportMissingTypeStubs]
from xlsxwriter.exceptions import FileCreateError  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import UserError
from evenhand.files import replacing
from evenhand.formats.tables.cells import clean, looks_risky, made_safe
from evenhand.formats.tables.header import letters
from evenhand.formats.tables.parquet import pyarrow

LONGEST_XLSX_CELL = 32_767
"""In UTF-16 code units, which is what Excel counts."""

MOST_XLSX_ROWS = 1_048_576
BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table on its way to a file. Cells are str, int, float or None; None is an empty cell.

    `for_people`: a CSV or TSV file gets a byte order mark, without which spreadsheet programs do not take it for UTF-8.
    """

    columns: Sequence[str]
    rows: Iterable[Sequence[object]]
    for_people: bool = False


def write_table(path: str | Path, sheet: Sheet, *, overwrite: bool = False) -> int:
    """Write a table in the format that the file's name ends with; return the number of rows.

    An existing file is refused unless `overwrite`. Texts that a spreadsheet program would take for formulas are made
    safe: in CSV and TSV with an apostrophe, in XLSX with the mark that Excel itself sets for one. Raises UserError for
    what stands in the way; the target is then as it was.
    """
    path = Path(path)
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        raise UserError(
            f"{path}: the name ends in {path.suffix!r}, which is not a known format; valid are {', '.join(WRITERS)}"
        )
    with replacing(path, overwrite=overwrite) as temporary:
        return write(temporary, sheet, str(path))


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
            cells = (clean(cell, nul=False) if isinstance(cell, str) else cell for cell in row)
            json.dump(dict(zip(sheet.columns, cells, strict=True)), file, ensure_ascii=False)
            file.write("\n")
    return count


def _write_xlsx(path: Path, sheet: Sheet, target: str) -> int:
    count = -1
    with new_workbook(path) as book:
        page = book.add_worksheet("Ratings")
        page.freeze_panes(1, 0)
        cells = XlsxCells(book, page, target)
        for count, row in enumerate(_with_header(sheet)):
            for place, cell in enumerate(row):
                cells.write(count, place, cell)
    return count


def _write_parquet(path: Path, sheet: Sheet, target: str) -> int:
    """Columns that hold texts and numbers, such as values of several scales, become text."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    rows = [[clean(cell) if isinstance(cell, str) else cell for cell in row] for row in sheet.rows]
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


def _safe(cell: object) -> object:
    return made_safe(clean(cell, nul=False)) if isinstance(cell, str) else cell


class XlsxCells:
    """Writes cells of one sheet: a text stays a text, whatever it looks like; one that is too long is refused.

    A text that looks like a formula gets the mark that an apostrophe typed in Excel leaves: it is not shown, and the
    cell stays a text if it is edited. `style` is what all cells have in common.
    """

    def __init__(self, book: Any, page: Any, target: str, **style: object) -> None:
        self._page = page
        self._target = target
        self._plain = book.add_format(style)
        self._quoted = book.add_format({**style, "quote_prefix": True})

    def write(self, row: int, column: int, cell: object) -> None:
        """Write a cell; row and column count from 0."""
        if row >= MOST_XLSX_ROWS:
            raise UserError(f"{self._target}: an XLSX sheet has at most {MOST_XLSX_ROWS:,} rows; write .csv or .jsonl")
        if isinstance(cell, str):
            text = clean(cell)
            if (length := utf16_length(text)) > LONGEST_XLSX_CELL:
                raise UserError(
                    f"{self._target}: row {row + 1}, column {letters(column + 1)} would have {length:,} characters, "
                    f"and XLSX holds {LONGEST_XLSX_CELL:,} in a cell; write .csv or .jsonl"
                )
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


WRITERS: Mapping[str, Callable[[Path, Sheet, str], int]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
    ".xlsx": _write_xlsx,
    ".parquet": _write_parquet,
}
"""Writers by the end of the file's name: the path, the table, and what to call the file in messages."""
