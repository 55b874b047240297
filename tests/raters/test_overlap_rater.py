"""`overlap` as a rater: what it compares, what it stores, and what it refuses."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.errors import MissingExtraError, StudyError, UserError
from evenhand.overlap import overlap_scores
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import SCORES, Protocol
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, rater_of
from evenhand.records import Kind, RaterRef, Rating, Status
from evenhand.run.judge import judge
from evenhand.study import Study
from evenhand.units import Question

BUILT_IN = [name for name in SCORES if name != "BERTScore"]
HALO = load_protocol("halo-support")
SENTENCES = read_protocol(
    """
name: sentences
version: "1"
title: Sentences
unit: sentence of answer
item:
  fields:
    answer: {role: rated}
    draft: {role: rated, required: false}
    model_answers: {role: reference, kind: passages, required: false}
    other: {role: reference, required: false, shown: false}
    note: {role: context, required: false}
criteria:
  - {id: chrf, question: "Is it clear?", scale: {type: percent}}
""",
    "sentences.yaml",
)


def halo(item: str, **fields: object) -> Mapping[str, object]:
    return {"id": item, "question": "When?", "context": "In 1902.", **fields}


def context(protocol: Protocol) -> RaterContext:
    def connect(_: Any) -> Any:
        raise AssertionError("no model is asked")

    return RaterContext(protocol, connect, RaterOptions(), RunOptions())


def by_score(study: Study, rater: str, unit: str) -> Mapping[str, Rating]:
    return {rating.criterion: rating for rating in study.ratings(rater=rater) if rating.unit == unit}


def said(rating: Rating) -> tuple[object, ...]:
    return rating.unit, rating.criterion, rating.status, rating.value


def test_scores_need_no_criterion_and_are_ordinary_ratings(tmp_path: Path):
    items = [halo("a", generated_answer="It opened in 1902.", gold_answer="The bridge opened in 1902.")]
    with Study.create(tmp_path / "study.db", HALO, items) as study:
        result = study.judge("overlap", progress=False)
        assert "not computed: BERTScore" in str(result)
        found = by_score(study, "overlap", "a")
        (rater,) = study.raters()
        (run,) = study.store.work.runs()
    expected, _ = overlap_scores(BUILT_IN, "It opened in 1902.", ["The bridge opened in 1902."], "en")
    assert {name: rating.value for name, rating in found.items()} == expected
    assert list(found) == BUILT_IN
    assert {rating.digest for rating in found.values()} == {HALO.digest}
    assert (rater.kind, rater.version != "", rater.config != "") == (Kind.RULE, True, True)
    assert (run.settings["rated"], run.settings["against"]) == ("generated_answer", ["gold_answer"])


def test_nothing_to_compare_is_a_status_with_a_reason_and_no_score(tmp_path: Path):
    items = [
        halo("a", generated_answer="It opened."),
        halo("b", generated_answer="It opened.", gold_answer=" "),
        halo("c", generated_answer="It opened.", gold_answer="It opened."),
    ]
    with Study.create(tmp_path / "study.db", HALO, items) as study:
        outcome = judge(study.store, ["overlap(rouge-l, token_f1)"])
        assert outcome.total.statuses == {Status.CANNOT_ASSESS: 4, Status.RATED: 2}
        for unit in "ab":
            for rating in by_score(study, "overlap(rouge-l, token_f1)", unit).values():
                assert (rating.status, rating.value) == (Status.CANNOT_ASSESS, None)
                assert rating.reason == "there is no reference in gold_answer"
        assert judge(study.store, ["overlap(rouge-l, token_f1)"]).total.to_do == 0


def test_an_empty_rated_text_has_no_score(tmp_path: Path):
    protocol = read_protocol(
        "name: one\nversion: '1'\ntitle: One\n"
        "item: {fields: {text: {role: rated, required: false}, gold: {role: reference}}}\n"
        "criteria: [{id: good, question: Good, scale: {type: percent}}]\n",
        "one.yaml",
    )
    with Study.create(tmp_path / "study.db", protocol, [{"id": "a", "gold": "x"}]) as study:
        study.judge("overlap(chrf)", progress=False)
        (rating,) = study.ratings()
    assert (rating.status, rating.reason) == (Status.CANNOT_ASSESS, "text is empty")


def test_a_score_is_about_the_item_even_where_sentences_are_rated(tmp_path: Path):
    items = [
        {
            "id": "a",
            "answer": "It opened. It closed. It burnt.",
            "model_answers": ("It burnt.", "It opened. It closed."),
        },
        {"id": "b", "answer": "Only one.", "model_answers": ("Only two.",), "other": "Only one."},
    ]
    with Study.create(tmp_path / "study.db", SENTENCES, items) as study:
        judge(study.store, ["scores=overlap(chrf, rouge-l, rated=answer)"])
        again = judge(study.store, ["scores=overlap(chrf, rouge-l, rated=answer)"])
        ratings = list(study.ratings())
        tables = study.tables()
    assert again.total.to_do == 0
    given = [(rating.unit, rating.criterion) for rating in ratings if rating.status is Status.RATED]
    # A criterion of the protocol is called chrf: the score chrF is another.
    assert given == [("a#1", "ROUGE-L"), ("a#1", "chrF"), ("b#1", "ROUGE-L"), ("b#1", "chrF")]
    others = [(rating.unit, rating.status) for rating in ratings if rating.status is not Status.RATED]
    assert others == [("a#2", Status.NOT_ASKED), ("a#3", Status.NOT_ASKED)]
    assert tables.tables["chrf"].unit.size == 0
    assert list(tables.scores) == ["ROUGE-L", "chrF"]
    assert [table.unit.tolist() for table in tables.scores.values()] == [[0, 1], [0, 1]]
    values = tables.scores["ROUGE-L"].numbers_at(0, tables.scores["ROUGE-L"].unit)
    # Six words against the better of two references, four of them; the second item has a reference that is equal.
    assert values.tolist() == pytest.approx([2 * (4 / 6) * 1 / (4 / 6 + 1), 1.0])


def test_questions_have_their_scores_with_the_first_question(tmp_path: Path):
    questions = {"a": [Question("When?", "1902"), Question("Who?", "Ann")], "b": []}
    items = [{"id": name, "generated": "Ann, in 1902.", "reference": "In 1902, Ann."} for name in "ab"]
    with Study.create(tmp_path / "study.db", "rag-quest-eval", items, questions=questions) as study:
        judge(study.store, ["overlap(token-f1)"])
        found = [(rating.unit, rating.status, rating.value) for rating in study.ratings()]
    assert found == [("a#1", Status.RATED, 1.0), ("a#2", Status.NOT_ASKED, None)]


def test_the_file_of_ratings_holds_scores_and_can_be_imported(tmp_path: Path):
    items = [{"id": "a", "answer": "It opened. It closed.", "other": "It opened."}]
    with Study.create(tmp_path / "study.db", SENTENCES, items) as study:
        judge(study.store, ["scores=overlap(rated=answer)"])
        study.export_ratings(tmp_path / "long.csv")
        before = list(study.ratings())
        for shape in ("diagnosis", "blind"):
            study.export_ratings(tmp_path / f"{shape}.csv", shape)
        study.export_ratings(tmp_path / "wide.jsonl", "wide")
    with Study.create(tmp_path / "copy.db", SENTENCES, items) as copy:
        copy.import_ratings(tmp_path / "long.csv")
        after = list(copy.ratings())
        assert [rater.kind for rater in copy.raters()] == [Kind.RULE]
    assert [said(rating) for rating in after] == [said(rating) for rating in before]
    scores = {f"{rating.criterion}:scores": rating.value for rating in before if rating.unit == "a#1"}
    wide = [json.loads(row) for row in (tmp_path / "wide.jsonl").read_text(encoding="utf-8").splitlines()]
    assert wide == [{"item": "a", "unit": 1, **scores}, {"item": "a", "unit": 2, **dict.fromkeys(scores)}]


def test_the_diagnosis_leaves_out_a_rater_who_gave_only_scores(tmp_path: Path):
    path = tmp_path / "diagnosis.jsonl"

    def rows() -> list[object]:
        study.export_ratings(path, "diagnosis", overwrite=True)
        return [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]

    with Study.create(tmp_path / "study.db", HALO, [halo("a", generated_answer="x", gold_answer="y")]) as study:
        judge(study.store, ["overlap(chrf)"])
        row = {"item": "a", "unit": 1, "criterion": "support"}
        assert rows() == [{**row, "used": "no", "why_not": None}]
        study.import_ratings([{"id": "a", "support": "SUPPORTED"}], rater="ann")
        assert rows() == [{**row, "ann": "SUPPORTED", "used": "yes", "why_not": None}]


def test_a_score_is_a_number_from_0_to_1_also_in_the_store(tmp_path: Path):
    items = [halo("a", generated_answer="x", gold_answer="y")]
    with Study.create(tmp_path / "study.db", HALO, items) as study:
        wrong = Rating(unit="a", criterion="ROUGE-L", rater="r", digest=HALO.digest, value=1.5)
        with pytest.raises(StudyError, match="from 0 to 1"):
            study.store.ratings.add([wrong], raters=[RaterRef("r", Kind.RULE)])


def test_other_settings_need_another_name(tmp_path: Path):
    items = [halo("a", generated_answer="x", gold_answer="y")]
    with Study.create(tmp_path / "study.db", HALO, items) as study:
        judge(study.store, ["mine=overlap(chrf)"])
        with pytest.raises(
            UserError, match=r"other settings \(.*scores \(chrF sacrebleu .*\) → \(token-F1 words as in"
        ) as caught:
            judge(study.store, ["mine=overlap(token-f1)"])
        assert not set("{}[]'") & set(str(caught.value).partition("other settings")[2])


@pytest.mark.parametrize(
    ("spec", "protocol", "named"),
    [
        ("overlap", "neureg-qa", ["role reference", "overlap(against=FIELD)"]),
        ("overlap", "ai-detection", ["role reference"]),
        ("overlap(against=submission)", "ai-detection", ["no text field 'submission'"]),
        ("overlap(against=source)", "neureg-qa", ["several fields are rated", "rated="]),
        ("overlap(against=answer, rated=answer)", "neureg-qa", ["'answer' cannot be compared with itself"]),
        ("overlap(rouge)", "halo-support", ["no score 'rouge'", "rouge-l"]),
        ("overlap(by=x)", "halo-support", ["no option 'by'"]),
        ("overlap(rated=)", "halo-support", ["rated= needs one value"]),
        ("overlap(rated=question, rated=context)", "halo-support", ["rated= needs one value"]),
        ("overlap(", "halo-support", ["cannot be read"]),
        ("overlap()", "halo-support", ["cannot be read"]),
        ("overlap:rouge-l", "halo-support", ["cannot be read"]),
        ("overlap(bertscore)", "halo-support", ["encoder=FOLDER-OR-ID"]),
        ("overlap(chrf, encoder=x)", "halo-support", ["encoder=FOLDER-OR-ID"]),
        ("overlap(chrf, layer=3)", "halo-support", ["encoder=FOLDER-OR-ID"]),
        ("jury(verifier, overlap)", "halo-support", ["has no vote"]),
        ("verifier(overlap)", "halo-support", ["not a language model"]),
    ],
)
def test_what_cannot_be_compared_is_refused(spec: str, protocol: str, named: list[str]):
    with pytest.raises(UserError) as caught:
        rater_of(spec, context(load_protocol(protocol)))
    for part in named:
        assert part in str(caught.value)
    assert str(caught.value).count("bleu-1, ") <= 1


def test_a_field_without_the_role_can_be_named():
    rater = rater_of("overlap(chrf, rated=answer, against=source)", context(load_protocol("neureg-qa")))
    assert (rater.settings["rated"], rater.settings["against"]) == ("answer", ["source"])
    both = rater_of("overlap(chrf, rated=answer, against=note, against=other)", context(SENTENCES))
    assert both.settings["against"] == ["note", "other"]


def test_missing_packages_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    rater = rater_of("overlap", context(HALO))
    scores = cast("Mapping[str, str]", rater.settings["scores"])
    assert list(scores) == ["ROUGE-L", "token-F1"]
    assert "BLEU-4 and chrF; install what they need, in a clone of Evenhand, with: " in rater.remarks[0]
    assert "pip install '.[metrics]'; then rate under another name, such as all=overlap" in rater.remarks[0]
    assert "extra hf" in rater.remarks[-1]
    with pytest.raises(MissingExtraError, match=r"\[metrics\]"):
        rater_of("overlap(bleu-4)", context(HALO))
