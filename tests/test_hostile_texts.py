"""Whatever stands in items, ratings, names and protocols comes out as the text it is, and does nothing."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal, cast
from zipfile import ZipFile

import pytest
from markdown_it import MarkdownIt
from openpyxl import load_workbook
from openpyxl.utils.escape import unescape

from evenhand.errors import InputError, ProtocolError
from evenhand.formats.items import read_items
from evenhand.formats.tables.cells import made_safe, taken_back
from evenhand.formats.tables.table import Sheet
from evenhand.formats.tables.table_files import open_table, write_table
from evenhand.protocol.guideline import guideline
from evenhand.protocol.load import read_protocol
from evenhand.records import Kind, RaterRef, Rating
from evenhand.statistics import Resampling
from evenhand.study import Study
from evenhand.text import visible
from tests.formats.table_rows import table_rows
from tests.hostile_texts import (
    CONTROLS,
    LINES,
    MARKUP,
    NAMES,
    RATERS,
    TEXTS,
    UNSEEN,
    UNSTORABLE,
    add_hostile_ratings,
    hostile_ids,
    hostile_items,
    hostile_protocol,
    hostile_study,
)  # fmt: skip

ALL = list(TEXTS.values())
NO_CONTEXT = """
name: plain
version: "1"
title: Plain
item:
  fields:
    question: {role: context}
    answer: {role: rated}
    domain: {role: context, kind: label, required: false}
criteria: [{id: share, question: How much, scale: {type: percent}}]
"""
SHORT = [text for text in ALL if len(text) <= 20_000]
PLAIN = "plain"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study whose protocol is tame and whose items and ratings are not."""
    place = tmp_path_factory.mktemp("hostile") / "study.db"
    with Study.create(place, hostile_protocol(PLAIN), hostile_items(SHORT)) as made:
        add_hostile_ratings(made, SHORT)
        yield made


