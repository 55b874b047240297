"""The calls of a run. Each is paid from a budget, and its reply stored before it is returned: none is paid for twice.

Before a call its worst case is reserved: every byte of the prompt a token, the reply as long as it may get. When the
call is over, its cost counts as spent, and the rest is free again. What is spent and what is reserved together never
exceed the cap, so no reply can take the run beyond it. A call whose server does not report its usage counts with its
worst case, and so does one that broke off after it was sent. The workers of a run share its cap: money is reserved for
a leased item, in the study's database. If a worker is killed, what its items had reserved counts as spent, because it
may have paid.

The store is used in the event loop's own thread, and the loop waits while it writes. A caller would have to wait for
its reply to be safe anyway; replies that arrive meanwhile are written together in the next turn of the loop, so that
one wait for the disk serves them all. Handing the work to a thread took 0.2 ms of CPU more for each reply, a third of
the whole.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from math import ceil
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from genai_prices import Usage as Tokens
from genai_prices import calc_price

from evenhand.errors import UserError
from evenhand.llm.base import BeforeRetry, CallError, Chat, Reply, Request, RunError, Usage
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat, Listener, Waits
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.rate_limit import RateLimiter
from evenhand.raters.base import Rater, RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, RaterSource, rater_of
from evenhand.records import new_id, now
from evenhand.run.progress import CapReached, RaterCounters, Stopped, StopReason
from evenhand.settings import Settings
from evenhand.store.replies import ReplyKey, StoredReply
from evenhand.store.store import Store
from evenhand.store.work import Work

A = TypeVar("A")
B = TypeVar("B")

LeaseName = tuple[str, str, str]
"""The run, the worker and the item of a lease."""

POLL_SECONDS = 0.5
"""How often a worker looks whether others have given money back."""

_PROVIDERS = {"openai": "openai", "gemini": "google", "anthropic": "anthropic"}
_MANY = 100_000
_MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add around a message."""
_VALUE = re.compile(r':\s*"?')


@dataclass(frozen=True, slots=True)
class CallScope:
    """What the calls of a task are about: the lease they are paid from. Replies up to `since` are not used again."""

    lease: LeaseName
    since: datetime | None = None


SCOPE: ContextVar[CallScope] = ContextVar("call_scope")
"""Set by a task for itself and the tasks that it starts."""


class Recorder:
    """What the chats and workers of one run share: the study, the stored replies, the budget, why the run is to end."""

    def __init__(self, store: Store, options: RunOptions) -> None:
        self.store = store
        self.options = options
        self.counters: dict[str, RaterCounters] = {}
        """By the raters' ids."""
        self.stopped: StopReason | None = None
        """Why the run is to end before its work is done."""
        self.find = _Grouped(store.replies.find).submit
        self.add = _Grouped(store.replies.add).submit
        self.budget = Budget(store.work, options)
        self._locks: WeakValueDictionary[ReplyKey, asyncio.Lock] = WeakValueDictionary()

    def raters(
        self, sources: Iterable[RaterSource], options: RaterOptions, kind: "type[RecordedChat] | None" = None
    ) -> Sequence[Rater]:
        """Build raters whose calls are recorded and counted. Raises UserError if a name or a price is not right."""
        raters = list[Rater]()
        for source in sources:
            counters = RaterCounters()
            connect = partial(kind or RecordedChat, self, counters)
            rater = rater_of(source, RaterContext(self.store.protocol, connect, options, self.options))
            counters.rater = rater.ref.id
            if rater.ref.id in self.counters:
                raise UserError(
                    f"two raters are called {rater.ref.id!r}: name them differently, as in --rater NAME=SPEC"
                )
            self.counters[rater.ref.id] = counters
            raters.append(rater)
        self.budget.check([chat.model for rater in raters for chat in rater.chats])
        return raters

    def lock(self, key: ReplyKey) -> asyncio.Lock:
        """Held while the reply under a key is looked up or obtained: who asks for the same meanwhile then finds it."""
        return self._locks.setdefault(key, asyncio.Lock())

    def stop(self, reason: StopReason) -> None:
        """End the run; the first reason counts."""
        self.stopped = self.stopped or reason


