"""A model in this process: replies that obey their schema, batches that change nothing, failures that are told."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from typing import Any, cast

import jsonschema
import pytest

from evenhand.errors import UserError
from evenhand.formats.items import read_items
from evenhand.formats.questions import read_questions
from evenhand.llm.base import CallError, Message, Reply, Request, RunError, Schema
from evenhand.llm.chat_template import ChatTemplate
from evenhand.llm.hugging_face import HuggingFaceChat
from evenhand.llm.loaded_model import LoadedModel
from evenhand.protocol.load import load_protocol
from evenhand.raters.base import Task
from evenhand.raters.prompt import Prompts
from evenhand.units import split
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
VERDICT = Schema(
    "verdict",
    json.dumps(
        {
            "type": "object",
            "properties": {"reason": {"type": "string", "maxLength": 12}, "answer": {"enum": [1, 2, 3, 4, 5]}},
            "required": ["reason", "answer"],
            "additionalProperties": False,
        }
    ),
)
DIGITS = Schema("digits", json.dumps({"type": "integer", "enum": [1, 2, 3, 4, 5]}))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.load(make_model(tmp_path_factory.mktemp("models") / "tiny"), device="cpu")


@pytest.fixture(scope="module")
def learnt_positions(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.load(make_model(tmp_path_factory.mktemp("models") / "gpt2", kind="gpt2", context=400))


def asked(text: str, *, max_tokens: int = 60, **parameters: Any) -> Request:
    return Request((Message("system", "Judge."), Message("user", text)), max_tokens=max_tokens, **parameters)


class Watched:
    """Sees how many rows each step of the model has; `then` may raise in the model's name."""

    def __init__(self, loaded: LoadedModel, then: Callable[[int], None] = lambda rows: None) -> None:
        self.rows: list[int] = []
        self._then = then
        # The decoder layers are shared by all copies of the model.
        self._hook: Any = loaded.model.get_input_embeddings().register_forward_hook(self._seen)

    def _seen(self, module: object, given: tuple[Any, ...], result: object) -> None:
        self.rows.append(given[0].shape[0])
        self._then(given[0].shape[0])

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *exc: object) -> None:
        self._hook.remove()


def said_by(loaded: LoadedModel, requests: Sequence[Request], *, batch_size: int = 8) -> list[Reply]:
    """The replies to requests that are made all at once, while the model is busy with another: so none is early."""
    busy, asked_all = threading.Event(), threading.Event()

    def hold(rows: int) -> None:
        busy.set()
        asked_all.wait()

    async def ask() -> list[Reply]:
        chat = HuggingFaceChat(loaded, batch_size=batch_size)
        try:
            with Watched(loaded, hold):
                calls = [asyncio.create_task(chat.complete(asked("First.", schema=DIGITS)))]
                await asyncio.to_thread(busy.wait)
                calls += [asyncio.create_task(chat.complete(request)) for request in requests]
                await asyncio.sleep(0)
                asked_all.set()
                await calls[0]
            return await asyncio.gather(*calls[1:])
        finally:
            asked_all.set()
            await chat.close()

    return asyncio.run(ask())


def sample_request(name: str) -> Request:
    """The first item of the bundled sample, its units together; texts of the reply are short, to spare time."""
    protocol = load_protocol(name)
    with as_file(files("evenhand.samples") / name) as folder:
        item = next(iter(read_items(folder / PROTOCOLS[name], protocol)))
        questions = read_questions(folder / "questions.json") if name == "rag-quest-eval" else None
    units = tuple(split(protocol, item, questions))[:3]
    prompts = Prompts(protocol, shots=0, bounded=True)
    request = prompts.request(Task(item, units), max_tokens=2000, temperature=0, seed=None, logprobs=0)
    assert request.schema is not None
    return replace(
        request, schema=replace(request.schema, text=re.sub(r'"maxLength":\d+', '"maxLength":15', request.schema.text))
    )


