"""What each person has answered so far, and how long it took."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from evenhand.monitoring.quality import Match
from evenhand.protocol.completion import is_answer
from evenhand.protocol.model import Protocol
from evenhand.records import Rating, Status, Value
from evenhand.store.people.access import Member
from evenhand.store.people.tasks import TaskCounts

DECISIONS = (Status.RATED, Status.CANNOT_ASSESS, Status.SKIPPED)
"""What a person decides; `not_asked` follows from other answers."""

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

    @property
    def per_hour(self) -> float | None:
        """Units per hour of active time; the clock of the page stops while the person is inactive."""
        return 3600.0 * len(self.seconds) / sum(self.seconds.values()) if self.seconds else None

    @property
    def seconds_per_unit(self) -> float | None:
        """The median time."""
        return median(self.seconds.values()) if self.seconds else None


@dataclass(frozen=True, slots=True)
class Participant:
    """A member, and how far their answers match others: None if that does not apply, or is not computed yet."""

    member: Member
    counts: TaskCounts = field(default_factory=TaskCounts)
    activity: Activity = field(default_factory=Activity)
    trials: Sequence[Rating] = ()
    known: Match | None = None
    repeats: Match | None = None
    training: Match | None = None
    others: Match | None = None


def activity_of(protocol: Protocol, ratings: Iterable[Rating]) -> Activity:
    """The activity of one person, from all of their ratings, those of one cell in order of arrival."""
    current: dict[Cell, Rating] = {}
    spent: dict[str, float] = {}
    for rating in ratings:
        current[rating.unit, rating.criterion] = rating
        spent[rating.unit] = spent.get(rating.unit, 0.0) + (rating.seconds or 0.0)
    answers = {cell: rating for cell, rating in current.items() if is_answer(rating)}
    decided = {cell: rating for cell, rating in answers.items() if rating.status in DECISIONS}
    units = {unit for unit, _ in decided}
    required = [rating for (_, name), rating in decided.items() if protocol.criterion(name).required]
    return Activity(
        units=len(units),
        statuses=Counter(rating.status for rating in answers.values()),
        values={cell: rating.value for cell, rating in answers.items() if rating.value is not None},
        seconds={unit: seconds for unit, seconds in spent.items() if unit in units and seconds > 0},
        required=len(required),
        left_out=sum(rating.status is not Status.RATED for rating in required),
    )