class RecordedChat:
    """A chat around another one: find the stored reply, or reserve its cost, call, store the reply, and return it.

    The other chat is named by a spec, or is one that the caller has made. Raises Stopped instead of making a call if
    the run is to end, and ends the run if no call can succeed or the next one could exceed the cap.
    """

    def __init__(self, recorder: Recorder, counters: RaterCounters, target: str | Chat) -> None:
        listener = counters.add_event
        chat = connect_model(target, recorder.options, listener) if isinstance(target, str) else target
        self.model = chat.model
        self.pace = chat.pace
        self.close = chat.close
        self.price = recorder.budget.price(chat.model)
        self._chat = chat
        self._recorder = recorder
        self._counters = counters

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        scope, key = SCOPE.get(), self.key(request)
        async with self._recorder.lock(key):
            stored = await self.find(key, scope.since)
            if stored is not None:
                self._counters.reused += 1
            else:
                # The place is kept until the reply is safe.
                async with self.pace:
                    stored = StoredReply(new_id(), key, await self._call(request, scope.lease), now())
                    await self._recorder.add(stored)
        return replace(stored.reply, id=stored.id)

    def key(self, request: Request) -> ReplyKey:
        """The key under which the reply to a request is stored."""
        return ReplyKey(request.digest, self.model, request.parameters, request.sample)

    async def find(self, key: ReplyKey, since: datetime | None) -> StoredReply | None:
        """The stored reply under a key, if it came after `since`."""
        stored = (await self._recorder.find(key)).get(key)
        return stored if stored is not None and (since is None or stored.at > since) else None

    async def _call(self, request: Request, lease: LeaseName) -> Reply:
        recorder, counters = self._recorder, self._counters
        try:
            async with CallCost(recorder.budget, lease, self.price, request, counters) as cost:

                def before_retry(charged: bool) -> None:
                    if charged:
                        cost.retry()
                    if recorder.stopped is not None:
                        raise Stopped

                if recorder.stopped is not None:
                    raise Stopped
                counters.calls += 1
                call = self._chat.complete(request, before_retry=before_retry)
                reply = await traced(self.model, request, call)
                cost.charge(reply.usage)
        except (CapReached, RunError) as reason:
            recorder.stop(reason)
            raise Stopped from reason
        counters.add_reply(reply)
        return _trimmed(reply) if reply.choices else reply


def connect_model(spec: str, options: RunOptions, listener: Listener | None = None) -> Chat:
    """A chat with the model that a spec names, with keys and addresses from the environment."""
    kind, _, source = spec.partition(":")
    if kind.lower() == "hf":
        if not source.strip():
            raise UserError(f"{spec!r} lacks the model: give its folder or its id, as in hf:./my-model")
        return HuggingFaceChat(
            source.strip(), device=options.device, dtype=options.dtype, batch_size=options.batch_size
        )
    return HttpChat(
        endpoint_of(spec, Settings.from_environment(os.environ)),
        pace=RateLimiter(options.concurrency),
        timeout=options.timeout,
        tries=options.tries,
        waits=Waits(patience=options.patience),
        listener=listener,
    )


def _trimmed(reply: Reply) -> Reply:
    """The reply with alternatives only where a JSON value begins: those of every token are fifty times as much."""
    starts = [match.end() for match in _VALUE.finditer(reply.text)]
    kept = [
        choice
        for choice in reply.choices
        if any(choice.offset <= start <= choice.offset + len(choice.text) for start in starts)
    ]
    return replace(reply, choices=tuple(kept))


class _Grouped(Generic[A, B]):
    """Does in one call, in the next turn of the loop, what several coroutines submit one by one in this turn."""

    def __init__(self, work: Callable[[Sequence[A]], B]) -> None:
        self._work = work
        self._waiting: list[A] = []
        self._done: asyncio.Future[B]

    async def submit(self, argument: A) -> B:
        """The result of the whole group."""
        if not self._waiting:
            loop = asyncio.get_running_loop()
            self._done = loop.create_future()
            loop.call_soon(self._run)
        self._waiting.append(argument)
        return await asyncio.shield(self._done)

    def _run(self) -> None:
        group, self._waiting = self._waiting, []
        try:
            self._done.set_result(self._work(group))
        except Exception as error:  # noqa: BLE001 - it belongs to the callers
            self._done.set_exception(error)


async def traced(model: str, request: Request, call: Awaitable[Reply]) -> Reply:
    """Wait for a call within an OpenTelemetry span of its own, if the user has set OpenTelemetry up.

    Names and attributes follow OpenTelemetry's conventions for generative AI; there is never any content.
    """
    trace = _opentelemetry()
    if trace is None:
        return await call
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "evenhand.prompt.digest": request.digest,
    }
    with trace.get_tracer("evenhand").start_as_current_span(f"chat {model}", attributes=attributes) as span:
        try:
            reply = await call
        except CallError as error:
            span.set_attribute("error.type", error.reason)
            raise
        span.set_attribute("gen_ai.response.model", reply.model)
        span.set_attribute("gen_ai.response.finish_reasons", [reply.finish])
        if reply.usage is not None:
            span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input)
            span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output)
        return reply


