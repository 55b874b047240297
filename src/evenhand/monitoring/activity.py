"""What each person has answered so far, and how long it took.

`ActivityLog` follows the ratings of a study as they arrive, so that a large study is read only once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from evenhand.protocol.completion import is_answer
from evenhand.protocol.model import Protocol
from evenhand.records import Rating, Status, Value
from evenhand.store.store import Store

DECISIONS = (Status.RATED, Status.CANNOT_ASSESS, Status.SKIPPED)
"""What a person decides; `not_asked` follows from other answers."""

PAGE = 5000
"""Ratings read at once."""

FEW = 10
"""Up to this many people, it is faster to read their ratings one by one than to read all ratings."""

Cell = tuple[str, str]
"""A unit and a criterion."""


@dataclass(frozen=True, slots=True)
class Activity:
    """One person's current answers. An answer that was taken back does not count.

    `units` is the number of units with an answer. `seconds` is the active time spent on each of them, changed answers
    included, if the page reported it. `required` counts the answers to required criteria; `left_out` counts those of
    them that are skipped or cannot be assessed.
    """

    units: int = 0
    statuses: Mapping[Status, int] = field(default_factory=dict[Status, int])
    values: Mapping[Cell, Value] = field(default_factory=dict[Cell, Value])
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    required: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Speed:
    """Units per hour of active time and the median seconds per unit, from the `units` whose time is known."""

    units: int
    per_hour: float | None
    seconds_per_unit: float | None


def speed(activity: Activity) -> Speed:
    """How fast one person works. The clock of the page stops while they are inactive."""
    spent = [seconds for seconds in activity.seconds.values() if seconds > 0]
    if not spent:
        return Speed(0, None, None)
    return Speed(len(spent), 3600.0 * len(spent) / sum(spent), median(spent))


def activity_of(protocol: Protocol, ratings: Iterable[Rating]) -> Activity:
    """The activity of one person, from all of their ratings, oldest first."""
    recorder = _Recorder(protocol)
    for rating in ratings:
        recorder.add(rating)
    return recorder.activity()


class ActivityLog:
    """The activity of a study's members under one protocol, updated with the ratings that arrived since last time.

    Use it from one thread at a time. If reading fails, discard the log: it may have counted a part of a page.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self._after: int | None = None
        self._recorders: dict[str, _Recorder] = {}

    def update(self, store: Store, members: Sequence[str]) -> Mapping[str, Activity]:
        """Every member's activity as it is now."""
        new = [rater for rater in members if rater not in self._recorders]
        self._recorders |= {rater: _Recorder(self.protocol) for rater in new}
        if self._after is None:
            self._after = 0 if len(new) > FEW else store.ratings.revision()
        if self._after:
            for rater in new:
                self._read(store, 0, self._after, rater)
        self._after = self._read(store, self._after, None, None)
        return {rater: self._recorders[rater].activity() for rater in members}

    def _read(self, store: Store, after: int, until: int | None, rater: str | None) -> int:
        """Record the ratings after one revision, up to another; returns the last revision read."""
        while page := store.ratings.arrivals(after=after, limit=PAGE, rater=rater, history=True):
            for number, rating in page:
                if until is not None and number > until:
                    return until
                if rating.digest == self.protocol.digest and rating.rater in self._recorders:
                    self._recorders[rating.rater].add(rating)
                after = number
        return after


class _Recorder:
    """Records one person's ratings in order of arrival."""

    def __init__(self, protocol: Protocol) -> None:
        self._required = {criterion.id for criterion in protocol.criteria if criterion.required}
        self._status: dict[Cell, Status] = {}
        self._values: dict[Cell, Value] = {}
        self._seconds: dict[str, float] = {}
        self._activity: Activity | None = None

    def add(self, rating: Rating) -> None:
        self._activity = None
        cell = rating.unit, rating.criterion
        self._values.pop(cell, None)
        if is_answer(rating):
            self._status[cell] = rating.status
        else:
            self._status.pop(cell, None)
        if rating.value is not None:
            self._values[cell] = rating.value
        if rating.seconds is not None:
            self._seconds[rating.unit] = self._seconds.get(rating.unit, 0.0) + rating.seconds

    def activity(self) -> Activity:
        if self._activity is None:
            self._activity = self._summed_up()
        return self._activity

    def _summed_up(self) -> Activity:
        statuses: dict[Status, int] = {}
        units: set[str] = set()
        required = left_out = 0
        for (unit, criterion), status in self._status.items():
            statuses[status] = statuses.get(status, 0) + 1
            if status in DECISIONS:
                units.add(unit)
                required += criterion in self._required
                left_out += criterion in self._required and status is not Status.RATED
        seconds = {unit: spent for unit, spent in self._seconds.items() if unit in units}
        return Activity(len(units), statuses, dict(self._values), seconds, required, left_out)
