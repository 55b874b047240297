"""A model in this process: batches that change nothing, requests that end early, failures that are told."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from evenhand.errors import UserError
from evenhand.llm.base import CallError, Reply, RunError
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.hugging_face.model import ChatTemplate, LoadedModel
from tests.llm.local_replies import (
    DIGITS,
    ENDLESS,
    PATIENCE,
    VERDICT,
    Watched,
    asked,
    mixed_requests,
    said_alone,
    said_by,
)
from tests.llm.tiny_model import HOW, make_model, torch

pytest.importorskip("llguidance", reason=HOW)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.load(make_model(tmp_path_factory.mktemp("models") / "tiny"), device="cpu")


@pytest.fixture(scope="module")
def learnt_positions(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.load(make_model(tmp_path_factory.mktemp("models") / "gpt2", kind="gpt2", context=400))


@pytest.mark.parametrize("kind", ["loaded", "learnt_positions"])
def test_a_batch_says_what_each_request_would_have_got_alone(kind: str, request: pytest.FixtureRequest):
    model: LoadedModel = request.getfixturevalue(kind)
    requests = mixed_requests()
    alone = [said_alone(model, one) for one in requests]
    with Watched(model) as watched:
        together = said_by(model, requests)
    assert max(watched.rows) == len(requests)
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert [reply.finish for reply in together] == [reply.finish for reply in alone]
    assert [reply.usage for reply in together] == [reply.usage for reply in alone]


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
    alone = [said_alone(loaded, request).text for request in warm]
    assert [reply.text for reply in said_by(loaded, [*mixed_requests(), *warm])][-3:] == alone
    assert len(set(alone)) == 3
    unseeded = asked("Say something.", temperature=1.0)
    assert len({reply.text for reply in said_by(loaded, [unseeded] * 3)}) == 3


def test_a_prompt_is_never_cut(learnt_positions: LoadedModel):
    reader = ChatTemplate(learnt_positions.tokenizer)
    text = "long " * 50
    room = 400 - len(reader.tokens(asked(text).messages))
    assert said_alone(learnt_positions, asked(text, max_tokens=room)).text
    with pytest.raises(CallError, match=r"^the prompt is longer than the model's context$") as caught:
        said_alone(learnt_positions, asked(text, max_tokens=room + 1))
    assert not caught.value.again
    with pytest.raises(RunError, match="max_tokens of 400 leaves no room for a prompt"):
        said_alone(learnt_positions, asked("Yes?", max_tokens=400))


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
        endless = asyncio.create_task(chat.complete(asked("Yes?", max_tokens=15_000, schema=ENDLESS)))
        kept = asyncio.create_task(chat.complete(asked("Kept.", schema=VERDICT)))
        assert await asyncio.to_thread(under_way.wait, PATIENCE)
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
        endless = asked("Yes?", max_tokens=15_000, schema=ENDLESS)
        calls = [asyncio.create_task(chat.complete(endless)) for _ in range(3)]
        assert await asyncio.to_thread(under_way.wait, PATIENCE)
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
    # Eight rows are too many, and so are four; all batches after that have two.
    assert [rows for rows in watched.rows if rows > 2] == [8, 4]


@pytest.mark.parametrize(
    "error",
    [
        lambda: torch.OutOfMemoryError("CUDA out of memory."),
        lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
        lambda: RuntimeError("MPS backend out of memory (MPS allocated: 17 GB)"),
        MemoryError,
    ],
)
def test_a_request_too_large_for_memory_is_a_failed_call(loaded: LoadedModel, error: Callable[[], Exception]):
    def full(rows: int) -> None:
        raise error()

    with Watched(loaded, full), pytest.raises(CallError, match=r"^out of memory$"):
        said_alone(loaded, asked("Yes?"))


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
    with pytest.raises(UserError, match="batch_size"):
        HuggingFaceChat(loaded, batch_size=0)


def test_a_model_of_the_user_is_asked_where_it_is(loaded: LoadedModel):
    async def ask() -> Reply:
        chat = HuggingFaceChat(LoadedModel.of(loaded.model, loaded.tokenizer), batch_size=2)
        reply = await chat.complete(asked("Yes?", schema=VERDICT))
        await chat.close()
        return reply

    assert asyncio.run(ask()).text == said_alone(loaded, asked("Yes?", schema=VERDICT)).text
