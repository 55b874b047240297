import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.llm.base import Choice, Message, Reply, Request
from evenhand.llm.fencing import LONGEST
from evenhand.protocol.model import Protocol
from evenhand.raters.llm_judge.parse import Fault, ParsedReply, Reason, again, read_reply
from evenhand.raters.llm_judge.prompt import Prompts
from evenhand.records import Answer, Span
from tests.raters.rater_cases import EVIDENCE, NAMES, one, protocol_named, says, tasks, together

HALO = protocol_named("halo-support")
FIVE = {"relevance": 5, "accuracy": 4, "completeness": 3, "fluency": 2, "kg_alignment": 1}
GOOD: Mapping[str, object] = {
    "quality": {
        "rationale": "It is near.",
        "evidence": [{"field": "source", "quote": "mill stands by"}, {"field": "answer", "quote": "a windmill"}],
        "answer": 3,
    },
    "certainty": {"rationale": None, "evidence": None, "answer": None},
    "remark": {"evidence": [], "answer": None},
    "confidence": 80,
    "notes": "None.",
}


def coded(name: str, body: object) -> object:
    """The body with the code of the sample item's first unit."""
    (code,) = one(name).codes.values()
    if isinstance(body, dict):
        return {"unit_code": code, **cast("dict[str, object]", body)}
    return str(body).replace("{", f'{{"unit_code": "{code}", ', 1)


def read(name: str, body: object, finish: str = "stop") -> ParsedReply:
    return read_reply(protocol_named(name), one(name), says(coded(name, body), finish))


def values(reading: ParsedReply, unit: str = "case") -> Mapping[str, object]:
    assert reading.faults == {}
    return {answer.criterion: answer.value for answer in reading.answers[unit]}


def reason(name: str, body: object, finish: str = "stop") -> str:
    """Why the one unit failed."""
    reading = read(name, body, finish)
    assert reading.answers == {}
    (fault,) = reading.faults.values()
    return fault.reason


def changed(**entries: object) -> dict[str, Any]:
    """The good body with other entries; an entry's keys replace those of the good one."""
    made: dict[str, Any] = json.loads(json.dumps(GOOD))
    for key, entry in entries.items():
        made[key] = {**made[key], **entry} if isinstance(entry, dict) else entry
    return made


def test_everything_that_was_asked_is_read():
    answers = read("evidence", GOOD).answers["case"]
    # The source is shown as "[1] The  mill stands\nby …": two spaces after "The", "mill" at 9, "by" ends at 22.
    assert answers == (Answer("quality", 3, "It is near.", 80.0, "None.", (Span("source", 9, 23),), ("a windmill",)),)


def test_conditional_and_optional_criteria_are_read_where_they_are_asked():
    more = {"certainty": {"rationale": "hedged", "evidence": [{"field": "x", "quote": "A mill"}], "answer": 12.5}}
    remark = {"evidence": "It burned in 1901", "answer": "Fine."}
    answers = read("evidence", changed(quality={"answer": 2}, **more, remark=remark)).answers["case"]
    assert [(answer.criterion, answer.value) for answer in answers] == [
        ("quality", 2),
        ("certainty", 12.5),
        ("remark", "Fine."),
    ]
    assert answers[1].evidence == (Span("answer", 0, 6),)
    assert answers[2].rationale is None


