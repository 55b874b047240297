"""Qasper in both of its published forms, and on to answers by a model."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import pyarrow  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
import pytest

import evenhand as eh
from evenhand.errors import InputError
from evenhand.formats.qasper import Selection, read_qasper, select_questions
from tests.chat_server import ChatServer
from tests.cli.calling import Caller
from tests.generation.writing import writes

pa, parquet = cast("Any", pyarrow), cast("Any", pyarrow.parquet)


def answer(**given: object) -> dict[str, Any]:
    blank: dict[str, object] = {key: [] for key in ("extractive_spans", "evidence", "highlighted_evidence")}
    blank |= {"unanswerable": False, "yes_no": None, "free_form_answer": ""}
    return {"answer": {**blank, **given}, "annotation_id": "a", "worker_id": "w"}


def question(question_id: str, *answers: dict[str, Any]) -> dict[str, Any]:
    return {"question": f"Is it {question_id}?", "question_id": question_id, "answers": list(answers)}


def paper(*questions: dict[str, Any], title: str = "LeafNet") -> dict[str, Any]:
    sections = [{"section_name": "Data", "paragraphs": ["We took 600 images.", ""]},
                {"section_name": None, "paragraphs": ["It works."]}]  # fmt: skip
    return {"title": title, "abstract": "We detect rust.", "full_text": sections, "qas": list(questions)}


PAPERS = {
    "1909.1": paper(
        question("spans", answer(extractive_spans=["six", "hundred"], evidence=["600"]), answer(free_form_answer="1")),
        question("none", answer(unanswerable=True), answer(free_form_answer="600", evidence=["600"])),
        question("no", answer(yes_no=False)),
        question("open", answer()),
    ),
    "1909.2": paper(question("evident", answer(highlighted_evidence=["It works."])), question("asked")),
}


def in_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {key: [row[key] for row in rows] for key in rows[0]} if rows else {}


def in_rows(papers: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The papers as the Hugging Face version has them."""
    rows: list[dict[str, Any]] = []
    for name, content in papers.items():
        asked = [{**one, "answers": in_columns(one["answers"])} for one in content["qas"]]
        rows.append({"id": name, **content, "full_text": in_columns(content["full_text"]), "qas": in_columns(asked)})
    return rows


def written(folder: Path, content: object, name: str = "qasper.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_questions_have_the_whole_article_and_every_gold_answer(tmp_path: Path):
    found = {one.id: one for one in read_qasper([written(tmp_path, PAPERS)])}
    assert list(found) == ["spans", "none", "no", "open", "evident", "asked"]
    assert found["open"].article == "LeafNet\n\nWe detect rust.\n\nData\n\nWe took 600 images.\n\nIt works."
    assert {one.article_id for one in found.values()} == {"1909.1", "1909.2"}
    gold = {name: one.gold_answer for name, one in found.items() if one.gold_answer}
    assert gold == {"spans": "six, hundred\n\n1", "none": "600", "no": "No"}


def test_the_rows_of_hugging_face_hold_the_same(tmp_path: Path):
    rows = in_rows(PAPERS)
    lines = tmp_path / "qasper.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "qasper.parquet")
    wanted = read_qasper([written(tmp_path, PAPERS)])
    for path in (lines, tmp_path / "qasper.parquet", written(tmp_path, rows)):
        assert read_qasper([path]) == wanted


def test_selections_and_what_they_leave_out(tmp_path: Path):
    questions = read_qasper([written(tmp_path, PAPERS)])
    chosen, left_out = select_questions(questions, "without-gold")
    assert [one.id for one in chosen] == ["open", "asked"]
    assert left_out == {"with a gold answer": 2, "marked unanswerable": 1, "with evidence": 1}
    chosen, left_out = select_questions(questions, "answerable")
    assert [one.id for one in chosen] == ["spans"]
    assert left_out == {"marked unanswerable": 1, "without evidence": 1, "without a gold answer": 3}
    assert select_questions(questions, "all") == (list(questions), {})


@pytest.mark.parametrize("only", get_args(Selection))
def test_articles_of_which_the_data_has_no_text_are_counted_and_left_out(tmp_path: Path, only: Selection):
    missing: dict[str, Any] = {**paper(question("a", answer(free_form_answer="1", evidence=["1"]))), "full_text": []}
    _, left_out = select_questions(read_qasper([written(tmp_path, {"1909.3": missing})]), only)
    assert left_out == {"about an article without full text": 1}


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({"qas": "none"}, [1]),
        ({"qas": [{"question": "Why?"}]}, [1]),
        ({"qas": {"question": ["Why?", "How?"], "question_id": ["q"]}}, [1]),
        ({"qas": [question("q", {"answer": "600"})]}, [1]),
        ({"qas": [question("q", answer(yes_no=["yes"]))]}, [1]),
        ({"qas": [question("q", answer(unanswerable={}))]}, [1]),
        ({"full_text": [{"section_name": "Data", "paragraphs": [7]}]}, [1]),
        ({"title": ["LeafNet"]}, [1]),
        ({"qas": [question("q"), question("q")]}, [1]),
    ],
)
def test_what_is_not_qasper_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], rows: list[int]):
    with pytest.raises(InputError) as caught:
        read_qasper([written(tmp_path, {"1909.1": {**paper(question("a")), **change}, "1909.2": paper()})])
    assert sorted({problem.row for problem in caught.value.problems if problem.row}) == rows