@cache
def _opentelemetry() -> Any:
    """OpenTelemetry's API, whose spans do nothing until a provider is set up; None if it is not installed."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input that the server has read before; by default the same as `input`."""

    def cost(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / 1e6

    def worst(self, request: Request) -> float:
        """The most that a reply to this request can cost: a token covers at least one byte of text."""
        size = sum(most_tokens(message.content) + _MESSAGE_OVERHEAD for message in request.messages)
        size += most_tokens(request.schema.text) if request.schema else 0
        return self.cost(Usage(size, request.max_tokens))


def most_tokens(text: str) -> int:
    """An upper bound on the tokens of a text: a token covers one byte of UTF-8 or more."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@cache
def published_price(spec: str) -> Price | None:
    """The published price of an `openai:`, `gemini:` or `anthropic:` model, if it is known."""
    kind, _, model = spec.partition(":")
    provider = _PROVIDERS.get(kind)
    if provider is None:
        return None
    usages = (
        Tokens(input_tokens=_MANY),
        Tokens(output_tokens=_MANY),
        Tokens(input_tokens=_MANY, cache_read_tokens=_MANY),
    )
    try:
        prices = [calc_price(usage, model, provider_id=provider).total_price for usage in usages]
    except LookupError:
        return None
    return Price(*(float(price) / _MANY * 1e6 for price in prices))


def _parsed(texts: Iterable[str]) -> Mapping[str | None, Price]:
    """`IN/OUT` or `SPEC=IN/OUT`, in dollars per million tokens."""
    given: dict[str | None, Price] = {}
    for text in texts:
        spec, equals, amounts = text.rpartition("=")
        try:
            numbers = [float(part) for part in amounts.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 3) or not all(0 <= number < 1e6 for number in numbers):
            raise UserError(
                f"{text!r} is not a price: give dollars per million tokens read and written, as in 0.4/1.6, or for "
                "one rater alone, as in openai:gpt-4.1-mini=0.4/1.6; a third number is the price of cached input"
            )
        given[spec if equals else None] = Price(*numbers)
    return given


class Budget:
    """The prices of a run's models, and the cap that all its workers share. Without a cap nothing is reserved."""

    def __init__(self, work: Work, options: RunOptions) -> None:
        self._work = work
        self._prices = _parsed(options.prices)
        self._freed = asyncio.Event()
        self.cap = None if options.max_cost is None else int(options.max_cost * 1e6)
        """Micro-dollars."""
        self._settled: dict[LeaseName, tuple[int, int]] = {}
        """Micro-dollars reserved for calls that are over, and what of them was spent."""

    def price(self, model: str) -> Price | None:
        """The price of a model by its spec: as the user says, or as published for the three large services."""
        return self._prices.get(model) or self._prices.get(None) or published_price(model)

    def check(self, models: Sequence[str]) -> None:
        """Raise UserError if a price is given for another model, or if a cap cannot be kept for want of a price."""
        unknown = sorted(spec for spec in self._prices if spec is not None and spec not in models)
        if unknown:
            valid = ", ".join(dict.fromkeys(models)) or "none that has a price"
            raise UserError(f"--price {unknown[0]}=…: this run does not use such a model; it uses: {valid}")
        unpriced = sorted(model for model in models if self.price(model) is None)
        if self.cap is not None and unpriced:
            raise UserError(
                f"a cost limit needs a price, and the price of {unpriced[0]} is not known; give it in dollars per "
                f"million tokens read and written: --price {unpriced[0]}=IN/OUT"
            )

    async def reserve(self, lease: LeaseName, amount: int) -> None:
        """Wait until the amount fits under the cap. Raises CapReached if it does not fit and nothing will be freed."""
        while not self.reserve_now(lease, amount):
            if not any(run.id == lease[0] and run.reserved for run in self._work.runs()):
                raise CapReached
            self._freed.clear()
            # Other processes free money without a signal.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._freed.wait(), POLL_SECONDS)

    def reserve_now(self, lease: LeaseName, amount: int) -> bool:
        """Reserve micro-dollars for a call about a leased item; False if they do not fit under the cap."""
        if self.cap is None:
            return True
        settled, self._settled = self._settled, {}
        return self._work.reserve(*lease, amount, settled)

    def settle(self, lease: LeaseName, reserved: int, spent: int) -> None:
        """A call is over. What was reserved for it is given back with the next reservation, or with the lease."""
        before = self._settled.get(lease, (0, 0))
        self._settled[lease] = before[0] + reserved, before[1] + spent
        self._freed.set()

    def finish(self, lease: LeaseName) -> int:
        """What was spent on a lease and is not stored yet, to be stored when the lease is ended."""
        return self._settled.pop(lease, (0, 0))[1]


class CallCost:
    """What is reserved for one call, and what it has cost so far; nothing if its price is not known.

    An asynchronous context manager: the worst case is reserved at its beginning and settled at its end.
    """

    def __init__(
        self, budget: Budget, lease: LeaseName, price: Price | None, request: Request, counters: RaterCounters
    ) -> None:
        self._budget = budget
        self._lease = lease
        self._price = price
        self._worst = price.worst(request) if price else 0.0
        self._amount = ceil(self._worst * 1e6)
        self._reserved = 0
        self._spent = 0.0
        self._counters = counters

    async def __aenter__(self) -> "CallCost":
        await self._budget.reserve(self._lease, self._amount)
        self._reserved += self._amount
        return self

    def retry(self) -> None:
        """The request is about to be sent again, and the last attempt may be charged. Raises CapReached."""
        self._spent += self._worst
        if not self._budget.reserve_now(self._lease, self._amount):
            raise CapReached
        self._reserved += self._amount

    def charge(self, usage: Usage | None) -> None:
        """The reply has come."""
        if self._price is not None:
            self._spent += self._worst if usage is None else self._price.cost(usage)

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, CallError) and error.charged:
            self._spent += self._worst
        if self._price is not None:
            self._counters.cost = (self._counters.cost or 0.0) + self._spent
        self._budget.settle(self._lease, self._reserved, ceil(self._spent * 1e6))