def test_an_answer_that_was_not_asked_is_dropped():
    assert values(read("evidence", changed(certainty={"answer": "nonsense"}))) == {"quality": 3}
    stem = {"accuracy": {"answer": "Accurate"}, "severity": {"answer": "Severe"}}
    assert values(read("stem-accuracy", stem), "case#1") == {"accuracy": "Accurate"}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(4, 4), (4.0, 4), ("4", 4), ("4 Good", 4), ("Good", 4), ("good ", 4), ("Good (4)", 4), ("4.0", 4)],
)
def test_a_level_is_read_as_its_scale_reads_it(raw: object, expected: int):
    value = values(read("neureg-qa", {**FIVE, "accuracy": {"answer": raw}}))["accuracy"]
    assert (value, type(value)) == (expected, int)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (True, Reason.WRONG_TYPE),
        ([4], Reason.WRONG_TYPE),
        ({"stars": {"answer": 4}}, Reason.NO_ANSWER),
        ({"answer": {"answer": 4}}, Reason.WRONG_TYPE),
        ({"answer": [4]}, Reason.WRONG_TYPE),
        ({"answer": False}, Reason.WRONG_TYPE),
        (4.5, Reason.OFF_SCALE),
        (0, Reason.OFF_SCALE),
        (6, Reason.OFF_SCALE),
        (-4, Reason.OFF_SCALE),
        ("five", Reason.OFF_SCALE),
        ("4/5", Reason.OFF_SCALE),
        ("4 Poor", Reason.OFF_SCALE),
        (1e400, Reason.WRONG_TYPE),
        (10**400, Reason.OFF_SCALE),
        (None, Reason.NO_ANSWER),
        ("", Reason.NO_ANSWER),
        ({"rating": 4, "score": 5}, Reason.TWO_ANSWERS),
    ],
)
def test_what_is_no_level_is_never_made_one(raw: object, expected: str):
    assert reason("neureg-qa", {**FIVE, "accuracy": raw}) == expected.format(criterion="accuracy")


def test_nan_is_a_fault_of_its_own_criterion():
    text = json.dumps(FIVE).replace("4", "NaN")
    assert reason("neureg-qa", text) == "answer on accuracy has the wrong type"


@pytest.mark.parametrize(
    "body",
    [
        {name: {"answer": level} for name, level in FIVE.items()},
        {name: {"rationale": "so", "rating": level} for name, level in FIVE.items()},
        FIVE,
        {"Relevance": 5, "ACCURACY": 4, "completeness ": 3, "fluency": "2", "KG Alignment": 1},
        {"relevance": 5, "accuracy": 4, "completeness": 3, "fluency": 2, "kgAlignment": 1, "overall": 3},
        {**FIVE, "reasoning": {"accuracy": "so"}},
        {**FIVE, "Accuracy": 4},
        f"```json\n{json.dumps(FIVE, indent=2)}\n```",
        f"Sure! {FIVE!r}",
    ],
)
def test_the_shapes_of_chat_windows_are_read_alike(body: object):
    assert values(read("neureg-qa", body)) == FIVE


@pytest.mark.parametrize(
    "body",
    [
        {"verdict": "correct", "rationale": "so"},
        {"verdict": "correct", "reasoning": "so"},
        {"verdict": "right", "verdict_rationale": "so"},
        {"Verdict": "Correct", "rationales": {"verdict": "so"}},
        {"verdict": {"explanation": "so", "label": "correct"}},
    ],
)
def test_a_rationale_may_stand_in_the_entry_or_beside_it(body: object):
    assert read("ai-detection", body).answers["case"] == (Answer("verdict", "correct", "so"),)


def test_confidence_and_notes_stand_on_the_lead_criterion_or_on_the_first_answered():
    body = {
        name: {"rationale": "so", "answer": 3}
        for name in ("correctness", "clarity", "tone", "actionability", "coherence")
    }
    body |= {name: {"rationale": "so", "answer": 3} for name in ("emotion", "overall")}
    answers = read("feedback", {**body, "confidence": "85%", "notes": "n"}).answers["case"]
    carried = [(answer.criterion, answer.confidence, answer.notes) for answer in answers if answer.confidence]
    assert carried == [("overall", 85.0, "n")]
    late = EVIDENCE.model_copy(update={"criteria": (EVIDENCE.criteria[0].model_copy(update={"required": False}),
                                                    *EVIDENCE.criteria[1:])})  # fmt: skip
    made = changed(quality={"answer": None}, remark={"evidence": ["A mill"], "answer": "Fine."})
    (answer,) = read_reply(late, one("evidence"), says(coded("evidence", made))).answers["case"]
    assert (answer.criterion, answer.confidence, answer.notes) == ("remark", 80.0, "None.")


@pytest.mark.parametrize(
    ("raw", "percentage"), [(0, 0.0), (100, 100.0), (1.5, 1.5), ("1%", 1.0), ("0.5 %", 0.5), ("95", 95.0)]
)
def test_a_confidence_that_can_only_be_a_percentage_is_one(raw: object, percentage: float):
    assert read("evidence", changed(confidence=raw)).answers["case"][0].confidence == percentage


