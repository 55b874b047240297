"""A run: judges over the units they have not rated yet, until all is done or something ends it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from itertools import islice

from evenhand.errors import UserError
from evenhand.llm.base import RunError
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Judge, Stored
from evenhand.records import Rating, Status, new_id, now
from evenhand.run.batches import SIZE, Batch, Engine, LocalEngine, Rated, rate_batch
from evenhand.run.budget import Budget, CapReached
from evenhand.run.desk import Ending, Keeper, RunDesk
from evenhand.run.happenings import LOG, Happenings
from evenhand.run.loop import ends_on_signals, run_in_loop
from evenhand.run.order import ALL, Order, pending_tasks
from evenhand.run.record import ratings_of
from evenhand.run.settled import check_alone, check_settled, here
from evenhand.run.tally import RaterTally, Tally
from evenhand.run.tracing import tracer
from evenhand.store.base import ReplyKey, Run, RunState, Store
from evenhand.study import Study

TICK = 0.25
"""Seconds between two looks at a run by whoever watches it."""

Watch = Callable[[Tally], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did, and why it ended where it was not all done."""

    tally: Tally
    why: RunError | CapReached | KeyboardInterrupt | None = None

    @property
    def units(self) -> int:
        return self.tally.units

    @property
    def statuses(self) -> Mapping[Status, int]:
        total = dict.fromkeys(Status, 0)
        for rater in self.tally.raters.values():
            for status, number in rater.statuses.items():
                total[status] += number
        return {status: number for status, number in total.items() if number}

    @property
    def failures(self) -> Mapping[str, int]:
        return dict(self.tally.failures)


def judge(
    study: Study,
    judges: Sequence[Judge],
    order: Order = ALL,
    *,
    happenings: Happenings | None = None,
    watch: Watch | None = None,
    engine: Callable[[int], Engine] = LocalEngine,
) -> Outcome:
    """Rate what these judges have not rated yet. Every reply and rating that came is stored, however the run ends.

    `happenings` is what the judges' models tell, counted with the run. `watch` is shown the tally a few times a second.
    Raises UserError, with nothing rated, where a judge of the same name has rated here with other settings. Works in a
    notebook, too, where an event loop is running already.
    """
    check_settled(study.store, judges)
    check_alone(study.store, judges)
    check_priced(judges, order)
    return run_in_loop(lambda: _Run(study.store, order, judges, happenings, engine).whole(watch))


def check_priced(judges: Sequence[Judge], order: Order) -> None:
    """Raise UserError where there is a cap on cost and a model whose price is not known: it could not be kept."""
    unpriced = sorted({chat.model for judge in judges for chat in judge.chats} - set(order.prices))
    if order.max_cost is not None and unpriced:
        raise UserError(
            f"a cap on cost needs a price, and that of {unpriced[0]} is not known; say it in dollars for a million "
            f"tokens read and written: --price {unpriced[0]}=IN/OUT"
        )


class _Run:
    """One run, from its first look at the study to its last word in the log."""

    def __init__(
        self,
        store: Store,
        order: Order,
        judges: Sequence[Judge],
        happenings: Happenings | None,
        engine: Callable[[int], Engine],
    ) -> None:
        self._store = store
        self._protocol: Protocol = store.protocol
        self._order = order
        self._judges = judges
        self._engine = engine
        heard = happenings or Happenings()
        names = [judge.ref.id for judge in judges]
        self._tally = Tally(
            {name: RaterTally(name, retries=heard.retries[name], dropped=heard.dropped[name]) for name in names}
        )
        self._introduced: set[str] = set()
        self._under_way: dict[ReplyKey, asyncio.Future[Stored]] = {}
        self._runs = {
            judge.ref.id: Run(new_id(), judge.ref.id, now(), None, "running", judge.settings, here())
            for judge in judges
        }

    async def whole(self, watch: Watch | None) -> Outcome:
        self._ending = Ending()
        self._budget = Budget(self._order.max_cost)
        self._keeper = Keeper(self._store)
        watching = asyncio.create_task(self._watched(watch)) if watch else None
        try:
            with ends_on_signals(self._ending):
                self._begin()
                await asyncio.gather(*map(self._rate, self._judges))
        except asyncio.CancelledError:
            self._end("stopped")
            # The second Ctrl-C: calls under way are left, and that is no error.
            if not isinstance(self._ending.why, KeyboardInterrupt):
                raise
        except BaseException:
            self._end("failed")
            raise
        else:
            self._end("stopped" if self._ending.asked else "done")
        finally:
            if watching:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
            for chat in {id(chat): chat for judge in self._judges for chat in judge.chats}.values():
                await chat.close()
        return Outcome(self._tally, self._ending.why)

    def _begin(self) -> None:
        for judge in self._judges:
            _, units = self._store.count_pending(judge.ref.id, failed=self._order.again)
            limit = self._order.limit
            self._tally.raters[judge.ref.id].to_do = units if limit is None else min(units, limit)
            to_do = self._tally.raters[judge.ref.id].to_do
            LOG.info("%s: begins, %d units to rate; settings %s", judge.ref.id, to_do, dict(judge.settings))

    def _end(self, state: RunState) -> None:
        for rater, run in self._runs.items():
            tally = self._tally.raters[rater]
            LOG.info("%s: %s; %s", rater, state, dict(tally.counts()))
            # A run that brought nothing, for want of a key for instance, leaves no trace in the study.
            if tally.units or tally.replies:
                self._store.save_run(replace(run, ended=now(), state=state, counts=tally.counts()))

    async def _rate(self, judge: Judge) -> None:
        tally = self._tally.raters[judge.ref.id]
        desk = RunDesk(self._keeper, self._ending, self._budget, tally, self._under_way, self._order.prices, tracer())
        places = sum(chat.pace.width for chat in judge.chats) or 1
        batches = self._batches(judge, desk)
        results = self._engine(places).run(batches, rate_batch(self._protocol))
        async with aclosing(batches), aclosing(results):
            async for rated in results:
                self._keep(judge, rated, tally)

    def _keep(self, judge: Judge, rated: Rated, tally: RaterTally) -> None:
        by_unit = [ratings_of(self._protocol, judge.ref.id, judgement) for judgement in rated.judgements]
        ratings = [rating for ratings in by_unit for rating in ratings]
        self._store_ratings(judge, ratings)
        for its_ratings in by_unit:
            tally.add_ratings(its_ratings)
        for judgement in rated.judgements:
            if judgement.failure is not None:
                LOG.warning("%s: %s failed: %s", judge.ref.id, judgement.unit.id, judgement.failure.reason)

    def _store_ratings(self, judge: Judge, ratings: Sequence[Rating]) -> None:
        if not ratings:
            return
        newcomer = judge.ref.id not in self._introduced
        self._store.add_ratings(ratings, raters=[judge.ref] if newcomer else [])
        if newcomer:
            self._introduced.add(judge.ref.id)
            self._store.save_run(self._runs[judge.ref.id])

    async def _batches(self, judge: Judge, desk: RunDesk) -> AsyncGenerator[Batch]:
        """The judge's work, read from the study as it is taken up."""
        tasks = pending_tasks(self._store, judge, self._order)
        # A text that is worked through in this process takes as long as a batch of calls: it is stored when it is done.
        size = 1 if judge.together and not judge.chats else SIZE
        while not self._ending.asked:
            some = tuple(islice(tasks, size))
            if not some:
                return
            yield Batch(judge, desk, some)

    async def _watched(self, watch: Watch) -> None:
        while True:
            self._tally.ending = self._ending.asked
            watch(self._tally)
            await asyncio.sleep(TICK)
