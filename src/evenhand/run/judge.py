"""Let raters rate the units of a study that they have not rated yet, until all is done or something ends the run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evenhand.errors import UserError
from evenhand.llm.base import Chat, RunError
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat
from evenhand.llm.hugging_face.chat import HuggingFaceChat
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.retry import Listener, Waits
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, RaterSource, rater_of
from evenhand.records import Status
from evenhand.run.budget import CapReached
from evenhand.run.counters import RaterCounters
from evenhand.run.recorded_chat import RecordedChat, Recorder, Stopped, StopReason
from evenhand.run.worker import RatingWorker, run_workers
from evenhand.settings import Settings
from evenhand.store.store import Store
from evenhand.text import counted, masked

MAKER = "questions("
"""The rater of a run that makes questions begins with this."""

_STOPS: Mapping[type[StopReason], tuple[Literal["cost", "interrupted", "stopped", "error"], str]] = {
    CapReached: ("cost", "the cost limit is reached"),
    KeyboardInterrupt: ("interrupted", "interrupted"),
    Stopped: ("stopped", "stopped from elsewhere"),
    RunError: ("error", "error"),
}


@dataclass
class Outcome:
    """What a run did, and why it ended if it was not completed. Printed, it says what each rater did."""

    counters: Mapping[str, RaterCounters]
    why: StopReason | None = None

    @cached_property
    def total(self) -> RaterCounters:
        """All raters together."""
        return RaterCounters.total(self.counters.values())

    @property
    def stopped(self) -> Literal["cost", "interrupted", "stopped", "error"] | None:
        """The kind of `why`."""
        return None if self.why is None else _STOPS[type(self.why)][0]

    @property
    def why_text(self) -> str:
        """Why the run ended early, in words."""
        assert self.why is not None
        return f"error: {masked(self.why.reason)}" if isinstance(self.why, RunError) else _STOPS[type(self.why)][1]

    @property
    def has_results(self) -> bool:
        """Whether the run stored any rating or reply."""
        return bool(self.total.units or self.total.replies)

    @property
    def reason(self) -> str | None:
        """Why the run ended early, what is stored and how to continue; None if it was completed."""
        if self.why is None:
            return None
        total, kept = self.total, "Nothing was rated"
        if self.has_results:
            kept = (
                f"{counted(total.units, 'unit')} stored, {total.failed_units:,} of them failed, "
                f"{total.to_do - total.units:,} left; the same command continues from here and pays for nothing twice"
            )
        return f"{self.why_text}{'.' if isinstance(self.why, RunError) else ':'} {kept}"

    def __str__(self) -> str:
        total = self.total
        lines = [line for counters in self.counters.values() for line in counters.lines()]
        if self.why is None and total.failed_units:
            # A model may answer differently the next time; a built-in rater will not.
            asked = any(one.failures and (one.calls or one.reused) for one in self.counters.values())
            advice = "to try those units again, repeat the command with --retry-failed"
            advice = advice if asked else "on the same texts this rater would fail again"
            lines.append(f"  failures are recorded with their reasons, never as scores; {advice}")
        return "\n".join(lines)


def judge(
    store: Store,
    sources: Sequence[RaterSource],
    options: RaterOptions = RATER_DEFAULTS,
    run: RunOptions = RUN_DEFAULTS,
    *,
    progress: bool = False,
) -> Outcome:
    """Rate what these raters have not rated yet. Every reply and rating is stored as it comes, however the run ends.

    `progress` shows a progress bar. Raises UserError, with nothing rated, if a rater of the same name has rated here
    with other settings. If other processes rate with the same rater, this one shares their work and their cap. Works in
    a notebook too, where an event loop is already running.
    """
    recorder = Recorder(store, run)
    raters = recorded_raters(recorder, sources, options)
    check_settings(store, raters)
    check_idle(store, MAKER)
    run_workers(recorder, [RatingWorker(recorder, rater) for rater in raters], progress=progress)
    return Outcome(recorder.counters, recorder.stopped)


def recorded_raters(recorder: Recorder, sources: Sequence[RaterSource], options: RaterOptions) -> Sequence[Rater]:
    """Build raters whose calls are recorded and counted. Raises UserError if a name or a price is not right."""
    run, raters = recorder.options, list[Rater]()
    for source in sources:
        counters = RaterCounters()

        def connect(target: str | Chat, counters: RaterCounters = counters) -> Chat:
            chat = connect_model(target, run, counters.add_event) if isinstance(target, str) else target
            return RecordedChat(chat, recorder, counters)

        rater = rater_of(source, RaterContext(recorder.store.protocol, connect, options, run))
        counters.rater = rater.ref.id
        if rater.ref.id in recorder.counters:
            raise UserError(f"two raters are called {rater.ref.id!r}: name them differently, as in --rater NAME=SPEC")
        recorder.counters[rater.ref.id] = counters
        raters.append(rater)
    recorder.budget.check([chat.model for rater in raters for chat in rater.chats])
    return raters


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


def check_settings(store: Store, raters: Sequence[Rater]) -> None:
    """Raise UserError if a rater has rated this study under the current protocol with other settings.

    Ratings of one rater id are compared as one rater's; two configurations under one name would be mixed unnoticed.
    """
    by_id = {rater.ref.id: rater for rater in raters}
    for before in store.ratings.raters():
        rater = by_id.get(before.id)
        if rater is None:
            continue
        ref = rater.ref
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


def check_idle(store: Store, rater: str = "") -> None:
    """Raise UserError if a run of a rater whose id begins with `rater` is under way.

    If questions changed while they are answered, the answers would go to questions that the rater never saw.
    """
    for run in store.work.runs():
        if run.state == "running" and run.rater.startswith(rater):
            doing = "making questions" if run.rater.startswith(MAKER) else "rating"
            raise UserError(
                f"{store.location}: {run.rater!r} is {doing} since {run.started:%H:%M} UTC, and the questions must not "
                f"change meanwhile; wait for it, or stop it: evenhand runs {store.location} --stop {run.id}. "
                "Nothing was changed"
            )


def has_rated(store: Store, rater: str) -> bool:
    """Whether a rater has given any answer under the current protocol; failures alone are none."""
    return any(rating.status is not Status.FAILED for rating in store.ratings.all(rater=rater))


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    keys = [key for key in dict.fromkeys([*before, *now]) if before.get(key) != now.get(key)]
    changed = ", ".join(f"{key} {before.get(key)!s} → {now.get(key)!s}" for key in keys)
    return f" ({changed})" if before and changed else ""