class Elements(HTMLParser):
    """The elements of a page with the names of their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        self.comments = 0
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action", "data", "style")]

    def handle_comment(self, data: str) -> None:
        self.comments += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(study: Study, folder: Path) -> Elements:
    path = folder / "report.html"
    study.report(path, plan=Resampling(replicates=100))
    text = path.read_bytes().decode("utf-8")
    assert "default-src 'none'" in text
    return Elements(text)


@pytest.fixture(scope="module")
def tame(tmp_path_factory: pytest.TempPathFactory) -> Elements:
    """The page of the same study with a tame text."""
    folder = tmp_path_factory.mktemp("tame")
    with hostile_study(folder, PLAIN) as made:
        return page_of(made, folder)


@pytest.mark.parametrize("name", [*(f"markup: {name}" for name in MARKUP), "unseen: override", "lines: line ends"])
def test_the_report_is_made_of_its_own_elements_whatever_the_texts(name: str, tame: Elements, tmp_path: Path):
    text = TEXTS[name]
    with hostile_study(tmp_path, text) as made:
        page = page_of(made, tmp_path)
    assert set(page.found) <= set(tame.found)
    assert not page.comments
    assert all(address.startswith("#") or "(" not in address for address in page.addresses)
    assert not OBEYED.search(page.text)
    assert " ".join(visible(text).split())[:500] in " ".join(page.text.split())


def test_the_report_on_a_study_with_every_text_is_one_safe_page(study: Study, tame: Elements, tmp_path: Path):
    page = page_of(study, tmp_path)
    assert {tag for tag, _ in page.found} <= {tag for tag, _ in tame.found} | {"details", "summary"}
    assert not page.comments
    assert not OBEYED.search(page.text)


@pytest.mark.parametrize("text", [*CONTROLS.values(), *UNSEEN.values(), *LINES.values()])
def test_the_report_in_text_obeys_nothing_and_the_one_in_json_says_everything(text: str, tmp_path: Path):
    with hostile_study(tmp_path, text) as made:
        made.report(tmp_path / "report.txt", plan=Resampling(replicates=20))
        made.report(tmp_path / "report.json", plan=Resampling(replicates=20))
    assert not OBEYED.search((tmp_path / "report.txt").read_bytes().decode())
    assert json.dumps(text)[1:-1] in json.dumps(json.loads((tmp_path / "report.json").read_bytes()))


FORMATS = (".csv", ".tsv", ".jsonl", ".xlsx", ".parquet")
"""What tables are written in."""
DELIMITED = {".csv": ",", ".tsv": "\t"}
"""Those of them that a spreadsheet program may open without asking, and what separates their cells."""


def said(ratings: Iterable[Rating]) -> Sequence[object]:
    """What ratings say, whoever stored them when."""
    return sorted(
        (one.unit, one.criterion, one.rater, one.status, one.value, one.rationale, one.confidence, one.notes,
         one.evidence, one.reason) for one in ratings
    )  # fmt: skip


@pytest.mark.parametrize("suffix", FORMATS)
def test_ratings_that_go_out_long_come_back_the_same(study: Study, suffix: str, tmp_path: Path):
    path = tmp_path / f"ratings{suffix}"
    study.export_ratings(path)
    assert_no_formulas(path)
    with Study.create(tmp_path / "copy.db", study.protocol, study.items()) as copy:
        copy.import_ratings(path)
        assert said(copy.ratings()) == said(study.ratings())
        assert {rater.id for rater in copy.raters()} == set(RATERS)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("shape", ["wide", "diagnosis"])
def test_tables_to_look_at_hold_the_texts_and_no_formula(
    study: Study, shape: Literal["wide", "diagnosis"], suffix: str, tmp_path: Path
):
    path = tmp_path / f"ratings{suffix}"
    assert study.export_ratings(path, shape) == len(SHORT) * (4 if shape == "diagnosis" else 1)
    assert_no_formulas(path)
    table = open_table(path)
    cells = [cell for _, row in table_rows(table) for cell in row if isinstance(cell, str)]
    shown = {taken_back(cell) if table.spreadsheet else cell for cell in cells}
    assert {text.strip() for text in SHORT} <= shown


@pytest.mark.parametrize("suffix", FORMATS)
def test_hostile_names_of_items_and_raters_go_out_and_come_back(suffix: str, tmp_path: Path):
    protocol = hostile_protocol(PLAIN)
    ids = [item.id for item in hostile_ids()]
    ratings = [
        Rating(unit=one, criterion="share", rater=rater, digest=protocol.digest, value=float(place))
        for place, one in enumerate(ids)
        for rater in (NAMES[place], NAMES[place - 1])
    ]
    with Study.create(tmp_path / "a.db", protocol, hostile_ids()) as made:
        made.store.ratings.add(ratings, raters=[RaterRef(name, Kind.PERSON) for name in NAMES])
        for shape in ("long", "wide", "diagnosis"):
            made.export_ratings(tmp_path / f"{shape}{suffix}", shape)
            assert_no_formulas(tmp_path / f"{shape}{suffix}")
        with Study.create(tmp_path / "b.db", protocol, made.items()) as copy:
            copy.import_ratings(tmp_path / f"long{suffix}")
            assert said(copy.ratings()) == said(ratings)
            assert {rater.id for rater in copy.raters()} == set(NAMES)


def assert_no_formulas(path: Path) -> None:
    if path.suffix in DELIMITED:
        text = path.read_bytes().decode("utf-8-sig")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITED[path.suffix])
        cells = [cell for row in rows for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and not is_number(cell)]
    elif path.suffix == ".xlsx":
        with ZipFile(path) as archive:
            pages = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/")]
        assert not [page for page in pages if b"<f>" in page or b"<f " in page or b"<hyperlink" in page]
    else:
        assert path.suffix in (".jsonl", ".parquet"), "say whether this format can hold formulas"


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", cell) is not None


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_a_blind_sheet_of_hostile_items_is_filled_in_and_comes_back(suffix: str, tmp_path: Path):
    path = tmp_path / f"blind{suffix}"
    with Study.create(tmp_path / "a.db", hostile_protocol(PLAIN), hostile_items(ALL)) as made:
        assert made.export_ratings(path, "blind") == len(ALL)
        assert_no_formulas(path)
        (fill_in_workbook if suffix == ".xlsx" else fill_in_csv)(path)
        made.import_ratings(path, rater="=cmd|' /C calc'!A0")
        answers = {(one.unit, one.criterion): one for one in made.ratings() if one.value is not None}
    for number in range(1, len(ALL) + 1):
        assert answers[f"{number}", "level"].value == 1 + number % 3
        assert answers[f"{number}", "level"].rationale == "=1+1 <b>"


def fill_in_workbook(path: Path) -> None:
    book = load_workbook(path)
    page = cast("Any", book["Ratings"])
    columns = {cell.value: cell.column for cell in page[1]}
    for row in range(2, page.max_row + 1):
        page.cell(row, columns["level"]).value = 1 + (row - 1) % 3
        cell = page.cell(row, columns["level_rationale"])
        cell.value, cell.data_type = "=1+1 <b>", "s"
    book.save(path)


def fill_in_csv(path: Path) -> None:
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open(newline="", encoding="utf-8-sig") as file:
        head, *rows = csv.reader(file, delimiter=delimiter)
    for number, row in enumerate(rows, start=1):
        row[head.index("level")] = str(1 + number % 3)
        row[head.index("level_rationale")] = "=1+1 <b>"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=delimiter).writerows([head, *rows])


@pytest.mark.parametrize("text", [text for text in SHORT if len(text) < 5_000])
def test_a_workbook_of_a_hostile_protocol_offers_its_labels(text: str, tmp_path: Path):
    with Study.create(tmp_path / "a.db", hostile_protocol(text), hostile_items([text])) as made:
        made.export_ratings(tmp_path / "blind.xlsx", "blind")
        labels = [str(value) for value in made.protocol.criterion("label").scale.values]
    assert_no_formulas(tmp_path / "blind.xlsx")
    book = load_workbook(tmp_path / "blind.xlsx")
    rules = cast("Any", book["Ratings"]).data_validations.dataValidation
    (rule,) = [one for one in rules if one.type == "list" and one.formula1 != '"1,2,3"']
    if rule.formula1.startswith('"'):
        assert rule.formula1[1:-1].split(",") == labels
    else:
        listed = [cast("str", row[0]) for row in book["Lists"].values]
        assert [unescape(label) for label in listed] == labels


@pytest.mark.parametrize("suffix", FORMATS)
def test_items_with_every_text_come_in_from_every_format(suffix: str, tmp_path: Path):
    texts = [text for text in ALL if suffix != ".xlsx" or len(text) < 30_000]
    rows = [[f"{number}", text, f"{text} end", "d"] for number, text in enumerate(texts)]
    write_table(tmp_path / f"items{suffix}", Sheet(["id", "question", "answer", "domain"], rows))
    protocol = read_protocol(NO_CONTEXT, "plain.yaml")
    found = list(read_items(tmp_path / f"items{suffix}", protocol))
    # A spreadsheet's apostrophe belongs to the item: whoever wrote the file may have meant it.
    kept = made_safe if suffix in DELIMITED else str
    assert [item.fields["question"] for item in found] == [kept(text) for text in texts]
    assert [item.fields["answer"] for item in found] == [kept(f"{text} end") for text in texts]


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE)
def test_what_no_file_can_hold_is_refused_in_items_and_protocols(text: str, tmp_path: Path):
    (tmp_path / "items.jsonl").write_text(json.dumps({"id": "1", "question": text, "answer": "a"}))
    with pytest.raises(InputError):
        list(read_items(tmp_path / "items.jsonl", read_protocol(NO_CONTEXT, "plain.yaml")))
    if "\0" not in text:
        with pytest.raises(ProtocolError, match="unicode"):
            hostile_protocol(text)


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE)
def test_what_no_file_can_hold_does_not_break_a_report_or_a_sheet(text: str, tmp_path: Path):
    with Study.create(tmp_path / "a.db", hostile_protocol(PLAIN), hostile_items([text, "b"])) as made:
        add_hostile_ratings(made, [text, "b"])
        assert not OBEYED.search(page_of(made, tmp_path).text)
        for suffix in (".csv", ".jsonl", ".xlsx", ".parquet"):
            path = tmp_path / f"ratings{suffix}"
            made.export_ratings(path)
            with Study.create(tmp_path / f"{suffix}.db", made.protocol, made.items()) as copy:
                copy.import_ratings(path)
                found = {one.rationale for one in copy.ratings() if one.rationale}
                assert found <= {re.sub("[\0\ud800-\udfff]", "\ufffd", text), text, "b"}
        for suffix in (".csv", ".xlsx"):
            made.export_ratings(tmp_path / f"blind{suffix}", "blind")


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "lines: long line with markup"])
def test_a_guideline_is_plain_markdown_whatever_a_protocol_says(name: str):
    assert blocks_of_guideline(TEXTS[name]) == blocks_of_guideline(PLAIN)


@cache
def blocks_of_guideline(text: str) -> list[str]:
    return blocks_of(guideline(hostile_protocol(text).model_copy(update={"instructions": ""})))


def blocks_of(markdown: str) -> list[str]:
    """The blocks of a Markdown text, and what is in its lines beside text, as a reader that takes HTML sees them."""
    found: list[str] = []
    for token in MarkdownIt("commonmark", {"html": True}).parse(markdown):
        found.append(token.type)
        found += [child.type for child in token.children or [] if child.type not in ("text", "text_special")]
    return found


def test_a_protocol_may_be_json_with_escapes():
    assert read_protocol(json.dumps(json.loads(hostile_protocol("👩‍👩‍👧 𝒳").canonical())), "p.json").title == "👩‍👩‍👧 𝒳"


@pytest.mark.parametrize("name", TEXTS)
def test_a_protocol_is_the_same_when_it_is_read_again(name: str, tmp_path: Path):
    protocol = hostile_protocol(TEXTS[name], unit="sentence of answer")
    assert protocol.title == TEXTS[name]
    assert read_protocol(protocol.canonical(), "again.yaml").digest == protocol.digest
    with Study.create(tmp_path / "a.db", protocol, hostile_items([TEXTS[name]])) as made:
        units = list(made.units())
        (item,) = made.items()
    with Study.open(tmp_path / "a.db") as again:
        assert again.protocol == protocol
        assert list(again.items()) == [item]
        assert list(again.units()) == units
    answer = str(item.fields["answer"])
    assert [answer[unit.span.start : unit.span.end] for unit in units if unit.span] == [unit.text for unit in units]
