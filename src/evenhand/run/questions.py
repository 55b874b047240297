"""Questions for a study, made anew: by a language model, or without any. The units that people and models then share.

Items with a question that somebody has answered are passed over: their questions stay.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from evenhand.errors import RaterFailure, StudyError
from evenhand.llm.base import RunError
from evenhand.raters.base import Judge
from evenhand.raters.question_maker import MAKING, QuestionMaker
from evenhand.records import Item, new_id, now
from evenhand.run.budget import Budget, CapReached
from evenhand.run.desk import Ending, Keeper, RunDesk, Stopped
from evenhand.run.happenings import LOG, Happenings
from evenhand.run.judge import TICK, Watch, check_priced
from evenhand.run.loop import ends_on_signals, run_in_loop
from evenhand.run.order import ALL, Order
from evenhand.run.settled import check_idle
from evenhand.run.tally import RaterTally, Tally
from evenhand.run.tracing import tracer
from evenhand.store.base import Replaced, Run, RunState
from evenhand.study import Study, cloze_questions
from evenhand.units import Question

TOGETHER = 50
"""Items whose questions are stored at once."""


@dataclass
class Making:
    """What came of it: items whose questions were made, items passed over, items that failed with the reason."""

    tally: RaterTally
    items: int = 0
    passed_over: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])
    units: Replaced = field(default_factory=Replaced)
    why: RunError | CapReached | KeyboardInterrupt | None = None

    @property
    def questions(self) -> int:
        """How many questions these items have now."""
        return self.units.kept + self.units.changed + self.units.added


def make_clozes(study: Study) -> Making:
    """Make all questions anew without a model, in one step. Raises UserError where somebody is at work here."""
    study.check_asks()
    check_idle(study.store)
    making = Making(RaterTally("questions"))
    made = {item.id: cloze_questions(study.protocol, item) for item in _open_items(study, making)}
    making.units = study.replace_questions(made)
    making.items = len(made)
    return making


def make_questions(
    study: Study,
    judge: Judge,
    order: Order = ALL,
    *,
    happenings: Happenings | None = None,
    watch: Watch | None = None,
) -> Making:
    """Have a judge's model make the questions anew. What was made stays, however the run ends; an item that failed
    keeps the questions it had. Raises UserError, with nothing asked, where somebody is at work here."""
    study.check_asks()
    check_idle(study.store)
    check_priced([judge], order)
    return run_in_loop(lambda: _Run(study, judge, order, happenings or Happenings()).whole(watch))


def _open_items(study: Study, making: Making) -> Iterator[Item]:
    """Items none of whose questions has a rating."""
    for item in study.items():
        if study.store.rated_units([item.id]):
            making.passed_over += 1
        else:
            yield item


class _Run:
    def __init__(self, study: Study, judge: Judge, order: Order, happenings: Happenings) -> None:
        self._study = study
        self._judge = judge
        self._order = order
        self._maker = QuestionMaker(judge, study.protocol)
        name = f"questions({judge.ref.id})"
        retries, dropped = happenings.retries[judge.ref.id], happenings.dropped[judge.ref.id]
        self._making = Making(RaterTally(name, study.store.count_items(), retries=retries, dropped=dropped))
        self._tally = Tally({name: self._making.tally})
        self._made: dict[str, Sequence[Question]] = {}
        settings = {**judge.settings, "making": MAKING}
        self._run = Run(new_id(), name, now(), None, "running", settings, {})

    async def whole(self, watch: Watch | None) -> Making:
        self._ending = Ending()
        keeper, budget = Keeper(self._study.store), Budget(self._order.max_cost)
        desk = RunDesk(keeper, self._ending, budget, self._making.tally, {}, self._order.prices, tracer())
        watching = asyncio.create_task(self._watched(watch)) if watch else None
        state: RunState = "failed"
        try:
            with ends_on_signals(self._ending):
                await self._all(desk)
            state = "stopped" if self._ending.asked else "done"
        except asyncio.CancelledError:
            state = "stopped"
            # The second Ctrl-C: calls under way are left, and that is no error.
            if not isinstance(self._ending.why, KeyboardInterrupt):
                raise
        finally:
            self._end(state)
            if watching:
                watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
            for chat in self._judge.chats:
                await chat.close()
        self._making.why = self._ending.why
        return self._making

    async def _all(self, desk: RunDesk) -> None:
        """Several items at once, as many as keep every place for calls taken."""
        items = _open_items(self._study, self._making)
        places = max(1, sum(chat.pace.width for chat in self._judge.chats))
        workers = [asyncio.ensure_future(self._work(items, desk)) for _ in range(places)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            self._store()

    async def _work(self, items: Iterator[Item], desk: RunDesk) -> None:
        while not self._ending.asked:
            item = next(items, None)
            if item is None:
                return
            try:
                self._made[item.id] = await self._maker.make(item, desk)
            except Stopped:
                return
            except RaterFailure as failure:
                self._fail(item.id, failure.reason)
            self._making.tally.units += 1
            if len(self._made) >= TOGETHER:
                self._store()

    def _store(self) -> None:
        made, self._made = self._made, {}
        try:
            self._keep(made)
        except StudyError:
            # Somebody rates meanwhile: only their items are left as they are.
            for item, questions in made.items():
                try:
                    self._keep({item: questions})
                except StudyError as error:
                    self._fail(item, str(error))

    def _keep(self, made: Mapping[str, Sequence[Question]]) -> None:
        if made:
            self._making.units = self._making.units.plus(self._study.replace_questions(made))
            self._making.items += len(made)

    def _fail(self, item: str, reason: str) -> None:
        self._making.failed[item] = reason
        self._making.tally.failed_units += 1
        self._making.tally.failures[reason] += 1
        LOG.warning("%s: item %s failed: %s", self._run.rater, item, reason)

    def _end(self, state: RunState) -> None:
        tally = self._making.tally
        if tally.replies or tally.units:
            self._study.store.save_run(replace(self._run, ended=now(), state=state, counts=tally.counts()))

    async def _watched(self, watch: Watch) -> None:
        while True:
            self._tally.ending = self._ending.asked
            watch(self._tally)
            await asyncio.sleep(TICK)
