"""What one person has answered so far and how long it took: kept from their ratings as they come."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evenhand.protocol.model import Protocol
from evenhand.records import Rating, Status, Value
from evenhand.web.answers import is_answer

GIVEN = (Status.RATED, Status.CANNOT_ASSESS, Status.SKIPPED)
"""What a person decides; `not_asked` follows from other answers."""

Cell = tuple[str, str]
"""A unit and a criterion."""


@dataclass(frozen=True, slots=True)
class Diary:
    """One person's answers in force; what was taken back is none.

    `units` have an answer. `seconds` is the active time spent on each of them, changes of mind included, where the page
    told it. `asked` counts the answers on required criteria, `left_out` those of them that are skipped or cannot be
    assessed.
    """

    units: int = 0
    statuses: Mapping[Status, int] = field(default_factory=dict[Status, int])
    values: Mapping[Cell, Value] = field(default_factory=dict[Cell, Value])
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    asked: int = 0
    left_out: int = 0


class Diarist:
    """Takes down one person's ratings under one protocol in the order in which they came."""

    def __init__(self, protocol: Protocol) -> None:
        self._required = {criterion.id for criterion in protocol.criteria if criterion.required}
        self._status: dict[Cell, Status] = {}
        self._values: dict[Cell, Value] = {}
        self._seconds: dict[str, float] = {}
        self._diary: Diary | None = None

    def add(self, rating: Rating) -> None:
        self._diary = None
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

    def diary(self) -> Diary:
        """What there is so far."""
        if self._diary is None:
            self._diary = self._made()
        return self._diary

    def _made(self) -> Diary:
        statuses: dict[Status, int] = {}
        units: set[str] = set()
        asked = left_out = 0
        for (unit, criterion), status in self._status.items():
            statuses[status] = statuses.get(status, 0) + 1
            if status in GIVEN:
                units.add(unit)
                asked += criterion in self._required
                left_out += criterion in self._required and status is not Status.RATED
        seconds = {unit: spent for unit, spent in self._seconds.items() if unit in units}
        return Diary(len(units), statuses, dict(self._values), seconds, asked, left_out)


def diary(protocol: Protocol, ratings: Iterable[Rating]) -> Diary:
    """A diary from ratings that are all there already, oldest first."""
    diarist = Diarist(protocol)
    for rating in ratings:
        diarist.add(rating)
    return diarist.diary()
