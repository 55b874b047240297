"""Bad input: a message that says what and where, exit code 2, and nothing written."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.processes import run_python

HEADER = "id,question,context,generated_answer\n"
GOOD = HEADER + "a,Q,C,A\nb,Q,C,A\n"
TRIPLES = "id,question,answer,source,triples\n1,Q,A,S,one → two → three\n2,Q,A,S,one → two\n"


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


ITEM_FILES = {
    "missing column": ("items.csv", b"id,question,context\na,Q,C\n", ["items.csv", "'generated_answer' is missing"]),
    "duplicate id": ("items.csv", (GOOD + "a,Q,C,A\n").encode(), ["row 4", 'column "id"', "already in row 2"]),
    "latin-1": (
        "items.csv",
        (GOOD + "c,Q,Café,A\n").encode("latin-1"),
        ["row 4", 'column "context"', "not UTF-8", "é"],
    ),
    "ragged rows": ("items.csv", (GOOD + "c,Q,C\nd,Q,C,A,E\n").encode(), ["row 4", "row 5", "the header has 4"]),
    "empty cell": ("items.csv", (GOOD + "c,,C,A\n").encode(), ["row 4", 'column "question"', "empty"]),
    "bad json": ("items.jsonl", b'{"id": "a"}\n{"id": \n', ["items.jsonl", "line 2"]),
    "not xlsx": ("items.xlsx", b"PK nothing", ["items.xlsx"]),
}


@pytest.mark.parametrize("case", ITEM_FILES)
def test_an_item_file_that_cannot_be_used(call: Caller, tmp_path: Path, case: str):
    name, content, parts = ITEM_FILES[case]
    (tmp_path / name).write_bytes(content)
    before = files_in(tmp_path)
    result = call("new", "study.db", "--protocol", "halo-support", "--items", name)
    assert result.code == 2
    assert result.out == ""
    assert [part for part in parts if part not in result.err] == []
    assert files_in(tmp_path) == before


def test_a_triple_with_two_parts(call: Caller, tmp_path: Path):
    (tmp_path / "q.csv").write_text(TRIPLES, encoding="utf-8")
    result = call("new", "study.db", "--protocol", "neureg-qa", "--items", "q.csv")
    assert result.code == 2
    assert 'q.csv: row 3, column "triples"' in result.err
    assert not (tmp_path / "study.db").exists()


def test_a_byte_order_mark_is_no_fault(call: Caller, tmp_path: Path):
    (tmp_path / "items.csv").write_text(GOOD, encoding="utf-8-sig")
    assert "2 items" in call.fine("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--map", "question=Frage"], ["no column 'Frage'", "--map question=Frage"]),
        (["--map", "qestion=question"], ["'qestion'", "did you mean 'question'?"]),
        (["--map", "question"], ["name=column"]),
        (["--id", "key"], ["no column 'key'"]),
        (["--sample", "1", "--by", "domain"], ["cannot sample by 'domain'"]),
        (["--by", "domain"], ["--by goes with --sample"]),
        (["--sample", "0"], ["--sample"]),
        (["--questions", "items.csv"], ["items.csv", "not JSON"]),
        (["--protocol", "halo-suport"], ["did you mean 'halo-support'?"]),
    ],
)
def test_options_that_do_not_fit(call: Caller, tmp_path: Path, arguments: list[str], parts: list[str]):
    (tmp_path / "items.csv").write_text(GOOD, encoding="utf-8")
    result = call("new", "study.db", "--protocol", "halo-support", "--items", "items.csv", *arguments)
    assert result.code == 2
    assert [part for part in parts if part not in result.err] == []
    assert not (tmp_path / "study.db").exists()


def test_questions_are_for_question_protocols_only(call: Caller, tmp_path: Path):
    (tmp_path / "items.csv").write_text(GOOD, encoding="utf-8")
    (tmp_path / "q.json").write_text('{"a": {"question": ["Q?"], "answers": ["A"]}}', encoding="utf-8")
    given = call("new", "study.db", "--protocol", "halo-support", "--items", "items.csv", "--questions", "q.json")
    assert given.code == 2
    assert "only a protocol whose unit is a question has questions" in given.err
    (tmp_path / "r.csv").write_text("id,reference,generated\na,R.,G.\n", encoding="utf-8")
    (tmp_path / "q.json").write_text('{"zzz": {"question": ["Q?"], "answers": ["A"]}}', encoding="utf-8")
    foreign = call("new", "study.db", "--protocol", "rag-quest-eval", "--items", "r.csv", "--questions", "q.json")
    assert foreign.code == 2
    assert "no item has: zzz" in foreign.err
    assert not (tmp_path / "study.db").exists()


@pytest.fixture
def study(call: Caller, tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(GOOD, encoding="utf-8")
    call.fine("new", "study.db", "--protocol", "halo-support", "--items", "items.csv")
    return tmp_path / "study.db"


def test_labels_that_are_not_on_the_scale_are_reported_together(call: Caller, tmp_path: Path, study: Path):
    (tmp_path / "r.csv").write_text("id,human_label\na,MAYBE\nb,NO_EVIDENCE\nc,SUPPORTED\n", encoding="utf-8")
    result = call("ratings", "import", study, "r.csv", "--rater", "ann")
    assert result.code == 2
    assert "row 2, column \"human_label\": 'MAYBE' is not one of SUPPORTED, CONTRADICTED, NO EVIDENCE" in result.err
    assert "row 4" in result.err
    call.fine("ratings", "export", study, "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").count("\n") == 1


def test_a_study_is_not_made_over_another_file(call: Caller, tmp_path: Path, study: Path):
    before = study.read_bytes()
    result = call("new", study, "--protocol", "halo-support", "--items", tmp_path / "items.csv")
    assert result.code == 2
    assert "study.db" in result.err
    assert study.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"hello, this is a text file\n", os.urandom(5000)])
def test_a_file_that_is_no_study(call: Caller, tmp_path: Path, content: bytes):
    (tmp_path / "x.db").write_bytes(content)
    result = call("ratings", "export", "x.db", "-o", "out.csv")
    assert result.code == 2
    assert "x.db" in result.err
    assert files_in(tmp_path) == {"x.db": content}


def test_another_program_s_database_is_no_study(call: Caller, tmp_path: Path):
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE meta (a)")
    connection.commit()
    connection.close()
    before = files_in(tmp_path)
    result = call("backup", "x.db", "-o", "copy.db")
    assert result.code == 2
    assert "not" in result.err
    assert files_in(tmp_path) == before


def test_a_study_that_is_not_there_is_not_made(call: Caller, tmp_path: Path):
    result = call("ratings", "export", "nowhere.db", "-o", "out.csv")
    assert result.code == 2
    assert "nowhere.db" in result.err
    assert files_in(tmp_path) == {}


def test_a_study_from_a_newer_version(call: Caller, study: Path):
    connection = sqlite3.connect(study)
    connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    changed = connection.total_changes
    connection.commit()
    connection.close()
    assert changed == 1
    result = call("ratings", "export", study, "-o", "out.csv")
    assert result.code == 2
    assert "newer" in result.err


UNPRIVILEGED = """
import os
from contextlib import suppress
from evenhand.cli import main
# Load everything first: whom we become may not be allowed to read where Python is installed.
for warm_up in (["new", "warm.db", "--protocol", "halo-support", "--items", "items.csv"],
                ["ratings", "export", "warm.db", "-o", "warm.csv"],
                ["ratings", "export", "nowhere.db", "-o", "warm.csv"],
                ["demo", "warm"]):
    with suppress(SystemExit):
        main(warm_up)