def in_order(value: object, schema: Any, root: Any) -> bool:
    """Whether the keys of every object stand in the order of its schema."""
    schema = root["$defs"]["unit"] if "$ref" in schema else schema
    if isinstance(value, list):
        return all(in_order(part, schema["items"], root) for part in cast("list[object]", value))
    if not isinstance(value, dict):
        return True
    known = cast("dict[str, object]", value)
    named: dict[str, Any] = schema["properties"]
    return list(known) == list(named) and all(in_order(known[key], named[key], root) for key in known)


def test_replies_obey_the_schema_of_every_protocol_in_its_order(loaded: LoadedModel):
    requests = [sample_request(name) for name in PROTOCOLS]
    for request, reply in zip(requests, said_by(loaded, requests), strict=True):
        assert request.schema is not None
        schema: Any = json.loads(request.schema.text)
        value = json.loads(reply.text)
        jsonschema.validate(value, schema)
        assert in_order(value, schema, schema)
        assert reply.finish == "stop"


def mixed_requests() -> list[Request]:
    texts = [
        "Yes?",
        "A longer question, with more words in it.",
        "回答？",
        "Why not? " * 20,
    ]
    free = [asked(text, max_tokens=30 + place) for place, text in enumerate(texts)]
    return [*free, *(replace(request, schema=VERDICT, max_tokens=80) for request in free)]


@pytest.mark.parametrize("kind", ["loaded", "learnt_positions"])
def test_a_batch_says_what_each_request_would_have_got_alone(kind: str, request: pytest.FixtureRequest):
    model: LoadedModel = request.getfixturevalue(kind)
    requests = mixed_requests()
    alone = [said_by(model, [one])[0] for one in requests]
    with Watched(model) as watched:
        together = said_by(model, requests)
    assert max(watched.rows) == len(requests)
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.finish for reply in together] == [reply.finish for reply in alone]
    assert [reply.usage for reply in together] == [reply.usage for reply in alone]


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


def test_more_requests_than_a_batch_holds_each_get_their_own_reply(loaded: LoadedModel):
    requests = [asked("word " * (1 + 7 * place % 11), schema=VERDICT) for place in range(11)]
    with Watched(loaded) as watched:
        replies = said_by(loaded, requests, batch_size=4)
    assert max(watched.rows) == 4
    reader = ChatTemplate(loaded.tokenizer)
    lengths = [len(reader.tokens(request.messages)) for request in requests]
    assert [reply.usage.input if reply.usage else 0 for reply in replies] == lengths
    assert {reply.model for reply in replies} == {loaded.name}


def test_prompts_of_very_different_lengths_are_not_batched(loaded: LoadedModel):
    lengths = [1, 900, 2, 910]
    with Watched(loaded) as watched:
        said_by(loaded, [asked("a " * length, schema=DIGITS) for length in lengths])
    # One step each, since the one digit ends the reply: one prompt before, two short ones together, two long ones.
    assert watched.rows == [1, 2, 2]


def test_a_seed_gives_the_same_reply_alone_and_in_company(loaded: LoadedModel):
    warm = [asked("Say something.", temperature=1.0, seed=seed) for seed in (1, 2, 3)]
    alone = [said_by(loaded, [request])[0].text for request in warm]
    assert [reply.text for reply in said_by(loaded, [*mixed_requests(), *warm])][-3:] == alone
    assert len(set(alone)) == 3
    unseeded = asked("Say something.", temperature=1.0)
    assert len({reply.text for reply in said_by(loaded, [unseeded] * 3)}) == 3


def test_a_reply_is_cut_at_its_token_limit_and_says_so(loaded: LoadedModel):
    full = said_by(loaded, [asked("Yes?", schema=VERDICT, max_tokens=200)])[0]
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


def test_a_prompt_is_never_cut(learnt_positions: LoadedModel):
    reader = ChatTemplate(learnt_positions.tokenizer)
    text = "long " * 50
    room = 400 - len(reader.tokens(asked(text).messages))
    assert said_by(learnt_positions, [asked(text, max_tokens=room)])[0].text
    with pytest.raises(CallError, match=r"^the prompt is longer than the model's context$") as caught:
        said_by(learnt_positions, [asked(text, max_tokens=room + 1)])
    assert not caught.value.again
    with pytest.raises(RunError, match="max_tokens of 400 leaves no room for a prompt"):
        said_by(learnt_positions, [asked("Yes?", max_tokens=400)])


