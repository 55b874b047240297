"""The calls of a run: each reply is stored before it is returned, so none is paid for twice.

The store is used in the event loop's own thread, and the loop waits while it writes. A caller would have to wait for
its reply to be safe anyway; replies that arrive meanwhile are written together in the next turn of the loop, so that
one wait for the disk serves them all. Handing the work to a thread took 0.2 ms of CPU more for each reply, a third of
the whole.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from evenhand.errors import UserError
from evenhand.llm.base import BeforeRetry, Chat, Choice, Reply, Request, RunError
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat, Listener, Waits
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.tokens import check_whole
from evenhand.raters.base import Rater
from evenhand.raters.options import RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, RaterSource, rater_of
from evenhand.records import new_id, now
from evenhand.run.budget import Budget, CallCost, LeaseName, Price, parse_prices
from evenhand.run.progress import CapReached, RaterCounters, Stopped, StopReason
from evenhand.run.tracing import traced
from evenhand.settings import Settings
from evenhand.store.replies import ReplyKey, StoredReply
from evenhand.store.store import Store

A = TypeVar("A")
B = TypeVar("B")

_VALUE = re.compile(r':\s*"?')


@dataclass(frozen=True, slots=True)
class CallScope:
    """What the calls of a task are about: the lease they are paid from. Replies up to `since` are not used again."""

    lease: LeaseName
    since: datetime | None = None


SCOPE: ContextVar[CallScope] = ContextVar("call_scope")
"""Set by a task for itself and the tasks that it starts."""


@dataclass
class Recorder:
    """What the chats and workers of one run share: the study, the stored replies, the budget, why the run is to end."""

    store: Store
    options: RunOptions
    counters: dict[str, RaterCounters] = field(default_factory=dict[str, RaterCounters])
    """By the raters' ids."""
    budget: Budget = field(init=False)
    stopped: StopReason | None = None
    """Why the run is to end before its work is done."""
    locks: "WeakValueDictionary[ReplyKey, asyncio.Lock]" = field(
        default_factory=WeakValueDictionary["ReplyKey", asyncio.Lock]
    )
    """Held while the reply under a key is looked up or obtained: who asks for the same meanwhile then finds it."""

    def __post_init__(self) -> None:
        self.find = _Grouped(self.store.replies.find).submit
        self.add = _Grouped(self.store.replies.add).submit

    def raters(
        self, sources: Iterable[RaterSource], options: RaterOptions, kind: "type[RecordedChat] | None" = None
    ) -> Sequence[Rater]:
        """Build raters whose calls are recorded and counted. Raises UserError if a name or a price is not right."""
        # A price that cannot be read is reported before a model is loaded.
        prices = parse_prices(self.options.prices) if self.options.prices else dict[str | None, Price]()
        raters = list[Rater]()
        for source in sources:
            counters = RaterCounters()
            connect = partial(kind or RecordedChat, self, counters)
            rater = rater_of(source, RaterContext(self.store.protocol, connect, options, self.options))
            counters.rater = rater.ref.id
            if rater.ref.id in self.counters:
                raise UserError(f"two raters are called {rater.ref.id!r}: name them differently, as in NAME=SPEC")
            self.counters[rater.ref.id] = counters
            raters.append(rater)
        self.budget = Budget(self.store.work, self.options.max_cost, prices)
        self.budget.check(raters)
        return raters

    def stop(self, reason: StopReason) -> None:
        """End the run; the first reason counts."""
        self.stopped = self.stopped or reason


