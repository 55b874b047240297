"""Workers: each leases items for one rater, works on them, and stores the results, until nothing is left.

Any number of workers, in any number of processes, share the work of one rater. A lease is renewed while its item is
being worked on; those of a worker that was killed expire, and another worker takes the items over.
"""

import asyncio
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from evenhand.errors import StudyError, UserError
from evenhand.protocol.completion import Judgement, ratings_of
from evenhand.raters.base import Rater
from evenhand.records import Item, RaterRef, Rating, Status, Unit, new_id
from evenhand.run.progress import LOG, ProgressBar, Stopped, none_can_go_on
from evenhand.run.recorded_chat import SCOPE, CallScope, Recorder
from evenhand.store.store import Store
from evenhand.store.work import Finished, RunSpec, RunState, Taken, limited
from evenhand.text import setting_text

R = TypeVar("R")
T = TypeVar("T")

LEASE_SECONDS = 15.0
"""How long a lease lasts unless it is renewed, every third of that: the longest wait for a killed worker's items."""

GROUP = 16
"""Items that are leased, and whose results are stored, together; twice as many as there are places, if more."""

FLUSH_SECONDS = 1.0
"""The longest that results wait to be stored, and the interval at which a worker looks for items that others free."""

WATCH_SECONDS = 0.25
"""The interval at which the progress bar is updated."""


class Worker(ABC, Generic[R]):
    """Works for one rater in one process. `R` is the result of the work on one item."""

    def __init__(self, recorder: Recorder, rater: Rater) -> None:
        self.rater = rater
        self.counters = recorder.counters[rater.ref.id]
        self.names: tuple[str, str] = "", ""
        """The ids of the run and of this worker."""
        self.spec = RunSpec(rater.ref, rater.settings)
        """How the run is recorded."""
        self._recorder = recorder
        self._store = recorder.store
        self._running: dict[asyncio.Task[R], int] = {}
        """Tasks with the number of units that each is about."""
        self._ended: asyncio.Queue[asyncio.Task[R]] = asyncio.Queue()
        width = sum(chat.pace.width for chat in rater.chats)
        # An item that is rated in this process takes as long as many calls: it is stored when it is done.
        self._group = max(GROUP, 2 * width) if width else 1
        self._enough = 2 * width + self._group if width else 1

    @abstractmethod
    def take(self, n: int) -> Taken:
        """Lease up to `n` items."""

    @abstractmethod
    async def work(self, item: Item, units: Sequence[Unit]) -> R:
        """Work on an item. Calls that are not made because the run is to end are no error."""

    @abstractmethod
    def finish(self, done: Sequence[R]) -> None:
        """Store results and end their leases."""

    async def run(self) -> None:
        """Work until nothing is left or the run is to end."""
        counters = self.counters
        LOG.info("%s: begins, %d to do; settings %s", counters.rater, counters.to_do, dict(self.spec.settings))
        renewing = asyncio.create_task(self._renew())
        done: list[R] = []
        try:
            while self._fill() or self._running:
                if self._stopped:
                    for chat in self.rater.chats:
                        chat.pace.end_waits()
                ended = await self._next_ended()
                done.extend(map(asyncio.Task[R].result, ended))
                if done and (not ended or not self._running or len(done) >= self._group):
                    self.finish(done)
                    done = []
        finally:
            renewing.cancel()
            for task in self._running:
                task.cancel()
            await asyncio.gather(renewing, *self._running, return_exceptions=True)
            if done:
                self.finish(done)

    @property
    def _stopped(self) -> bool:
        return self._recorder.stopped is not None or self.counters.error is not None

    def _fill(self) -> bool:
        """Take enough items that every place for calls is taken; False if there is nothing left to wait for."""
        # In whole groups: each time that items are leased, the disk has to be waited for.
        while self._enough - sum(self._running.values()) >= self._group:
            if self._stopped:
                return False
            taken = self.take(self._group)
            for item, units in taken.leases:
                task = asyncio.create_task(self.work(item, units))
                task.add_done_callback(self._ended.put_nowait)
                self._running[task] = 1 if self.rater.together else max(1, len(units))
            if taken.left == "stopped":
                self._recorder.stop(Stopped())
            elif taken.left != "more":
                return taken.left == "others"
        return True

    async def _next_ended(self) -> Sequence[asyncio.Task[R]]:
        """The tasks that have ended; none if none ends for a while."""
        ended: list[asyncio.Task[R]] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                ended.append(await self._ended.get())
        while not self._ended.empty():
            ended.append(self._ended.get_nowait())
        for task in ended:
            del self._running[task]
        return ended

    async def _renew(self) -> None:
        """Keep the leases; and stop if the run was stopped from elsewhere."""
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            if not self._store.work.renew(*self.names, self.counters.counts()):
                self._recorder.stop(Stopped())


