"""Where calls go out and replies are kept: each on the disk before anybody sees it, and none paid for twice.

The store is used in the event loop's own thread, and the loop waits while it writes. Whoever waits for a reply to be
safe would wait as long in any case; replies that arrive meanwhile are written together in the next turn, so that one
wait for the disk serves them all; and handing the work to a thread took 0.2 ms of CPU more for each reply, a third of
the whole.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from evenhand.errors import EvenhandError
from evenhand.llm.base import CallError, Chat, Reply, Request, RunError
from evenhand.raters.base import Stored, Trim
from evenhand.records import new_id, now
from evenhand.run.budget import Budget, CapReached, Price
from evenhand.run.tally import RaterTally
from evenhand.run.tracing import Tracer
from evenhand.store.base import ReplyKey, Store, StoredReply

K = TypeVar("K")
A = TypeVar("A")
B = TypeVar("B")


class Stopped(EvenhandError):
    """The run ends: this call was not made."""


class Ending:
    """Why a run ends before its work does; asked before every call."""

    def __init__(self) -> None:
        self.why: RunError | CapReached | KeyboardInterrupt | None = None

    def ask(self, why: RunError | CapReached | KeyboardInterrupt) -> None:
        """End the run; the first reason counts."""
        self.why = self.why or why

    @property
    def asked(self) -> bool:
        return self.why is not None


class Turns(Generic[K, A, B]):
    """Does together, in the loop's next turn, what several ask for one by one in this one."""

    def __init__(self, work: Callable[[Sequence[A]], Mapping[K, B]]) -> None:
        self._work = work
        self._waiting: list[tuple[K, A, asyncio.Future[B | None]]] = []

    def take(self, key: K, thing: A) -> "asyncio.Future[B | None]":
        """What the work gives under this key, None where it gives nothing."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[B | None] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._run)
        self._waiting.append((key, thing, done))
        return done

    def _run(self) -> None:
        group, self._waiting = self._waiting, []
        try:
            results = self._work([thing for _, thing, _ in group])
        except Exception as error:  # noqa: BLE001 - whatever it was, it is theirs who asked
            for _, _, done in group:
                if not done.done():
                    done.set_exception(error)
        else:
            for key, _, done in group:
                if not done.done():
                    done.set_result(results.get(key))


class Keeper:
    """The store during a run: what many ask of it one by one is done together."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._replies = Turns(self._write)
        self._keys = Turns(store.replies)

    async def keep(self, reply: StoredReply) -> None:
        """Return when the reply is on the disk."""
        await self._replies.take(reply.id, reply)

    async def find(self, key: ReplyKey) -> StoredReply | None:
        """The latest reply under this key, where there is one."""
        return await self._keys.take(key, key)

    def _write(self, replies: Sequence[StoredReply]) -> Mapping[str, None]:
        self.store.add_replies(replies)
        return {}


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
        if running is not None:
            return await asyncio.shield(running)
        mine: asyncio.Future[Stored] = asyncio.get_running_loop().create_future()
        self._under_way[key] = mine
        try:
            stored = await self._found_or_asked(key, chat, request, since, trim)
        except BaseException as error:
            mine.set_exception(error if isinstance(error, Exception) else Stopped())
            # Looked at, lest asyncio complain of an error that nobody else waited for.
            mine.exception()
            raise
        else:
            mine.set_result(stored)
            return stored
        finally:
            del self._under_way[key]

    def check(self) -> None:
        if self._ending.asked:
            raise Stopped

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
            money = _Money(self._budget, self._prices.get(chat.model), request)
            try:
                await money.set_aside()
                if self._ending.asked:
                    raise Stopped
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

        def before_retry(charged: bool) -> None:
            if charged:
                money.once_more()
            if self._ending.asked:
                raise Stopped

        try:
            with self._tracer.call(chat.model, request) as span:
                reply = await chat.complete(request, before_retry=before_retry)
                span.replied(reply)
        except RunError as error:
            self._ending.ask(error)
            raise Stopped from error
        except CallError as error:
            money.spent += money.most if error.charged else 0.0
            raise
        self._tally.add_reply(reply)
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
