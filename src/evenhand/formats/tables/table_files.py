"""Tables in files, by the end of the file's name. A file is written completely or not at all."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from narwhals.typing import IntoFrame

from evenhand.errors import InputError, UserError
from evenhand.files import reading, replacing
from evenhand.formats.tables.csv import read_delimited, write_delimited
from evenhand.formats.tables.json import read_json, read_json_lines, write_json_lines
from evenhand.formats.tables.parquet import read_parquet, write_parquet
from evenhand.formats.tables.table import InputTable, Sheet, frame_table, rows_table
from evenhand.formats.tables.xlsx import TooLarge, read_xlsx, write_xlsx

TableSource = str | Path | Sequence[Mapping[str, object]] | IntoFrame
"""What tables are made from: the path of a file, a list of dicts, or a data frame."""

READERS: Mapping[str, Callable[[Path], InputTable]] = {
    ".csv": partial(read_delimited, delimiter=","),
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".json": read_json,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".xlsx": read_xlsx,
    ".xlsm": read_xlsx,
    ".parquet": read_parquet,
}
WRITERS: Mapping[str, Callable[[Path, Sheet], int]] = {
    ".csv": partial(write_delimited, delimiter=","),
    ".tsv": partial(write_delimited, delimiter="\t"),
    ".jsonl": write_json_lines,
    ".ndjson": write_json_lines,
    ".xlsx": write_xlsx,
    ".parquet": write_parquet,
}


def table_of(source: TableSource) -> InputTable:
    """The table in a file, in a list of dicts or in a data frame."""
    if isinstance(source, str | Path):
        return open_table(source)
    return rows_table(source) if isinstance(source, Sequence) else frame_table(source)


def open_table(path: str | Path) -> InputTable:
    """The table in a file, in the format that its name ends with. Raises InputError if it is not a table."""
    path = Path(path)
    suffix = path.suffix.lower()
    with reading(path):
        if suffix not in READERS:
            old = "; save the old .xls as .xlsx" if suffix == ".xls" else ""
            valid = f"valid are {', '.join(READERS)}{old}"
            raise InputError(str(path), f"the name ends in {suffix!r}, which is not a known format; {valid}")
        return READERS[suffix](path)


def write_table(path: str | Path, sheet: Sheet, *, overwrite: bool = False) -> int:
    """Write a table in the format that the file's name ends with; return the number of rows.

    An existing file is refused unless `overwrite`. Texts that a spreadsheet program would take for formulas are made
    safe: in delimited text with an apostrophe, in XLSX with the mark that Excel itself sets for one. Raises UserError
    for what stands in the way; the target is then as it was.
    """
    path = Path(path)
    check_writable(path)
    with writing(path, overwrite=overwrite) as temporary:
        return WRITERS[path.suffix.lower()](temporary, sheet)


def check_writable(path: Path) -> None:
    """Raise UserError if the file's name ends with no format that can be written."""
    if path.suffix.lower() not in WRITERS:
        raise UserError(
            f"{path}: the name ends in {path.suffix!r}, which is not a known format; valid are {', '.join(WRITERS)}"
        )


@contextmanager
def writing(path: Path, *, overwrite: bool) -> Generator[Path]:
    """A temporary file that replaces `path` if the block succeeds. What XLSX cannot hold becomes a UserError."""
    try:
        with replacing(path, overwrite=overwrite) as temporary:
            yield temporary
    except TooLarge as error:
        raise UserError(f"{path}: {error}; write .csv or .jsonl") from error
