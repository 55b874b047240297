"""Files laid out as other projects publish or write them load as they are: no column has to be named."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from evenhand.errors import InputError
from evenhand.evaluate_model.evaluator import EvaluateModel
from evenhand.formats.derived_units import read_questions
from evenhand.formats.items import read_items
from evenhand.protocol.load import available, load_protocol
from evenhand.records import Kind
from evenhand.study import Study

NEUREG = [
    {
        "qa_id": "relationship_oneshot_loans-p12-14-b216",
        "question_type": "relationship",
        "shot_type": "one_shot",
        "question": "How is the library related to the council?",
        "answer": "The council pays for it.",
        "source_context": "The council pays for the library. It opens daily.",
        "source_kg": "1. council → pays_for → library\n2. library → opens → daily",
    },
    {
        "qa_id": "factual_basic_loans-p12-14-b217",
        "question_type": "factual",
        "shot_type": "zero_shot",
        "question": "When does it open?",
        "answer": "Daily.",
        "source_context": "The council pays for the library. It opens daily.",
        "source_kg": "1. library → opens → daily",
    },
]
RAGAS = {
    "user_input": "Where is Ulm?",
    "retrieved_contexts": ["Ulm is on the Danube.", "It has a minster."],
    "response": "On the Danube.",
    "reference": "Ulm lies on the Danube.",
}
DEEPEVAL = {
    "input": "Where is Ulm?",
    "actual_output": "On the Danube.",
    "retrieval_context": ["Ulm is on the Danube.", "It has a minster."],
    "expected_output": "Ulm lies on the Danube.",
}


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return path


def test_neureg_pairs_and_the_ratings_of_its_models(tmp_path: Path):
    metrics = ("Relevance", "Accuracy", "Completeness", "Fluency", "KG_Alignment")
    shared = ("qa_id", "question_type", "question", "answer")
    judged = [
        {name: row[name] for name in shared} | dict.fromkeys(metrics, 5) | {"Overall_Score": 5.0} for row in NEUREG
    ]
    with Study.create(tmp_path / "study.db", "neureg-qa", written(tmp_path / "pairs.csv", NEUREG)) as study:
        first, second = study.items()
        assert [first.id, second.id] == [row["qa_id"] for row in NEUREG]
        assert [first.fields["question_type"], first.fields["shot_type"]] == ["relational", "one"]
        assert [len(item.fields["triples"]) for item in (first, second)] == [2, 1]  # pyright: ignore[reportArgumentType]
        study.import_ratings(written(tmp_path / "qwen.csv", judged), rater="qwen", kind=Kind.MODEL)
        assert {(rating.criterion, rating.value) for rating in study.ratings()} == {
            (metric.lower(), 5) for metric in metrics
        }


def test_neureg_pairs_of_one_chunk_are_one_cluster():
    rows = [{**NEUREG[0], "qa_id": f"{place}", "source_context": f"Text {place // 3}."} for place in range(6)]
    both = {"source": "source_context", "chunk_id": "source_context"}
    with Study.create(":memory:", "neureg-qa", rows, mapping=both) as study:
        documents = study.tables().documents
        assert documents is not None
        assert documents.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("row", [RAGAS, DEEPEVAL], ids=["ragas", "deepeval"])
@pytest.mark.parametrize("name", available())
def test_rows_of_ragas_and_deepeval(name: str, row: Mapping[str, object], tmp_path: Path):
    more = {"triples": "Ulm → is on → Danube"} if name == "neureg-qa" else {}
    (item,) = read_items(written(tmp_path / "rows.json", [{**row, **more}]), load_protocol(name))
    question, contexts, answer, reference = RAGAS.values()
    evidence = "\n\n".join(contexts)
    wanted = {
        "ai-detection": (question, reference, answer),
        "feedback": (answer, question),
        "halo-claims": (question, tuple(contexts), answer, reference),
        "halo-support": (question, tuple(contexts), answer, reference),
        "neureg-qa": (question, answer, evidence, (("Ulm", "is on", "Danube"),)),
        "rag-quest-eval": (answer, reference, question),
        "stem-accuracy": (question, evidence, answer, (reference,)),
    }
    assert tuple(item.fields.values()) == wanted[name]


@pytest.mark.parametrize("name", ["halo-support", "halo-claims", "stem-accuracy"])
@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_deepeval_writes_a_context_that_nobody_gave(suffix: str, name: str, tmp_path: Path):
    path = written(tmp_path / f"rows{suffix}", [{**DEEPEVAL, "context": None, "comments": None}] * 2)
    protocol = load_protocol(name)
    field = "article" if name == "stem-accuracy" else "context"
    items = read_items(path, protocol)
    assert items.columns[field] == "retrieval_context"
    assert len(list(items)) == 2
    with pytest.raises(InputError, match='rows 1 and 2, column "context": empty'):
        list(read_items([{**DEEPEVAL, "context": None}] * 2, protocol, mapping={field: "context"}))


@pytest.mark.parametrize("name", ["neureg-qa", "halo-support", "halo-claims", "stem-accuracy"])
def test_neureg_pairs_load_under_every_protocol_with_evidence(name: str):
    items = read_items(NEUREG, load_protocol(name))
    assert "source_context" in items.columns.values()
    assert len(list(items)) == 2


def test_a_frame_with_arrays_for_lists():
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    row = {**RAGAS, "retrieved_contexts": numpy.array(RAGAS["retrieved_contexts"], dtype=object)}
    (item,) = read_items(pandas.DataFrame([row]), load_protocol("halo-support"))
    assert item.fields["context"] == tuple(RAGAS["retrieved_contexts"])


@pytest.mark.parametrize("name", available())
def test_no_two_fields_of_a_protocol_claim_the_same_published_column(name: str):
    fields = load_protocol(name).item.fields.values()
    known = [*RAGAS, *DEEPEVAL, "labels", "predictions", "reference_texts", "generated_texts"]
    assert all(sum(column in spec.aliases for spec in fields) <= 1 for column in known)


def test_frames_that_were_written_with_their_index(tmp_path: Path):
    path = tmp_path / "it.csv"
    path.write_text(",text,labels,predictions\n0,a,Hybrid,AI\n1,b,Human,AI\n", encoding="utf-8")
    items = read_items(path, load_protocol("ai-detection"))
    assert [tuple(item.fields.values()) for item in items] == [("a", "Hybrid", "AI"), ("b", "Human", "AI")]
    assert items.unused == ["Unnamed: 0"]
    path.write_text(",text,generated_text,rubric\n0,The work.,The feedback.,The rubric.\n", encoding="utf-8")
    (item,) = read_items(path, load_protocol("feedback"))
    names = ("feedback", "submission", "criterion")
    assert [item.fields[name] for name in names] == ["The feedback.", "The work.", "The rubric."]


def test_frames_of_detectors_and_of_generators():
    frame = [{"text": "a", "labels": "AI", "predictions": "AI"}, {"text": "b", "labels": "Human", "predictions": "AI"}]
    items = list(read_items(frame, load_protocol("ai-detection")))
    assert [tuple(item.fields.values()) for item in items] == [("a", "AI", "AI"), ("b", "Human", "AI")]
    row = {"generated_texts": "A cat sat.", "reference_texts": ["The cat sat.", "A cat is sitting."]}
    for name, field in (("rag-quest-eval", "reference"), ("halo-support", "gold_answer")):
        more = {"question": "Q", "context": "C"} if name == "halo-support" else {}
        (item,) = read_items([{**row, **more, "answer": "A"}], load_protocol(name))
        assert item.fields[field] == "The cat sat.\n\nA cat is sitting."


def test_several_references_are_scored_together():
    pandas = pytest.importorskip("pandas")
    rows = {
        "generated_texts": ["the cat sat on the mat", "hello there"],
        "reference_texts": [["the cat sat on a mat", "a cat is on the mat"], ["hello you"]],
    }
    found = EvaluateModel(dataset=pandas.DataFrame(rows), model_type="feedback_generation").evaluate_generative_model()
    references = [["the cat sat on a mat", "hello you"], ["a cat is on the mat", None]]
    assert found.bleu.value == pytest.approx(BLEU().corpus_score(rows["generated_texts"], references).score)  # pyright: ignore[reportArgumentType]
    # By hand: 5 and 4 of 6 words are shared, so the F measures are 5/6 and 4/6; then 1 of 2.
    assert [row["rouge1"] for row in found.per_row] == pytest.approx([(5 / 6 + 4 / 6) / 2, 1 / 2])


def test_crud_rag_marks_what_cannot_be_answered_in_chinese(tmp_path: Path):
    items = [{"ID": "64fa", "ground_truth_text": "西安发放了消费券。", "generated_text": "西安发放了消费券。"}]
    questions = {
        "64fa": {
            "key_info": ["西安", "消费券", "时间"],
            "question": ["哪个城市发放了消费券？", "什么时候发放？"],
            "answers": ["西安", "无法推断"],
        },
    }
    (tmp_path / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    replies = [{"ID": "64fa", "unit": 1, "answer": "西安"}, {"ID": "64fa", "unit": 2, "answer": "无法推断。"}]
    path = written(tmp_path / "items.json", items)
    asked = read_questions(tmp_path / "questions.json")
    with Study.create(tmp_path / "study.db", "rag-quest-eval", path, questions=asked) as study:
        assert [unit.answer for unit in study.units()] == ["西安", "<Unanswerable>"]
        study.import_ratings(written(tmp_path / "replies.json", replies), rater="gpt", kind=Kind.MODEL)
        assert [rating.value for rating in study.ratings()] == ["西安", "<Unanswerable>"]
        figures = {figure.statistic: figure.estimate for figure in study.measures()}
    assert (figures["recall"].value, figures["recall"].n) == (1.0, 1)
    assert figures["precision"].value == 1.0
