"""Every file format, and every way in which a file can be wrong."""

import csv
import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from evenhand.errors import InputError, MissingExtraError, Problems
from evenhand.formats.tables.columns import WantedColumn, match_columns
from evenhand.formats.tables.table import Sheet
from evenhand.formats.tables.table_files import READERS, open_table, write_table
from tests.formats.table_rows import table_rows

Make = Callable[[str, bytes | str], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def rows_of(path: Path) -> list[tuple[int, list[object]]]:
    return [(number, list(cells)) for number, cells in table_rows(open_table(path))]


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        rows_of(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def workbook(path: Path, rows: Sequence[Sequence[object]], title: str = "Sheet") -> Path:
    book = Workbook()
    page = book.active
    assert page is not None
    page.title = title
    for row in rows:
        page.append(list(row))
    book.save(path)
    return path


# CSV and TSV


def test_rows_are_numbered_as_a_spreadsheet_shows_them_and_can_be_read_twice(make: Make) -> None:
    path = make("a.csv", 'id,text\n1,"two\nlines"\n\n,\n2,plain\n')
    table = open_table(path)
    assert table.columns == ["id", "text"]
    expected = [(2, ["1", "two\nlines"]), (5, ["2", "plain"])]
    assert table_rows(table) == expected
    assert table_rows(table) == expected


def test_a_byte_order_mark_is_passed_over(make: Make) -> None:
    assert open_table(make("a.csv", b"\xef\xbb\xbfid,text\n1,x\n")).columns == ["id", "text"]


@pytest.mark.parametrize("text", ["id;text\n1;a, b\n", "id\ttext\n1\ta, b\n"])
def test_semicolons_and_tabs_are_found_out(make: Make, text: str) -> None:
    assert rows_of(make("a.csv", text)) == [(2, ["1", "a, b"])]


def test_tsv(make: Make) -> None:
    assert rows_of(make("a.tsv", "id\ttext\n1\ta, b;c\n")) == [(2, ["1", "a, b;c"])]


def test_old_macintosh_line_ends(make: Make) -> None:
    assert rows_of(make("a.csv", "id,text\r1,x\r2,y\r")) == [(2, ["1", "x"]), (3, ["2", "y"])]


def test_a_cell_of_several_million_characters(make: Make) -> None:
    text = "x" * 5_000_000
    assert rows_of(make("a.csv", f"id,text\n1,{text}\n")) == [(2, ["1", text])]


def test_empty_columns_at_the_end_are_cut(make: Make) -> None:
    assert rows_of(make("a.csv", "id,text,,\n1,x,,\n2,y,\n")) == [(2, ["1", "x"]), (3, ["2", "y"])]


def test_a_missing_file_names_the_one_that_was_meant(make: Make) -> None:
    meant = make("items.csv", "id\n1\n")
    message = refusal(meant.with_name("itms.csv"))
    assert "no such file" in message
    assert f"did you mean {meant}?" in message


def test_a_folder(tmp_path: Path) -> None:
    assert "this is a folder" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.xlsx"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file(make: Make, name: str, content: bytes) -> None:
    message = refusal(make(name, content))
    assert "empty" in message or (name == "a.xlsx" and "not an XLSX" in message)


def test_only_a_header(make: Make) -> None:
    assert refusal(make("a.csv", "id,text\n\n")) == "row 1: there is no row below the header"


def test_a_name_that_is_there_twice(make: Make) -> None:
    message = refusal(make("a.csv", "id,text,id\n1,x,2\n"))
    assert 'row 1, column "id": the name is there twice, in columns 1 (A) and 3 (C)' in message


def test_a_column_without_a_name(make: Make) -> None:
    assert "row 1: column 2 (B) has no name" in refusal(make("a.csv", "id,,text\n0,x,y\n"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_index_that_pandas_writes_without_a_name(delimiter: str, make: Make) -> None:
    table = open_table(make("a.csv", ",text\n0,x\n2,y\n".replace(",", delimiter)))
    assert (table.columns, table_rows(table)) == (["Unnamed: 0", "text"], [(2, ["0", "x"]), (3, ["2", "y"])])


def test_nothing_but_separators(make: Make) -> None:
    assert "empty" in refusal(make("a.csv", ",,\n,,\n"))


def test_all_ragged_rows_are_reported_at_once(make: Make) -> None:
    message = refusal(make("a.csv", "id,text,label\n1,x,y\n2,x\n3,x,y,z\n4,x,y\n"))
    assert "2 problems" in message
    assert "row 3: 2 cells where the header has 3" in message
    assert "row 4: 4 cells where the header has 3" in message


def test_beyond_a_thousand_problems_are_only_counted(make: Make) -> None:
    with pytest.raises(InputError) as caught:
        rows_of(make("a.csv", "id,text\n" + "1\n" * 1_500))
    assert len(caught.value.problems) == 1_000
    assert caught.value.more == 500
    assert "1,500 problems" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_utf_16(make: Make, encoding: str, name: str) -> None:
    message = refusal(make(name, "id,text\n1,Tromsø\n".encode(encoding)))
    assert "UTF-16, not UTF-8" in message
    assert "iconv" in message


def test_latin_1_names_row_column_and_byte(make: Make) -> None:
    message = refusal(make("a.csv", "id,text\n1,plain\n2,café\n".encode("latin-1")))
    assert message.startswith('row 3, column "text": not UTF-8 text: byte 0xE9')
    assert 'it would be "é"' in message
    assert "iconv -f WINDOWS-1252" in message


def test_latin_1_in_the_header(make: Make) -> None:
    assert refusal(make("a.csv", "id,größe\n1,x\n".encode("latin-1"))).startswith('row 1, column "gr??e"')


def test_nul_bytes(make: Make) -> None:
    message = refusal(make("a.csv", b"id,text\n1," + b"x" * 3000 + b"\n2,a\0b\n"))
    assert message.startswith('row 3, column "text": a NUL byte')


def test_a_quotation_mark_that_is_not_closed(make: Make) -> None:
    message = refusal(make("a.csv", 'id,text\n1,x\n2,"y\n3,z\n'))
    assert message.startswith("row 3: a quotation mark opens a cell and is not closed")


def test_text_after_a_closing_quotation_mark(make: Make) -> None:
    message = refusal(make("a.csv", 'id,text\n1,"He said "hi" to me"\n'))
    assert message.startswith("row 2: text follows a closing quotation mark")
    assert 'written twice: ""' in message


def test_ragged_rows_and_a_broken_end_are_reported_together(make: Make) -> None:
    message = refusal(make("a.csv", 'id,text\n1\n2,"y\n'))
    assert "row 2: 1 cell where the header has 2" in message
    assert "row 3: a quotation mark" in message


def test_a_reader_collects_the_problems_of_the_file_with_its_own(make: Make) -> None:
    table = open_table(make("a.csv", "id,text\n1\n2,y\n"))
    problems = Problems(table.source)
    problems.add("unreadable", row=3, column="text")
    assert list(table.rows(problems)) == [(3, ["2", "y"])]
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert [problem.row for problem in caught.value.problems] == [2, 3]


def test_an_unknown_suffix_lists_the_valid_ones(make: Make) -> None:
    assert f"valid are {', '.join(READERS)}" in refusal(make("a.doc", "id\n1\n"))
    assert "save the old .xls as .xlsx" in refusal(make("a.xls", "id\n1\n"))


def test_an_unreadable_file(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make("a.csv", "id\n1\n")

    def denied(*_: object, **__: object) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refusal(path) == "cannot be read: Permission denied"


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(cells.filter(bool), cells), min_size=1, max_size=5))
def test_csv_that_python_writes_is_read_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("one", "two"), *rows])
    assert [tuple(found) for _, found in table_rows(open_table(path))] == rows


# JSON


def test_json_lines_with_differing_keys(make: Make) -> None:
    path = make("a.jsonl", '{"id": 1, "text": "x"}\n\n{"id": 2, "list": ["a", {"b": 1}]}\n')
    assert open_table(path).columns == ["id", "text", "list"]
    assert rows_of(path) == [(1, [1, "x", None]), (3, [2, None, ["a", {"b": 1}]])]


def test_json_lines_reports_every_bad_line(make: Make) -> None:
    message = refusal(make("a.jsonl", '{"id": 1}\n[1]\n{"id": }\n{"id": 2, "id": 3}\n{"id": "\\ud800"}\n'))
    assert "line 2: a list where an object of names and values is needed" in message
    assert "line 3: not JSON at character 8" in message
    assert "line 4: the key 'id' is there twice" in message
    assert 'line 5, column "id": a text holds half of a surrogate pair' in message


def test_json_lines_that_are_not_utf_8(make: Make) -> None:
    message = refusal(make("a.jsonl", '{"id": 1}\n{"id": "é"}\n'.encode("latin-1")))
    assert message.startswith("line 2: not UTF-8 text: byte 0xE9")


def test_json_lines_with_nul(make: Make) -> None:
    assert 'line 1, column "id": a text holds the character \\u0000' in refusal(make("a.jsonl", '{"id": "\\u0000"}\n'))
    assert "line 2: a NUL byte" in refusal(make("b.jsonl", b'{"id": "long enough to be told from UTF-16"}\n"\0"\n'))


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ('[{"id": "a"}, {"id": "b", "x": ["\\u0000"]}]', 2, "x"),
        ('[{"id": "a"}, {"x": {"y\\ud800": 1}}]', 2, "x"),
        ('{"a": {}, "\\udc00": {"x": 1}}', 2, "id"),
    ],
)
def test_json_with_a_text_that_no_file_can_hold(make: Make, text: str, row: int, column: str) -> None:
    with pytest.raises(InputError) as caught:
        open_table(make("a.json", text))
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(row, column)]


