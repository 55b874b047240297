"""Let raters rate the units of a study that they have not rated yet, until all is done or something ends the run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import UserError
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.raters.registry import RaterSource
from evenhand.records import Status, new_id
from evenhand.run import worker
from evenhand.run.budget import SharedCap
from evenhand.run.counters import RunCounters
from evenhand.run.recorded_chat import StopReason
from evenhand.run.session import RunSession, Watch, gathered
from evenhand.store.store import Store
from evenhand.store.work import RunSpec, RunState


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did, and why it ended if it was not completed.

    `asking` names the raters that ask models: their failures may go away if the units are tried again.
    """

    counters: RunCounters
    why: StopReason | None = None
    asking: Sequence[str] = ()

    @property
    def units(self) -> int:
        return self.counters.units

    @property
    def statuses(self) -> Mapping[Status, int]:
        total = dict.fromkeys(Status, 0)
        for rater in self.counters.raters.values():
            for status, number in rater.statuses.items():
                total[status] += number
        return {status: number for status, number in total.items() if number}

    @property
    def failures(self) -> Mapping[str, int]:
        return dict(self.counters.failures)


def judge(
    store: Store,
    raters: Sequence[RaterSource],
    options: RaterOptions = RATER_DEFAULTS,
    run: RunOptions = RUN_DEFAULTS,
    *,
    watch: Watch | None = None,
) -> Outcome:
    """Rate what these raters have not rated yet. Every reply and rating is stored as it comes, however the run ends.

    `watch` receives the counters a few times a second. Raises UserError, with nothing rated, if a rater of the same
    name has rated here with other settings. If other processes rate with the same rater, this one shares their work and
    their cap. Works in a notebook too, where an event loop is already running.
    """
    session = RunSession(store, run)
    built = [session.rater(source, options) for source in raters]
    check_settings(store, built)
    session.check_prices()
    cap, name = SharedCap(store.work, run.max_cost), new_id()
    specs = [RunSpec(rater.ref, rater.settings) for rater in built]
    runs = store.work.start_runs(specs, worker=name, cap=cap.micros, term=worker.LEASE_SECONDS)
    workers = [worker.Worker(session, rater, cap, run=run, name=name) for rater, run in zip(built, runs, strict=True)]
    state: RunState = "failed"
    try:
        state = session.run(lambda: gathered([one.run() for one in workers]), watch)
    finally:
        for one in workers:
            one.leave(state)
    return Outcome(session.counters, session.stop.reason, [rater.ref.id for rater in built if rater.chats])


def check_settings(store: Store, raters: Sequence[Rater]) -> None:
    """Raise UserError if a rater has rated this study under the current protocol with other settings.

    Ratings of one rater id are compared as one rater's; two configurations under one name would be mixed unnoticed.
    """
    known = {ref.id: ref for ref in store.ratings.raters()}
    for rater in raters:
        ref, before = rater.ref, known.get(rater.ref.id)
        if before is None:
            continue
        if before.kind != ref.kind:
            raise UserError(
                f"{store.location}: {ref.id!r} is known here as a {before.kind} and cannot rate as a {ref.kind}; "
                "choose another name: --rater NAME=SPEC"
            )
        if before.config == ref.config or not has_rated(store, ref.id):
            continue
        earlier = [run.settings for run in store.work.runs() if run.rater == ref.id]
        difference = _difference(earlier[-1], rater.settings) if earlier else ", its ratings were imported from a file"
        raise UserError(
            f"{store.location}: {ref.id!r} has rated here with other settings{difference}. Use the same settings to "
            f"continue, or give this configuration a name of its own: --rater NAME={rater.settings.get('spec', 'SPEC')}"
        )


def check_idle(store: Store) -> None:
    """Raise UserError if a run is under way: its answers would go to questions that it never saw."""
    for run in store.work.runs():
        if run.state == "running":
            raise UserError(
                f"{store.location}: {run.rater!r} is rating since {run.started:%H:%M} UTC, and the questions must not "
                f"change meanwhile; wait for it, or stop it: evenhand runs {store.location} --stop {run.id}. "
                "Nothing was changed"
            )


def has_rated(store: Store, rater: str) -> bool:
    """Whether a rater has given any answer under the current protocol; failures alone are none."""
    return any(rating.status is not Status.FAILED for rating in store.ratings.all(rater=rater))


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    keys: Iterable[str] = dict.fromkeys([*before, *now])
    changed = [f"{key} {before.get(key)!s} → {now.get(key)!s}" for key in keys if before.get(key) != now.get(key)]
    return f" ({', '.join(changed)})" if before and changed else ""