@pytest.mark.parametrize("raw", ["SUPPORTED.", "supported. ", "Supported ."])
def test_a_label_may_end_like_a_sentence(raw: str):
    assert values(read("halo-support", {"support": {"answer": raw}})) == {"support": "SUPPORTED"}


def test_a_byte_order_mark_before_the_reply_is_no_fault():
    text = f"\ufeff{json.dumps(coded('halo-support', {'support': 'SUPPORTED'}))}"
    reading = read_reply(protocol_named("halo-support"), one("halo-support"), says(text))
    assert values(reading) == {"support": "SUPPORTED"}


def test_what_was_not_asked_for_is_not_kept():
    body = {"support": {"rationale": "because", "evidence": ["The harbour"], "answer": "SUPPORTED"}, "confidence": 3}
    assert read("halo-support", body).answers["case"] == (Answer("support", "SUPPORTED"),)


def test_a_text_answer_comes_without_joiners_and_characters_that_cannot_be_stored():
    reading = read("rag-quest-eval", '{"answer": {"answer": " <\u2060s> in \\ud800March\\u0000 "}}')
    assert values(reading, "case#1") == {"answer": "<s> in \ufffdMarch\ufffd"}
    assert values(read("rag-quest-eval", {"answer": "unanswerable"}), "case#1") == {"answer": "<Unanswerable>"}
    assert values(read("rag-quest-eval", {"answer": 2019}), "case#1") == {"answer": "2019"}


FAULTS: list[tuple[str, object, str, str]] = [
    ("halo-support", "", "stop", "empty reply"),
    ("halo-support", " \n", "content_filter", "empty reply"),
    ("halo-support", "", "length", Reason.USED_UP),
    ("halo-support", "<think>It seems", "length", Reason.USED_UP),
    ("halo-support", "<think>It seems</think>\n", "length", Reason.USED_UP),
    ("halo-support", "I will not.", "refusal", "refused"),
    ("halo-support", {"support": "SUPPORTED"}, "refusal", "refused"),
    ("halo-support", "I'm sorry, but I cannot rate this.", "stop", "not JSON"),
    ("halo-support", '{"support": SUPPORTED}', "stop", "not JSON"),
    ("halo-support", {"unit_code": None, "support": "SUPPORTED"}, "stop", "no unit code"),
    ("halo-support", {"unit_code": " ", "support": "SUPPORTED"}, "stop", "no unit code"),
    ("halo-support", {"unit_code": "XXXXX", "support": "SUPPORTED"}, "stop", "reply to another unit"),
    ("halo-support", {"unit_code": 5, "support": "MAYBE"}, "stop", "reply to another unit"),
    ("halo-support", '{"a":' * 100_000, "stop", "truncated"),
    ("halo-support", '{"a":' * 100_000 + "1" + "}" * 100_000, "stop", "not JSON"),
    ("halo-support", '"SUPPORTED"', "stop", "not a JSON object"),
    ("halo-support", '{"support": {"answer": "SUPP', "stop", "truncated"),
    ("halo-support", '{"support": {"answer": "SUPPORTED"}, "notes": "', "length", "truncated"),
    ("halo-support", "It seems that", "length", "truncated"),
    ("halo-support", "<think>It seems", "stop", "truncated"),
    ("halo-support", '{"support": "SUPPORTED"} {"support": "CONTRADICTED"}', "stop", "more than one answer"),
    ("halo-support", '{"support": "SUPPORTED", "notes": "a", "notes": "b"}', "stop", "more than one answer"),
    ("halo-support", '{"support": "SUPPORTED", "Support": "X"}', "stop", "more than one answer on support"),
    ("halo-support", '{"support": {"answer": 1, "answer": 2}}', "stop", "more than one answer on support"),
    ("halo-support", {"verdict": "SUPPORTED"}, "stop", "no answer on support"),
    ("halo-support", {"support": "MAYBE"}, "stop", "answer on support is not on its scale"),
    ("halo-support", {"support": {"answer": ["SUPPORTED"]}}, "stop", "answer on support has the wrong type"),
    ("stem-accuracy", {"accuracy": "Disputed"}, "stop", "no answer on severity"),
    ("ai-detection", {"verdict": "correct"}, "stop", "no rationale for verdict"),
    ("ai-detection", {"verdict": "correct", "rationale": ["so"]}, "stop", "no rationale for verdict"),
    ("evidence", changed(quality={"evidence": []}), "stop", "no evidence for quality"),
    ("evidence", changed(quality={"evidence": ["by"]}), "stop", "no evidence for quality"),
    ("evidence", changed(confidence=None), "stop", "no confidence"),
    ("evidence", changed(confidence=101), "stop", "confidence is not a percentage"),
    ("evidence", changed(confidence=0.9), "stop", "confidence is not a percentage"),
    ("evidence", changed(confidence=1.0), "stop", "confidence is not a percentage"),
    ("evidence", changed(confidence=1), "stop", "confidence is not a percentage"),
    ("evidence", changed(confidence="1"), "stop", "confidence is not a percentage"),
    ("evidence", changed(confidence=True), "stop", "confidence is not a percentage"),
    ("evidence", changed(confidence="high"), "stop", "confidence is not a percentage"),
    ("evidence", changed(notes="  "), "stop", "no notes"),
]


