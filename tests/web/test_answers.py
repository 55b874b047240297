"""Which answers are open to a rater."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from fastapi import HTTPException

from evenhand.errors import UserError
from evenhand.protocol.completion import TAKEN_BACK, lead_for
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Rating, Span, Status
from evenhand.web.answers import AnswerRequest, check, check_evidence, content_of, same_answer
from evenhand.web.routes.tasks import replaced_id
from tests.protocol.test_completion import BAD, FEEDBACK, HALO, STEM, asking, rated, said, unit


def answer(**given: Any) -> AnswerRequest:
    return AnswerRequest.model_validate({"id": "0" * 32, "status": "rated", **given})


def made(protocol: Protocol, criterion: str, **given: Any) -> Rating:
    """The rating that an answer makes, checked for itself; `beside` are the unit's ratings in force."""
    beside: list[Rating] = given.pop("beside", [])
    field: str | None = given.pop("field", None)
    asked = protocol.criterion(criterion)
    rating = replace(said(criterion, Status.SKIPPED), **content_of(asked, answer(**given)))
    check(protocol, asked, unit(*beside), rating, field)
    check_evidence(rating.evidence, {"context": "[1] Oslo\n\n[2] Bergen", "question": "Where?"})
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
    protocol = HALO.model_copy(update={"criteria": tuple(Criterion.model_validate(one) for one in criteria)})
    value = made(protocol, "share", value=80).value
    assert (value, type(value)) == (80.0, float)
    with pytest.raises(UserError, match="from 0 to 100"):
        made(protocol, "share", value=101)


def test_a_value_goes_with_the_status_rated_alone() -> None:
    for wrong in ({"value": None}, {"status": "cannot_assess", "value": "SUPPORTED"}):
        with pytest.raises(UserError, match="exactly if"):
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
        with pytest.raises(UserError, match="sked only when Accuracy is Disputed"):
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
        with pytest.raises(UserError, match="does not ask for"):
            made(HALO, "support", value="SUPPORTED", **given)
    with pytest.raises(UserError, match="ask for notes"):
        made(STEM, "accuracy", value="Accurate", notes="n")
    with pytest.raises(UserError, match="ask for rationale"):
        made(FEEDBACK, "improvements", value="shorter", rationale="r")
    assert made(HALO, "support", value="SUPPORTED", rationale="  ").rationale is None


def test_confidence_and_notes_go_with_the_lead_while_it_has_a_value() -> None:
    assert made(FEEDBACK, "overall", value=4, confidence=80, notes=" n ").notes == "n"
    assert made(FEEDBACK, "tone", value=4, confidence=80).confidence == 80
    with pytest.raises(UserError, match="with the answer on Overall"):
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
    assert same_answer(one, made(HALO, "support", value="SUPPORTED", seconds=9))
    assert not same_answer(one, made(HALO, "support", value="SUPPORTED", notes="n"))


def test_a_condition_says_what_is_to_be_replaced() -> None:
    assert replaced_id('"abc"', None) == "abc"
    assert replaced_id(None, "*") is None
    with pytest.raises(HTTPException) as missing_condition:
        replaced_id(None, None)
    assert missing_condition.value.status_code == 428
    for if_match, if_none_match in (("abc", None), ('W/"abc"', None), ("*", None), ('"a", "b"', None), ('"a"', "*")):
        with pytest.raises(UserError, match="If-Match"):
            replaced_id(if_match, if_none_match)
    with pytest.raises(UserError, match="If-Match"):
        replaced_id(None, '"abc"')


def test_only_what_is_asked_about_the_claims_of_a_field_can_be_answered() -> None:
    claims = load_protocol("halo-claims")
    assert made(claims, "answer_support", value="SUPPORTED", field="gold_answer").value == "SUPPORTED"
    with pytest.raises(UserError, match="only about claims of “Gold answer”"):
        made(claims, "answer_support", value="SUPPORTED", field="generated_answer")


def test_notes_go_with_the_first_criterion_that_is_asked_if_the_lead_is_not() -> None:
    claims = load_protocol("halo-claims")
    support, answer_support = claims.criteria
    content = {**claims.model_dump(), "criteria": [answer_support, support]}
    swapped = Protocol.model_validate(content)
    assert swapped.lead == answer_support
    assert lead_for(swapped, "generated_answer") == support
    assert made(swapped, "support", value="SUPPORTED", notes="why", field="generated_answer").notes == "why"
    beside = [rated("answer_support", "SUPPORTED")]
    with pytest.raises(UserError, match="give confidence and notes with the answer on"):
        made(swapped, "support", value="SUPPORTED", notes="why", beside=beside, field="gold_answer")
