"""What a run has done: counted as it happens, shown while it works, and summed up at its end."""

import io
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

from evenhand.errors import EvenhandError, StudyError, UserError
from evenhand.llm.base import Reply, RunError
from evenhand.llm.http import Event
from evenhand.records import Rating, Status
from evenhand.text import counted, masked, money

with warnings.catch_warnings():
    # Without ipywidgets tqdm warns, and shows a plain bar in a notebook. That will do.
    warnings.simplefilter("ignore")
    from tqdm.auto import tqdm

LOG = logging.getLogger("evenhand.run")
LOG.addHandler(logging.NullHandler())

LOG_INTERVAL = 30.0
"""Seconds between two lines of progress if stderr is not a terminal."""

MOST_REASONS = 10
"""Reasons for failures that are listed; the log has all of them."""


@dataclass
class RaterCounters:
    """One rater's part of a run, or all raters of a run together."""

    rater: str = ""
    to_do: int = 0
    finished: int = 0
    """Units that were rated, stored or about to be: what the progress bar shows."""
    units: int = 0
    failed_units: int = 0
    statuses: Counter[Status] = field(default_factory=Counter[Status])
    failures: Counter[str] = field(default_factory=Counter[str])
    quotes: int = 0
    misquoted: int = 0
    calls: int = 0
    replies: int = 0
    reused: int = 0
    retries: Counter[str] = field(default_factory=Counter[str])
    dropped: list[str] = field(default_factory=list[str])
    """Parts of requests that the server does not accept."""
    models: Counter[str] = field(default_factory=Counter[str])
    """Replies by the name that the server gave the model, for example a dated version."""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    calls_without_usage: int = 0
    """Calls whose server did not report how many tokens they took."""
    cost: float | None = None
    assumed_cost: float = 0.0
    """The part of `cost` that is a worst case, for calls whose server did not report what they took."""
    remarks: list[str] = field(default_factory=list[str])
    """What the rater has to say of itself."""
    error: RunError | None = None
    """Why no further call of this rater can succeed."""

    @classmethod
    def total(cls, raters: Iterable["RaterCounters"]) -> "RaterCounters":
        """The counts of several raters together."""
        found = cls()
        for counters in raters:
            for name, value in vars(counters).items():
                if name not in ("rater", "error") and value is not None:
                    setattr(found, name, (getattr(found, name) or type(value)()) + value)
        return found

    def add_ratings(self, ratings: Sequence[Rating]) -> None:
        """The ratings of one unit."""
        self.units += 1
        for rating in ratings:
            self.statuses[rating.status] += 1
            self.quotes += len(rating.evidence) + len(rating.misquoted)
            self.misquoted += len(rating.misquoted)
        failed = [rating.reason or "" for rating in ratings if rating.status is Status.FAILED]
        self.failures.update(failed)
        self.failed_units += bool(failed)

    def add_reply(self, reply: Reply) -> None:
        """A reply arrived, with its usage if the server reported it."""
        self.replies += 1
        self.models[reply.model] += bool(reply.model)
        usage = reply.usage
        if usage is None:
            self.calls_without_usage += 1
            return
        self.input_tokens += usage.input
        self.cached_tokens += usage.cached
        self.output_tokens += usage.output

    def add_event(self, event: Event) -> None:
        """A retry, a limit or a dropped part of a request: counted, and written to the log."""
        if event.kind == "dropped":
            self.dropped.append(event.reason)
            LOG.warning("%s: the server does not accept %s; later requests omit it", self.rater, event.reason)
            return
        wait = f", next try in {event.wait:.1f} s" if event.wait else ""
        LOG.info("%s: %s: %s%s", self.rater, event.kind, event.reason, wait)
        if event.kind in ("retry", "limited"):
            self.retries[event.reason] += 1

    def counts(self) -> Mapping[str, Any]:
        """The counts as they are stored with the run."""
        return {
            name: dict(cast("Counter[str]", value).most_common()) if isinstance(value, Counter) else value
            for name, value in vars(self).items()
            if name not in ("rater", "to_do", "finished", "error")
        }

    def rating_lines(self) -> Iterator[str]:
        """Ratings by status, failures by reason, and quotes that were not found."""
        if self.statuses:
            yield f"  ratings: {', '.join(f'{status} {number:,}' for status, number in self.statuses.items())}"
        for reason, number in self.failures.most_common(MOST_REASONS):
            yield f"    failed {number:,}: {reason}"
        if len(self.failures) > MOST_REASONS:
            yield f"    … and {len(self.failures) - MOST_REASONS:,} more reasons"
        if self.quotes:
            which = f"{self.misquoted:,} not" if self.misquoted else "all"
            yield f"  quotes as evidence: {self.quotes:,}, {which} found in the item"

    def usage_lines(self) -> Iterator[str]:
        """Calls, tokens and cost, in one line; none if no model was asked."""
        if not self.calls and not self.reused:
            return
        facts = [counted(self.calls, "call")]
        facts += [f"{counted(self.reused, 'stored reply', 'stored replies')} reused"] if self.reused else []
        facts += [counted(self.retries.total(), "retry", "retries")] if self.retries else []
        facts.append(f"{self.input_tokens:,} tokens read, {self.output_tokens:,} written")
        without = counted(self.calls_without_usage, "call")
        facts += [f"{without} without a token count"] if self.calls_without_usage else []
        facts.append(cost_text(self.cost, self.assumed_cost))
        yield f"  {'; '.join(facts)}"
        for part in self.dropped:
            yield f"    not accepted by the server, and left out: {part}"

    def lines(self) -> Iterator[str]:
        """What the rater did, in words."""
        if not self.to_do:
            yield f"{self.rater}: nothing to do, every unit is rated or failed; --retry-failed tries failed ones again"
            return
        yield f"{self.rater}: {self.units:,} of {counted(self.to_do, 'unit')} done"
        yield from self.rating_lines()
        yield from (f"  {remark}" for remark in self.remarks)
        yield from self.usage_lines()