@pytest.mark.parametrize(("name", "body", "finish", "expected"), FAULTS)
def test_every_fault_has_its_reason(name: str, body: object, finish: str, expected: str):
    assert reason(name, body, finish) == expected


def test_a_fault_names_everything_that_is_wrong_and_begins_with_the_first():
    reading = read("neureg-qa", {**FIVE, "accuracy": 9, "fluency": None})
    assert reading.faults["case"] == Fault(
        "answer on accuracy is not on its scale",
        '"accuracy" has an answer that is not a whole number from 1 to 5. '
        '"fluency" has no answer; give a whole number from 1 to 5.',
    )


def test_what_is_optional_may_be_missing():
    easy = EVIDENCE.model_copy(
        update={
            "ask": EVIDENCE.ask.model_copy(
                update=dict.fromkeys(("rationale", "evidence", "confidence", "notes"), "optional")
            )
        }
    )
    reading = read_reply(easy, one("evidence"), says(coded("evidence", {"quality": 3})))
    assert reading.answers["case"] == (Answer("quality", 3),)


def test_a_label_with_nothing_to_cite_needs_no_evidence():
    strict = HALO.model_copy(update={"ask": HALO.ask.model_copy(update={"evidence": "required"})})

    def read_support(label: str) -> ParsedReply:
        body = {"support": {"evidence": None, "answer": label}, "notes": None}
        return read_reply(strict, one("halo-support"), says(coded("halo-support", body)))

    assert read_support("NO EVIDENCE").answers["case"] == (Answer("support", "NO EVIDENCE"),)
    assert read_support("SUPPORTED").faults["case"].reason == "no evidence for support"


def sentence(label: str, severity: str | None = None) -> Mapping[str, object]:
    return {"accuracy": {"answer": label}, "severity": {"answer": severity}}


THREE = [sentence("Accurate"), sentence("Unsupported", "Severe"), sentence("Accurate")]
CODES = list(together("stem-accuracy").codes.values())
CODED = [{"unit_code": code, **entry} for code, entry in zip(CODES, THREE, strict=True)]


def read_together(body: object, finish: str = "stop") -> ParsedReply:
    return read_reply(protocol_named("stem-accuracy"), together("stem-accuracy"), says(body, finish))


def labels(reading: ParsedReply) -> Mapping[str, Sequence[object]]:
    return {unit: [answer.value for answer in answers] for unit, answers in reading.answers.items()}


def fault_reasons(reading: ParsedReply) -> Mapping[str, str]:
    return {unit: fault.reason for unit, fault in reading.faults.items()}


@pytest.mark.parametrize(
    "body",
    [
        {"sentences": CODED},
        {"Sentences": list(reversed(CODED))},
        {"sentences": [*CODED, CODED[0], {"unit_code": "XXXXX", **sentence("Inaccurate", "Severe")}, "Accurate"]},
        {"sentences": [{**entry, "unit_code": str(entry["unit_code"]).lower()} for entry in CODED]},
        {"sentences": dict(zip(CODES, THREE, strict=True))},
        {"sentences": {str(number): entry for number, entry in enumerate(CODED, start=1)}},
        dict(zip(CODES, THREE, strict=True)),
    ],
)
def test_sentences_rated_together_are_read_by_their_codes(body: object):
    reading = read_together(body)
    assert reading.faults == {}
    assert labels(reading) == {"case#1": ["Accurate"], "case#2": ["Unsupported", "Severe"], "case#3": ["Accurate"]}


