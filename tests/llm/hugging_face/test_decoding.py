"""Replies token by token: what a schema allows, what else could have been said, where a reply ends."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from typing import Any, cast

import jsonschema
import pytest

from evenhand.formats.derived_units import read_questions
from evenhand.formats.items import read_items
from evenhand.llm.base import CallError, Request, RunError, Schema
from evenhand.llm.hugging_face.model import ChatTemplate, LoadedModel
from evenhand.protocol.load import load_protocol
from evenhand.raters.llm_judge.prompt import PromptCase, Prompts
from evenhand.units import split
from tests.llm.local_replies import DIGITS, VERDICT, asked, mixed_requests, said_alone, said_by
from tests.llm.tiny_model import HOW, make_model, torch

pytest.importorskip("llguidance", reason=HOW)

PROTOCOLS = {
    "ai-detection": "items.csv",
    "feedback": "items.csv",
    "halo-support": "items.csv",
    "neureg-qa": "items.jsonl",
    "rag-quest-eval": "items.csv",
    "stem-accuracy": "items.jsonl",
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.load(make_model(tmp_path_factory.mktemp("models") / "tiny"), device="cpu")


def sample_request(name: str) -> Request:
    """The first item of the bundled sample, its units together; texts of the reply are short, to spare time."""
    protocol = load_protocol(name)
    with as_file(files("evenhand.samples") / name) as folder:
        item = next(iter(read_items(folder / PROTOCOLS[name], protocol)))
        questions = read_questions(folder / "questions.json") if name == "rag-quest-eval" else None
    units = tuple(split(protocol, item, questions))[:3]
    prompts = Prompts(protocol, shots=0, bounded=True, together=len(units) > 1)
    request = prompts.request(
        PromptCase.of(protocol, item, units), max_tokens=2000, temperature=0, seed=None, logprobs=0
    )
    assert request.schema is not None
    text = re.sub(r'"maxLength":\d+', '"maxLength":15', request.schema.text)
    text = text.replace('"type":"array",', '"type":"array","maxItems":3,', 1)
    return replace(request, schema=replace(request.schema, text=text))


def in_order(value: object, schema: Any) -> bool:
    """Whether the keys of every object stand in the order of its schema."""
    if isinstance(value, list):
        return all(in_order(part, schema["items"]) for part in cast("list[object]", value))
    if not isinstance(value, dict):
        return True
    known = cast("dict[str, object]", value)
    named: dict[str, Any] = schema["properties"]
    return list(known) == list(named) and all(in_order(known[key], named[key]) for key in known)


def test_replies_obey_the_schema_of_every_protocol_in_its_order(loaded: LoadedModel):
    requests = [sample_request(name) for name in PROTOCOLS]
    for request, reply in zip(requests, said_by(loaded, requests), strict=True):
        assert request.schema is not None
        schema: Any = json.loads(request.schema.text)
        value = json.loads(reply.text)
        jsonschema.validate(value, schema)
        assert in_order(value, schema)
        assert reply.finish == "stop"


def test_without_a_schema_it_says_what_transformers_says_by_itself(loaded: LoadedModel):
    requests = mixed_requests()[:4]
    for request, reply in zip(requests, said_by(loaded, requests), strict=True):
        prompt = ChatTemplate(loaded.tokenizer).tokens(request.messages)
        written = loaded.model.generate(
            input_ids=torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=request.max_tokens,
            do_sample=False,
            eos_token_id=loaded.ends[0],
        )[0, len(prompt) :]
        text: str = loaded.tokenizer.decode(written, skip_special_tokens=True)
        # A character cut in the middle is a replacement character there, and left out here.
        assert reply.text == text.rstrip("\ufffd") or reply.text == text
        assert reply.usage is not None
        assert (reply.usage.input, reply.usage.output) == (len(prompt), len(written))


def test_a_reply_is_cut_at_its_token_limit_and_says_so(loaded: LoadedModel):
    full = said_alone(loaded, asked("Yes?", schema=VERDICT, max_tokens=200))
    assert full.finish == "stop"
    assert full.usage is not None
    exact, cut = said_by(
        loaded,
        [asked("Yes?", schema=VERDICT, max_tokens=full.usage.output - missing) for missing in (0, 3)],
    )
    assert (exact.text, exact.finish) == (full.text, "stop")
    assert cut.finish == "length"
    assert cut.usage is not None
    assert cut.usage.output == full.usage.output - 3
    assert full.text.startswith(cut.text)
    assert cut.text != full.text


def next_scores(loaded: LoadedModel, tokens: Sequence[int]) -> Any:
    with torch.inference_mode():
        return loaded.model(input_ids=torch.tensor([tokens])).logits[0, -1].double()


def test_alternatives_are_the_most_probable_tokens_of_a_plain_forward_pass(loaded: LoadedModel):
    request = asked("Yes?", max_tokens=12, logprobs=3)
    reply = said_by(loaded, [asked("Another, longer one."), request])[1]
    tokens = ChatTemplate(loaded.tokenizer).tokens(request.messages)
    assert len(reply.choices) == 12
    for choice in reply.choices:
        top = torch.log_softmax(next_scores(loaded, tokens), dim=-1).topk(3)
        assert [value for _, value in choice.alternatives] == pytest.approx(top.values.tolist(), abs=1e-4)
        assert [text for text, _ in choice.alternatives] == [loaded.tokenizer.decode([token]) for token in top.indices]
        assert choice.text == choice.alternatives[0][0]
        tokens.append(int(top.indices[0]))


def test_alternatives_under_a_schema_are_shares_of_what_it_allows(loaded: LoadedModel):
    request = asked("Yes?", schema=DIGITS, logprobs=9)
    (choice,) = said_alone(loaded, request).choices
    scores = next_scores(loaded, ChatTemplate(loaded.tokenizer).tokens(request.messages))
    digits = [str(digit) for digit in range(1, 6)]
    allowed = scores[[loaded.tokenizer.convert_tokens_to_ids(digit) for digit in digits]]
    expected = dict(zip(digits, torch.log_softmax(allowed, dim=-1).tolist(), strict=True))
    assert dict(choice.alternatives) == pytest.approx(expected, abs=1e-4)
    assert choice.text == max(expected, key=lambda digit: expected[digit])


def test_every_choice_says_where_its_token_stands(loaded: LoadedModel):
    request = asked("Yes?", schema=VERDICT, logprobs=1, temperature=1.0, seed=4)
    reply = said_alone(loaded, request)
    answer = reply.text.rindex(":") + 2
    # One token writes the digit, by itself or after the blank: `": "`, `4` or `":`, ` 4`.
    assert any(choice.offset <= answer < choice.offset + len(choice.text) for choice in reply.choices)
    whole = [choice for choice in reply.choices if "\ufffd" not in choice.text]
    assert whole
    assert all(reply.text.startswith(choice.text, choice.offset) for choice in whole)


def test_a_model_without_numbers_is_a_failed_call(loaded: LoadedModel):
    def nothing(module: object, given: object, result: Any) -> Any:
        return result * float("nan")

    hook = loaded.model.get_output_embeddings().register_forward_hook(nothing)
    try:
        with pytest.raises(CallError, match=r"not a number"):
            said_alone(loaded, asked("Yes?", schema=VERDICT))
    finally:
        hook.remove()


def test_a_schema_that_cannot_be_held_stops_the_run(loaded: LoadedModel):
    with pytest.raises(RunError, match="the schema odd "):
        said_alone(loaded, asked("Yes?", schema=Schema("odd", '{"type": "string", "not": {"const": "x"}}')))
    with pytest.raises(RunError, match="the schema broken is not JSON"):
        said_alone(loaded, asked("Yes?", schema=Schema("broken", "{")))