def none_can_go_on(raters: Iterable[RaterCounters]) -> bool:
    """Whether no call of any rater can succeed."""
    errors = [one.error for one in raters]
    return bool(errors) and None not in errors


class ProgressBar:
    """Shows a run on stderr: a bar in a terminal or notebook, a line now and then in a log."""

    def __init__(self, raters: Collection[RaterCounters]) -> None:
        self._raters = raters
        ipython: Any = sys.modules.get("IPython")
        notebook = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
        self._live = sys.stderr.isatty() or notebook
        file = sys.stderr if self._live else io.StringIO()
        self._bar: Any = tqdm(unit=" units", leave=False, file=file, dynamic_ncols=True)
        self._shown_at = time.monotonic()
        self._stopping = False
        self.show()

    def show(self, *, stopping: bool = False) -> None:
        """Show the state of the run; in a log only if it is time for it."""
        counters = RaterCounters.total(self._raters)
        stopping = stopping or none_can_go_on(self._raters)
        self._bar.total, self._bar.n = counters.to_do, counters.finished
        parts = [f"{counters.input_tokens + counters.output_tokens:,} tokens"]
        if counters.cost is not None:
            parts.append(cost_text(counters.cost, counters.assumed_cost))
        if counters.failed_units:
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in counters.failures.most_common(2))
            parts.append(f"{counters.failed_units:,} failed ({reasons})")
        if counters.retries:
            parts.append(f"{counters.retries.total():,} retries")
        if stopping:
            parts.append("stopping: waiting for open calls; press Ctrl-C again to abandon them")
        self._bar.set_postfix_str(", ".join(parts))
        due = stopping != self._stopping or time.monotonic() - self._shown_at > LOG_INTERVAL
        if due and not self._live:
            self._shown_at, self._stopping = time.monotonic(), stopping
            print(self._bar, file=sys.stderr)

    def close(self) -> None:
        self._bar.close()