def test_one_faulty_sentence_does_not_harm_the_others():
    clash = {"unit_code": CODES[0], **sentence("Disputed", "Severe")}
    reading = read_together({"sentences": [CODED[0], {"unit_code": CODES[1], **sentence("Unsupported")}, clash]})
    assert labels(reading) == {}
    assert fault_reasons(reading) == {
        "case#1": "more than one answer",
        "case#2": "no answer on severity",
        "case#3": "left out of the reply",
    }
    assert reading.faults["case#2"].hint.startswith("Sentence 2: ")
    assert labels(read_together({"sentences": [CODED[0], "Accurate"]})) == {"case#1": ["Accurate"]}


def test_sentences_without_their_codes_are_not_read():
    assert set(fault_reasons(read_together({"sentences": THREE})).values()) == {Reason.NO_CODE}
    numbered = {"sentences": {str(number): entry for number, entry in enumerate(THREE, start=1)}}
    assert set(fault_reasons(read_together(numbered)).values()) == {Reason.NO_CODE}
    other = {"sentences": [{"unit_code": "XXXXX", **entry} for entry in THREE]}
    assert set(fault_reasons(read_together(other)).values()) == {Reason.OTHER_CODE}
    assert set(fault_reasons(read_together({"sentences": []})).values()) == {Reason.LEFT_OUT}


def test_sentences_that_are_there_twice_are_not_read():
    twice = f'{{"sentences": {json.dumps(CODED)}, "sentences": []}}'
    assert set(fault_reasons(read_together(twice)).values()) == {"more than one answer"}


def test_one_sentence_may_be_answered_in_a_list_or_by_itself():
    task = tasks("stem-accuracy")[1]
    for body in ({"sentences": [CODED[1]]}, CODED[1]):
        reading = read_reply(protocol_named("stem-accuracy"), task, says(body))
        assert labels(reading) == {"case#2": ["Unsupported", "Severe"]}


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_of_a_cut_reply_complete_sentences_are_kept(finish: str):
    text = json.dumps({"sentences": CODED})
    cut = text[: text.index(CODES[2]) + 25]
    reading = read_together(cut, finish)
    assert labels(reading) == {"case#1": ["Accurate"], "case#2": ["Unsupported", "Severe"]}
    assert reading.faults["case#3"].reason == "truncated"
    assert read_together(text[:9], finish).faults.keys() == {"case#1", "case#2", "case#3"}
    single = read_reply(protocol_named("stem-accuracy"), tasks("stem-accuracy")[0], says(cut, finish))
    assert labels(single) == {"case#1": ["Accurate"]}


def test_an_object_that_is_complete_at_the_token_limit_is_read():
    assert read_together({"sentences": CODED}, "length").faults == {}
    assert values(read("halo-support", {"support": "SUPPORTED"}, "length")) == {"support": "SUPPORTED"}


@pytest.mark.parametrize(
    "body",
    [
        {"result": {"unit_code": CODES[0], **THREE[0]}},
        {"unit_code": CODES[0], "result": THREE[0]},
        {"answer": {"result": [{"unit_code": CODES[0], "answers": THREE[0]}]}},
        {"unit_code": CODES[0], "result": {"unit_code": CODES[0], **THREE[0]}},
        {CODES[0]: {"accuracy": "Accurate", "severity": None}},
    ],
)
def test_an_object_wrapped_in_others_is_read(body: object):
    reading = read_reply(protocol_named("stem-accuracy"), tasks("stem-accuracy")[0], says(body))
    assert labels(reading) == {"case#1": ["Accurate"]}
    wrapped = read_together({"response": {"sentences": CODED}})
    assert labels(wrapped) == labels(read_together({"sentences": CODED}))


