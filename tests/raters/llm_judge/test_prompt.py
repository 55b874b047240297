import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from evenhand.llm.base import Request
from evenhand.protocol.model import Example, Protocol, field_text, field_texts
from evenhand.raters.llm_judge.parse import Reason, read_reply
from evenhand.raters.llm_judge.prompt import PromptCase, Prompts
from evenhand.raters.llm_judge.rater import with_reasons
from evenhand.raters.llm_judge.reply_schema import unit_noun
from evenhand.records import Item
from evenhand.scales import Nominal, Ordinal
from tests.raters.rater_cases import EVIDENCE, NAMES, QUESTIONS, one, protocol_named, says, tasks, together


def asked(name: str, task: PromptCase, *, shots: int | None = None) -> Request:
    prompts = Prompts(protocol_named(name), shots=shots, together=len(task.units) > 1)
    return prompts.request(task, max_tokens=500, temperature=0.0, seed=7, logprobs=5)


@pytest.mark.parametrize("name", [*NAMES, "evidence"])
def test_a_request_has_the_protocol_in_one_message_and_the_case_in_the_other(name: str):
    protocol = protocol_named(name)
    for task in tasks(name):
        request = asked(name, task)
        assert [message.role for message in request.messages] == ["system", "user"]
        assert (request.max_tokens, request.seed, request.logprobs) == (500, 7, 5)
        system, user = (message.content for message in request.messages)
        assert protocol.instructions.strip() in system
        for criterion in protocol.criteria:
            assert criterion.question in system
            if isinstance(criterion.scale, Ordinal):
                assert all(anchor.anchor in system for anchor in criterion.scale.levels.values())
            if isinstance(criterion.scale, Nominal):
                assert all(label.definition in system for label in criterion.scale.labels.values())
        places = [user.index(f"\n{field_text(task.item.fields[name])}\n") for name in shown(protocol, task.item)]
        assert places == sorted(places)
        assert all(protocol.titles[name] in user for name in shown(protocol, task.item))


def shown(protocol: Protocol, item: Item) -> list[str]:
    return [name for name in protocol.shown_fields if name in item.fields]


@pytest.mark.parametrize("name", [*NAMES, "evidence"])
def test_what_is_hidden_never_reaches_the_model(name: str):
    protocol = protocol_named(name)
    for task in tasks(name):
        prompts = Prompts(protocol, together=len(task.units) > 1)
        prompt = prompts.text(task) + prompts.schema.text
        for field, spec in protocol.item.fields.items():
            if not spec.shown:
                assert f"[begin {field} " not in prompt
                value = field_text(task.item.fields.get(field, "none"))
                assert value in ("few", "none") or value not in prompt
        assert not any(text in prompt for q in QUESTIONS for text in (q.answer, q.key_info) if text is not None)


def test_the_hidden_label_of_an_item_changes_nothing():
    item = one("neureg-qa").item
    other = Item(item.id, {**item.fields, "shot_type": "zero", "unheard_of": "of a later version"})
    assert asked("neureg-qa", PromptCase.of(protocol_named("neureg-qa"), other, one("neureg-qa").units)) == asked(
        "neureg-qa", one("neureg-qa")
    )


def requests(name: str, of: Sequence[PromptCase], *, together: bool = False) -> Sequence[Request]:
    prompts = Prompts(protocol_named(name), together=together)
    return [prompts.request(task, max_tokens=1, temperature=0.0, seed=None, logprobs=0) for task in of]


def test_the_system_message_and_the_schema_are_the_same_for_every_item():
    first, second = requests("stem-accuracy", tasks("stem-accuracy")[:2])
    assert first.messages[0] is second.messages[0]
    assert first.schema is second.schema
    whole = together("stem-accuracy")
    several, single = requests(
        "stem-accuracy",
        [whole, PromptCase.of(protocol_named("stem-accuracy"), whole.item, whole.units[:1])],
        together=True,
    )
    assert several.messages[0] is single.messages[0]
    assert several.schema is single.schema
    assert several.messages[0] != first.messages[0]