def test_one_request_that_cannot_be_answered_does_not_disturb_others(learnt_positions: LoadedModel):
    async def ask() -> list[Reply | BaseException]:
        chat = HuggingFaceChat(learnt_positions)
        calls = [chat.complete(asked(text)) for text in ("Yes?", "long " * 500, "No?")]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        await chat.close()
        return answers

    first, second, third = asyncio.run(ask())
    assert isinstance(second, CallError)
    assert [first, third] == [
        replace(reply, seconds=known.seconds)
        for reply, known in zip(said_by(learnt_positions, [asked("Yes?"), asked("No?")]), (first, third), strict=True)
        if isinstance(known, Reply)
    ]


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
    (choice,) = said_by(loaded, [request])[0].choices
    scores = next_scores(loaded, ChatTemplate(loaded.tokenizer).tokens(request.messages))
    digits = [str(digit) for digit in range(1, 6)]
    allowed = scores[[loaded.tokenizer.convert_tokens_to_ids(digit) for digit in digits]]
    expected = dict(zip(digits, torch.log_softmax(allowed, dim=-1).tolist(), strict=True))
    assert dict(choice.alternatives) == pytest.approx(expected, abs=1e-4)
    assert choice.text == max(expected, key=lambda digit: expected[digit])


def test_every_choice_says_where_its_token_stands(loaded: LoadedModel):
    request = asked("Yes?", schema=VERDICT, logprobs=1, temperature=1.0, seed=4)
    reply = said_by(loaded, [request])[0]
    answer = reply.text.rindex(":") + 2
    # One token writes the digit, by itself or after the blank: `": "`, `4` or `":`, ` 4`.
    assert any(choice.offset <= answer < choice.offset + len(choice.text) for choice in reply.choices)
    whole = [choice for choice in reply.choices if "\ufffd" not in choice.text]
    assert whole
    assert all(reply.text.startswith(choice.text, choice.offset) for choice in whole)


@pytest.fixture
def threads() -> Iterator[None]:
    """No thread is left behind."""
    before = set(threading.enumerate())
    yield
    assert {thread for thread in threading.enumerate() if thread.name.startswith("evenhand")} <= before


@pytest.mark.usefixtures("threads")
def test_a_cancelled_request_ends_at_once_and_leaves_the_others_alone(loaded: LoadedModel):
    under_way = threading.Event()

    async def ask() -> tuple[str, str]:
        chat = HuggingFaceChat(loaded)
        endless = asyncio.create_task(
            chat.complete(asked("Yes?", max_tokens=15_000, schema=Schema("any", '{"type": "string"}')))
        )
        kept = asyncio.create_task(chat.complete(asked("Kept.", schema=VERDICT)))
        await asyncio.to_thread(under_way.wait)
        waiting = asyncio.create_task(chat.complete(asked("Never read.")))
        await asyncio.sleep(0)
        endless.cancel()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        texts = (await kept).text, (await chat.complete(asked("Later.", schema=VERDICT))).text
        await chat.close()
        return texts

    def long_since(rows: int) -> None:
        under_way.set()

    with Watched(loaded, long_since) as watched:
        kept, later = asyncio.run(ask())
    assert [kept, later] == [
        reply.text for reply in said_by(loaded, [asked("Kept.", schema=VERDICT), asked("Later.", schema=VERDICT)])
    ]
    assert len(watched.rows) < 15_000


@pytest.mark.usefixtures("threads")
def test_closing_ends_what_is_under_way_and_what_waits(loaded: LoadedModel):
    under_way = threading.Event()

    async def ask() -> list[Reply | BaseException]:
        chat = HuggingFaceChat(loaded, batch_size=1)
        endless = asked("Yes?", max_tokens=15_000, schema=Schema("any", '{"type": "string"}'))
        calls = [asyncio.create_task(chat.complete(endless)) for _ in range(3)]
        await asyncio.to_thread(under_way.wait)
        await chat.close()
        answers = await asyncio.gather(*calls, chat.complete(endless), return_exceptions=True)
        await chat.close()
        return answers

    with Watched(loaded, lambda rows: under_way.set()):
        answers = asyncio.run(ask())
    assert [str(answer) for answer in answers] == ["the model was closed"] * 4
    assert all(isinstance(answer, CallError) for answer in answers)