def test_a_wrapped_object_must_carry_the_code_of_its_unit_and_be_the_only_one():
    task = tasks("stem-accuracy")[0]
    for body, expected in (
        ({"result": THREE[0]}, Reason.NO_CODE),
        ({"result": CODED[1]}, Reason.OTHER_CODE),
        ({"unit_code": CODES[0], "result": CODED[1]}, Reason.OTHER_CODE),
        ({"unit_code": CODES[0], "first": THREE[0], "second": THREE[1]}, "no answer on accuracy"),
        ({"first": CODED[0], "second": {**CODED[0], **THREE[1]}}, Reason.MORE_THAN_ONE),
    ):
        reading = read_reply(protocol_named("stem-accuracy"), task, says(body))
        assert fault_reasons(reading) == {"case#1": expected}


def test_a_question_s_answer_is_read_where_its_wrapper_is_called_answer():
    (code,) = one("rag-quest-eval").codes.values()
    for body in (
        {"unit_code": code, "answer": {"answer": "in March"}},
        {"answer": {"unit_code": code, "answer": {"answer": "in March"}}},
    ):
        reading = read_reply(protocol_named("rag-quest-eval"), one("rag-quest-eval"), says(body))
        assert values(reading, "case#1") == {"answer": "in March"}


def ask(name: str, *, together: bool = False) -> Request:
    prompts = Prompts(protocol_named(name), together=together)
    return prompts.request(tasks(name)[-1 if together else 0], max_tokens=9, temperature=0.5, seed=3, logprobs=2)


def test_asking_again_keeps_the_request_and_says_what_was_wrong():
    request = ask("stem-accuracy", together=True)
    reply = says({"sentences": [CODED[0], {**CODED[2], "accuracy": "Wrong"}]})
    repeated = again(request, tasks("stem-accuracy")[-1], reply, read_together(reply.text))
    assert repeated.messages[:2] == request.messages
    assert repeated.messages[2] == Message("assistant", reply.text)
    assert repeated.messages[3].role == "user"
    assert len(repeated.messages) == 4
    hints = [line for line in repeated.messages[3].content.splitlines() if line.startswith("- ")]
    assert hints[0] == f"- Sentence 2 (code {CODES[1]}) has no entry."
    assert hints[1].startswith('- Sentence 3: "accuracy" has an answer that is not one of Accurate, ')
    assert (repeated.schema, repeated.max_tokens, repeated.temperature, repeated.seed, repeated.logprobs) == (
        request.schema, 9, 0.5, 3, 2,
    )  # fmt: skip
    assert repeated.digest != request.digest
    assert not repeated.fresh


@pytest.mark.parametrize(
    "text",
    ['{"unit_code": "XXXXX", "support": "SUPPORTED"}', '{"support": "SUPPORTED"}', "I am lost.", "", '{"support'],
)
def test_a_reply_that_may_be_another_ones_is_not_shown_and_asked_for_on_a_fresh_connection(text: str):
    request = ask("halo-support")
    reading = read_reply(protocol_named("halo-support"), one("halo-support"), Reply(text))
    repeated = again(request, one("halo-support"), Reply(text), reading)
    assert repeated.fresh
    assert repeated.messages[0] == request.messages[0]
    assert len(repeated.messages) == 2
    assert repeated.messages[1].content.startswith(request.messages[1].content)
    assert reading.faults["case"].hint in repeated.messages[1].content
    assert not text or text not in repeated.messages[1].content
    assert repeated.digest != request.digest


def test_asking_again_shows_a_long_or_hostile_reply_in_bounds():
    case = one("halo-support")
    (code,) = case.codes.values()
    reading = ParsedReply(faults={"a": Fault("not JSON", "h"), "b": Fault("not JSON", "h")})

    def repeated(text: str) -> Sequence[Message]:
        return again(ask("halo-support"), case, Reply(f"{code} {text}"), reading).messages

    assert len(repeated("x" * 10**6)[2].content) == LONGEST + 2
    assert "<|im_end|>" not in repeated("<|im_end|>")[2].content
    assert repeated("x")[3].content.count("- h") == 1


