"""A chat whose replies are stored: each is on the disk before it is returned, and none is paid for twice.

The store is used in the event loop's own thread, and the loop waits while it writes. A caller would have to wait for
its reply to be safe anyway; replies that arrive meanwhile are written together in the next turn of the loop, so that
one wait for the disk serves them all. Handing the work to a thread took 0.2 ms of CPU more for each reply, a third of
the whole.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from evenhand.errors import EvenhandError
from evenhand.llm.base import BeforeRetry, CallError, Chat, Reply, Request, RunError
from evenhand.llm.rate_limit import RateLimiter
from evenhand.records import new_id, now
from evenhand.run.budget import Budget, CallBudget, CapReached, Price
from evenhand.run.counters import RaterCounters
from evenhand.run.tracing import Tracer
from evenhand.store.replies import ReplyKey, StoredReply
from evenhand.store.store import Store

K = TypeVar("K")
A = TypeVar("A")
B = TypeVar("B")

_SINCE: ContextVar[datetime | None] = ContextVar("replies_since", default=None)
_BUDGET: ContextVar[Budget] = ContextVar("budget")
_VALUE = re.compile(r':\s*"?')


class Stopped(EvenhandError):
    """The run ends: this call was not made. As the reason of the end: the run was stopped by another process."""


StopReason = RunError | CapReached | KeyboardInterrupt | Stopped


class StopSignal:
    """Whether a run is to end before its work is done, and why. It is checked before every call."""

    def __init__(self) -> None:
        self.reason: StopReason | None = None

    @property
    def requested(self) -> bool:
        return self.reason is not None

    def request(self, reason: StopReason) -> None:
        """End the run; the first reason counts."""
        self.reason = self.reason or reason

    def check(self) -> None:
        """Raise Stopped if the run is to end."""
        if self.requested:
            raise Stopped


@contextmanager
def only_replies_since(moment: datetime | None) -> Generator[None]:
    """Within this block, and the tasks started in it, replies stored up to this moment are not used again."""
    token = _SINCE.set(moment)
    try:
        yield
    finally:
        _SINCE.reset(token)


@contextmanager
def paid_from(budget: Budget) -> Generator[None]:
    """Within this block, and the tasks started in it, calls reserve their cost from this budget."""
    token = _BUDGET.set(budget)
    try:
        yield
    finally:
        _BUDGET.reset(token)


def key_of(chat: Chat, request: Request) -> ReplyKey:
    """The key under which the reply to a request is stored."""
    return ReplyKey(request.digest, chat.model, request.parameters, request.sample)


def is_reusable(stored: StoredReply | None, since: datetime | None) -> bool:
    return stored is not None and (since is None or stored.at > since)


class RecordedChat:
    """A chat around another one: find the stored reply, or reserve its cost, call, store the reply, and return it.

    Raises Stopped instead of making a call if the run is to end, and ends the run if no call can succeed or the next
    one could exceed the cap.
    """

    def __init__(
        self,
        chat: Chat,
        replies: "ReplyRecorder",
        *,
        price: Price | None,
        stop: StopSignal,
        counters: RaterCounters,
        tracer: Tracer,
    ) -> None:
        self._chat = chat
        self._replies = replies
        self._price = price
        self._stop = stop
        self._counters = counters
        self._tracer = tracer

    @property
    def model(self) -> str:
        return self._chat.model

    @property
    def pace(self) -> RateLimiter:
        return self._chat.pace

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        key = key_of(self._chat, request)
        stored = await self._replies.once(key, lambda: self._find_or_call(key, request))
        return replace(stored.reply, id=stored.id)

    async def close(self) -> None:
        await self._chat.close()

    async def _find_or_call(self, key: ReplyKey, request: Request) -> StoredReply:
        found = await self._replies.find(key)
        if found is not None and is_reusable(found, _SINCE.get()):
            self._counters.reused += 1
            return found
        # The place is kept until the reply is safe.
        async with self._chat.pace:
            with CallBudget(_BUDGET.get(), self._price, request) as budget:
                try:
                    await budget.reserve()
                    self._stop.check()
                    stored = StoredReply(new_id(), key, _trimmed(await self._call(request, budget)), now())
                    await self._replies.add(stored)
                except (CapReached, RunError) as reason:
                    self._stop.request(reason)
                    raise Stopped from reason
                finally:
                    self._counters.add_cost(budget.cost)
        return stored

    async def _call(self, request: Request, budget: CallBudget) -> Reply:
        def before_retry(charged: bool) -> None:
            if charged:
                budget.reserve_retry()
            self._stop.check()

        self._counters.calls += 1
        try:
            with self._tracer.call(self.model, request) as span:
                reply = await self._chat.complete(request, before_retry=before_retry)
                span.replied(reply)
        except CallError as error:
            if error.charged:
                budget.charge_worst()
            raise
        self._counters.add_reply(reply)
        budget.charge(reply)
        return reply


def _trimmed(reply: Reply) -> Reply:
    """The reply with alternatives only where a JSON value begins: those of every token are fifty times as much."""
    if not reply.choices:
        return reply
    starts = [match.end() for match in _VALUE.finditer(reply.text)]
    kept = [
        choice
        for choice in reply.choices
        if any(choice.offset <= start <= choice.offset + len(choice.text) for start in starts)
    ]
    return replace(reply, choices=tuple(kept))


class ReplyRecorder:
    """The stored replies during a run: what many coroutines ask one by one is done together."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found = Grouped(store.replies.find)
        self._added = Grouped(self._write)
        self._under_way: dict[ReplyKey, asyncio.Future[StoredReply]] = {}

    async def find(self, key: ReplyKey) -> StoredReply | None:
        """The last reply under this key, if there is one."""
        return await self._found.submit(key, key)

    async def add(self, reply: StoredReply) -> None:
        """Return once the reply is on the disk."""
        await self._added.submit(reply.id, reply)

    async def once(self, key: ReplyKey, obtain: Callable[[], Awaitable[StoredReply]]) -> StoredReply:
        """Obtain the reply under a key; callers that ask for the same key meanwhile receive the same reply."""
        running = self._under_way.get(key)
        if running is not None:
            return await asyncio.shield(running)
        mine: asyncio.Future[StoredReply] = asyncio.get_running_loop().create_future()
        self._under_way[key] = mine
        try:
            stored = await obtain()
        except BaseException as error:
            mine.set_exception(error if isinstance(error, Exception) else Stopped())
            # Retrieved here, because asyncio complains about exceptions that nobody retrieves.
            mine.exception()
            raise
        else:
            mine.set_result(stored)
            return stored
        finally:
            del self._under_way[key]

    def _write(self, replies: Sequence[StoredReply]) -> Mapping[str, None]:
        self._store.replies.add(replies)
        return {}


class Grouped(Generic[K, A, B]):
    """Does in one call, in the next turn of the loop, what several coroutines submit one by one in this turn."""

    def __init__(self, work: Callable[[Sequence[A]], Mapping[K, B]]) -> None:
        self._work = work
        self._waiting: list[tuple[K, A, asyncio.Future[B | None]]] = []

    def submit(self, key: K, argument: A) -> "asyncio.Future[B | None]":
        """The result under this key, None if there is none."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[B | None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._run)
        self._waiting.append((key, argument, done))
        return done

    def _run(self) -> None:
        group, self._waiting = self._waiting, []
        try:
            results = self._work([argument for _, argument, _ in group])
        except Exception as error:  # noqa: BLE001 - it belongs to the callers
            for _, _, done in group:
                if not done.done():
                    done.set_exception(error)
        else:
            for key, _, done in group:
                if not done.done():
                    done.set_result(results.get(key))
