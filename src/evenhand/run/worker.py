"""A worker: leases items that a rater has yet to rate, rates their units, and stores the ratings.

Any number of workers, in any number of processes, share the work of one rater. A lease is renewed while its item is
being rated; those of a worker that was killed expire, and another worker takes the items over.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.raters.base import Judgement, Rater
from evenhand.raters.ensemble import all_of
from evenhand.raters.options import RunOptions
from evenhand.records import Item, Unit
from evenhand.run.budget import CapReached, LeaseBudget, SharedCap
from evenhand.run.counters import LOG
from evenhand.run.recorded_chat import Stopped, only_replies_since, paid_from
from evenhand.run.session import RunSession, places
from evenhand.store.store import Store
from evenhand.store.work import Finished, Lease, RunState

LEASE_SECONDS = 15.0
"""How long a lease lasts unless it is renewed, every third of that: the longest wait for a killed worker's items."""

GROUP = 16
"""Items that are leased, and units whose ratings are stored, together."""

FLUSH_SECONDS = 1.0
"""The longest that ratings wait to be stored, and the interval at which a worker looks for items that others free."""


@dataclass(frozen=True, slots=True)
class Call:
    """Units of one item that are rated in one call. Replies up to `since` are not used again: they led to failures."""

    item: Item
    units: Sequence[Unit]
    since: datetime | None = None


def calls_for(store: Store, rater: Rater, options: RunOptions, item: Item, units: Sequence[Unit]) -> Sequence[Call]:
    """How the pending units of an item are rated: all in one call, or one by one."""
    failed: Mapping[str, datetime] = {}
    if options.retry_failed:
        failed = store.work.failed_at(rater.ref.id, [unit.id for unit in units])
    groups = [units] if rater.together else [[unit] for unit in units]
    return [
        Call(item, some, max((failed[one.id] for one in some if one.id in failed), default=None)) for some in groups
    ]


def pending_calls(store: Store, rater: Rater, options: RunOptions) -> Iterator[Call]:
    """All calls that a rater has to make, read from the study as they are taken."""
    left = options.limit
    for item, units in store.work.pending(rater.ref.id, failed=options.retry_failed):
        if left is not None and left <= 0:
            return
        chosen = limited(units, left, rater)
        left = None if left is None else left - len(chosen)
        yield from calls_for(store, rater, options, item, chosen)


def limited(units: Sequence[Unit], left: int | None, rater: Rater) -> Sequence[Unit]:
    """The units that a limit allows; it never splits sentences that are rated together."""
    return units if left is None or rater.together else units[:left]


@dataclass(frozen=True, slots=True)
class _Rated:
    """A leased item with the judgements of those units that were rated before the run ended."""

    item: str
    judgements: Sequence[Judgement]
    budget: LeaseBudget