def body_for(protocol: Protocol) -> Mapping[str, object]:
    """A reply in the shape of the schema: the first value of each scale, texts for all else."""
    made: dict[str, object] = {}
    for criterion in protocol.criteria:
        value = next(iter(criterion.scale.values), "words")
        text = protocol.ask.rationale == "off" or criterion.scale.type == "text"
        made[criterion.id] = {"answer": value} if text else {"rationale": "so", "answer": value}
    if protocol.ask.confidence != "off":
        made["confidence"] = 70
    if protocol.ask.notes != "off":
        made["notes"] = None
    return made


def chosen_surely(text: str) -> tuple[Choice, ...]:
    """Strings and what is between them as tokens without an alternative."""
    return tuple(Choice(token.start(), token[0], ((token[0], 0.0),)) for token in re.finditer(r'"[^"]*"|[^"]+', text))


@pytest.mark.parametrize("name", NAMES)
def test_each_answer_has_the_odds_of_where_its_value_begins(name: str):
    protocol = protocol_named(name)
    for task in tasks(name):
        body = body_for(protocol)
        key = "questions" if protocol.rule.of == "question" else "sentences"
        bodies = [{"unit_code": code, **body} for code in task.codes.values()]
        whole = bodies[0] if len(bodies) == 1 else {key: bodies}
        text = f"Here: {json.dumps(whole, indent=1)}"
        reading = read_reply(protocol, task, Reply(text, choices=chosen_surely(text)))
        assert reading.faults == {}
        for unit in task.units:
            for answer in reading.answers[unit.id]:
                categorical = protocol.criterion(answer.criterion).scale.type in ("ordinal", "nominal")
                assert answer.distribution == (((answer.value, 1.0),) if categorical else ())
        repaired = text[:-1] + ",}"
        reading = read_reply(protocol, task, Reply(repaired, choices=chosen_surely(repaired)))
        assert not any(answer.distribution for answers in reading.answers.values() for answer in answers)


def test_alternatives_to_an_answer_s_token_are_its_odds():
    protocol = protocol_named("halo-support")
    (code,) = one("halo-support").codes.values()
    tokens = [f'{{"unit_code": "{code}", "', "support", '":', ' {"', "answer", '":', ' "', "NO", " EVIDENCE", '"}}']
    offsets = [sum(map(len, tokens[:n])) for n in range(len(tokens))]
    alternatives = {7: (("NO", -0.5), ("SUP", -1.0))}
    choices = tuple(
        Choice(offset, token, alternatives.get(n, ()))
        for n, (offset, token) in enumerate(zip(offsets, tokens, strict=True))
    )
    (answer,) = read_reply(protocol, one("halo-support"), Reply("".join(tokens), choices=choices)).answers["case"]
    assert [value for value, _ in answer.distribution] == ["SUPPORTED", "NO EVIDENCE"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["Accurate", "Severe", *CODES]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["unit_code", "accuracy", "severity", "answer", "sentences", CODES[0], "quality"]), inner
        )
    ),
    max_leaves=15,
)


@settings(deadline=None)
@given(json_values.map(json.dumps) | st.text(max_size=40), st.sampled_from(["stop", "length"]), st.integers(0, 9))
def test_whatever_comes_every_unit_has_answers_on_the_scales_or_a_fault(text: str, finish: str, cut: int):
    for name in ("stem-accuracy", "evidence", "neureg-qa"):
        protocol = protocol_named(name)
        for task in tasks(name):
            reading = read_reply(protocol, task, Reply(text[: len(text) - cut], finish))
            assert sorted([*reading.answers, *reading.faults]) == sorted(unit.id for unit in task.units)
            for answer in (answer for answers in reading.answers.values() for answer in answers):
                assert protocol.criterion(answer.criterion).scale.read(answer.value) == answer.value


def test_the_reasons_are_those_of_the_vocabulary_and_all_of_them_occur():
    reasons: list[str] = [getattr(Reason, name) for name in dir(Reason) if name.isupper()]
    patterns = [re.escape(known).replace(r"\{criterion\}", r"\w+") for known in reasons]
    met = {expected for _, _, _, expected in FAULTS}
    met |= {fault.reason for fault in read_together({"sentences": []}).faults.values()}
    assert [pattern for pattern in patterns if not any(re.fullmatch(pattern, reason) for reason in met)] == []
    assert [reason for reason in met if not any(re.fullmatch(pattern, reason) for pattern in patterns)] == []