os.getuid() == 0 and os.setuid(65534)
print(END)
for arguments in commands:
    try:
        main(arguments)
    except SystemExit as ended:
        print(ended.code, END, flush=True)
"""


def _unprivileged(folder: Path, commands: list[list[str]]) -> list[str]:
    """Run the command line as somebody who may not write everywhere: for root, permissions do not count.

    Return what each command printed, with its exit code at the end.
    """
    end = "-- end --"
    _, printed = run_python(folder, f"commands, END = {commands!r}, {end!r}\n{UNPRIVILEGED}")
    _, *results, rest = printed.split(end + "\n")
    assert rest == ""
    return results


def test_a_folder_that_is_read_only(public_folder: Path, study: Path):
    items = str(shutil.copy(study.with_name("items.csv"), public_folder))
    study = Path(shutil.copy(study, public_folder))
    study.chmod(0o666)
    closed, hidden = public_folder / "closed", public_folder / "hidden"
    closed.mkdir(mode=0o555)
    hidden.mkdir(mode=0o000)
    results = _unprivileged(
        public_folder,
        [
            ["new", str(closed / "s.db"), "--protocol", "halo-support", "--items", items],
            ["ratings", "export", str(study), "-o", str(closed / "out.csv")],
            ["ratings", "export", str(study), "-o", str(hidden / "out.csv")],
            ["demo", str(hidden)],
        ],
    )
    assert all(result.endswith("\n2 ") for result in results), results
    assert "Traceback" not in "".join(results)
    made, exported, *unseen = results
    assert str(closed) in made
    assert f"the folder {closed} is not writable" in exported
    for result in unseen:
        assert result.splitlines()[-2].startswith(f"error: {hidden}")
    assert list(closed.iterdir()) == []


def test_a_protocol_file_with_mistakes(call: Caller, tmp_path: Path):
    text = """\
name: mine
version: "1"
title: Mine
item:
  fields: {turn: {role: rated}}
criterias: []
criteria:
  - id: bad
    question: Bad?
    scale: {type: ordinal, levels: {1: {label: A, anchor: a}, 2: {label: B, anchor: b}}}
    when: {criterion: absent, any_of: [1]}
"""
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    result = call("protocol", "check", "p.yaml")
    assert result.code == 2
    assert "p.yaml: 2 problems" in result.err
    assert "line 6: unknown key 'criterias' (did you mean 'criteria'?)" in result.err
    assert "line 11, criteria.1.when.criterion: there is no criterion 'absent'" in result.err


def test_an_existing_blind_sheet_is_not_overwritten(call: Caller, tmp_path: Path, study: Path):
    call.fine("ratings", "export", study, "-o", "blind.csv", "--shape", "blind")
    (tmp_path / "blind.csv").write_text("filled in", encoding="utf-8")
    result = call("ratings", "export", study, "-o", "blind.csv", "--shape", "blind")
    assert result.code == 2
    assert (tmp_path / "blind.csv").read_text(encoding="utf-8") == "filled in"


def test_a_text_that_is_to_be_split_and_is_blank_is_an_error_with_its_row(call: Caller, tmp_path: Path):
    rows = [
        {"id": "a", "question": "q", "article": "a", "response": "One is."},
        {"id": "b", "question": "q", "article": "a"},
    ]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    result = call("new", tmp_path / "s.db", "--protocol", "stem-accuracy", "--items", tmp_path / "items.jsonl")
    assert result.code == 2
    assert "response" in result.err
    assert not (tmp_path / "s.db").exists()
