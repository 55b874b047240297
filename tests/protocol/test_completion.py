"""Which criteria are asked, what a unit lacks, what finishing records, and how answers become ratings."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import RaterFailure
from evenhand.protocol.completion import (
    TAKEN_BACK,
    Judgement,
    MissingPart,
    effective_values,
    is_answer,
    is_asked,
    is_finished,
    missing,
    ratings_of,
    statuses_on_finish,
)
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Answer, Rating, Span, Status, Unit, Value

FEEDBACK = load_protocol("feedback")
STEM = load_protocol("stem-accuracy")
HALO = load_protocol("halo-support")
BAD = "Inaccurate"


def asking(protocol: Protocol, **asked: str) -> Protocol:
    return protocol.model_copy(update={"ask": protocol.ask.model_copy(update=asked)})


def rated(criterion: str, value: Value, **more: Any) -> Rating:
    return Rating(unit="u", criterion=criterion, rater="ann", digest="d", value=value, **more)


def said(criterion: str, status: Status, **more: Any) -> Rating:
    return Rating(unit="u", criterion=criterion, rater="ann", digest="d", status=status, **more)


def unit(*ratings: Rating) -> Mapping[str, Rating]:
    return {rating.criterion: rating for rating in ratings}


def lacks(protocol: Protocol, *ratings: Rating) -> list[tuple[str | None, str]]:
    return [(one.criterion, one.what) for one in missing(protocol, unit(*ratings))]


def settles(protocol: Protocol, *ratings: Rating) -> list[tuple[str, Status]]:
    return list(statuses_on_finish(protocol, unit(*ratings)))


def all_of_feedback(**more: Any) -> list[Rating]:
    """Every level with its rationale; confidence and what else is given stand on the lead, the overall level."""
    names = ["correctness", "clarity", "tone", "actionability", "coherence", "emotion"]
    return [*(rated(name, 4, rationale="because") for name in names), rated("overall", 4, rationale="so", **more)]


class TestMissing:
    def test_a_required_criterion(self) -> None:
        assert lacks(HALO) == [("support", "choose a label")]
        assert lacks(load_protocol("neureg-qa"))[0] == ("relevance", "choose a level")
        assert lacks(load_protocol("rag-quest-eval")) == [("answer", "write an answer")]

    def test_an_answer_that_was_taken_back_or_failed_is_none(self) -> None:
        assert lacks(HALO, said("support", Status.SKIPPED, reason=TAKEN_BACK)) == [("support", "choose a label")]
        assert lacks(HALO, said("support", Status.FAILED, reason="it broke")) == [("support", "choose a label")]
        assert not is_answer(said("support", Status.SKIPPED, reason=TAKEN_BACK))
        assert is_answer(said("support", Status.SKIPPED))

    def test_a_follow_up_only_where_its_condition_holds(self) -> None:
        assert lacks(STEM, rated("accuracy", "Accurate")) == []
        assert lacks(STEM, rated("accuracy", BAD)) == [("severity", "choose a label")]
        assert lacks(STEM, rated("accuracy", BAD), rated("severity", "Severe")) == []

    def test_a_follow_up_again_once_its_condition_holds_again(self) -> None:
        assert lacks(STEM, rated("accuracy", BAD), said("severity", Status.NOT_ASKED)) == [
            ("severity", "choose a label")
        ]

    def test_a_rationale_is_owed_for_values_on_scales_alone(self) -> None:
        without = [
            rated("overall", 4, confidence=90) if one.criterion == "overall" else one for one in all_of_feedback()
        ]
        assert lacks(FEEDBACK, *without) == [("overall", "say why in words")]
        unable = [*without[:-1], said("overall", Status.CANNOT_ASSESS, confidence=90)]
        assert lacks(FEEDBACK, *unable, rated("improvements", "shorter")) == []

    def test_evidence(self) -> None:
        strict = asking(HALO, evidence="required")
        assert lacks(strict, rated("support", "SUPPORTED")) == [("support", "mark the evidence")]
        assert lacks(strict, rated("support", "SUPPORTED", evidence=(Span("context", 0, 3),))) == []
        assert lacks(strict, said("support", Status.CANNOT_ASSESS)) == []

    def test_confidence_and_notes_are_owed_once_and_by_the_lead(self) -> None:
        assert lacks(FEEDBACK, *all_of_feedback()) == [(None, "say how sure you are")]
        assert lacks(FEEDBACK, *all_of_feedback(confidence=0)) == []
        noted = asking(FEEDBACK, notes="required")
        assert lacks(noted, *all_of_feedback(confidence=70)) == [(None, "write a note")]
        assert lacks(noted, *all_of_feedback(confidence=70, notes="n")) == []

    def test_confidence_elsewhere_does_not_count_where_the_lead_has_a_value(self) -> None:
        first, *rest = all_of_feedback()
        elsewhere = rated(first.criterion, 4, rationale="because", confidence=80)
        assert lacks(FEEDBACK, elsewhere, *rest) == [(None, "say how sure you are")]

    def test_confidence_is_with_the_first_value_where_the_lead_has_none(self) -> None:
        first, *rest, _ = all_of_feedback()
        unable = said("overall", Status.CANNOT_ASSESS)
        assert lacks(FEEDBACK, first, *rest, unable) == [(None, "say how sure you are")]
        sure = rated(first.criterion, 4, rationale="because", confidence=80)
        assert lacks(FEEDBACK, sure, *rest, unable) == []

    def test_no_confidence_is_needed_without_an_answer(self) -> None:
        names = [criterion.id for criterion in FEEDBACK.criteria if criterion.required]
        assert lacks(FEEDBACK, *(said(name, Status.CANNOT_ASSESS) for name in names)) == []

    def test_a_unit_of_a_skipped_item_lacks_nothing(self) -> None:
        first, *rest = (criterion.id for criterion in FEEDBACK.criteria)
        assert lacks(FEEDBACK, rated(first, 3), *(said(name, Status.SKIPPED, reason="why") for name in rest)) == []


class TestClosing:
    def test_what_was_not_asked(self) -> None:
        assert settles(STEM, rated("accuracy", "Accurate")) == [("severity", Status.NOT_ASKED)]
        assert settles(STEM, rated("accuracy", "Accurate"), said("severity", Status.NOT_ASKED)) == []
        assert settles(STEM, rated("accuracy", BAD), rated("severity", "Severe")) == []

    def test_a_follow_up_that_was_answered_before_its_condition_turned_false(self) -> None:
        assert settles(STEM, rated("accuracy", "Accurate"), rated("severity", "Severe")) == [
            ("severity", Status.NOT_ASKED)
        ]

    def test_an_optional_criterion_without_an_answer(self) -> None:
        assert settles(FEEDBACK, *all_of_feedback()) == [("improvements", Status.SKIPPED)]
        taken_back = said("improvements", Status.SKIPPED, reason=TAKEN_BACK)
        assert settles(FEEDBACK, *all_of_feedback(), taken_back) == [("improvements", Status.SKIPPED)]
        assert settles(FEEDBACK, *all_of_feedback(), said("improvements", Status.SKIPPED)) == []

    def test_never_a_required_one(self) -> None:
        assert settles(HALO) == []

    def test_a_follow_up_skipped_with_the_item_stays_so_until_its_condition_is_known(self) -> None:
        skipped = said("severity", Status.SKIPPED, reason="why")
        assert settles(STEM, said("accuracy", Status.SKIPPED, reason="why"), skipped) == []
        assert settles(STEM, rated("accuracy", "Accurate"), skipped) == [("severity", Status.NOT_ASKED)]


class TestSkipping:
    def test_everything_that_has_no_answer(self) -> None:
        nothing = unit()
        assert statuses_on_finish(STEM, nothing, skipped=True) == [
            ("accuracy", Status.SKIPPED),
            ("severity", Status.SKIPPED),
        ]
        bad = unit(rated("accuracy", BAD), said("severity", Status.NOT_ASKED))
        assert statuses_on_finish(STEM, bad, skipped=True) == [("severity", Status.SKIPPED)]
        assert statuses_on_finish(HALO, unit(said("support", Status.CANNOT_ASSESS)), skipped=True) == []

    def test_a_follow_up_that_is_known_not_to_be_asked_is_not_skipped(self) -> None:
        good = rated("accuracy", "Accurate")
        assert statuses_on_finish(STEM, unit(good), skipped=True) == [("severity", Status.NOT_ASKED)]
        assert statuses_on_finish(STEM, unit(good, rated("severity", "Severe")), skipped=True) == [
            ("severity", Status.NOT_ASKED)
        ]

    @pytest.mark.parametrize("first", [None, "Accurate", BAD])
    @pytest.mark.parametrize("second", [None, "Severe", Status.NOT_ASKED, TAKEN_BACK])
    def test_the_unit_is_finished_by_it(self, first: str | None, second: str | Status | None) -> None:
        answers = [rated("accuracy", first)] if first else [said("accuracy", Status.SKIPPED, reason=TAKEN_BACK)]
        if second == TAKEN_BACK:
            answers.append(said("severity", Status.SKIPPED, reason=TAKEN_BACK))
        elif second is not None:
            not_asked = second is Status.NOT_ASKED
            answers.append(said("severity", Status.NOT_ASKED) if not_asked else rated("severity", second))
        settled = [said(name, status) for name, status in statuses_on_finish(STEM, unit(*answers), skipped=True)]
        assert is_finished(STEM, unit(*answers, *settled))


def test_a_unit_is_finished_when_nothing_is_missing_and_nothing_is_left_to_settle() -> None:
    assert not is_finished(STEM, unit())
    assert not is_finished(STEM, unit(rated("accuracy", "Accurate")))
    assert is_finished(STEM, unit(rated("accuracy", "Accurate"), said("severity", Status.NOT_ASKED)))
    assert is_finished(HALO, unit(said("support", Status.CANNOT_ASSESS)))


def chain() -> Protocol:
    """Three criteria, each asked only when the one before was answered with yes."""
    scale = {"type": "nominal", "labels": {"yes": {"definition": "so"}, "no": {"definition": "not so"}}}
    criteria = [
        {
            "id": name,
            "question": "?",
            "scale": scale,
            "when": {"criterion": before, "any_of": ["yes"]} if before else None,
        }
        for before, name in ((None, "a"), ("a", "b"), ("b", "c"))
    ]
    fields = {"text": {"role": "rated"}}
    return Protocol.model_validate(
        {"name": "chain", "version": "1", "title": "Chain", "item": {"fields": fields}, "criteria": criteria}
    )


def test_a_value_that_is_no_longer_asked_for_opens_no_further_question() -> None:
    answers = unit(rated("a", "no"), rated("b", "yes"), rated("c", "yes"))
    assert effective_values(chain(), answers) == {"a": "no"}
    assert missing(chain(), answers) == []
    assert statuses_on_finish(chain(), answers) == [("b", Status.NOT_ASKED), ("c", Status.NOT_ASKED)]


# Answers as ratings


UNIT = Unit("u", "i", 1)


def outcomes(*answers: Answer, **more: Any) -> dict[str, tuple[Status, object, str | None]]:
    ratings = ratings_of(STEM, "model", Judgement(UNIT, answers, **more))
    return {rating.criterion: (rating.status, rating.value, rating.reason) for rating in ratings}


def test_an_answer_in_any_spelling_becomes_the_label_of_the_scale() -> None:
    assert outcomes(Answer("accuracy", "inaccurate "), Answer("severity", "NOT_SEVERE")) == {
        "accuracy": (Status.RATED, "Inaccurate", None),
        "severity": (Status.RATED, "Not Severe", None),
    }


def test_a_follow_up_is_not_asked_if_its_condition_is_false_whatever_the_rater_answers() -> None:
    answers = [Answer("accuracy", "Accurate"), Answer("severity", "Severe")]
    assert outcomes(*answers)["severity"] == (Status.NOT_ASKED, None, None)


def test_a_value_off_the_scale_is_a_failure_and_is_kept() -> None:
    accuracy, severity = ratings_of(STEM, "model", Judgement(UNIT, [Answer("accuracy", "4 stars")]))
    assert (accuracy.status, accuracy.value, accuracy.raw) == (Status.FAILED, None, "4 stars")
    assert accuracy.reason is not None
    assert accuracy.reason.startswith("not on the scale: '4 stars'")
    assert severity.status is Status.NOT_ASKED


def test_a_required_answer_that_is_missing_is_a_failure() -> None:
    status, value, reason = outcomes(Answer("accuracy", "Disputed"))["severity"]
    assert (status, value) == (Status.FAILED, None)
    assert reason


def test_an_optional_answer_that_is_missing_is_skipped() -> None:
    answers = [Answer(criterion.id, 4) for criterion in FEEDBACK.criteria if criterion.required]
    ratings = {rating.criterion: rating for rating in ratings_of(FEEDBACK, "model", Judgement(UNIT, answers))}
    assert ratings["improvements"].status is Status.SKIPPED


def test_what_a_rater_cannot_judge_is_cannot_assess_but_only_if_it_is_asked() -> None:
    beyond = "it cannot tell"
    assert outcomes(Answer("accuracy", BAD), beyond=beyond)["severity"] == (
        Status.CANNOT_ASSESS,
        None,
        "it cannot tell",
    )
    assert outcomes(Answer("accuracy", "Accurate"), beyond=beyond)["severity"] == (Status.NOT_ASKED, None, None)


def test_a_failure_is_recorded_for_every_criterion_with_reason_and_reply() -> None:
    failure = RaterFailure("refused", raw="I cannot help.")
    ratings = ratings_of(STEM, "model", Judgement(UNIT, (), failure, seconds=2.0, reply="r1"))
    assert [rating.criterion for rating in ratings] == ["accuracy", "severity"]
    assert {(rating.status, rating.value, rating.reason, rating.raw) for rating in ratings} == {
        (Status.FAILED, None, "refused", "I cannot help.")
    }
    assert {(rating.seconds, rating.reply, rating.digest) for rating in ratings} == {(2.0, "r1", STEM.digest)}


def test_a_confidence_off_its_scale_is_a_failure() -> None:
    status, value, reason = outcomes(Answer("accuracy", "Accurate", confidence=110.0))["accuracy"]
    assert (status, value) == (Status.FAILED, None)
    assert reason is not None
    assert reason.startswith("confidence: ")


def test_levels_have_the_mean_of_their_distribution_and_labels_have_none() -> None:
    neureg = load_protocol("neureg-qa")
    answers = [Answer(criterion.id, 4, distribution=((3, 0.25), (4, 0.75))) for criterion in neureg.criteria]
    ratings = ratings_of(neureg, "model", Judgement(UNIT, answers))
    # 3 · 0.25 + 4 · 0.75 = 3.75
    assert {(rating.value, rating.mean) for rating in ratings} == {(4, 3.75)}
    label = Answer("accuracy", "Accurate", distribution=(("Accurate", 1.0),))
    assert ratings_of(STEM, "model", Judgement(UNIT, [label]))[0].mean is None


# The cases that the page's JavaScript is tested with, too

CASES = json.loads(Path(__file__).with_name("completion_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_shared_cases(case: Mapping[str, Any]) -> None:
    protocol = asking(load_protocol(case["protocol"]), **case.get("ask", {}))
    ratings = {name: shared_rating(name, given) for name, given in case["answers"].items()}
    field = case.get("field")
    values = effective_values(protocol, ratings, field)
    assert [criterion.id for criterion in protocol.criteria if is_asked(criterion, values, field)] == case["asked"]
    expected = [MissingPart(one["criterion"], one["what"]) for one in case["missing"]]
    assert missing(protocol, ratings, field) == expected


def shared_rating(criterion: str, given: Mapping[str, Any]) -> Rating:
    content: dict[str, Any] = {**given, "status": Status(given["status"])}
    if "evidence" in given:
        content["evidence"] = tuple(Span(**span) for span in given["evidence"])
    return Rating(unit="u", criterion=criterion, rater="ann", digest="d", **content)
