"""Criteria that are asked only under a condition: checked when the whole file was read.

A long file may have a unit's ratings in any order, so a rating that depends on another one waits until the end. Where
a condition turns out false for a rated unit, the record says so: `not_asked`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from evenhand.formats.problems import Problems
from evenhand.formats.summary import ImportSummary
from evenhand.protocol.model import Condition, Criterion, Protocol
from evenhand.records import Rating, Status, Value


class _Waiting(NamedTuple):
    rating: Rating
    row: int
    column: str


class Conditions:
    """Holds back the ratings that depend on others."""

    def __init__(self, protocol: Protocol, problems: Problems, summary: ImportSummary) -> None:
        self._protocol = protocol
        self._problems = problems
        self._summary = summary
        self._dependent = [criterion for criterion in protocol.criteria if criterion.when]
        self._decisive = {criterion.when.criterion for criterion in self._dependent if criterion.when}
        self._values: dict[tuple[str, str], dict[str, Value]] = {}
        self._waiting: dict[tuple[str, str], dict[str, _Waiting]] = {}
        self._blank: set[tuple[str, str, str]] = set()
        self._unclear: set[tuple[str, str, str]] = set()
        self._lost = False

    @property
    def any(self) -> bool:
        return bool(self._dependent)

    def blank(self, criterion: Criterion | None, unit: str | None, rater: str | None) -> None:
        """Count a cell without a rating; whether one was due is settled at the end."""
        if criterion is not None and criterion.when and unit is not None and rater is not None:
            self._blank.add((unit, rater, criterion.id))
        else:
            self._summary.blanks += 1

    def unclear(self, place: tuple[str, str, str] | None) -> None:
        """Take note of a rating (unit, rater, criterion) that is there but cannot be read, and was reported as such:
        what depends on it is then not reported as well. None: nobody can tell which one it was meant to be."""
        if place is None:
            self._lost = True
        else:
            self._unclear.add(place)

    def pass_on(self, rating: Rating, criterion: Criterion, row: int, column: str) -> Iterator[Rating]:
        """The rating itself, unless it has to wait."""
        key = (rating.unit, rating.rater)
        if criterion.when:
            self._waiting.setdefault(key, {})[criterion.id] = _Waiting(rating, row, column)
            return
        if criterion.id in self._decisive and rating.value is not None:
            self._values.setdefault(key, {})[criterion.id] = rating.value
        yield rating

    def settled(self) -> Iterator[Rating]:
        """The ratings that waited, and those that say `not_asked`."""
        for key in dict.fromkeys((*self._values, *self._waiting)):
            yield from self._settle(key, self._values.get(key, {}), self._waiting.get(key, {}))
        self._summary.blanks += len(self._blank)

    def _settle(self, key: tuple[str, str], values: dict[str, Value], waiting: dict[str, _Waiting]) -> Iterator[Rating]:
        decided = set(values)
        for criterion in self._dependent:
            assert criterion.when is not None
            if (*key, criterion.when.criterion) in self._unclear:
                self._unclear.add((*key, criterion.id))
                continue
            asked = self._protocol.asked(criterion, values)
            held = waiting.get(criterion.id)
            if held is None:
                if not asked and criterion.when.criterion in decided:
                    decided.add(criterion.id)
                    self._blank.discard((*key, criterion.id))
                    self._summary.not_asked += 1
                    yield Rating(
                        unit=key[0],
                        rater=key[1],
                        criterion=criterion.id,
                        digest=self._protocol.digest,
                        status=Status.NOT_ASKED,
                    )
            elif self._fits(held, criterion, criterion.when, asked, values):
                if held.rating.status in (Status.RATED, Status.NOT_ASKED):
                    decided.add(criterion.id)
                if held.rating.value is not None:
                    values[criterion.id] = held.rating.value
                yield held.rating

    def _fits(
        self, held: _Waiting, criterion: Criterion, when: Condition, asked: bool, values: dict[str, Value]
    ) -> bool:
        """Whether a rating agrees with its condition; a problem otherwise."""
        status = held.rating.status
        if status is Status.NOT_ASKED and asked:
            what = f"{criterion.id} is asked here: {when.describe()}"
        elif status is not Status.RATED or asked:
            return True
        elif when.criterion not in values and self._lost:
            return False
        elif when.criterion in values:
            what = f"{criterion.id} is asked only when {when.describe()}; here it is {values[when.criterion]}"
        else:
            what = f"{criterion.id} is asked only when {when.describe()}; the file does not say what it is"
        fix = f"leave {criterion.id} empty, or correct {when.criterion}"
        self._problems.add(what, row=held.row, column=held.column, fix=fix)
        return False
