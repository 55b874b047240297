"""What a run has done so far: counted as it happens, for the progress bar, the log and the summary."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from evenhand.llm.base import Reply
from evenhand.llm.retry import Event
from evenhand.records import Rating, Status
from evenhand.text import counted, money

LOG = logging.getLogger("evenhand.run")
LOG.addHandler(logging.NullHandler())

MOST_REASONS = 10
"""Reasons for failures that are listed; the log has all of them."""


@dataclass
class RaterCounters:
    """One rater's part of a run, or all raters of a run together."""

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
    calls_without_usage: int = 0
    """Calls whose server did not report how many tokens they took."""
    cost: float | None = None

    @classmethod
    def total(cls, raters: Iterable["RaterCounters"]) -> "RaterCounters":
        """The counts of several raters together."""
        found = cls()
        for counters in raters:
            for name, value in vars(counters).items():
                if name != "rater" and value is not None:
                    setattr(found, name, (getattr(found, name) or type(value)()) + value)
        return found

    def add_ratings(self, ratings: Sequence[Rating]) -> None:
        """The ratings of one unit."""
        self.units += 1
        self.statuses.update(rating.status for rating in ratings)
        self.quotes += sum(len(rating.evidence) + len(rating.misquoted) for rating in ratings)
        self.misquoted += sum(len(rating.misquoted) for rating in ratings)
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
            if name not in ("rater", "to_do")
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
            yield f"  quotes as evidence: {self.quotes:,}, of which {self.misquoted:,} are not found in the item"

    def usage_lines(self) -> Iterator[str]:
        """Calls, tokens and cost, in one line; none if no model was asked."""
        if not self.calls and not self.reused:
            return
        facts = [f"{self.calls:,} calls"]
        facts += [f"{self.reused:,} stored replies reused"] if self.reused else []
        facts += [f"{self.retries.total():,} retries"] if self.retries else []
        facts.append(f"{self.input_tokens:,} tokens read, {self.output_tokens:,} written")
        facts += [f"{self.calls_without_usage:,} calls without a token count"] if self.calls_without_usage else []
        facts.append("price unknown" if self.cost is None else money(self.cost))
        yield f"  {'; '.join(facts)}"

    def lines(self) -> Iterator[str]:
        """What the rater did, in words."""
        if not self.to_do:
            yield f"{self.rater}: nothing to do, every unit is rated or failed; --retry-failed tries failed ones again"
            return
        yield f"{self.rater}: {self.units:,} of {counted(self.to_do, 'unit')} rated"
        yield from self.rating_lines()
        yield from self.usage_lines()