class Call(NamedTuple):
    """Units of one item that are rated in one call. Replies up to `since` are not used again: they led to failures."""

    item: Item
    units: Sequence[Unit]
    since: datetime | None = None


def calls_for(store: Store, rater: Rater, retry: bool, item: Item, units: Sequence[Unit]) -> Sequence[Call]:
    """How the pending units of an item are rated: all in one call, or one by one. `retry`: some may have failed."""
    groups = [units] if rater.together and units else [[unit] for unit in units]
    if not retry:
        return [Call(item, some) for some in groups]
    failed = dict[str, datetime]()
    for rating in store.ratings.all(rater=rater.ref.id, item=item.id):
        if rating.status is Status.FAILED:
            failed[rating.unit] = max(rating.at, failed.get(rating.unit, rating.at))
    times = ([failed[one.id] for one in some if one.id in failed] for some in groups)
    return [Call(item, some, max(its_times, default=None)) for some, its_times in zip(groups, times, strict=True)]


def check_name(store: Store, ref: RaterRef, settings: Mapping[str, object], other_name: str) -> None:
    """Raise UserError if the rater is known as another kind, or rated under the current protocol with other settings.

    Ratings of one rater id are compared as one rater's; two configurations under one name would be mixed unnoticed.
    `other_name` says how to choose another one.
    """
    before = store.ratings.rater(ref.id)
    if before is None:
        return
    if before.kind != ref.kind:
        raise UserError(
            f"{store.location}: {ref.id!r} is known here as a {before.kind} and cannot rate as a {ref.kind}; "
            f"choose another name: {other_name}"
        )
    if before.config != ref.config and has_rated(store, ref.id):
        earlier = [run.settings for run in store.work.runs() if run.rater == ref.id]
        difference = _difference(earlier[-1], settings) if earlier else ", its ratings were imported from a file"
        raise UserError(
            f"{store.location}: {ref.id!r} has rated here with other settings{difference}. Use the same settings "
            f"to continue, or give this configuration a name of its own: {other_name}"
        )


def check_settings(store: Store, rater: Rater) -> None:
    """Raise UserError if the rater has rated this study under the current protocol with other settings."""
    check_name(store, rater.ref, rater.settings, f"NAME={rater.settings.get('spec', 'SPEC')}")


def has_rated(store: Store, rater: str) -> bool:
    """Whether a rater has given any answer under the current protocol; failures alone are none."""
    return any(rating.status is not Status.FAILED for rating in store.ratings.all(rater=rater))


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    keys = [key for key in dict.fromkeys([*before, *now]) if before.get(key) != now.get(key)]
    changed = "; ".join(f"{key} {setting_text(before.get(key))} → {setting_text(now.get(key))}" for key in keys)
    return f" ({changed})" if before and changed else ""


class RatingWorker(Worker[tuple[str, Sequence[Judgement]]]):
    """Rates the units that a rater has not rated yet. Raises UserError if it rated with other settings before."""

    def __init__(self, recorder: Recorder, rater: Rater) -> None:
        super().__init__(recorder, rater)
        check_settings(recorder.store, rater)
        self.counters.remarks += getattr(rater, "remarks", ())
        self._left: int | None = recorder.options.limit
        self._failed = recorder.options.retry_failed
        self.counters.to_do = self._store.work.count_pending(
            rater.ref.id, self._left, rater.together, failed=self._failed
        )

    def take(self, n: int) -> Taken:
        if self._left is not None and self._left <= 0:
            return Taken((), "none")
        n = n if self._left is None else min(n, self._left)
        taken = self._store.work.take(*self.names, n, failed=self._failed)
        leases = list(limited(taken.leases, self._left, self.rater.together))
        if self._left is not None:
            self._left -= sum(len(units) for _, units in leases)
        return replace(taken, leases=leases)

    async def work(self, item: Item, units: Sequence[Unit]) -> tuple[str, Sequence[Judgement]]:
        """The judgements of those units that are rated before the run ends."""
        calls = calls_for(self._store, self.rater, self._failed, item, units)
        asked = [self._judgements(*call) for call in calls]
        if len(asked) == 1:  # the common case: no further task is needed
            return item.id, await asked[0]
        return item.id, list(chain(*await asyncio.gather(*asked)))

    async def _judgements(self, item: Item, units: Sequence[Unit], since: datetime | None) -> Sequence[Judgement]:
        """What is said in one call; nothing if the run ends before."""
        SCOPE.set(CallScope((*self.names, item.id), since))
        try:
            judgements = await self.rater.rate_units(item, units)
        except Stopped:
            return ()
        self.counters.finished += len(judgements)
        return judgements

    def finish(self, done: Sequence[tuple[str, Sequence[Judgement]]]) -> None:
        """Store the ratings of items whose leases this worker still has. One that was taken over is rated elsewhere."""
        protocol, rater, budget = self._store.protocol, self.rater.ref, self._recorder.budget
        rated = dict[str, Sequence[Sequence[Rating]]]()
        finished = list[Finished]()
        for item, judgements in done:
            rated[item] = [ratings_of(protocol, rater.id, judgement) for judgement in judgements]
            finished.append(Finished(item, list(chain(*rated[item])), budget.finish((*self.names, item))))
            for judgement in judgements:
                if judgement.failure is not None:
                    LOG.warning("%s: %s failed: %s", rater.id, judgement.unit.id, judgement.failure.reason)
        for item in self._store.work.finish(*self.names, finished, rater=rater):
            for ratings in rated[item]:
                self.counters.add_ratings(ratings)


