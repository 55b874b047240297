"""What a run has done so far: counted as it happens, shown by the progress bar, the log and the summary."""

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.llm.base import Reply
from evenhand.llm.retry import Event
from evenhand.records import Rating, Status

LOG = logging.getLogger("evenhand.run")
LOG.addHandler(logging.NullHandler())


@dataclass
class RaterCounters:
    """One rater's part of a run."""

    rater: str = ""
    to_do: int = 0
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
    uncounted: int = 0
    """Calls whose server did not report how many tokens they took."""
    cost: float | None = None

    def add_ratings(self, ratings: Sequence[Rating]) -> None:
        """The ratings of one unit."""
        self.units += 1
        failed = False
        for rating in ratings:
            self.statuses[rating.status] += 1
            self.quotes += len(rating.evidence) + len(rating.misquoted)
            self.misquoted += len(rating.misquoted)
            if rating.status is Status.FAILED:
                failed = True
                self.failures[rating.reason or ""] += 1
        self.failed_units += failed

    def add_reply(self, reply: Reply) -> None:
        """A reply arrived, with its usage if the server reported it."""
        self.replies += 1
        self.models[reply.model] += bool(reply.model)
        usage = reply.usage
        if usage is None:
            self.uncounted += 1
            return
        self.input_tokens += usage.input
        self.cached_tokens += usage.cached
        self.output_tokens += usage.output

    def add_cost(self, cost: float | None) -> None:
        if cost is not None:
            self.cost = cost if self.cost is None else self.cost + cost

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

    def counts(self) -> Mapping[str, object]:
        """The counts as they are stored with the run."""
        return {
            "units": self.units,
            "failed_units": self.failed_units,
            "statuses": {str(status): number for status, number in self.statuses.items()},
            "failures": dict(self.failures.most_common()),
            "quotes": self.quotes,
            "misquoted": self.misquoted,
            "calls": self.calls,
            "replies": self.replies,
            "reused": self.reused,
            "retries": dict(self.retries.most_common()),
            "dropped": list(self.dropped),
            "models": dict(self.models.most_common()),
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "calls_without_usage": self.uncounted,
            "cost": self.cost,
        }


@dataclass
class RunCounters:
    """All raters of a run together."""

    raters: dict[str, RaterCounters] = field(default_factory=dict[str, RaterCounters])
    began: float = field(default_factory=time.monotonic)
    stopping: bool = False
    """Whether the run is to end and only waits for open calls."""

    @property
    def units(self) -> int:
        return sum(rater.units for rater in self.raters.values())

    @property
    def to_do(self) -> int:
        return sum(rater.to_do for rater in self.raters.values())

    @property
    def failures(self) -> Counter[str]:
        return sum((rater.failures for rater in self.raters.values()), Counter[str]())

    @property
    def failed_units(self) -> int:
        return sum(rater.failed_units for rater in self.raters.values())

    @property
    def retries(self) -> int:
        return sum(rater.retries.total() for rater in self.raters.values())

    @property
    def tokens(self) -> int:
        return sum(rater.input_tokens + rater.output_tokens for rater in self.raters.values())

    @property
    def cost(self) -> float | None:
        known = [rater.cost for rater in self.raters.values() if rater.cost is not None]
        return sum(known) if known else None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began