def test_escaped_surrogate_pairs_and_backslashes_are_text(make: Make) -> None:
    path = make("a.jsonl", json.dumps({"a": "😀", "b": "\\u0000"}) + "\n")
    assert rows_of(path) == [(1, ["😀", "\\u0000"])]


def test_json_list_of_objects(make: Make) -> None:
    assert rows_of(make("a.json", '[{"id": "a", "n": 1}, {"id": "b"}]')) == [(1, ["a", 1]), (2, ["b", None])]


def test_json_object_of_objects_has_the_ids_as_a_column(make: Make) -> None:
    path = make("a.json", '{"a": {"n": 1}, "b": {"n": 2}}')
    assert open_table(path).columns == ["id", "n"]
    assert rows_of(path) == [(1, ["a", 1]), (2, ["b", 2])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"id": 1},\n {"id": }]', "line 2: not JSON at character 9"),
        ('"text"', "a text is not a table; it must be a list of objects"),
        ('[{"id": 1}, 2]', "row 2: a number where an object"),
        ('{"data": [1]}', "the entry 'data': a list where an object"),
        ("[]", "there is nothing in it"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_json(make: Make, text: str, expected: str) -> None:
    assert expected in refusal(make("a.json", text))


# XLSX


def test_xlsx_values_keep_their_types(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "n", "when"], [], ["001", 4, datetime(2026, 1, 31)], [2, 0.5, None]])
    assert rows_of(path) == [(3, ["001", 4, date(2026, 1, 31)]), (4, [2, 0.5, None])]


