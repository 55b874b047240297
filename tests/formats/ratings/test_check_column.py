"""The column `check`: a file says which protocol and which texts it was made for, and is held to it."""

from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.formats.ratings.blind_sheet import write_blind
from evenhand.formats.ratings.check_column import DIGITS, unit_check
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Unit
from tests.formats.formats_protocols import SENTENCES, SUPPORT, imported, item, item_units, sentence_units

ITEM = item("s1", question="q", context=("c",), answer="a")
UNITS = item_units("s1")
CHANGED = SUPPORT.model_copy(update={"title": "Support, reworded"})


def sheet(folder: Path, protocol: Protocol = SUPPORT) -> Path:
    path = folder / "ann.csv"
    path.unlink(missing_ok=True)
    write_blind(path, protocol, [(ITEM, UNITS["s1"][0])])
    filled = path.read_text(encoding="utf-8").replace("q,c,a,,,", "q,c,a,,SUPPORTED,")
    path.write_text(filled, encoding="utf-8")
    return path


def refusal(path: Path, items: list[Item], protocol: Protocol = SUPPORT) -> str:
    with pytest.raises(InputError) as caught:
        imported(path, protocol, UNITS, items, rater="ann")
    return str(caught.value)


def test_a_sheet_that_comes_back_to_its_study_is_taken(tmp_path: Path) -> None:
    ratings, _ = imported(sheet(tmp_path), SUPPORT, UNITS, [ITEM], rater="ann")
    assert [rating.value for rating in ratings] == ["SUPPORTED"]


def test_a_sheet_of_another_version_of_the_protocol_is_refused_with_both_digests(tmp_path: Path) -> None:
    message = refusal(sheet(tmp_path, CHANGED), [ITEM])
    assert 'row 2, column "check": made under another version of the protocol' in message
    assert CHANGED.digest[:12] in message
    assert SUPPORT.digest[:12] in message
    assert f"evenhand protocol adopt STUDY {CHANGED.digest[:12]}" in message
    assert "delete the column check" in message


def test_nothing_else_is_reported_about_such_a_row(tmp_path: Path) -> None:
    path = sheet(tmp_path, CHANGED)
    path.write_text(path.read_text(encoding="utf-8").replace("SUPPORTED", "A LABEL OF ITS OWN"), encoding="utf-8")
    assert "A LABEL OF ITS OWN" not in refusal(path, [ITEM])


def test_a_sheet_for_other_texts_is_refused(tmp_path: Path) -> None:
    message = refusal(sheet(tmp_path), [item("s1", question="q", context=("c",), answer="another")])
    assert 'row 2, column "check": this sheet was made for other items or other texts' in message


def test_hidden_fields_and_ids_make_no_difference(tmp_path: Path) -> None:
    ratings, _ = imported(sheet(tmp_path), SUPPORT, UNITS, [Item("s1", {**ITEM.fields, "gold": "g"})], rater="ann")
    assert len(ratings) == 1


def test_a_blank_check_and_no_check_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    for text in ("item,support,check\ns1,SUPPORTED,\n", "item,support\ns1,SUPPORTED\n"):
        path.write_text(text, encoding="utf-8")
        assert len(imported(path, SUPPORT, UNITS, [ITEM], rater="ann")[0]) == 1


def test_a_check_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    path.write_text("item,support,check\ns1,SUPPORTED,1.2E+11\n", encoding="utf-8")
    assert "'1.2E+11' is not a check that Evenhand wrote" in refusal(path, [ITEM])


def test_a_long_file_is_held_to_its_protocol(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    text = "item,rater,criterion,value,check\ns1,ann,support,SUPPORTED,{}\n"
    path.write_text(text.format(CHANGED.digest[:DIGITS]), encoding="utf-8")
    assert "another version of the protocol" in refusal(path, [ITEM])
    path.write_text(text.format(SUPPORT.digest[:DIGITS]), encoding="utf-8")
    assert len(imported(path, SUPPORT, UNITS)[0]) == 1


def test_each_sentence_has_a_check_of_its_own() -> None:
    whole = item("s1", response="One. Two.")
    one, two = sentence_units("s1", "One.", "Two.")["s1"]
    checks = {unit_check(SENTENCES, whole, unit) for unit in (one, two, Unit("s1#1", "s1", 1, "One!"))}
    assert len(checks) == 3
    assert all(check.startswith(f"{SENTENCES.digest[:12]}-") and len(check) == 21 for check in checks)
