"""Files are written whole or not at all, and say what stands in the way."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from evenhand.errors import MissingExtraError, UserError
from evenhand.formats.tables.cells import taken_back
from evenhand.formats.tables.table import Sheet
from evenhand.formats.tables.table_files import WRITERS, open_table, write_table
from tests.formats.table_rows import table_rows

ROWS: Sequence[Sequence[object]] = [
    ["1", "=1+1", 4, None],
    ["2", 'two\r\nlines, a "quote"', -1, 0.5],
    ["3", "'=x", None, None],
    ["4", "#N/A", None, None],
    ["5", "Ünïcode 😀 中文", None, None],
]
SHEET = Sheet(["id", "text", "level", "share"], ROWS)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_spreadsheets_hold_no_formula_and_give_everything_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    assert write_table(path, SHEET) == 5
    read = [list(cells) for _, cells in table_rows(open_table(path))]
    shown = ["=1+1", "'=x"] if suffix == ".xlsx" else ["'=1+1", "''=x"]
    assert [row[1] for row in read] == [shown[0], ROWS[1][1], shown[1], "#N/A", "Ünïcode 😀 中文"]
    assert [taken_back(cast("str", row[1])) for row in read] == [row[1] for row in ROWS]
    assert str(read[1][2]) == "-1"


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".parquet"])
def test_other_formats_hold_the_texts_as_they_are(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    assert write_table(path, SHEET) == 5
    assert [list(cells) for _, cells in table_rows(open_table(path))] == [list(row) for row in ROWS]


def test_a_byte_order_mark_is_for_people(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", SHEET)
    write_table(tmp_path / "b.csv", Sheet(SHEET.columns, ROWS, for_people=True))
    assert (tmp_path / "a.csv").read_bytes().startswith(b"id,text")
    assert (tmp_path / "b.csv").read_bytes().startswith(b"\xef\xbb\xbfid,text")


def test_xlsx_cells_are_texts(tmp_path: Path) -> None:
    write_table(tmp_path / "a.xlsx", SHEET)
    page = load_workbook(tmp_path / "a.xlsx")["Ratings"]
    assert [page.cell(row, 2).data_type for row in range(2, 7)] == ["s"] * 5
    assert [bool(page.cell(row, 2).quotePrefix) for row in range(2, 7)] == [True, False, True, False, False]
    assert page.freeze_panes == "A2"


def test_an_apostrophe_that_a_csv_brought_into_a_workbook_is_taken_back(tmp_path: Path) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    page.append(["id"])
    page.append(["'=1+1"])
    book.save(tmp_path / "a.xlsx")
    ((_, cells),) = table_rows(open_table(tmp_path / "a.xlsx"))
    assert taken_back(cast("str", cells[0])) == "=1+1"


def test_mixed_columns_of_parquet_become_text(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", Sheet(["value"], [[4], ["SUPPORTED"], [None]]))
    assert [cells[0] for _, cells in table_rows(open_table(tmp_path / "a.parquet"))] == ["4", "SUPPORTED", None]


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError):
        write_table(tmp_path / "a.parquet", SHEET)
    assert list(tmp_path.iterdir()) == []


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(lambda text: "_x" not in text)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".jsonl", ".parquet"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(data=st.data())
def test_every_text_comes_back(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    nul = "" if suffix in (".xlsx", ".parquet") else "\0"
    text = data.draw(texts.filter(lambda text: not nul or nul not in text))
    path = tmp_path / f"a{suffix}"
    write_table(path, Sheet(["id", "text"], [["x", text]]), overwrite=True)
    table = open_table(path)
    (found,) = (cells[1] for _, cells in table_rows(table))
    found = taken_back(found) if table.spreadsheet and isinstance(found, str) else found
    assert (found or "") == text


def test_an_existing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(UserError, match=r"a\.csv: the file already exists; choose another name"):
        write_table(path, SHEET)
    assert path.read_text() == "mine"
    write_table(path, SHEET, overwrite=True)
    assert path.read_text().startswith("id")


def test_an_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=re.escape(f"'.doc', which is not a known format; valid are {', '.join(WRITERS)}")
    ):
        write_table(tmp_path / "a.doc", SHEET)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no folder .*nowhere; create it first"):
        write_table(tmp_path / "nowhere" / "a.csv", SHEET)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder in which nobody can make a file")
def test_a_folder_in_which_nothing_can_be_made() -> None:
    with pytest.raises(UserError, match="not writable"):
        write_table(Path("/proc/evenhand.csv"), SHEET)


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(UserError, match="this is a folder"):
        write_table(tmp_path / "a.csv", SHEET, overwrite=True)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "the disk is full; make room"),
        (errno.EROFS, "the folder .* is not writable"),
        (errno.EACCES, "the folder .* is not writable"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".jsonl"])
def test_what_the_system_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("mine")

    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(UserError, match=f"cannot be written: {advice}"):
        write_table(path, SHEET, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *args: Any, **options: Any) -> Any:
        return cast("Any", open)("/dev/full", *args, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(UserError, match="the disk is full"):
        write_table(tmp_path / "a.csv", Sheet(["id"], [["x" * 100]] * 10_000))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx", ".parquet"])
def test_rows_that_fail_leave_nothing_behind(tmp_path: Path, suffix: str) -> None:
    def rows() -> Iterator[Sequence[object]]:
        yield ["1"]
        raise UserError("the study is gone")

    with pytest.raises(UserError, match="the study is gone"):
        write_table(tmp_path / f"a{suffix}", Sheet(["id"], rows()))
    assert list(tmp_path.iterdir()) == []


def test_a_text_too_long_for_xlsx_is_refused_and_not_cut(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"a\.xlsx: row 2, column B would have 32,768 characters.*write \.csv or \.jsonl"
    ):
        write_table(tmp_path / "a.xlsx", Sheet(["id", "text"], [["1", "x" * 32_768]]))
    assert list(tmp_path.iterdir()) == []


def test_json_lines_are_readable_text(tmp_path: Path) -> None:
    write_table(tmp_path / "a.jsonl", Sheet(["text"], [["中文"]]))
    text = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    assert text == '{"text": "中文"}\n'
    assert json.loads(text) == {"text": "中文"}