def test_xlsx_passes_over_the_guideline_and_hidden_sheets(tmp_path: Path) -> None:
    book = Workbook()
    first = book.active
    assert first is not None
    first.title = "guideline"
    hidden = book.create_sheet("Hidden")
    hidden.sheet_state = "hidden"
    page = book.create_sheet("Data")
    page.append(["id"])
    page.append(["x"])
    book.save(tmp_path / "a.xlsx")
    assert rows_of(tmp_path / "a.xlsx") == [(2, ["x"])]


def test_xlsx_with_nothing_but_a_guideline(tmp_path: Path) -> None:
    assert "no visible sheet" in refusal(workbook(tmp_path / "a.xlsx", [["id"], [1]], title="Guideline"))


def test_xlsx_percentages_are_read_as_shown(tmp_path: Path) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    page.append(["confidence"])
    page.append([0.9])
    page["A2"].number_format = "0%"
    book.save(tmp_path / "a.xlsx")
    assert rows_of(tmp_path / "a.xlsx") == [(2, ["90%"])]


def test_xlsx_formulas_without_results_and_error_cells(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], ["1", "=A2"], ["#N/A", "x"]])
    message = refusal(path)
    assert 'row 2, column "text": a formula without a stored result' in message
    assert 'row 3, column "id": the cell shows the error #N/A' in message


