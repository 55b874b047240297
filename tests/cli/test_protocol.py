"""Protocols and studies on the command line: show, versions, adopt, and the ratings of an earlier version."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.protocol.load import load_protocol, protocol_text, read_protocol
from tests.cli.calling import Caller

PROTOCOL = """\
name: mine
version: "1"
title: Mine
item: {fields: {turn: {role: rated}}}
criteria:
  - id: tone
    question: How is the tone?
    scale:
      type: ordinal
      levels: {1: {label: Cold, anchor: Distant.}, 2: {label: Warm, anchor: Kind.}}
"""


@pytest.fixture
def study(call: Caller, tmp_path: Path) -> str:
    """A study with a rating under the first version of its protocol and none under the second."""
    (tmp_path / "mine.yaml").write_text(PROTOCOL, encoding="utf-8")
    (tmp_path / "items.csv").write_text("id,turn\na,Hi.\nb,Ho.\n", encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("id,tone\na,2\nb,\n", encoding="utf-8")
    call.fine("new", "study.db", "--protocol", "mine.yaml", "--items", "items.csv")
    call.fine("ratings", "import", "study.db", "ratings.csv", "--rater", "ann")
    (tmp_path / "mine.yaml").write_text(PROTOCOL.replace("Distant.", "Curt.").replace('"1"', '"2"'), encoding="utf-8")
    told = call.fine("protocol", "adopt", "study.db", "mine.yaml")
    assert "1 rating under the earlier one: kept" in told
    return "study.db"


FIRST = read_protocol(PROTOCOL, "mine.yaml").digest


def test_every_version_is_listed_with_its_ratings(call: Caller, study: str):
    first, second, *_ = call.fine("protocol", "versions", study).splitlines()
    assert first.startswith(f"{FIRST[:12]}  mine 1, adopted ")
    assert first.endswith(": 1 rating")
    assert second.endswith(": 0 ratings; current")
    rows = json.loads(call.fine("protocol", "versions", study, "--json"))
    assert [(row["digest"] == FIRST, row["version"], row["ratings"], row["in_force"]) for row in rows] == [
        (True, "1", 1, False),
        (False, "2", 0, True),
    ]


def test_the_ratings_of_an_earlier_version_are_within_reach(call: Caller, tmp_path: Path, study: str):
    result = call("ratings", "export", study, "-o", "now.csv")
    assert result.code == 0
    assert (
        "1 rating under earlier versions of the protocol not included; evenhand protocol versions study.db"
        in result.err
    )
    assert call.fine("ratings", "export", study, "-o", "then.csv", "--digest", FIRST[:8]) == "then.csv: 1 row\n"
    call.fine("ratings", "export", study, "-o", "d.csv", "--shape", "diagnosis")
    assert f"ann: rated 2 under an earlier protocol ({FIRST[:8]})" in (tmp_path / "d.csv").read_text(encoding="utf-8")
    back = call("ratings", "import", study, "then.csv")
    assert back.code == 2
    assert FIRST[:12] in back.err
    call.fine("protocol", "adopt", study, FIRST[:12])
    assert "1 already in the study" in call.fine("ratings", "import", study, "then.csv")


def test_the_protocol_of_a_study_is_shown_and_can_be_saved(call: Caller, tmp_path: Path, study: str):
    assert "Curt." in call.fine("protocol", "show", study)
    saved = call.fine("protocol", "show", study, "--yaml")
    assert read_protocol(saved, "saved.yaml").title == "Mine"
    assert json.loads(call.fine("protocol", "show", study, "--json"))["version"] == "2"
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")
    assert "not an Evenhand study" in call("protocol", "show", "other.db").err


def test_a_built_in_protocol_is_printed_as_its_file(call: Caller, tmp_path: Path):
    text = call.fine("protocol", "show", "stem-accuracy", "--yaml")
    assert text == protocol_text("stem-accuracy")[0]
    (tmp_path / "my.yaml").write_text(text, encoding="utf-8")
    assert load_protocol(tmp_path / "my.yaml").digest == load_protocol("stem-accuracy").digest
    (tmp_path / "empty.yaml").write_text("", encoding="utf-8")
    assert "evenhand protocol show halo-support --yaml > FILE" in call("protocol", "check", "empty.yaml").err


def test_nothing_is_overwritten_unasked(call: Caller, tmp_path: Path, study: str):
    before = (tmp_path / "items.csv").read_text(encoding="utf-8")
    for shape in ("long", "wide", "blind", "diagnosis"):
        result = call("ratings", "export", study, "-o", "items.csv", "--shape", shape)
        assert result.code == 2
        assert "--overwrite" in result.err
    assert (tmp_path / "items.csv").read_text(encoding="utf-8") == before
    call.fine("ratings", "export", study, "-o", "items.csv", "--overwrite")
    assert (tmp_path / "items.csv").read_text(encoding="utf-8").startswith("item,unit,criterion")


def test_what_was_not_asked_is_counted_apart(call: Caller, tmp_path: Path):
    item = '{"id": "x", "question": "Q?", "article": "A.", "response": "One. Two."}\n'
    (tmp_path / "items.jsonl").write_text(item, encoding="utf-8")
    call.fine("new", "stem.db", "--protocol", "stem-accuracy", "--items", "items.jsonl")
    rows = "item,unit,accuracy,severity\nx,1,Accurate,\nx,2,Disputed,Severe\n"
    (tmp_path / "r.csv").write_text(rows, encoding="utf-8")
    assert call.fine("ratings", "import", "stem.db", "r.csv", "--rater", "ann").splitlines() == [
        "r.csv: 2 rows; ratings by rater: ann 3; not asked, because the condition is false: 1",
        "  stored: 4 new",
    ]


QUESTIONS = '{"a": {"question": ["Q?"], "answers": ["A"]}, "b": {"question": [], "answers": []}}'


def test_items_without_a_question_are_counted(call: Caller, tmp_path: Path):
    (tmp_path / "r.csv").write_text("id,reference,generated\na,R.,G.\nb,R.,G.\nc,R.,G.\n", encoding="utf-8")
    (tmp_path / "q.json").write_text(QUESTIONS, encoding="utf-8")
    command = ("new", "study.db", "--protocol", "rag-quest-eval", "--items", "r.csv", "--questions", "q.json")
    first, second = call.fine(*command).splitlines()
    assert first.startswith("study.db: 3 items, 1 unit (question from reference)")
    assert second == "  2 items without a question: nothing is asked about them"
    call.fine("ratings", "export", "study.db", "-o", "blind.csv", "--shape", "blind")
    header = (tmp_path / "blind.csv").read_text(encoding="utf-8-sig").splitlines()[0]
    assert header == "item,unit,generated,unit_text,answer,check"


def test_questions_for_other_items_name_the_file_and_what_to_do(call: Caller, tmp_path: Path):
    (tmp_path / "r.csv").write_text("id,reference,generated\na,R.,G.\n", encoding="utf-8")
    (tmp_path / "q.json").write_text(QUESTIONS.replace('"b"', '"zzz"'), encoding="utf-8")
    result = call("new", "study.db", "--protocol", "rag-quest-eval", "--items", "r.csv", "--questions", "q.json")
    assert result.code == 2
    assert result.err.startswith("error: q.json: there are questions for 1 id that no item has: zzz (correct")


def test_a_sample_larger_than_the_file_is_said(call: Caller, tmp_path: Path):
    (tmp_path / "items.csv").write_text("id,question,context,generated_answer\na,Q,C,A\n", encoding="utf-8")
    new = ("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")
    result = call(*new, "--seed", "3")
    assert result.code == 2
    assert "--seed goes with --sample" in result.err
    told = call.fine(*new, "--sample", "5")
    assert "study.db: 1 item, 1 unit (item)" in told
    assert "  sample: 1 of 1 item, seed 0\n    5 were requested, but the file has fewer: all were taken" in told
