"""The sheet one rater fills in, and that it comes back."""

from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from evenhand.errors import UserError
from evenhand.formats.ratings.blind_sheet import blind_sheet, filled_fields, write_blind
from evenhand.formats.tables.table_files import open_table
from evenhand.protocol.load import read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Triple, Unit
from tests.formats.formats_protocols import GRADES, SENTENCES, SUPPORT, imported, item, item_units, sentence_units
from tests.formats.table_rows import table_rows

S1 = item("s1", question="=SUM(A1)", context=("c1", "c2"), answer="a\nb", gold="secret")
WORK = [(S1, Unit("s1", "s1", 1)), (item("-2", question="q", context=("c",), answer="a"), Unit("-2", "-2", 1))]


def page_of(path: Path, title: str = "Ratings") -> Any:
    return load_workbook(path)[title]


def sentences() -> tuple[Item, list[tuple[Item, Unit]]]:
    whole = item("s1", response="One. Two.", facts=(Triple("a", "b", "c"), Triple("d", "e", "f")))
    return whole, [(whole, unit) for unit in sentence_units("s1", "One.", "Two.")["s1"]]


def test_a_csv_for_one_rater(tmp_path: Path) -> None:
    assert write_blind(tmp_path / "ann.csv", SUPPORT, WORK) == 2
    assert (tmp_path / "ann.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    table = open_table(tmp_path / "ann.csv")
    assert table.columns == ["item", "question", "context", "answer", "domain", "support", "notes", "check"]
    assert [list(cells)[:-1] for _, cells in table_rows(table)] == [
        ["s1", "'=SUM(A1)", "[1] c1\n\n[2] c2", "a\nb", "", "", ""],
        ["'-2", "q", "c", "a", "", "", ""],
    ]
    checks = [str(cells[-1]) for _, cells in table_rows(table)]
    assert [check[:13] for check in checks] == [f"{SUPPORT.digest[:12]}-"] * 2
    assert len(set(checks)) == 2


def test_hidden_fields_and_models_columns_are_left_out(tmp_path: Path) -> None:
    sheet = blind_sheet(SUPPORT, WORK)
    content = str([sheet.columns, [list(row) for row in sheet.rows]])
    assert "secret" not in content
    assert "gold" not in content
    assert "auto_label" not in content


def test_sentences_with_their_position_and_triples_as_arrows() -> None:
    sheet = blind_sheet(SENTENCES, sentences()[1])
    assert sheet.columns == [
        "item",
        "unit",
        "response",
        "facts",
        "unit_text",
        "accuracy",
        "severity",
        "urgency",
        "check",
    ]
    assert [list(row)[:-1] for row in sheet.rows] == [
        ["s1", 1, "One. Two.", "a → b → c\nd → e → f", "One.", None, None, None],
        ["s1", 2, "One. Two.", "a → b → c\nd → e → f", "Two.", None, None, None],
    ]


def test_what_else_is_asked_has_columns() -> None:
    sheet = blind_sheet(GRADES, [])
    assert sheet.columns == [
        "item", "feedback", "criterion", "clarity", "clarity_rationale", "tone", "tone_rationale", "overall",
        "overall_rationale", "improvements", "confidence", "notes", "check",
    ]  # fmt: skip


def test_a_workbook_has_drop_downs_and_the_guideline(tmp_path: Path) -> None:
    assert write_blind(tmp_path / "ann.xlsx", SUPPORT, WORK) == 2
    book = load_workbook(tmp_path / "ann.xlsx")
    assert book.sheetnames == ["Ratings", "Guideline"]
    page = book["Ratings"]
    (labels, notes) = page.data_validations.dataValidation
    assert (labels.type, labels.formula1, str(labels.sqref)) == (
        "list",
        '"SUPPORTED,CONTRADICTED,NO EVIDENCE"',
        "F2:F3",
    )
    assert (labels.showDropDown, labels.errorStyle or "stop", labels.allow_blank) == (False, "stop", True)
    assert labels.prompt == "Does the context support the answer?"
    assert (notes.type, str(notes.sqref)) == (None, "G2:G3")
    assert page.freeze_panes == "B2"
    assert page["C2"].alignment.wrap_text
    # No apostrophe to be seen: the cell has the mark that one typed in Excel leaves, and stays a text.
    assert page["B2"].value == "=SUM(A1)"
    assert (page["B2"].data_type, page["B2"].quotePrefix) == ("s", True)
    assert not page["B3"].quotePrefix
    assert page["H1"].value == "check"
    assert page.column_dimensions["B"].width == pytest.approx(48, abs=1)
    guideline = [cell for row in book["Guideline"].values for cell in row if cell]
    assert any("every claim is there" in str(cell) for cell in guideline)


def test_levels_are_chosen_by_their_numbers(tmp_path: Path) -> None:
    work = [(item("s1", feedback="f"), Unit("s1", "s1", 1))]
    write_blind(tmp_path / "ann.xlsx", GRADES, work)
    rules = {str(rule.sqref): rule for rule in page_of(tmp_path / "ann.xlsx").data_validations.dataValidation}
    assert rules["D2"].formula1 == '"1,2,3,4,5"'
    assert rules["D2"].prompt == "Is it clear?\n1 Bad, 2 Poor, 3 Fair, 4 Good, 5 Excellent"
    confidence = rules["K2"]
    assert (confidence.type, confidence.operator or "between") == ("decimal", "between")
    assert (confidence.formula1, confidence.formula2) == ("0", "100")


def long_labels() -> Protocol:
    labels = "\n".join(f'        "Label, number {n} {"x" * 20}": {{definition: d}}' for n in range(12))
    return read_protocol(
        f"""
name: many
version: "1"
title: Many
item: {{fields: {{text: {{role: rated}}}}}}
criteria:
  - id: kind_of
    question: Which?
    scale:
      type: nominal
      labels:
{labels}
""",
        "many.yaml",
    )


def test_long_lists_of_labels_are_on_a_hidden_sheet(tmp_path: Path) -> None:
    protocol = long_labels()
    write_blind(tmp_path / "ann.xlsx", protocol, [(item("s1", text="t"), Unit("s1", "s1", 1))])
    book = load_workbook(tmp_path / "ann.xlsx")
    assert book["Lists"].sheet_state == "hidden"
    (rule,) = book["Ratings"].data_validations.dataValidation
    assert rule.formula1 == "Lists!$A$1:$A$12"
    assert [row[0] for row in book["Lists"].values] == list(protocol.criteria[0].scale.values)


def test_a_text_too_long_for_a_cell_continues_in_the_next_column(tmp_path: Path) -> None:
    article = " ".join(f"word{n}" for n in range(10_000))
    work = [(item("s1", feedback=article), Unit("s1", "s1", 1)), (item("s2", feedback="short"), Unit("s2", "s2", 1))]
    write_blind(tmp_path / "ann.xlsx", GRADES, work)
    (header, first, second) = page_of(tmp_path / "ann.xlsx").values
    assert header[:5] == ("item", "feedback", "feedback (2)", "feedback (3)", "criterion")
    assert first[1] + first[2] + first[3] == article
    assert all(len(piece) <= 30_000 and piece.endswith(" ") for piece in first[1:3])
    assert second[1:4] == ("short", None, None)


def test_control_characters_do_not_break_a_workbook(tmp_path: Path) -> None:
    text = "a\x00b\x0bc\x1fd\rе\uffff"
    write_blind(tmp_path / "ann.xlsx", GRADES, [(item("s1", feedback=text), Unit("s1", "s1", 1))])
    ((_, cells),) = table_rows(open_table(tmp_path / "ann.xlsx"))
    assert cells[1] == text


def test_an_existing_sheet_is_not_overwritten(tmp_path: Path) -> None:
    for name in ("ann.xlsx", "ann.csv"):
        (tmp_path / name).write_text("filled in")
        with pytest.raises(UserError, match="already exists"):
            write_blind(tmp_path / name, SUPPORT, WORK)
        assert (tmp_path / name).read_text() == "filled in"


def test_other_formats_are_not_for_filling_in(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ends in \.xlsx, \.csv or \.tsv, not in '\.jsonl'"):
        write_blind(tmp_path / "ann.jsonl", SUPPORT, WORK)


def test_a_filled_in_workbook_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "ann.xlsx"
    write_blind(path, SENTENCES, sentences()[1])
    book = load_workbook(path)
    page = book["Ratings"]
    page["F2"], page["F3"], page["G3"] = "Accurate", "Inaccurate", "Not severe"
    book.save(path)
    ratings, _ = imported(path, SENTENCES, sentence_units("s1", "One.", "Two."), rater="ann")
    assert sorted((r.unit, r.criterion, r.value or str(r.status)) for r in ratings) == [
        ("s1#1", "accuracy", "Accurate"),
        ("s1#1", "severity", "not_asked"),
        ("s1#1", "urgency", "not_asked"),
        ("s1#2", "accuracy", "Inaccurate"),
        ("s1#2", "severity", "Not severe"),
        ("s1#2", "urgency", "not_asked"),
    ]


def test_a_filled_in_csv_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    write_blind(path, SUPPORT, WORK)
    filled = path.read_text(encoding="utf-8-sig").replace("c,a,,,,", "c,a,,no evidence,unclear,")
    path.write_text(filled, encoding="utf-8")
    ratings, file = imported(path, SUPPORT, item_units("s1", "-2"), rater="ann")
    assert [(r.unit, r.value, r.notes) for r in ratings] == [("-2", "NO EVIDENCE", "unclear")]
    assert file.summary.blanks == 1


def test_an_untouched_sheet_brings_nothing(tmp_path: Path) -> None:
    write_blind(tmp_path / "ann.xlsx", GRADES, [(item("s1", feedback="f", criterion="c"), Unit("s1", "s1", 1))])
    ratings, file = imported(tmp_path / "ann.xlsx", GRADES, item_units("s1"), rater="ann")
    assert ratings == []
    assert file.raters == []
    assert file.summary.blanks == 4


def test_optional_fields_that_no_item_has_are_left_out(tmp_path: Path) -> None:
    items = [whole for whole, _ in WORK]
    assert filled_fields(SUPPORT, items) == ["question", "context", "answer"]
    with_domain = item("s3", question="q", context=("c",), answer="a", domain="law")
    assert filled_fields(SUPPORT, [*items, with_domain]) == ["question", "context", "answer", "domain"]
    write_blind(tmp_path / "ann.csv", SUPPORT, WORK, fields=filled_fields(SUPPORT, items))
    assert open_table(tmp_path / "ann.csv").columns == [
        "item", "question", "context", "answer", "support", "notes", "check",
    ]  # fmt: skip
    write_blind(tmp_path / "ann.xlsx", SUPPORT, WORK, fields=filled_fields(SUPPORT, items))
    (header, *_) = page_of(tmp_path / "ann.xlsx").values
    assert header == ("item", "question", "context", "answer", "support", "notes", "check")