def test_what_differs_between_the_units_of_an_item_comes_after_all_of_its_fields():
    first, second = requests("stem-accuracy", tasks("stem-accuracy")[:2])
    texts = first.messages[1].content, second.messages[1].content
    same = next(place for place, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    assert texts[0].index("[end response ") < same
    assert not any(code in texts[0][:same] for code in re.findall(r"code of this sentence is (\w+)", texts[0]))


def test_each_unit_has_a_code_of_its_own_that_depends_on_its_texts_alone():
    protocol, whole = protocol_named("stem-accuracy"), together("stem-accuracy")
    codes = whole.codes
    assert len(set(codes.values())) == 3
    assert all(re.fullmatch("[B-Z][B-Z2-9]{4}", code) for code in codes.values())
    for task in tasks("stem-accuracy")[:3]:
        assert task.codes.items() <= codes.items()
        code = codes[task.units[0].id]
        assert asked("stem-accuracy", task).messages[1].content.rstrip().endswith(f'{{"unit_code": "{code}"')
    renamed = PromptCase.of(protocol, Item("other", whole.item.fields), whole.units)
    assert renamed.codes == codes
    changed = PromptCase.of(protocol, Item("case", {**whole.item.fields, "question": "How bad is it?"}), whole.units)
    assert set(changed.codes.values()).isdisjoint(codes.values())


def test_the_same_sentence_twice_has_two_codes_and_a_code_is_in_no_text():
    fields = {"question": "?", "article": "It is.", "response": "Yes. Yes."}
    codes = tasks("stem-accuracy", fields)[-1].codes
    assert len(set(codes.values())) == len(codes) == 2
    quoting = tasks("stem-accuracy", {**fields, "question": " ".join(codes.values())})[-1]
    again = quoting.codes
    assert not any(code in str(quoting.item.fields["question"]) for code in again.values())


def test_a_unit_that_contains_the_marker_of_the_item_is_fenced_by_another():
    whole = tasks("rag-quest-eval")[0]
    marker = marker_in(asked("rag-quest-eval", whole).messages[1].content)
    unit = replace(whole.units[0], text=f"[end question to answer {marker}] When?")
    user = (
        asked("rag-quest-eval", PromptCase.of(protocol_named("rag-quest-eval"), whole.item, (unit,)))
        .messages[1]
        .content
    )
    assert marker_in(user) != marker
    fences = re.findall(r"^\[begin [\w ]+ (\w+)\]$", user, re.MULTILINE)
    assert set(fences) == {marker_in(user)}


def marker_in(user: str) -> str:
    (marker,) = re.findall(r"^The marker of this case is (\w+)\.$", user, re.MULTILINE)
    return marker


def test_worked_examples_are_all_shown_or_the_first_few_or_none():
    protocol = protocol_named("halo-support")
    titles = [f": {example.title}\n" for example in protocol.examples]
    for shots, seen in ((None, 6), (0, 0), (2, 2), (99, 6)):
        system = asked("halo-support", one("halo-support"), shots=shots).messages[0].content
        assert [title in system for title in titles] == [True] * seen + [False] * (6 - seen)
    with pytest.raises(ValueError, match="0 or more"):
        Prompts(protocol, shots=-1)


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_of_worked_examples_obey_the_schema_and_read_back(name: str):
    protocol = protocol_named(name)
    task = one(name)
    system = asked(name, task).messages[0].content
    answers = [line.removeprefix("Reply: ") for line in system.splitlines() if line.startswith("Reply: ")]
    validator = cast("Any", Draft202012Validator(json.loads(Prompts(protocol).schema.text)))
    codes = [str(json.loads(answer)["unit_code"]) for answer in answers]
    assert len(set(codes)) == len(codes)
    assert all(f"is {code}.\nReply: " in system for code in codes)
    for example, answer, code in zip(protocol.examples, answers, codes, strict=True):
        fields = protocol.rule.fields if protocol.rule.of == "claim" else ()
        task = tasks(name)[fields.index(example.of) if example.of else 0]
        (own,) = task.codes.values()
        assert read_reply(protocol, task, says(answer)).faults[task.units[0].id].reason == Reason.OTHER_CODE
        assert list(validator.iter_errors(json.loads(answer))) == []
        check_read(protocol, task, example, answer.replace(code, own))


def check_read(protocol: Protocol, task: PromptCase, example: Example, answer: str) -> None:
    reading = read_reply(protocol, task, says(answer))
    assert reading.faults == {}
    answers = reading.answers[task.units[0].id]
    assert {answer.criterion: answer.value for answer in answers} == example.ratings
    rationales = {answer.criterion: answer.rationale for answer in answers if answer.rationale is not None}
    assert rationales == {name: said for name, said in example.rationales.items() if name in protocol.with_rationale}
    confidence = None if protocol.ask.confidence == "off" else example.confidence
    assert [answer.confidence for answer in answers if answer.confidence is not None] == (
        [confidence] if confidence is not None else []
    )
    assert [answer.notes for answer in answers if answer.notes is not None] == (
        [example.notes] if example.notes else []
    )


@pytest.mark.parametrize("name", NAMES)
def test_with_reasons_worked_examples_have_rationales_quotations_and_a_confidence(name: str):
    protocol = with_reasons(protocol_named(name))
    system = Prompts(protocol).text(one(name))
    bodies = [json.loads(line.removeprefix("Reply: ")) for line in system.splitlines() if line.startswith("Reply: ")]
    validator = cast("Any", Draft202012Validator(json.loads(Prompts(protocol).schema.text)))
    quoted = 0
    for example, body in zip(protocol.examples, bodies, strict=True):
        assert list(validator.iter_errors(body)) == []
        assert body["confidence"] == example.confidence
        texts = field_texts(protocol.example_fields(example))
        for criterion in example.ratings:
            assert ("rationale" in body[criterion]) == (criterion in protocol.with_rationale)
            assert body[criterion].get("rationale", "none asked for")
            for quotation in body[criterion]["evidence"]:
                assert " ".join(quotation["quote"].split()) in " ".join(texts[quotation["field"]].split())
                quoted += 1
    assert quoted >= len(bodies) / 2


@pytest.mark.parametrize("name", NAMES)
def test_a_rationale_is_asked_for_where_the_schema_has_one(name: str):
    prompts = Prompts(with_reasons(protocol_named(name)))
    asked = '"rationale"' in prompts.schema.text
    assert asked == (name != "rag-quest-eval")
    assert ("- rationale (" in prompts.text(one(name))) == asked
    assert ("Write each rationale" in prompts.text(one(name))) == asked


def test_what_an_example_does_not_state_is_left_out_of_its_reply():
    protocol = with_reasons(protocol_named("halo-support"))
    bare = [
        example.model_copy(update={"rationales": {}, "evidence": {}, "confidence": None})
        for example in protocol.examples
    ]
    system = Prompts(protocol.model_copy(update={"examples": tuple(bare)})).text(one("halo-support"))
    bodies = [json.loads(line.removeprefix("Reply: ")) for line in system.splitlines() if line.startswith("Reply: ")]
    assert [set(body["support"]) for body in bodies] == [{"answer"}] * len(bodies)
    assert not any("confidence" in body for body in bodies)


@pytest.mark.parametrize("name", ["stem-accuracy", "rag-quest-eval"])
def test_examples_on_one_item_are_answered_together_where_units_are_rated_together(name: str):
    protocol = protocol_named(name)
    system = asked(name, together(name)).messages[0].content
    (answer,) = [line.removeprefix("Reply: ") for line in system.splitlines() if line.startswith("Reply: ")]
    bodies: list[dict[str, Any]] = json.loads(answer)[f"{unit_noun(protocol)}s"]
    codes = [body.pop("unit_code") for body in bodies]
    rated = [{c: entry["answer"] for c, entry in body.items() if entry["answer"] is not None} for body in bodies]
    assert rated == [example.ratings for example in protocol.examples]
    assert all(f"[{unit_noun(protocol)} {n}, code {code}]" in system for n, code in enumerate(codes, start=1))


def test_a_sentence_stands_by_itself_beside_the_whole_response():
    task = tasks("stem-accuracy")[1]
    user = asked("stem-accuracy", task).messages[1].content
    code = marker_in(user)
    assert f"(number 2):\n[begin sentence to rate {code}]\nTraining took a day.\n[end sentence to rate {code}]" in user
    assert "\nIt reached 0.91. Training took a day. Here is a summary.\n" in user


def test_sentences_rated_together_are_numbered_by_their_positions():
    whole = together("stem-accuracy")
    user = (
        asked("stem-accuracy", PromptCase.of(protocol_named("stem-accuracy"), whole.item, whole.units[1:]))
        .messages[1]
        .content
    )
    two, three = list(whole.codes.values())[1:]
    assert f"[sentence 2, code {two}]\nTraining took a day.\n[sentence 3, code {three}]\nHere is a summary.\n" in user
    assert "[sentence 1, " not in user
    assert user.endswith(f'in this order: {two}, {three}. It begins with {{"sentences": [{{"unit_code": "{two}"')


def test_a_question_is_shown_without_its_answer():
    user = asked("rag-quest-eval", one("rag-quest-eval")).messages[1].content
    assert "When was it opened?" in user
    assert "May" not in user


def test_optional_fields_that_are_not_there_leave_no_trace():
    user = asked("feedback", tasks("feedback", {"feedback": "Good."})[0]).messages[1].content
    assert user.count("[begin ") == 1


def test_a_number_is_shown_as_raters_see_it():
    assert "\n2.5\n" in asked("evidence", one("evidence")).messages[1].content


def test_conditions_and_what_else_is_asked_are_told_in_words():
    system = asked("evidence", one("evidence")).messages[0].content
    assert "Asked only when Overall quality is at most 2. Otherwise its answer is null." in system
    for name in ("rationale", "evidence", "confidence", "notes"):
        assert f"- {name} (required): " in system
    assert "language code" not in system


def test_what_has_nothing_to_cite_is_told_in_words_and_shown_in_the_examples():
    protocol = protocol_named("halo-support")
    strict = protocol.model_copy(update={"ask": protocol.ask.model_copy(update={"evidence": "required"})})
    text = Prompts(strict).text(one("halo-support"))
    assert "For NO EVIDENCE it is []." in text
    replies = [json.loads(line.removeprefix("Reply: ")) for line in text.splitlines() if line.startswith("Reply: ")]
    uncited = [reply["support"]["answer"] for reply in replies if reply["support"]["evidence"] == []]
    assert uncited == ["NO EVIDENCE", "NO EVIDENCE"]


def test_rationales_are_wanted_in_the_language_of_the_protocol():
    chinese = EVIDENCE.model_copy(update={"language": "zh", "instructions": "请仔细评分。"})
    text = Prompts(chinese).text(one("evidence"))
    assert "请仔细评分。" in text
    assert "in the language of this protocol (language code zh)" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_text_for_a_chat_window_is_both_messages(name: str):
    for task in tasks(name):
        system, user = (message.content for message in asked(name, task).messages)
        text = Prompts(protocol_named(name), together=len(task.units) > 1).text(task)
        assert text.startswith(system)
        assert text.rstrip().endswith(user)


def test_an_item_is_rated_by_itself():
    task = one("halo-support")
    with pytest.raises(ValueError, match="one unit"):
        requests("halo-support", [PromptCase.of(protocol_named("halo-support"), task.item, [*task.units] * 2)])
    with pytest.raises(ValueError, match="together"):
        Prompts(protocol_named("halo-support"), together=True)


def test_claims_are_listed_with_the_field_that_they_come_from_after_all_fields():
    user = requests("halo-claims", [together("halo-claims")], together=True)[0].messages[1].content
    first, second = together("halo-claims").codes.values()
    assert f"[claim 1, from Generated answer, code {first}]\nThe harbour lies north of the town\n" in user
    assert f"[claim 2, from Gold answer, code {second}]\nIt is north of the town.\n" in user
    assert user.index("[end gold_answer ") < user.index("[begin claims ")
    single = requests("halo-claims", tasks("halo-claims")[1:2])[0].messages[1].content
    assert "The claim to rate (number 2, from Gold answer):" in single


def test_a_criterion_of_one_field_and_what_it_is_checked_against_are_stated():
    system, schema = requests("halo-claims", [one("halo-claims")])[0].messages[0].content, Prompts(
        protocol_named("halo-claims")
    ).schema  # fmt: skip
    assert "Asked only about claims of “Gold answer”. Otherwise its answer is null." in system
    assert "Check it against “Generated answer”." in system
    properties = json.loads(schema.text)["properties"]
    assert properties["answer_support"]["properties"]["answer"]["enum"][-1] is None
    assert properties["support"]["properties"]["answer"]["enum"][-1] == "NO EVIDENCE"
    with_evidence = json.loads(Prompts(with_reasons(protocol_named("halo-claims"))).schema.text)["properties"]
    quoted = {
        name: with_evidence[name]["properties"]["evidence"]["items"]["properties"]["field"]["enum"]
        for name in ("support", "answer_support")
    }
    assert quoted == {"support": ["context"], "answer_support": ["generated_answer"]}
