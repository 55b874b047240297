"""What a run has done so far: counted as it happens, read by the progress line, the log and the closing summary."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.llm.base import Reply
from evenhand.records import Rating, Status


@dataclass
class RaterTally:
    """One rater's part of a run."""

    rater: str
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
    """Parts of requests that the server does not take."""
    models: Counter[str] = field(default_factory=Counter[str])
    """Replies by the name that the server gave the model: a dated version, for instance."""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Calls whose server did not say how many tokens they took."""
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
        """A reply came, with what it took, where the server said so."""
        self.replies += 1
        self.models[reply.model] += bool(reply.model)
        usage = reply.usage
        if usage is None:
            self.uncounted += 1
            return
        self.input_tokens += usage.input
        self.cached_tokens += usage.cached
        self.output_tokens += usage.output

    def add_cost(self, cost: float) -> None:
        self.cost = cost if self.cost is None else self.cost + cost

    def counts(self) -> Mapping[str, object]:
        """The counts as they are kept with the run."""
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
class Tally:
    """All raters of a run together."""

    raters: Mapping[str, RaterTally]
    began: float = field(default_factory=time.monotonic)
    ending: bool = False
    """Whether the run is to end and only waits for calls that are under way."""

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