def test_xlsx_merged_header(tmp_path: Path) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    page.append(["id", None, "text"])
    page.append(["1", "2", "3"])
    page.merge_cells("A1:B1")
    book.save(tmp_path / "a.xlsx")
    message = refusal(tmp_path / "a.xlsx")
    assert "row 1: column 2 (B) has no name" in message
    assert "unmerge" in message


def test_xlsx_value_beside_the_named_columns(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id"], ["1", None], ["2", "stray"]])
    assert "row 3: 2 cells where the header has 1" in refusal(path)


def test_a_header_that_ends_with_a_blank_cell(tmp_path: Path, make: Make) -> None:
    for path in (make("a.csv", "id,text, \n1,x,\n"), workbook(tmp_path / "a.xlsx", [["id", "text", " "], ["1", "x"]])):
        table = open_table(path)
        assert list(table.columns) == ["id", "text"]
        assert [list(cells) for _, cells in table_rows(table)] == [["1", "x"]]


def test_xlsx_only_a_header(tmp_path: Path) -> None:
    assert refusal(workbook(tmp_path / "a.xlsx", [["id"]])) == "row 1: there is no row below the header"


def test_xlsx_empty_sheet(tmp_path: Path) -> None:
    assert "sheet is empty" in refusal(workbook(tmp_path / "a.xlsx", []))


def test_not_an_xlsx(make: Make) -> None:
    assert "not an XLSX workbook" in refusal(make("a.xlsx", "id,text\n1,x\n"))
    assert "protected by a password" in refusal(make("b.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 more"))


def test_xlsx_cut_in_half(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id"], ["1"]])
    path.write_bytes(path.read_bytes()[:-200])
    assert "not an XLSX workbook" in refusal(path)


# Parquet


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_table(path, Sheet(["id", "n", "none"], [["a", 1, None], ["b", None, None]]))
    assert open_table(path).columns == ["id", "n", "none"]
    assert rows_of(path) == [(1, ["a", 1, None]), (2, ["b", None, None])]


def test_not_a_parquet(make: Make) -> None:
    assert "not a Parquet file" in refusal(make("a.parquet", "id,text\n1,x\n"))


def test_parquet_without_rows(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", Sheet(["id"], []))
    assert "no rows" in refusal(tmp_path / "a.parquet")


def test_parquet_without_its_package(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[parquet\]'"):
        open_table(make("a.parquet", "x"))


def test_a_workbook_under_the_name_of_a_csv_file(tmp_path: Path) -> None:
    book = Workbook()
    book.save(tmp_path / "a.xlsx")
    (tmp_path / "a.xlsx").rename(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"the file is an XLSX workbook or another zip file, though .* in \.csv"):
        open_table(tmp_path / "a.csv")


def test_a_pipe_or_device_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.jsonl"):
        with pytest.raises(InputError, match="this is a device or a pipe; give a file"):
            open_table(tmp_path / name)


def test_only_a_close_name_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("x")
    with pytest.raises(InputError, match=r"did you mean .*ratings\.csv"):
        open_table(tmp_path / "ratngs.csv")
    with pytest.raises(InputError, match=r"no such file$"):
        open_table(tmp_path / "answers.csv")


def test_a_very_long_list_of_columns_is_cut(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(10_000)]
    with pytest.raises(InputError, match=r"c18, c19 … and 9,980 more") as caught:
        match_columns("a.csv", names, [WantedColumn("answer", required=True)])
    assert len(str(caught.value)) < 300
