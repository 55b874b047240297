"""Where calls go out and replies are kept: each on the disk before anybody sees it, and none paid for twice.

The store belongs to one thread; everything that touches it during a run goes through `Keeper`. Replies that arrive
while others are being written are written together in the next turn, so that one wait for the disk serves them all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Generic, TypeVar

from evenhand.errors import EvenhandError
from evenhand.llm.base import CallError, Chat, Reply, Request, RunError
from evenhand.raters.base import Stored, Trim
from evenhand.records import RaterRef, Rating, new_id, now
from evenhand.run.budget import Budget, CapReached, Price
from evenhand.run.tally import RaterTally
from evenhand.run.tracing import Tracer
from evenhand.store.base import ReplyKey, Store, StoredReply

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


class Stopped(EvenhandError):
    """The run ends: this call was not made."""


class Ending:
    """Why a run ends before its work does; asked before every call."""

    def __init__(self) -> None:
        self.why: RunError | CapReached | KeyboardInterrupt | None = None
        self._asked = asyncio.Event()

    def ask(self, why: RunError | CapReached | KeyboardInterrupt) -> None:
        """End the run; the first reason counts."""
        self.why = self.why or why
        self._asked.set()

    @property
    def asked(self) -> bool:
        return self.why is not None

    async def wait(self) -> None:
        await self._asked.wait()


class Turns(Generic[A, B]):
    """Does together what many ask for one by one: what comes in during one turn is the next one."""

    def __init__(self, work: Callable[[Sequence[A]], Awaitable[Sequence[B]]]) -> None:
        self._work = work
        self._waiting: list[tuple[A, asyncio.Future[B]]] = []
        self._running: asyncio.Task[None] | None = None

    async def take(self, thing: A) -> B:
        done: asyncio.Future[B] = asyncio.get_running_loop().create_future()
        self._waiting.append((thing, done))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await done

    async def end(self) -> None:
        """Wait until nothing is under way."""
        while self._running is not None:
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                try:
                    results = await self._work([thing for thing, _ in group])
                except Exception as error:  # noqa: BLE001 - whatever it was, it is theirs who asked
                    for _, done in group:
                        if not done.done():
                            done.set_exception(error)
                else:
                    for (_, done), result in zip(group, results, strict=True):
                        if not done.done():
                            done.set_result(result)
        finally:
            self._running = None


class Keeper:
    """The store, in a thread of its own. What waits to be written is written together."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evenhand-store")
        self._replies = Turns(self._write)
        self._keys = Turns(self._find)

    async def call(self, work: Callable[[Store], T]) -> T:
        """Do something with the store, in its thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._store)

    async def keep(self, reply: StoredReply) -> None:
        """Return when the reply is on the disk."""
        await self._replies.take(reply)

    async def find(self, key: ReplyKey) -> StoredReply | None:
        """The latest reply under this key, where there is one."""
        return await self._keys.take(key)

    async def _write(self, replies: Sequence[StoredReply]) -> Sequence[None]:
        await self.call(lambda store: store.add_replies(replies))
        return [None] * len(replies)

    async def _find(self, keys: Sequence[ReplyKey]) -> Sequence[StoredReply | None]:
        found = await self.call(lambda store: store.replies(keys))
        return [found.get(key) for key in keys]

    async def add_ratings(self, ratings: Sequence[Rating], rater: RaterRef) -> None:
        await self.call(lambda store: store.add_ratings(ratings, raters=[rater]))

    async def close(self) -> None:
        """Wait for what is being written."""
        await self._replies.end()
        self._thread.shutdown()


class RunDesk:
    """One rater's desk in a run; see `raters.base.Desk`."""

    def __init__(
        self,
        keeper: Keeper,
        ending: Ending,
        budget: Budget,
        tally: RaterTally,
        under_way: dict[ReplyKey, "asyncio.Future[Stored]"],
        prices: Mapping[str, Price],
        tracer: Tracer,
    ) -> None:
        self._keeper = keeper
        self._ending = ending
        self._budget = budget
        self._tally = tally
        self._under_way = under_way
        self._prices = prices
        self._tracer = tracer

    async def ask(
        self,
        chat: Chat,
        request: Request,
        *,
        sample: int = 0,
        since: datetime | None = None,
        trim: Trim | None = None,
    ) -> Stored:
        key = ReplyKey(request.digest, chat.model, request.parameters, sample)
        running = self._under_way.get(key)
        if running is None:
            running = asyncio.ensure_future(self._found_or_asked(key, chat, request, since, trim))
            self._under_way[key] = running
            running.add_done_callback(lambda done: self._ended(key, done))
        # One caller's end must not take the reply from another who waits for the same.
        return await asyncio.shield(running)

    def _ended(self, key: ReplyKey, done: "asyncio.Future[Stored]") -> None:
        self._under_way.pop(key, None)
        if not done.cancelled():
            # Looked at, lest asyncio complain of an error that nobody waited for: whoever asked may have been ended.
            done.exception()

    async def _found_or_asked(
        self, key: ReplyKey, chat: Chat, request: Request, since: datetime | None, trim: Trim | None
    ) -> Stored:
        found = await self._keeper.find(key)
        if found is not None and (since is None or found.at > since):
            self._tally.reused += 1
            return Stored(found.id, found.reply)
        return await self._ask(key, chat, request, trim)

    async def _ask(self, key: ReplyKey, chat: Chat, request: Request, trim: Trim | None) -> Stored:
        async with chat.pace:
            if self._ending.asked:
                raise Stopped
            money = _Money(self._budget, self._prices.get(chat.model), request)
            try:
                await money.set_aside()
                reply = await self._call(chat, request, money)
                reply = trim(reply) if trim else reply
                stored = StoredReply(new_id(), key, reply, now())
                await self._keeper.keep(stored)
            except CapReached as reached:
                self._ending.ask(reached)
                raise Stopped from reached
            finally:
                money.settle(self._tally)
        return Stored(stored.id, reply)

    async def _call(self, chat: Chat, request: Request, money: "_Money") -> Reply:
        self._tally.calls += 1
        try:
            with self._tracer.call(chat.model, request) as span:
                reply = await chat.complete(request, before_retry=money.once_more)
                span.replied(reply)
        except RunError as error:
            self._ending.ask(error)
            raise Stopped from error
        except CallError as error:
            money.spent += money.most if error.charged else 0.0
            raise
        self._tally.add_usage(reply.usage)
        money.pay(reply)
        return reply


class _Money:
    """What one call may cost and did: nothing where its price is not known."""

    def __init__(self, budget: Budget, price: Price | None, request: Request) -> None:
        self._budget = budget
        self._price = price
        self.most = price.worst(request) if price else 0.0
        self.spent = 0.0
        self._aside = 0.0

    async def set_aside(self) -> None:
        await self._budget.set_aside(self.most)
        self._aside = self.most

    def once_more(self) -> None:
        """The request is about to be sent again, and the last try may be charged for."""
        self.spent += self.most
        self._budget.set_aside_at_once(self.most)
        self._aside += self.most

    def pay(self, reply: Reply) -> None:
        if self._price is not None:
            self.spent += self.most if reply.usage is None else self._price.cost(reply.usage)

    def settle(self, tally: RaterTally) -> None:
        self._budget.settle(self._aside, self.spent)
        if self._price is not None:
            tally.add_cost(self.spent)