def run_workers(recorder: Recorder, workers: Sequence[Worker[Any]], *, progress: bool = False) -> None:
    """Start or join a run for each worker, and let all work to the end, in a thread of their own if the event loop of
    this one is in use.

    Ctrl-C ends it in good order: no new call is made, and open calls are waited for. The second one abandons them.
    """
    specs = [worker.spec for worker in workers]
    name = new_id()
    runs = recorder.store.work.start_runs(specs, worker=name, cap=recorder.budget.cap, term=LEASE_SECONDS)
    for worker, run in zip(workers, runs, strict=True):
        worker.names = run, name
    bar = ProgressBar(recorder.counters.values()) if progress else None
    broken = True
    try:
        run_in_loop(lambda: _run_all(recorder, workers, bar), lambda: recorder.stop(KeyboardInterrupt()))
        broken = False
    except (StudyError, KeyboardInterrupt) as reason:
        recorder.stop(reason)
    finally:
        for worker in workers:
            counters, counts = worker.counters, worker.counters.counts()
            stopped = recorder.stopped is not None or counters.error is not None
            state: RunState = "failed" if broken else "stopped" if stopped else "done"
            LOG.info("%s: %s; %s", counters.rater, state, counts)
            # Without any result, for want of a key for instance, it leaves no trace. If the study cannot be written to
            # or the user does not wait for it, the leases expire by themselves; that must not hide why the run ended.
            with suppress(StudyError, KeyboardInterrupt):
                trace = bool(counters.units or counters.replies)
                recorder.store.work.leave(*worker.names, state, counts, trace=trace)


async def _run_all(recorder: Recorder, workers: Sequence[Worker[Any]], bar: ProgressBar | None) -> None:
    working = [asyncio.create_task(worker.run()) for worker in workers]
    tasks = working if bar is None else [*working, asyncio.create_task(_watch(recorder, bar))]
    abandoned = False

    def end() -> None:
        nonlocal abandoned
        if recorder.stopped is not None or none_can_go_on(recorder.counters.values()):
            # The run was ending, for whatever reason: open calls are abandoned, and that is not an error.
            abandoned = True
            for task in working:
                task.cancel()
        recorder.stop(KeyboardInterrupt())

    with _on_signals(end):
        try:
            await asyncio.gather(*working)
        except asyncio.CancelledError:
            if not abandoned:
                raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for worker in workers:
                for chat in worker.rater.chats:
                    await chat.close()


async def _watch(recorder: Recorder, bar: ProgressBar) -> None:
    with closing(bar):
        while True:
            bar.show(stopping=recorder.stopped is not None)
            await asyncio.sleep(WATCH_SECONDS)


def run_in_loop(make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None] | None = None) -> T:
    """Run a coroutine to its end. In a notebook, whose own loop is running, another thread does it.

    There, Ctrl-C or the notebook's stop button calls `on_interrupt` and waits on; the second one gives up waiting.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="evenhand-run") as thread:
        running = thread.submit(lambda: asyncio.run(make()))
        try:
            return running.result()
        except KeyboardInterrupt:
            if on_interrupt is None:
                raise
            on_interrupt()
            return running.result()


@contextmanager
def _on_signals(end: Callable[[], None]) -> Generator[None]:
    """Call a function on Ctrl-C and SIGTERM."""
    before = dict[signal.Signals, Any]()
    loop = asyncio.get_running_loop()
    # Only the main thread receives signals. On Windows Ctrl-C cancels the run as asyncio does by itself.
    if threading.current_thread() is threading.main_thread():
        with suppress(NotImplementedError):
            for number in (signal.SIGINT, signal.SIGTERM):
                known = signal.getsignal(number)
                loop.add_signal_handler(number, end)
                before[number] = known
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
