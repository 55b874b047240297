"""One criterion's ratings, sorted by rater, with what the people say of any unit at hand.

Everything is kept as a list of ratings: a table of units × raters would be mostly holes where many people rate a
little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evenhand.agreement.arrays import BoolArray
from evenhand.agreement.majority import majority_label
from evenhand.records import Kind, RaterRef, Value
from evenhand.scales import Percent
from evenhand.table import MISSING, FloatArray, IntArray, Table, Tables, compared

Level = Literal["nominal", "ordinal", "interval"]

FREE_TEXT = "answers in free text cannot be compared as such"
NO_MAJORITY = "percentages have no majority label"


@dataclass(frozen=True)
class Sums:
    """What a group of raters gave each unit: how often each label, the sum of the scores, how many ratings."""

    members: frozenset[int]
    tally: IntArray
    total: FloatArray
    count: IntArray


@dataclass(frozen=True)
class Others:
    """What a group says of some units: the label of more than half (-1 none), the mean score (NaN none), how many."""

    majority: IntArray
    mean: FloatArray
    count: IntArray


@dataclass(frozen=True)
class Reading:
    """The ratings as a list, by rater and then by unit; those of rater `r` are from `starts[r]` to `starts[r + 1]`.

    `labels` is empty for percentages, which are never counted by label. `scores` are those of the codes, None for
    labels without order. `lent` marks a confidence that stood with the leading criterion's rating of the same unit.
    """

    raters: Sequence[RaterRef]
    labels: Sequence[Value]
    scores: FloatArray | None
    level: Level
    n_units: int
    clusters: IntArray | None
    unit: IntArray
    code: IntArray
    order: IntArray
    confidence: FloatArray
    lent: BoolArray
    starts: IntArray

    def part(self, rater: int) -> slice:
        """Where a rater's ratings are."""
        return slice(int(self.starts[rater]), int(self.starts[rater + 1]))

    def units_of(self, rater: int) -> IntArray:
        """The units that a rater rated, in order."""
        return self.unit[self.part(rater)]

    def codes_at(self, rater: int, units: IntArray) -> IntArray:
        """A rater's codes of some units, -1 where there is none."""
        own, codes = self.units_of(rater), self.code[self.part(rater)]
        if own.size == 0:
            return np.full(units.size, MISSING, dtype=np.int64)
        place = np.minimum(np.searchsorted(own, units), own.size - 1)
        return np.where(own[place] == units, codes[place], MISSING)

    def clusters_of(self, units: IntArray) -> IntArray | None:
        return None if self.clusters is None else self.clusters[units]

    def active(self, kinds: Sequence[Kind]) -> list[int]:
        """Raters of some kinds who have a rating here."""
        rated = np.diff(self.starts) > 0
        return [number for number, rater in enumerate(self.raters) if rater.kind in kinds and rated[number]]

    @cached_property
    def people(self) -> list[int]:
        return self.active((Kind.PERSON,))

    @cached_property
    def machines(self) -> list[int]:
        return self.active((Kind.MODEL, Kind.RULE))

    @property
    def rated_by_people(self) -> int:
        """How many units a person rated."""
        return int((self._people.count > 0).sum())

    def people_at(self, units: IntArray, without: Sequence[int] = ()) -> Others:
        """What the people say of some units, some of them left out."""
        return self._at(self._people, units, without)

    def raters_at(self, units: IntArray, without: Sequence[int] = ()) -> Others:
        """What all raters say of some units, some of them left out."""
        return self._at(self._everybody, units, without)

    @cached_property
    def _people(self) -> Sums:
        return self._sums(self.people)

    @cached_property
    def _everybody(self) -> Sums:
        return self._sums(range(len(self.raters)))

    def _sums(self, members: Sequence[int]) -> Sums:
        inside = np.zeros(len(self.raters), dtype=np.bool_)
        inside[list(members)] = True
        used = np.repeat(inside, np.diff(self.starts))
        unit, code, labels = self.unit[used], self.code[used], len(self.labels)
        cells = np.bincount(unit * labels + code, minlength=self.n_units * labels) if labels else np.zeros(0)
        count = np.bincount(unit, minlength=self.n_units)
        total = np.zeros(self.n_units)
        if self.scores is not None and code.size:
            total = np.bincount(unit, weights=self.scores[code], minlength=self.n_units)
        tally = cells.astype(np.int64).reshape(self.n_units, labels)
        return Sums(frozenset(members), tally, total.astype(np.float64), count.astype(np.int64))

    def _at(self, sums: Sums, units: IntArray, without: Sequence[int]) -> Others:
        tally, total, count = sums.tally[units], sums.total[units], sums.count[units]
        for rater in sums.members.intersection(without):
            own = self.codes_at(rater, units)
            rated = np.flatnonzero(own != MISSING)
            if self.labels:
                tally[rated, own[rated]] -= 1
            if self.scores is not None:
                total[rated] -= self.scores[own[rated]]
            count[rated] -= 1
        mean = np.full(units.size, np.nan)
        if self.scores is not None:
            np.divide(total, count, out=mean, where=count > 0)
        return Others(majority_label(tally), mean, count)


def read(tables: Tables, criterion: str) -> Reading:
    """One criterion, ready to be asked. Free answers count by whether there is one at all."""
    given = tables.tables[criterion]
    table = compared(given) or given
    order = np.lexsort((table.unit, table.rater))
    confidence, lent = _confidence(tables, table)
    level = table.criterion.scale.level
    return Reading(
        raters=tables.raters,
        labels=() if isinstance(table.criterion.scale, Percent) else table.values,
        scores=table.scores,
        level="nominal" if level == "text" else level,
        n_units=table.n_units,
        clusters=tables.together,
        unit=table.unit[order],
        code=table.code[order],
        order=table.order[order],
        confidence=confidence[order],
        lent=lent[order],
        starts=np.searchsorted(table.rater[order], np.arange(len(tables.raters) + 1)).astype(np.int64),
    )


def comparable(table: Table) -> bool:
    """Whether the answers can be compared at all: free text can where one may say that there is no answer."""
    return compared(table) is not None


def _confidence(tables: Tables, table: Table) -> tuple[FloatArray, BoolArray]:
    """Each rating's confidence from 0 to 1, NaN where none was stated, and whether it stood with another criterion.

    Confidence is asked once for a unit and kept with the leading criterion; there it is looked for where a rating has
    none of its own. One outside 0 to 100 says nothing and counts as not stated.
    """
    own = np.full(table.unit.size, np.nan) if table.confidence is None else table.confidence
    lead = tables.tables.get(tables.protocol.lead.id)
    lent = np.zeros(own.size, dtype=np.bool_)
    if lead is not None and lead is not table and lead.confidence is not None and own.size:
        place = lead.unit * lead.n_raters + lead.rater
        order = np.argsort(place)
        wanted = table.unit * table.n_raters + table.rater
        at = order[np.minimum(np.searchsorted(place[order], wanted), order.size - 1)]
        there = np.where(place[at] == wanted, lead.confidence[at], np.nan)
        lent = np.isnan(own) & ~np.isnan(there)
        own = np.where(lent, there, own)
    return np.where((own >= 0.0) & (own <= 100.0), own / 100.0, np.nan), lent
