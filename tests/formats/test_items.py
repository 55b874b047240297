import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from xlsxwriter import Workbook  # pyright: ignore[reportMissingTypeStubs]

from evenhand.errors import InputError
from evenhand.formats.items import content_id, read_items
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Triple

HALO = load_protocol("halo-support")
NEUREG = load_protocol("neureg-qa")
FEEDBACK = load_protocol("feedback")


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_columns_of_the_support_guide_map_themselves(tmp_path: Path):
    header = "id,question,context,generated_answer,gold_answer,auto_label,human_label,notes"
    path = written(tmp_path, "human_eval_samples.csv", f"{header}\nsample_001,Q?,C.,A.,G.,SUPPORTED,,\n")
    items = read_items(path, HALO)
    assert list(items) == [
        Item("sample_001", {"question": "Q?", "context": ("C.",), "generated_answer": "A.", "gold_answer": "G."})
    ]
    assert items.unused == ["auto_label", "human_label", "notes"]


def test_the_columns_of_the_feedback_guide_map_themselves(tmp_path: Path):
    path = written(tmp_path, "f.csv", "generated_texts,domain,criteria\nWell argued.,History,c1: Sources\n")
    items = read_items(path, FEEDBACK)
    (item,) = items
    assert item.fields == {"feedback": "Well argued.", "criterion": "c1: Sources", "domain": "History"}
    assert items.columns == {"feedback": "generated_texts", "criterion": "criteria", "domain": "domain"}


def test_text_alone_is_the_feedback_and_beside_generated_texts_the_submission(tmp_path: Path):
    alone = read_items(written(tmp_path, "a.csv", "text,domain,criteria\nT,D,C\n"), FEEDBACK)
    assert alone.columns["feedback"] == "text"
    both = read_items(written(tmp_path, "b.csv", "text,generated_texts,domain,criteria\nT,G,D,C\n"), FEEDBACK)
    assert (both.columns["feedback"], both.columns["submission"]) == ("generated_texts", "text")


@pytest.mark.parametrize(
    "triples",
    [
        "Fund → pays → School\\nSchool → teaches → Pupil",
        "[('Fund', 'pays', 'School'), ('School', 'teaches', 'Pupil')]",
        [["Fund", "pays", "School"], ["School", "teaches", "Pupil"]],
        [
            {"subject": "Fund", "predicate": "pays", "object": "School"},
            {"head": "School", "relation": "teaches", "tail": "Pupil"},
        ],
    ],
)
def test_triples_are_read_in_every_usual_notation(tmp_path: Path, triples: object):
    if isinstance(triples, str):
        triples = triples.replace("\\n", "\n")
    row = {"id": "1", "question": "Q", "answer": "A", "source": "S", "triples": triples}
    (item,) = read_items(written(tmp_path, "q.jsonl", json.dumps(row) + "\n"), NEUREG)
    assert item.fields["triples"] == (Triple("Fund", "pays", "School"), Triple("School", "teaches", "Pupil"))


def test_ids_made_from_the_content_are_stable_and_distinct(tmp_path: Path):
    rows = "Q1,C,A\nQ2,C,A\nQ1,C,A\n"
    first = [item.id for item in read_items(written(tmp_path, "a.csv", "question,context,answer\n" + rows), HALO)]
    turned = "A,C,Q2\nA,C,Q1\nA,C,Q1\n"
    again = [item.id for item in read_items(written(tmp_path, "b.csv", "answer,context,question\n" + turned), HALO)]
    assert first[2] == f"{first[0]}-2"
    assert again == [first[1], first[0], first[2]]
    assert first[0] == content_id({"generated_answer": "A", "context": ("C",), "question": "Q1"})


def test_all_bad_cells_are_reported_at_once(tmp_path: Path):
    text = (
        "id,question,answer,source,triples,question_type\n"
        "1,,A,S,a → b → c,factual\n"
        "2,Q,A,S,a → b,factual\n"
        ",Q,A,S,a → b → c,Factual \n"
        "4,Q,A,S,a → b → c,historical\n"
    )
    with pytest.raises(InputError) as caught:
        list(read_items(written(tmp_path, "q.csv", text), NEUREG))
    problems = [(problem.row, problem.column) for problem in caught.value.problems]
    assert problems == [(2, "question"), (3, "triples"), (4, "id"), (5, "question_type")]
    assert "factual, relational, comparative, inferential" in str(caught.value)


def test_duplicate_ids_are_named_with_both_rows(tmp_path: Path):
    path = written(tmp_path, "q.csv", "id,question,context,answer\na,Q,C,A\n\nb,Q,C,A\na,Q,C,A\n")
    [problem] = read_items(path, HALO).duplicates()
    # The blank row counts as a spreadsheet counts it: the second `a` is in row 5.
    assert (problem.row, problem.column) == (5, "id")
    assert "already in row 2" in str(problem)


@pytest.mark.parametrize("bad", ["x" * 201, "a\tb", "a\u200eb"])
def test_an_id_is_short_and_printable(tmp_path: Path, bad: str):
    row = {"id": bad, "question": "Q", "context": "C", "generated_answer": "A"}
    with pytest.raises(InputError, match="printable characters"):
        list(read_items(written(tmp_path, "q.jsonl", json.dumps(row)), HALO))