def test_a_chat_that_nobody_asked_closes_without_a_thread(loaded: LoadedModel):
    before = threading.active_count()
    chat = HuggingFaceChat(loaded)
    asyncio.run(chat.close())
    assert threading.active_count() == before


def test_a_batch_too_large_for_memory_is_halved_until_it_fits(loaded: LoadedModel):
    def full(rows: int) -> None:
        if rows > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    requests = mixed_requests()
    with Watched(loaded, full) as watched:
        replies = said_by(loaded, requests)
    assert [reply.text for reply in replies] == [reply.text for reply in said_by(loaded, requests)]
    # Eight rows are too many, their first half too, and so is their second, which was set aside meanwhile.
    assert [rows for rows in watched.rows if rows > 2] == [8, 4, 4]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 17 GB)"),
        MemoryError(),
    ],
)
def test_a_request_too_large_for_memory_is_a_failed_call(loaded: LoadedModel, error: Exception):
    def full(rows: int) -> None:
        raise error

    with Watched(loaded, full), pytest.raises(CallError, match=r"^out of memory$"):
        said_by(loaded, [asked("Yes?")])


def test_an_error_of_the_model_reaches_whoever_asked_and_nobody_after(loaded: LoadedModel):
    async def ask() -> Reply:
        chat = HuggingFaceChat(loaded)

        def broken(rows: int) -> None:
            raise ZeroDivisionError("a layer is broken")

        with Watched(loaded, broken), pytest.raises(ZeroDivisionError, match="a layer is broken"):
            await chat.complete(asked("Yes?"))
        reply = await chat.complete(asked("Yes?", schema=VERDICT))
        await chat.close()
        return reply

    assert asyncio.run(ask()).finish == "stop"


def test_a_model_without_numbers_is_a_failed_call(loaded: LoadedModel):
    def nothing(module: object, given: object, result: Any) -> Any:
        return result * float("nan")

    hook = loaded.model.get_output_embeddings().register_forward_hook(nothing)
    try:
        with pytest.raises(CallError, match=r"^the model gave no numbers$"):
            said_by(loaded, [asked("Yes?", schema=VERDICT)])
    finally:
        hook.remove()


def test_a_schema_that_cannot_be_held_stops_the_run(loaded: LoadedModel):
    with pytest.raises(RunError, match="the schema odd cannot be held"):
        said_by(loaded, [asked("Yes?", schema=Schema("odd", '{"type": "string", "not": {"const": "x"}}'))])
    with pytest.raises(RunError, match="the schema broken is not JSON"):
        said_by(loaded, [asked("Yes?", schema=Schema("broken", "{"))])


def test_the_pace_has_places_for_several_batches(loaded: LoadedModel):
    chat = HuggingFaceChat(loaded, batch_size=2)

    async def entered() -> int:
        inside = 0

        async def enter() -> None:
            nonlocal inside
            async with chat.pace:
                inside += 1
                await asyncio.Event().wait()

        tasks = [asyncio.create_task(enter()) for _ in range(20)]
        for _ in range(5):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return inside

    # Four batches of two; those who leave make room for others, who are cancelled before they enter.
    assert asyncio.run(entered()) == 8
    with pytest.raises(UserError, match="batch_size: 0 is too few"):
        HuggingFaceChat(loaded, batch_size=0)


def test_a_model_of_the_user_is_asked_where_it_is(loaded: LoadedModel):
    async def ask() -> Reply:
        chat = HuggingFaceChat.of(loaded.model, loaded.tokenizer, batch_size=2)
        reply = await chat.complete(asked("Yes?", schema=VERDICT))
        await chat.close()
        return reply

    assert asyncio.run(ask()).text == said_by(loaded, [asked("Yes?", schema=VERDICT)])[0].text
