"""Worked examples: trials with feedback, never ratings."""

from html import unescape
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from evenhand.assignment import Plan
from evenhand.formats.derived_units import read_questions
from evenhand.records import Item
from evenhand.study import Study
from tests.web.browsing import Browsers
from tests.web.hands import Hand, at_page, ratings_by, stem_item, text_of

SAMPLES = files("evenhand.samples")


def test_training_gives_feedback_and_leaves_no_rating(study: Study, client: Browsers) -> None:
    ann = Hand(client.rater("ann"))
    assert ann.form["training"] == len(study.protocol.examples)
    for number, example in enumerate(study.protocol.examples, start=1):
        task = ann.take()
        assert (task["number"], task["purpose"]) == (number, "training")
        assert task["title"] is None, "a title may give the answer away"
        assert task["feedback"] is None
        wrong = number == 2
        given = "SUPPORTED" if wrong else example.ratings["support"]
        ann.save(number, 1, "support", given)
        assert ann.task(number)["feedback"] is None, "the expected answer is shown when the answer is final"
        done = ann.finished(number)
        assert done["feedback"] == {
            "explanation": example.explanation,
            "criteria": [
                {
                    "criterion": "support",
                    "expected": example.ratings["support"],
                    "given": given,
                    "right": not wrong,
                    "close": False,
                    "rationale": example.rationales["support"],
                    "evidence": list(example.evidence["support"]),
                }
            ],
        }
        assert done["task"] == {"state": "done", "locked": True}
        assert ann.task(number)["title"] == example.title
        assert ann.put(number, 1, "support", {"value": "NO EVIDENCE"}).status_code == 409
    assert ann.take()["purpose"] == "rate"
    assert ratings_by(study, "ann", history=True) == []
    trials = [(number, rating.unit) for number, rating in study.store.people.trials.all("ann")]
    assert trials == [(number + 1, f"example:{number}") for number in range(len(study.protocol.examples))]


def test_training_that_is_offered_may_be_skipped_as_a_whole(study: Study, client: Browsers) -> None:
    ann = Hand(client.rater("ann"))
    assert ann.take()["purpose"] == "training"
    assert ann.skip(1).status_code == 409
    assert ann.client.post("/api/training/skip").json() == {"state": "training_over"}
    assert ann.take()["purpose"] == "rate"


@pytest.mark.parametrize("page", ["/rate", "/guideline"])
def test_the_guideline_has_the_worked_examples_when_training_is_over(study: Study, client: Browsers, page: str) -> None:
    ann = Hand(client.rater("ann"))
    answers = [str(example.fields["generated_answer"]) for example in study.protocol.examples]

    def shown() -> list[bool]:
        text = unescape(ann.client.get(page).text)
        return [answer in text for answer in answers]

    assert not any(shown())
    ann.client.post("/api/training/skip")
    assert all(shown())


def test_a_level_next_to_the_expected_one_is_close(tmp_path: Path) -> None:
    item = Item("i", {"question": "Why?", "answer": "So.", "source": "It is so."})
    with Study.create(tmp_path / "s.db", "neureg-qa", [item]) as study, at_page(study) as rater:
        ann, expected = rater("ann"), study.protocol.examples[0].ratings
        ann.take()
        given = dict(expected)
        first, second, *_ = given
        assert (expected[first], expected[second]) == (5, 5)
        given |= {first: 4, second: 1}
        for criterion, level in given.items():
            ann.save(1, 1, criterion, level)
        verdicts = {one["criterion"]: (one["right"], one["close"]) for one in ann.finished(1)["feedback"]["criteria"]}
        assert verdicts == dict.fromkeys(given, (True, False)) | {first: (False, True), second: (False, False)}


def test_training_that_is_required_may_not(study: Study, client: Browsers) -> None:
    study.store.people.tasks.set_plan(Plan(training="required"))
    ann = Hand(client.rater("ann"))
    assert ann.client.post("/api/training/skip").status_code == 409
    assert ann.take()["purpose"] == "training"


def test_feedback_on_follow_ups_and_texts(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db", "stem-accuracy", [stem_item()]) as study, at_page(study) as rater:
        ann = rater("ann")
        task = ann.take()
        sentence = study.protocol.examples[0].unit
        assert task["units"][0]["text"] == sentence
        span = task["units"][0]["span"]
        assert text_of(task, "response")[span["start"] : span["end"]] == sentence
        ann.save(1, 1, "accuracy", "Accurate")
        assert [one["right"] for one in ann.finished(1)["feedback"]["criteria"]] == [True, True], "both not asked"
        ann.take()
        ann.save(2, 1, "accuracy", "Accurate")
        assert [(one["given"], one["right"]) for one in ann.finished(2)["feedback"]["criteria"]] == [
            ("Accurate", False),
            (None, False),
        ]


def test_text_answers_are_right_when_half_of_their_words_are(tmp_path: Path) -> None:
    """The expected answers are March 2019, Ines Calder and none: F1 of "in March 2019 then" is 2·2/(4+2) = 0.67."""
    item = Item("i", {"reference": "It was 1.", "generated": "It was 1."})
    with as_file(SAMPLES / "rag-quest-eval" / "questions.json") as path:
        question = next(iter(read_questions(path).values()))[0]
    made = Study.create(tmp_path / "s.db", "rag-quest-eval", [item], questions={"i": [question]})
    with made as study, at_page(study) as rater:
        ann = rater("ann")
        given = ["in March 2019 then", "Ines", "<Unanswerable>"]
        right: list[bool] = []
        for number, answer in enumerate(given, start=1):
            ann.take()
            ann.save(number, 1, "answer", answer)
            right.append(ann.finished(number)["feedback"]["criteria"][0]["right"])
        assert right == [True, True, True]
        task = ann.take()
        assert [unit["text"] for unit in task["units"]] == [question.text]
        assert [field["name"] for field in task["fields"]] == ["generated"]
        assert set(task["units"][0]) == {"position", "text", "span", "field", "finished", "missing", "ratings"}


def test_a_worked_example_of_a_claim_is_about_what_is_asked_of_its_field(tmp_path: Path) -> None:
    fields = {"question": "Q?", "context": ("It is so.",), "generated_answer": "It is so.", "gold_answer": "It is."}
    with Study.create(tmp_path / "s.db", "halo-claims", [Item("i", fields)]) as study, at_page(study) as rater:
        ann = rater("ann")
        for number, example in enumerate(study.protocol.examples, start=1):
            task = ann.take()
            source = study.protocol.example_field(example)
            assert (task["units"][0]["field"], task["units"][0]["text"]) == (source, example.unit)
            refused = ann.put(number, 1, "answer_support", {"value": "SUPPORTED"}).status_code
            assert refused == (422 if source == "generated_answer" else 200)
            for criterion, value in example.ratings.items():
                ann.save(number, 1, criterion, value)
            verdicts = ann.finished(number)["feedback"]["criteria"]
            assert {one["criterion"]: one["right"] for one in verdicts} == dict.fromkeys(example.ratings, True)
        units = ann.take()["units"]
        assert [(unit["field"], unit["span"]["field"]) for unit in units] == [
            ("generated_answer", "generated_answer"),
            ("gold_answer", "gold_answer"),
        ]