def test_duplicate_ids_come_with_the_other_problems(tmp_path: Path):
    text = "id,question,context,answer\na,Q,C,A\nb,,C,A\na,Q,C,A\n,Q,C,A\n,Q,C,A\na,Q,C,A\n"
    with pytest.raises(InputError) as caught:
        list(read_items(written(tmp_path, "q.csv", text), HALO))
    problems = [(problem.row, problem.column) for problem in caught.value.problems]
    assert problems == [(3, "question"), (4, "id"), (5, "id"), (6, "id"), (7, "id")]
    assert "rows 4 and 7, column \"id\": the id 'a' is already in row 2" in str(caught.value)


def test_a_cell_that_cannot_be_read_is_not_called_empty_as_well(tmp_path: Path):
    book: Any = Workbook(str(tmp_path / "a.xlsx"))
    page = book.add_worksheet()
    page.write_row(0, 0, ["id", "question", "context", "answer"])
    page.write_row(1, 0, ["a", "Q", "C", "A"])
    for column in range(4):
        page.write_formula(2, column, "=NA()", None, "#N/A")
    book.close()
    with pytest.raises(InputError) as caught:
        list(read_items(tmp_path / "a.xlsx", HALO))
    names = ["id", "question", "context", "answer"]
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(3, name) for name in names]


def test_of_a_sample_only_its_own_duplicates_count(tmp_path: Path):
    text = "id,question,context,answer\na,Q,C,A\nb,,C,A\na,Q,C,A\n"
    items = replace(read_items(written(tmp_path, "q.csv", text), HALO), only={0, 1})
    with pytest.raises(InputError) as caught:
        list(items)
    assert [problem.row for problem in caught.value.problems] == [3]


@pytest.mark.parametrize(
    "triples",
    [
        ["(a, b, c)", "(d, e)"],
        "[(a, b, c), (d, e)]",
        "[('a', 'b', 'c'), ('d', 'e')]",
        "(a, b, c), (d, e), (f, g, h)",
        [["a", "b", "c"], ["d", "e"]],
    ],
)
def test_the_tuple_that_is_wrong_is_named(tmp_path: Path, triples: object):
    row = {"id": "1", "question": "Q", "answer": "A", "source": "S", "triples": triples}
    with pytest.raises(InputError) as caught:
        list(read_items(written(tmp_path, "q.jsonl", json.dumps(row)), NEUREG))
    message = str(caught.value)
    assert "d" in message.partition("the triple")[2].partition("has 2 parts, not three")[0]
    assert "a" not in message.partition("the triple")[2].partition(" has 2 parts")[0]


def test_a_list_of_bracketed_texts_is_a_list_of_triples(tmp_path: Path):
    row = {"id": "1", "question": "Q", "answer": "A", "source": "S", "triples": ["(a, b, c)"] * 3}
    (item,) = read_items(written(tmp_path, "q.jsonl", json.dumps(row)), NEUREG)
    assert item.fields["triples"] == (Triple("a", "b", "c"),) * 3


def test_a_column_mapped_away_from_a_required_field(tmp_path: Path):
    path = written(tmp_path, "q.csv", "id,context,answer\na,C,A\n")
    with pytest.raises(InputError) as caught:
        read_items(path, HALO, mapping={"question": "context"})
    message = str(caught.value)
    assert "column \"context\": the column is given to 'question', and 'context', which is required too" in message
    assert "--map context=COLUMN" in message
    assert "did you mean" not in message


def ids_of(cell: object) -> object:
    row = {"question": "Q?", "context": "C.", "generated_answer": "A.", "retrieved_docs": cell}
    (item,) = read_items([row], HALO)
    return item.fields.get("retrieved_ids", "absent")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ([3, "d1", 2.0], ("3", "d1", "2")),
        ('["d 1", 7]', ("d 1", "7")),
        ("['d1', 'd2']", ("d1", "d2")),
        ([{"id": 4, "text": "Oslo is a city."}], ("4",)),
        ("d1, d2;d3\nd4", ("d1", "d2", "d3", "d4")),
        (12, ("12",)),
        ([], ()),
        ("[]", ()),
        ("", "absent"),
        (None, "absent"),
    ],
)
def test_ids_are_lists_numbers_or_texts_with_delimiters(cell: object, expected: object):
    """An empty list is kept: nothing was retrieved, which is not the same as not knowing."""
    assert ids_of(cell) == expected


@pytest.mark.parametrize("cell", [[True], [None], [["d1"]], [{"text": "Oslo"}], "[d1, d2]", "[1, 2", {"id": 1}])
def test_what_is_no_list_of_ids_is_refused_with_its_place(cell: object):
    with pytest.raises(InputError) as caught:
        ids_of(cell)
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(1, "retrieved_docs")]


def test_a_delimiter_of_the_protocol_is_the_only_one():
    fields = {**HALO.item.fields}
    fields["retrieved_ids"] = fields["retrieved_ids"].model_copy(update={"delimiter": "|"})
    own = HALO.model_copy(update={"item": HALO.item.model_copy(update={"fields": fields})})
    row = {"question": "Q?", "context": "C.", "generated_answer": "A.", "retrieved_ids": "a, b|c"}
    (item,) = read_items([row], own)
    assert item.fields["retrieved_ids"] == ("a, b", "c")


def cluster_of(**columns: str):
    row = {"question": "Q?", "context": "C.", "generated_answer": "A.", **columns}
    (item,) = read_items([row], HALO)
    return item.fields.get("document_id")


def test_items_written_from_one_input_are_a_cluster_if_no_column_names_another():
    assert cluster_of(input_id="c1") == "c1"
    assert cluster_of(input_id="c1", article_id="a1") == "a1"
    assert cluster_of() is None