@pytest.mark.parametrize("content", [[], {}, 7, [{"id": "q", "question": "Why?"}]])
def test_other_files_are_refused(tmp_path: Path, content: object):
    with pytest.raises(InputError):
        read_qasper([written(tmp_path, content)])


def test_a_question_in_two_files_is_refused(tmp_path: Path):
    first, second = written(tmp_path, PAPERS), written(tmp_path, {"1909.3": paper(question("open"))}, "more.json")
    with pytest.raises(InputError) as caught:
        read_qasper([first, second])
    assert caught.value.source == str(second)


# The command, and what follows it


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    monkeypatch.chdir(tmp_path)
    return Caller(capsys)


def test_the_command_prints_what_it_left_out_and_keeps_an_existing_file(call: Caller, tmp_path: Path):
    written(tmp_path, PAPERS)
    out = call.fine("qasper", "qasper.json", "-o", "items.jsonl", "--only", "without-gold")
    assert out.splitlines()[-1] == "items.jsonl: 2 of 6 questions, about 2 articles"
    assert "  left out: 1 question marked unanswerable" in out.splitlines()
    before = Path("items.jsonl").read_bytes()
    assert call("qasper", "qasper.json", "-o", "items.jsonl").code == 2
    assert Path("items.jsonl").read_bytes() == before
    written(tmp_path, {"1909.1": paper(question("a", answer(unanswerable=True)))}, "b.json")
    refused = call("qasper", "b.json", "-o", "none.jsonl", "--only", "answerable")
    assert (refused.code, refused.out) == (2, "")
    assert "b.json" in refused.err
    assert "left out: 1 question marked unanswerable" in refused.err
    assert not Path("none.jsonl").exists()


@pytest.mark.parametrize(("protocol", "cluster"), [("stem-accuracy", "article_id"), ("halo-support", "document_id")])
def test_answers_to_its_questions_are_items_without_a_map(call: Caller, tmp_path: Path, protocol: str, cluster: str):
    written(tmp_path, PAPERS)
    call.fine("qasper", "qasper.json", "-o", "items.jsonl")
    with ChatServer(writes({"response": "It was 600."})) as server:
        call.fine("generate", "answer-with-context", "--items", "items.jsonl", "-o", "answers.jsonl",
                  "--model", f"m={server.url}#m")  # fmt: skip
        # What annotators answered is not given away.
        assert not any("six, hundred" in str(one.body["messages"]) for one in server.calls)
    call.fine("new", "s.db", "--protocol", protocol, "--items", "answers.jsonl")
    with eh.Study.open("s.db") as study:
        items = list(study.items())
        assert [item.fields[cluster] for item in items] == ["1909.1"] * 4 + ["1909.2"] * 2
        assert items[2].fields["gold_answer"] == (("No",) if protocol == "stem-accuracy" else "No")
        assert "gold_answer" not in study.protocol.shown_fields or protocol == "halo-support"


def test_responses_from_elsewhere_are_a_further_column(call: Caller, tmp_path: Path):
    written(tmp_path, PAPERS)
    call.fine("qasper", "qasper.json", "-o", "items.jsonl")
    rows = [json.loads(line) for line in Path("items.jsonl").read_text(encoding="utf-8").splitlines()]
    study = eh.Study.create("s.db", "stem-accuracy", [{**row, "response": "It was 600. It works."} for row in rows])
    assert (len(list(study.items())), len(list(study.units()))) == (6, 12)
