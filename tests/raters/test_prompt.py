import json
from collections.abc import Mapping
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from rater_cases import EVIDENCE, NAMES, QUESTIONS, one, protocol_named, says, tasks, together

from evenhand.llm.base import Request
from evenhand.protocol.guideline import field_text, field_title
from evenhand.protocol.model import Example, Protocol
from evenhand.raters.base import Task
from evenhand.raters.prompt import Prompts
from evenhand.raters.reply import read_reply
from evenhand.raters.schema import group_key
from evenhand.records import Item
from evenhand.scales import Nominal, Ordinal


def asked(name: str, task: Task, *, shots: int | None = None) -> Request:
    prompts = Prompts(protocol_named(name), shots=shots)
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
        assert all(field_title(name, protocol.item.fields[name]) in user for name in shown(protocol, task.item))


def shown(protocol: Protocol, item: Item) -> list[str]:
    return [name for name in protocol.shown_fields() if name in item.fields]


@pytest.mark.parametrize("name", [*NAMES, "evidence"])
def test_what_is_hidden_never_reaches_the_model(name: str):
    protocol = protocol_named(name)
    for task in tasks(name):
        prompts = Prompts(protocol)
        prompt = prompts.text(task) + prompts.schema(task).text
        for field, spec in protocol.item.fields.items():
            if not spec.shown:
                assert f"[begin {field} " not in prompt
                value = field_text(task.item.fields[field])
                assert value == "few" or value not in prompt
        assert not any(q.answer in prompt or (q.key_info or q.answer) in prompt for q in QUESTIONS)


def test_the_hidden_label_of_an_item_changes_nothing():
    item = one("neureg-qa").item
    other = Item(item.id, {**item.fields, "shot_type": "zero", "unheard_of": "of a later version"})
    assert asked("neureg-qa", Task(other, one("neureg-qa").units)) == asked("neureg-qa", one("neureg-qa"))


def test_the_system_message_is_the_same_object_for_every_item():
    prompts = Prompts(protocol_named("stem-accuracy"))
    first, second, _, both = (
        prompts.request(task, max_tokens=1, temperature=0.0, seed=None, logprobs=0) for task in tasks("stem-accuracy")
    )
    assert first.messages[0] is second.messages[0]
    assert first.schema is second.schema
    assert first.messages[0] != both.messages[0]


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
    answers = [line.removeprefix("Answer: ") for line in system.splitlines() if line.startswith("Answer: ")]
    validator = cast("Any", Draft202012Validator(json.loads(Prompts(protocol).schema(task).text)))
    for example, answer in zip(protocol.examples, answers, strict=True):
        assert list(validator.iter_errors(json.loads(answer))) == []
        check_read(protocol, task, example, answer)


def check_read(protocol: Protocol, task: Task, example: Example, answer: str) -> None:
    reading = read_reply(protocol, task, says(answer))
    assert reading.faults == {}
    answers = reading.answers[task.units[0].id]
    assert {answer.criterion: answer.value for answer in answers} == example.ratings
    rationales = {answer.criterion: answer.rationale for answer in answers if answer.rationale is not None}
    assert rationales == example.rationales
    assert [answer.confidence for answer in answers if answer.confidence is not None] == (
        [example.confidence] if example.confidence is not None else []
    )
    assert [answer.notes for answer in answers if answer.notes is not None] == (
        [example.notes] if example.notes else []
    )


@pytest.mark.parametrize("name", ["stem-accuracy", "rag-quest-eval"])
def test_examples_on_one_item_are_answered_together_where_units_are_rated_together(name: str):
    protocol = protocol_named(name)
    system = asked(name, together(name)).messages[0].content
    (answer,) = [line.removeprefix("Answer: ") for line in system.splitlines() if line.startswith("Answer: ")]
    bodies: Mapping[str, Any] = json.loads(answer)[group_key(protocol)]
    rated = [
        {c: entry["answer"] for c, entry in body.items() if entry["answer"] is not None} for body in bodies.values()
    ]
    assert rated == [example.ratings for example in protocol.examples]
    assert all(f"[{group_key(protocol)[:-1]} {n} " in system for n in bodies)


def test_a_sentence_stands_by_itself_beside_the_whole_response():
    task = tasks("stem-accuracy")[1]
    user = asked("stem-accuracy", task).messages[1].content
    code = user.split()[6].rstrip(".")
    assert f"number 2:\n[begin sentence to rate {code}]\nTraining took a day.\n[end sentence to rate {code}]" in user
    assert "\nIt reached 0.91. Training took a day. Here is a summary.\n" in user


def test_sentences_rated_together_are_numbered_by_their_positions():
    whole = together("stem-accuracy")
    user = asked("stem-accuracy", Task(whole.item, whole.units[1:])).messages[1].content
    code = user.split()[6].rstrip(".")
    assert f"[sentence 2 {code}]\nTraining took a day.\n[sentence 3 {code}]\nHere is a summary.\n[end sentences" in user
    assert f"[sentence 1 {code}]" not in user
    assert "each of 2, 3" in user


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


def test_rationales_are_wanted_in_the_language_of_the_protocol():
    chinese = EVIDENCE.model_copy(update={"language": "zh", "instructions": "请仔细评分。"})
    text = Prompts(chinese).text(one("evidence"))
    assert "请仔细评分。" in text
    assert "in the language of this protocol (language code zh)" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_text_for_a_chat_window_is_both_messages(name: str):
    for task in tasks(name):
        system, user = (message.content for message in asked(name, task).messages)
        text = Prompts(protocol_named(name)).text(task)
        assert text.startswith(system)
        assert text.rstrip().endswith(user)


def test_an_item_is_rated_by_itself():
    task = one("halo-support")
    with pytest.raises(ValueError, match="one unit"):
        asked("halo-support", Task(task.item, task.units * 2))