class Worker:
    """Rates for one rater, in the run with this id."""

    def __init__(self, session: RunSession, rater: Rater, cap: SharedCap, *, run: str, name: str) -> None:
        self._session = session
        self._work = session.store.work
        self._rater = rater
        self._cap = cap
        self._names = run, name
        self._counters = session.counters.raters[rater.ref.id]
        self._left = session.options.limit
        self._lease = LEASE_SECONDS
        self._known = False
        # An item that is rated in this process takes as long as many calls: it is stored when it is done.
        self._group = GROUP if rater.chats else 1

    async def run(self) -> None:
        """Rate until nothing is left or the run is to end."""
        self._count()
        renewing = asyncio.create_task(self._renew())
        running: dict[asyncio.Task[_Rated], int] = {}
        done: list[_Rated] = []
        try:
            more = True
            while more or running:
                more = self._take(running)
                finished = await _some(running)
                done += [task.result() for task in finished]
                if done and (not finished or not running or _units(done) >= self._group):
                    self._finish(done)
                    done = []
        finally:
            renewing.cancel()
            for task in running:
                task.cancel()
            await asyncio.gather(renewing, *running, return_exceptions=True)
            self._finish(done)

    def leave(self, state: RunState) -> None:
        """Take this worker out of the run. Without any result, for want of a key for instance, it leaves no trace."""
        counts = self._counters.counts()
        LOG.info("%s: %s; %s", self._rater.ref.id, state, dict(counts))
        self._work.leave(*self._names, state, counts, trace=bool(self._counters.units or self._counters.replies))

    def _count(self) -> None:
        _, units = self._work.count_pending(self._rater.ref.id, failed=self._session.options.retry_failed)
        self._counters.to_do = units if self._left is None else min(units, self._left)
        settings = dict(self._rater.settings)
        LOG.info("%s: begins, %d units to rate; settings %s", self._rater.ref.id, self._counters.to_do, settings)

    def _take(self, running: dict[asyncio.Task[_Rated], int]) -> bool:
        """Lease enough items that every place for calls is taken; False if there is nothing left to wait for."""
        enough = 2 * places(self._rater) + GROUP if self._rater.chats else 1
        failed = self._session.options.retry_failed
        while sum(running.values()) < enough:
            if self._session.stop.requested or (self._left is not None and self._left <= 0):
                return False
            taken = self._work.take(*self._names, min(self._group, enough - sum(running.values())), failed=failed)
            for lease in taken.leases:
                self._start(lease, running)
            if taken.left == "cap":
                self._session.stop.request(CapReached())
            elif taken.left == "stopped":
                self._session.stop.request(Stopped())
            elif taken.left != "more":
                return taken.left == "others"
        return True

    def _start(self, lease: Lease, running: dict[asyncio.Task[_Rated], int]) -> None:
        units = limited(lease.units, self._left, self._rater)
        self._left = None if self._left is None else max(0, self._left - len(units))
        running[asyncio.create_task(self._rate(lease.item, units))] = max(1, len(units))

    async def _rate(self, item: Item, units: Sequence[Unit]) -> _Rated:
        budget = LeaseBudget(self._cap, *self._names, item.id)
        with paid_from(budget):
            calls = calls_for(self._session.store, self._rater, self._session.options, item, units)
            found = await all_of(self._judgements(call) for call in calls)
        return _Rated(item.id, [judgement for judgements in found for judgement in judgements], budget)

    async def _judgements(self, call: Call) -> Sequence[Judgement]:
        with only_replies_since(call.since):
            try:
                return await self._rater.rate_units(call.item, call.units)
            except Stopped:
                return ()

    def _finish(self, done: Sequence[_Rated]) -> None:
        """Store the ratings of items whose leases this worker still has. One that was taken over is rated elsewhere."""
        if not done:
            return
        protocol, rater = self._session.store.protocol, self._rater.ref
        by_item = {one.item: [judgement.ratings(protocol, rater.id) for judgement in one.judgements] for one in done}
        finished = [
            Finished(one.item, [rating for ratings in by_item[one.item] for rating in ratings], one.budget.spent)
            for one in done
        ]
        held = self._work.finish(*self._names, finished, rater=None if self._known else rater)
        self._known = self._known or any(one.ratings for one in finished)
        for one in done:
            one.budget.close()
            for ratings in by_item[one.item] if one.item in held else ():
                self._counters.add_ratings(ratings)
            for judgement in one.judgements:
                if judgement.failure is not None:
                    LOG.warning("%s: %s failed: %s", rater.id, judgement.unit.id, judgement.failure.reason)

    async def _renew(self) -> None:
        """Keep the leases; and stop if the run was stopped from elsewhere."""
        while True:
            await asyncio.sleep(self._lease / 3)
            if not self._work.renew(*self._names, self._counters.counts()):
                self._session.stop.request(Stopped())


async def _some(running: dict[asyncio.Task[_Rated], int]) -> Sequence[asyncio.Task[_Rated]]:
    """The tasks that have ended, which are no longer running; none if none ends for a while."""
    if not running:
        await asyncio.sleep(FLUSH_SECONDS)
        return ()
    finished, _ = await asyncio.wait(running, timeout=FLUSH_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for task in finished:
        del running[task]
    return list(finished)


def _units(done: Sequence[_Rated]) -> int:
    return sum(len(one.judgements) for one in done)