class RecordedChat:
    """A chat around another one: find the stored reply, or reserve its cost, call, store the reply, and return it.

    The other chat is named by a spec, or is one that the caller has made. Raises Stopped instead of making a call if
    the run is to end. Ends the run if the next call could exceed the cap, and the rater's part of it if no call of it
    can succeed.
    """

    sends = True
    """Whether requests are sent, which needs a key."""

    def __init__(self, recorder: Recorder, counters: RaterCounters, target: str | Chat) -> None:
        chat = target
        if isinstance(chat, str):
            chat = connect_model(chat, recorder.options, counters.add_event, need_key=self.sends)
        self.model = chat.model
        self.pace = chat.pace
        self.close = chat.close
        self._chat = chat
        self._recorder = recorder
        self._counters = counters

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        recorder, counters, scope, key = self._recorder, self._counters, SCOPE.get(), self.key(request)
        async with recorder.locks.setdefault(key, asyncio.Lock()):
            stored = await self.find(key, scope.since)
            if stored is not None:
                counters.reused += 1
                return check_whole(request, replace(stored.reply, id=stored.id))
            async with self.pace:  # the place is kept until the reply is safe
                try:
                    async with CallCost(recorder.budget, scope.lease, self.model, request, counters) as cost:

                        def retry(charged: bool) -> None:
                            if charged:
                                cost.retry()
                            if recorder.stopped or counters.error:
                                raise Stopped

                        await cost.reserve(self.pace)
                        if recorder.stopped or counters.error:
                            raise Stopped
                        counters.calls += 1
                        reply = await traced(self.model, request, self._chat.complete(request, before_retry=retry))
                        cost.charge(reply.usage)
                except CapReached as reason:
                    recorder.stop(reason)
                    raise Stopped from reason
                except RunError as error:
                    # Other raters may have another key, another model or another server.
                    counters.error = counters.error or error
                    raise Stopped from error
                name, choices = new_id(), _trimmed(reply) if reply.choices else ()
                reply = replace(reply, id=name, choices=choices)
                await recorder.add(StoredReply(name, key, reply, now()))
                counters.add_reply(reply)
        return check_whole(request, reply)

    def key(self, request: Request) -> ReplyKey:
        """The key under which the reply to a request is stored."""
        return ReplyKey(request.digest, self.model, request.parameters, request.sample)

    async def find(self, key: ReplyKey, since: datetime | None) -> StoredReply | None:
        """The stored reply under a key, if it came after `since`."""
        stored = (await self._recorder.find(key)).get(key)
        return stored if stored is not None and (since is None or stored.at > since) else None


def connect_model(spec: str, options: RunOptions, listener: Listener, *, need_key: bool = True) -> Chat:
    """A chat with the model that a spec names, with keys and addresses from the environment."""
    kind, _, source = spec.partition(":")
    if kind.lower() == "hf":
        if not source.strip():
            raise UserError(f"{spec!r} lacks the model: give its folder or its id, as in hf:./my-model")
        return HuggingFaceChat(
            source.strip(), device=options.device, dtype=options.dtype, batch_size=options.batch_size
        )
    return HttpChat(
        endpoint_of(spec, Settings.from_environment(os.environ), need_key=need_key),
        pace=RateLimiter(options.concurrency),
        timeout=options.timeout,
        tries=options.tries,
        waits=Waits(patience=options.patience),
        listener=listener,
    )


def _trimmed(reply: Reply) -> tuple[Choice, ...]:
    """The alternatives only where a JSON value begins: those of every token are fifty times as much."""
    starts = [match.end() for match in _VALUE.finditer(reply.text)]
    return tuple(
        choice
        for choice in reply.choices
        if any(choice.offset <= start <= choice.offset + len(choice.text) for start in starts)
    )


@dataclass
class _Grouped(Generic[A, B]):
    """Does in one call, in the next turn of the loop, what several coroutines submit one by one in this turn."""

    _work: Callable[[Sequence[A]], B]
    _waiting: list[tuple[A, "asyncio.Future[B]"]] = field(default_factory=list[tuple[A, "asyncio.Future[B]"]])

    async def submit(self, argument: A) -> B:
        """The result of the whole group."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._run)
        self._waiting.append((argument, loop.create_future()))
        return await self._waiting[-1][1]

    def _run(self) -> None:
        group, self._waiting = self._waiting, []
        waiters = [waiter for _, waiter in group if not waiter.cancelled()]
        try:
            result = self._work([argument for argument, _ in group])
        except Exception as error:  # noqa: BLE001 - it belongs to the callers
            for waiter in waiters:
                waiter.set_exception(error)
        else:
            for waiter in waiters:
                waiter.set_result(result)
