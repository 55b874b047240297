"""Files that are small and unpack to much, or that hold what no cell can: refused with place and limit, and cheaply."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
import pytest
from xlsxwriter import Workbook  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import InputError, Problems, ProtocolError, UserError
from evenhand.files import LIMIT, check_size, parse_json
from evenhand.formats.derived_units import read_questions
from evenhand.formats.items import read_items
from evenhand.formats.tables.cells import text_of
from evenhand.formats.tables.csv import LONGEST_CELL
from evenhand.formats.tables.parquet import LONGEST_FOOTER
from evenhand.formats.tables.table_files import open_table
from evenhand.formats.tables.xlsx import DEEPEST, LONGEST_TEXT, MOST_DEFINITIONS, MOST_ROWS
from evenhand.protocol.definitions import MOST_VALUES
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.study import Study
from tests.formats.table_rows import table_rows

HALO = load_protocol("halo-support")
ROW = {"id": "1", "question": "Q", "context": ["C"], "generated_answer": "A"}
pa, parquet = cast("Any", pyarrow), cast("Any", pyarrow.parquet)


def problem(path: Path) -> str:
    """What is wrong with the only bad cell or row of a table."""
    with pytest.raises(InputError) as caught:
        table_rows(open_table(path))
    (found,) = caught.value.problems
    return str(found)


def workbook(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """A workbook with two rows, one of whose parts is changed."""
    book: Any = Workbook(str(path.with_name("plain.xlsx")))
    page = book.add_worksheet()
    page.write_row(0, 0, ["id", "text"])
    page.write_row(1, 0, ["1", "x"])
    book.close()
    with ZipFile(path.with_name("plain.xlsx")) as plain, ZipFile(path, "w", ZIP_DEFLATED) as changed:
        for name in plain.namelist():
            content = plain.read(name)
            changed.writestr(name, change(content) if name.endswith(part) else content)
    return path


def test_a_row_far_below_the_others_is_read_at_once(tmp_path: Path):
    end = f'<row r="{MOST_ROWS}"><c r="B{MOST_ROWS}"><v>7</v></c></row></sheetData>'.encode()
    path = workbook(tmp_path / "a.xlsx", "sheet1.xml", lambda part: part.replace(b"</sheetData>", end))
    assert table_rows(open_table(path)) == [(2, ["1", "x"]), (MOST_ROWS, [None, 7])]


@pytest.mark.parametrize(
    ("part", "old", "new", "message"),
    [
        (
            "sheet1.xml",
            "</sheetData>",
            '<row r="9999999"><c><v>1</v></c></row></sheetData>',
            "row 3: a sheet has at most 1,048,576 rows",
        ),
        ("sheet1.xml", "</sheetData>", '<row><c r="ZZZZ3"><v>1</v></c></row></sheetData>', "16,384 columns"),
        ("sheet1.xml", "<v>3</v>", "<v>99</v>", "row 2, column \"text\": the file is damaged: '99' is not one of"),
        ("sheet1.xml", "<v>3</v>", "<v>-1</v>", "row 2, column \"text\": the file is damaged: '-1' is not one of"),
        ("sheet1.xml", 't="s"><v>3</v>', "><v>1e999</v>", 'row 2, column "text": the file is damaged'),
        ("sharedStrings.xml", ">x<", f">{'x' * (LONGEST_TEXT + 1)}<", "a text of more than 2,000,000 characters"),
        ("sheet1.xml", "<sheetData>", "<sheetData>" + "<a>" * DEEPEST, "or 100 within each other"),
        (
            "sheet1.xml",
            "<sheetData>",
            f"<sheetData><row a='{'x' * (LONGEST_TEXT + 99_999)}",
            "a tag or comment of more than",
        ),
        ("styles.xml", "</cellXfs>", "<xf/>" * (MOST_DEFINITIONS + 1) + "</cellXfs>", "more than 500,000 elements"),
        ("sheet1.xml", "UTF-8", "EBCDIC-77", "unknown encoding: EBCDIC-77"),
        ("workbook.xml", "<workbook ", "<!DOCTYPE workbook><workbook ", "a document type"),
    ],
)
def test_a_damaged_or_hostile_workbook_is_refused(part: str, old: str, new: str, message: str, tmp_path: Path):
    path = workbook(tmp_path / "a.xlsx", part, lambda content: content.replace(old.encode(), new.encode()))
    assert message in problem(path)


def test_a_workbook_with_attributes_and_styles_of_its_own_kind_is_read(tmp_path: Path):
    more = b'<workbook odd:x="1" xmlns:odd="urn:odd" '
    path = workbook(tmp_path / "a.xlsx", "workbook.xml", lambda part: part.replace(b"<workbook ", more))
    assert table_rows(open_table(path)) == [(2, ["1", "x"])]
    styles = b'<xf numFmtId="9"/>' * 50_000 + b"</cellXfs>"
    path = workbook(tmp_path / "b.xlsx", "styles.xml", lambda part: part.replace(b"</cellXfs>", styles))
    assert table_rows(open_table(path)) == [(2, ["1", "x"])]


def test_the_limit_of_what_a_part_unpacks_to_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = workbook(tmp_path / "a.xlsx", "sheet1.xml", lambda part: part + b" " * 1_100_000)
    monkeypatch.setenv(LIMIT, "1")
    message = problem(path)
    assert "xl/worksheets/sheet1.xml, once unpacked, has 1.1" in message
    assert LIMIT in message
    monkeypatch.setenv(LIMIT, "2")
    assert table_rows(open_table(path)) == [(2, ["1", "x"])]


@pytest.mark.parametrize("value", ["abc", "-1", "0", "nan", "1,5"])
def test_a_limit_that_is_not_a_number_above_0_is_named(monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv(LIMIT, value)
    with pytest.raises(UserError) as caught:
        check_size("a.json", 1)
    assert LIMIT in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    ("value", "size", "shown"),
    [
        (" 1 ", 3_400_000, ["3.4", "1"]),
        ("0.5", 600_000, ["0.6", "0.5"]),
        ("0.5", 500_001, ["0.500001", "0.5"]),
        ("1000", 1_000_200_000, ["1,000.2", "1,000"]),
    ],
)
def test_a_size_over_the_limit_never_reads_like_it(
    monkeypatch: pytest.MonkeyPatch, value: str, size: int, shown: list[str]
):
    monkeypatch.setenv(LIMIT, value)
    with pytest.raises(InputError) as caught:
        check_size("a.json", size)
    assert re.findall(r"([\d.,]+) MB", caught.value.problems[0].what) == shown
    monkeypatch.setenv(LIMIT, "2000")
    check_size("a.json", size)


def test_a_text_that_many_cells_share_is_not_repeated_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(LIMIT, "20")
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), pa.array(["x" * 1_000_000]))
    parquet.write_table(pa.table({"id": [str(n) for n in range(100)], "text": texts}), tmp_path / "a.parquet")
    assert "and the limit is 20" in problem(tmp_path / "a.parquet")
    parquet.write_table(
        pa.table({"id": ["1"], "text": pa.ListArray.from_arrays([0, 100], texts)}), tmp_path / "b.parquet"
    )
    assert "and the limit is 20" in problem(tmp_path / "b.parquet")
    cells = b"".join(b'<row><c t="s"><v>3</v></c><c t="s"><v>3</v></c></row>' for _ in range(20))
    path = workbook(
        tmp_path / "a.xlsx", "sheet1.xml", lambda part: part.replace(b"</sheetData>", cells + b"</sheetData>")
    )
    longer = workbook_with_long_text(path, tmp_path / "b.xlsx")
    assert "and the limit is 20" in problem(longer)


def workbook_with_long_text(source: Path, path: Path) -> Path:
    with ZipFile(source) as plain, ZipFile(path, "w", ZIP_DEFLATED) as changed:
        for name in plain.namelist():
            content = plain.read(name)
            long = content.replace(b">x<", b">" + b"x" * 1_000_000 + b"<")
            changed.writestr(name, long if name.endswith("sharedStrings.xml") else content)
    return path


def test_a_parquet_file_that_unpacks_to_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(LIMIT, "1")
    table = pa.table({"id": ["1"], "text": ["x" * 2_000_000]})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd", use_dictionary=False)
    assert "row group 1, once unpacked, has 2" in problem(tmp_path / "a.parquet")


def test_a_parquet_file_with_too_long_lists_or_a_too_long_description_is_refused(tmp_path: Path):
    texts = pa.ListArray.from_arrays([0, 12_000_001], pa.nulls(12_000_001, pa.string()))
    parquet.write_table(pa.table({"id": ["1"], "context": texts}), tmp_path / "a.parquet")
    assert "more than 3,000,000 values" in problem(tmp_path / "a.parquet")
    described = pa.table({"id": ["1"]}).replace_schema_metadata({"x": "y" * LONGEST_FOOTER})
    parquet.write_table(described, tmp_path / "b.parquet")
    assert "the description of its columns has more than" in problem(tmp_path / "b.parquet")


def test_a_json_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(LIMIT, "1")
    (tmp_path / "a.json").write_text(json.dumps([{"id": "x" * 1_100_000}]))
    assert "the file has 1.1" in problem(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("kind", "value"),
    [(pa.timestamp("us"), -(2**62)), (pa.date32(), 2**30), (pa.duration("s"), 2**62)],
    ids=str,
)
def test_parquet_times_out_of_range_are_reported_with_their_place(kind: Any, value: int, tmp_path: Path):
    parquet.write_table(pa.table({"id": ["1", "2"], "when": pa.array([None, value], kind)}), tmp_path / "a.parquet")
    assert problem(tmp_path / "a.parquet").startswith('row 2, column "when": cannot be read')


def test_parquet_times_and_durations_are_read(tmp_path: Path):
    columns = {
        "ns": pa.array([1_001], pa.timestamp("ns")),
        "time": pa.array([3_600_000_000_000], pa.time64("ns")),
        "passed": pa.array([90], pa.duration("s")),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    ((_, cells),) = table_rows(open_table(tmp_path / "a.parquet"))
    assert [str(cells[0])[:19], str(cells[1]), cells[2]] == ["1970-01-01 00:00:00", "01:00:00", timedelta(seconds=90)]
    assert [text_of(cell) for cell in cells[1:]] == ["01:00:00", "0:01:30"]


@pytest.mark.parametrize("value", [["a"], {"a": 1}, [], [[1]]], ids=str)
@pytest.mark.parametrize("field", ["id", "question", "generated_answer"])
def test_a_single_text_that_is_a_list_or_an_object_is_reported_with_its_place(
    field: str, value: object, tmp_path: Path
):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**ROW, field: value}))
    with pytest.raises(InputError) as caught:
        list(read_items(path, HALO))
    (found,) = caught.value.problems
    assert (found.row, found.column) == (1, field)
    assert "is not a single text" in found.what


@pytest.mark.parametrize(
    ("part", "value"),
    [("check", ["a"]), ("check", {"a": 1}), ("item", ["1"]), ("confidence", 10**400), ("confidence", ["5"]),
     ("rater", ["ann"]), ("kind", ["person"]), ("kind", "robot"),
     ("seconds", 10**400), ("mean", 10**400), ("at", ["x"]),
     ("evidence", "[" * 5_000), ("at", "0001-01-01T00:00:00+23:00"), ("rationale", ["r"])],
)  # fmt: skip
def test_a_rating_with_a_list_or_a_number_out_of_range_is_reported(part: str, value: object, tmp_path: Path):
    row = {"rater": "ann", "item": "1", "criterion": "support", "value": "SUPPORTED", part: value}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    with Study.create(tmp_path / "study.db", HALO, [ROW]) as study, pytest.raises(InputError) as caught:
        study.import_ratings(tmp_path / "a.jsonl")
    (found,) = caught.value.problems
    assert (found.row, found.column) == (1, part)


def test_whole_numbers_that_python_does_not_read(tmp_path: Path):
    for name, read in (("q.json", read_questions), ("a.json", open_table), ("a.jsonl", open_table)):
        first = "" if name == "a.jsonl" else f'{{"y": "{"8" * 5_000}",\n'
        (tmp_path / name).write_text(f'{first or "{"}"x": {"9" * 5_000}}}')
        with pytest.raises(InputError, match="more than 4,300 digits") as caught:
            read(tmp_path / name)
        assert caught.value.problems[0].line == (2 if first else 1)


def test_nesting_and_numbers_of_values_are_limited():
    for text in ("[" * 100_000, "[" * 4_000_000, "[" + "[]," * 2_000_000):
        with pytest.raises(ValueError, match=r"nested too deeply|more than 3,000,000 values"):
            parse_json(text)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_a_line_that_is_too_long_is_not_read(name: str, tmp_path: Path):
    (tmp_path / name).write_text("id\n" * (name != "a.jsonl") + "x" * (LONGEST_CELL + 2))
    assert f"more than {LONGEST_CELL:,} characters" in problem(tmp_path / name)


def test_an_oversized_cell_in_the_header(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes(b"x" * (LONGEST_CELL + 2))
    assert "row 1: a cell or line has more than" in problem(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"k{n}: 1\n" for n in range(40_000)),
        "a:\n" + "".join(f"  - &a{n} x\n" for n in range(30_000)),
        "[" + "1," * 40_000,
    ],
    ids=["keys", "anchors", "values"],
)
def test_a_protocol_with_too_many_values_is_refused_while_it_is_read(text: str):
    with pytest.raises(ProtocolError, match=f"more than {MOST_VALUES:,} values"):
        read_protocol(text, "p.yaml")


def test_thousands_of_unknown_keys_are_counted():
    with pytest.raises(ProtocolError, match="more problems of this kind"):
        read_protocol("name: x\n" + "".join(f"k{n}: 1\n" for n in range(3_000)), "p.yaml")


def test_problems_of_a_damaged_parquet_page_are_reported(tmp_path: Path):
    path = tmp_path / "a.parquet"
    parquet.write_table(
        pa.table({"id": [str(n) for n in range(5_000)]}), path, compression="none", use_dictionary=False
    )
    content = bytearray(path.read_bytes())
    content[20:200] = b"\xff" * 180
    path.write_bytes(content)
    problems = Problems(str(path))
    list(open_table(path).rows(problems))
    assert len(problems) > 0