def cost_text(cost: float | None, assumed: float) -> str:
    """What calls cost, in words; `assumed` is the part of it that is a worst case."""
    if cost is None:
        return "price unknown"
    return f"at most {money(cost)} (worst case for {money(assumed)} of it)" if assumed else money(cost)


class CapReached(EvenhandError):
    """The next call could take the run beyond its cap. The message is what else the user is to know."""


class Stopped(EvenhandError):
    """The run ends: this call was not made. As the reason of the end: the run was stopped by another process."""


StopReason = RunError | StudyError | CapReached | KeyboardInterrupt | Stopped
StopKind = Literal["cost", "interrupted", "stopped", "error"]

_STOPS: Mapping[type[StopReason], tuple[StopKind, str]] = {
    CapReached: ("cost", "the cost limit is reached"),
    KeyboardInterrupt: ("interrupted", "interrupted"),
    Stopped: ("stopped", "stopped from elsewhere"),
}


@dataclass
class Outcome:
    """What a run did, and why it ended if it was not completed. Printed, it says what each rater did."""

    counters: Mapping[str, RaterCounters]
    ended: StopReason | None = None
    """What ended the run for all raters."""

    @property
    def why(self) -> StopReason | None:
        """What ended the run, or the part of a rater, before its work was done."""
        error = next((one.error for one in self.counters.values() if one.error), None)
        return error if self.ended is None or none_can_go_on(self.counters.values()) else self.ended

    @cached_property
    def total(self) -> RaterCounters:
        """All raters together."""
        return RaterCounters.total(self.counters.values())

    @property
    def stopped(self) -> StopKind | None:
        """The kind of `why`."""
        return None if self.why is None else _STOPS.get(type(self.why), ("error", ""))[0]

    @property
    def why_text(self) -> str:
        """Why the run ended early, in words; of several raters, those with an error are named."""
        assert self.why is not None
        if type(self.why) in _STOPS:
            return _STOPS[type(self.why)][1] + str(self.why)
        if not isinstance(self.why, RunError):
            return masked(str(self.why))
        errors = {name: masked(one.error.reason) for name, one in self.counters.items() if one.error is not None}
        return "; ".join(errors.values() if len(self.counters) == 1 else map(": ".join, errors.items()))

    @property
    def has_results(self) -> bool:
        """Whether the run stored any rating or reply."""
        return bool(self.total.units or self.total.replies)

    def reason(self, nothing: str = "nothing was rated") -> str | None:
        """Why the run ended early and how to continue, or that nothing came of it; None if it was completed."""
        if self.why is None:
            return None
        then = "the same command continues from here and pays for nothing twice" if self.has_results else nothing
        return f"{'error: ' if self.stopped == 'error' else ''}{self.why_text}; {then}"

    def parts(self, nothing: str = "") -> tuple[str, Mapping[str, Mapping[str, Any]], StopKind | None, str | None]:
        """The parts of a `RunResult`. Raises UserError if no call could succeed, and nothing came of the run."""
        if self.stopped == "error" and not self.has_results:
            raise UserError(f"{self.why_text}. {nothing.capitalize()}") from self.why
        return (
            str(self),
            {rater: one.counts() for rater, one in self.counters.items()},
            self.stopped,
            self.reason(nothing),
        )

    def __str__(self) -> str:
        lines = [line for counters in self.counters.values() for line in counters.lines()]
        if len(self.counters) > 1:
            errors = {name: one.error.reason for name, one in self.counters.items() if one.error is not None}
            lines += [f"  {name} ended early: {masked(error)}" for name, error in errors.items()]
        if self.why is None and self.total.failed_units:
            # A model may answer differently the next time; a built-in rater will not.
            asked = any(one.failures and (one.calls or one.reused) for one in self.counters.values())
            advice = "to try those units again, repeat the command with --retry-failed"
            advice = advice if asked else "on the same texts this rater would fail again"
            lines.append(f"  failures are recorded with their reasons, never as scores; {advice}")
        return "\n".join(lines)
