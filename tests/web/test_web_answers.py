"""What a unit lacks, what finishing writes, and which answers are open to a rater."""

from collections.abc import Mapping
from typing import Any

import pytest
from fastapi import HTTPException

from evenhand.errors import UserError
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import UNANSWERABLE, Rating, Span, Status, Value
from evenhand.web.answers import TAKEN_BACK, closing, is_answer, is_finished, missing, skipping, values_of
from evenhand.web.checking import check, id_in_force, rating_of, says_the_same
from evenhand.web.shapes import AnswerShape

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
    return list(closing(protocol, unit(*ratings)))


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
        assert lacks(FEEDBACK, *without) == [("overall", "say why")]
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
        elsewhere = rated(first.criterion, 4, rationale="r", confidence=80)
        assert lacks(FEEDBACK, elsewhere, *rest) == [(None, "say how sure you are")]

    def test_confidence_is_with_the_first_value_where_the_lead_has_none(self) -> None:
        first, *rest, _ = all_of_feedback()
        unable = said("overall", Status.CANNOT_ASSESS)
        assert lacks(FEEDBACK, first, *rest, unable) == [(None, "say how sure you are")]
        sure = rated(first.criterion, 4, rationale="r", confidence=80)
        assert lacks(FEEDBACK, sure, *rest, unable) == []

    def test_nobody_needs_to_be_sure_of_nothing(self) -> None:
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
        assert skipping(STEM, nothing) == [("accuracy", Status.SKIPPED), ("severity", Status.SKIPPED)]
        bad = unit(rated("accuracy", BAD), said("severity", Status.NOT_ASKED))
        assert skipping(STEM, bad) == [("severity", Status.SKIPPED)]
        assert skipping(HALO, unit(said("support", Status.CANNOT_ASSESS))) == []

    def test_a_follow_up_that_is_known_not_to_be_asked_is_not_skipped(self) -> None:
        good = rated("accuracy", "Accurate")
        assert skipping(STEM, unit(good)) == [("severity", Status.NOT_ASKED)]
        assert skipping(STEM, unit(good, rated("severity", "Severe"))) == [("severity", Status.NOT_ASKED)]

    @pytest.mark.parametrize("first", [None, "Accurate", BAD])
    @pytest.mark.parametrize("second", [None, "Severe", Status.NOT_ASKED, TAKEN_BACK])
    def test_the_unit_is_finished_by_it(self, first: str | None, second: str | Status | None) -> None:
        answers = [rated("accuracy", first)] if first else [said("accuracy", Status.SKIPPED, reason=TAKEN_BACK)]
        if second == TAKEN_BACK:
            answers.append(said("severity", Status.SKIPPED, reason=TAKEN_BACK))
        elif second is not None:
            not_asked = second is Status.NOT_ASKED
            answers.append(said("severity", Status.NOT_ASKED) if not_asked else rated("severity", second))
        settled = [said(name, status) for name, status in skipping(STEM, unit(*answers))]
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
    assert values_of(chain(), answers) == {"a": "no"}
    assert missing(chain(), answers) == []
    assert closing(chain(), answers) == [("b", Status.NOT_ASKED), ("c", Status.NOT_ASKED)]


# Which answers are open to a rater


def answer(**given: Any) -> AnswerShape:
    return AnswerShape.model_validate({"id": "0" * 32, "status": "rated", **given})


def made(protocol: Protocol, criterion: str, **given: Any) -> Rating:
    """The rating that an answer makes, checked for itself; `beside` are the unit's ratings in force."""
    beside: list[Rating] = given.pop("beside", [])
    blank = said(criterion, Status.SKIPPED)
    rating = rating_of(protocol.criterion(criterion), answer(**given), blank)
    check(protocol, unit(*beside), rating, lambda: {"context": "[1] Oslo\n\n[2] Bergen", "question": "Where?"})
    return rating


def test_values_are_read_by_their_scale_and_must_be_canonical() -> None:
    assert made(HALO, "support", value="NO EVIDENCE").value == "NO EVIDENCE"
    assert made(FEEDBACK, "tone", value=4.0, rationale="r").value == 4
    for bad in ("no evidence", "SUPPORTEDD", 1):
        with pytest.raises(UserError, match="Support: "):
            made(HALO, "support", value=bad)
    for bad in ("4", 6, 4.5, "Good"):
        with pytest.raises(UserError, match="Tone: "):
            made(FEEDBACK, "tone", value=bad)


def test_texts_are_tidied_and_must_be_texts() -> None:
    quest = load_protocol("rag-quest-eval")
    assert made(quest, "answer", value=" Mill Street\n").value == "Mill Street"
    assert made(quest, "answer", value="<unanswerable>").value == UNANSWERABLE
    for bad in ("  ", 5):
        with pytest.raises(UserError, match="Answer: "):
            made(quest, "answer", value=bad)


def test_a_percentage_may_be_a_whole_number() -> None:
    scale = {"type": "percent"}
    criteria = [{"id": "share", "question": "How much?", "scale": scale}]
    protocol = Protocol.model_validate({**chain().model_dump(exclude={"criteria"}), "criteria": criteria})
    value = made(protocol, "share", value=80).value
    assert (value, type(value)) == (80.0, float)
    with pytest.raises(UserError, match="from 0 to 100"):
        made(protocol, "share", value=101)


def test_a_value_goes_with_the_status_rated_alone() -> None:
    for wrong in ({"value": None}, {"status": "cannot_assess", "value": "SUPPORTED"}):
        with pytest.raises(UserError, match="exactly when"):
            made(HALO, "support", **wrong)


def test_a_required_criterion_cannot_be_skipped_by_itself_but_taken_back() -> None:
    with pytest.raises(UserError, match="cannot be skipped"):
        made(HALO, "support", status="skipped")
    taken_back = made(HALO, "support", status="skipped", taken_back=True)
    assert (taken_back.status, taken_back.reason) == (Status.SKIPPED, TAKEN_BACK)
    with pytest.raises(UserError, match="status skipped"):
        made(HALO, "support", value="SUPPORTED", taken_back=True)
    assert made(FEEDBACK, "improvements", status="skipped").reason is None


def test_cannot_assess_is_refused_where_a_label_says_it() -> None:
    assert made(HALO, "support", status="cannot_assess").status is Status.CANNOT_ASSESS
    with pytest.raises(UserError, match="choose the label"):
        made(STEM, "accuracy", status="cannot_assess")


def test_a_follow_up_is_refused_where_its_condition_does_not_hold() -> None:
    for beside in ([], [rated("accuracy", "Accurate")], [said("accuracy", Status.SKIPPED, reason=TAKEN_BACK)]):
        with pytest.raises(UserError, match="asked only when Accuracy is Disputed"):
            made(STEM, "severity", value="Severe", beside=beside)
    assert made(STEM, "severity", value="Severe", beside=[rated("accuracy", BAD)]).value == "Severe"
    gone = made(STEM, "severity", status="skipped", taken_back=True, beside=[rated("accuracy", "Accurate")])
    assert gone.reason == TAKEN_BACK


def test_what_is_not_asked_for_is_refused() -> None:
    refused: list[Mapping[str, Any]] = [
        {"rationale": "r"},
        {"confidence": 50},
        {"evidence": [{"field": "context", "start": 0, "end": 1}]},
    ]
    for given in refused:
        with pytest.raises(UserError, match="asked for here"):
            made(HALO, "support", value="SUPPORTED", **given)
    with pytest.raises(UserError, match="no notes"):
        made(STEM, "accuracy", value="Accurate", notes="n")
    with pytest.raises(UserError, match="no rationale"):
        made(FEEDBACK, "improvements", value="shorter", rationale="r")
    assert made(HALO, "support", value="SUPPORTED", rationale="  ").rationale is None


def test_confidence_and_notes_go_with_the_lead_while_it_has_a_value() -> None:
    assert made(FEEDBACK, "overall", value=4, confidence=80, notes=" n ").notes == "n"
    assert made(FEEDBACK, "tone", value=4, confidence=80).confidence == 80
    with pytest.raises(UserError, match="go with the answer on Overall"):
        made(FEEDBACK, "tone", value=4, confidence=80, beside=[rated("overall", 3)])
    unable = said("overall", Status.CANNOT_ASSESS)
    assert made(FEEDBACK, "tone", value=4, notes="n", beside=[unable]).notes == "n"


def test_evidence_lies_inside_a_field_that_is_shown() -> None:
    cited = asking(HALO, evidence="optional")

    def spans(*given: tuple[str, int, int]) -> Rating:
        evidence = [{"field": field, "start": start, "end": end} for field, start, end in given]
        return made(cited, "support", value="SUPPORTED", evidence=evidence)

    whole = len("[1] Oslo\n\n[2] Bergen")
    assert spans(("context", 4, whole), ("context", 4, whole)).evidence == (Span("context", 4, whole),)
    for bad in (("context", 4, whole + 1), ("context", 4, 4), ("context", 5, 4), ("gold_answer", 0, 1)):
        with pytest.raises(UserError, match="evidence: "):
            spans(bad)


def test_answers_are_the_same_whatever_time_they_took() -> None:
    one = made(HALO, "support", value="SUPPORTED", seconds=3)
    assert says_the_same(one, made(HALO, "support", value="SUPPORTED", seconds=9))
    assert not says_the_same(one, made(HALO, "support", value="SUPPORTED", notes="n"))


def test_a_condition_says_what_is_to_be_replaced() -> None:
    assert id_in_force('"abc"', None) == "abc"
    assert id_in_force(None, "*") is None
    with pytest.raises(HTTPException) as missing_condition:
        id_in_force(None, None)
    assert missing_condition.value.status_code == 428
    for if_match, if_none_match in (("abc", None), ('W/"abc"', None), ("*", None), ('"a", "b"', None), ('"a"', "*")):
        with pytest.raises(UserError, match="If-Match"):
            id_in_force(if_match, if_none_match)
    with pytest.raises(UserError, match="If-Match"):
        id_in_force(None, '"abc"')
