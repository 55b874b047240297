"""Ratings of one criterion → units × raters, as arrays; missing is explicit.

What is here is what counts: ratings in force under one protocol with the status `rated`. Everything else is counted by
status, so that every figure can say what it left out.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Kind, RaterRef, Status, Value
from evenhand.scales import Label, Nominal, Ordinal, Text

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

MISSING = -1
STATUSES = tuple(Status)
_STATUS_CODES = {status: code for code, status in enumerate(STATUSES)}
_NAN = float("nan")


@dataclass(frozen=True)
class Table:
    """The ratings of one criterion as a long list: rating `i` is what `rater[i]` says of `unit[i]`, `values[code[i]]`.

    Units and raters are numbers that index the study's units and raters. `values` are the labels or levels of the
    scale in its order; of a text or percent criterion, the different answers that were given. `order` grows with time.
    """

    criterion: Criterion
    values: Sequence[Value]
    unit: IntArray
    rater: IntArray
    code: IntArray
    order: IntArray
    n_units: int
    n_raters: int
    statuses: Sequence[Mapping[Status, int]]
    confidence: FloatArray | None = None

    @cached_property
    def codes(self) -> IntArray:
        """Units × raters, -1 where a rater has no value for a unit."""
        wide = np.full((self.n_units, self.n_raters), MISSING, dtype=np.int64)
        wide[self.unit, self.rater] = self.code
        return wide

    @property
    def categorical(self) -> bool:
        """Whether the scale has a fixed set of values: labels or levels."""
        return isinstance(self.criterion.scale, Ordinal | Nominal)

    @cached_property
    def scores(self) -> FloatArray | None:
        """The numbers that the values stand for; None for labels and texts."""
        if self.criterion.scale.level not in ("ordinal", "interval"):
            return None
        return np.array([float(value) for value in self.values], dtype=np.float64)

    def status_counts(self) -> Mapping[Status, int]:
        """Ratings by status, all raters together."""
        return {status: sum(counts.get(status, 0) for counts in self.statuses) for status in Status}

    def only(self, units: NDArray[np.bool_]) -> "Table":
        """The ratings of some units; statuses stay those of the whole."""
        kept = units[self.unit]
        confidence = None if self.confidence is None else self.confidence[kept]
        return Table(
            self.criterion,
            self.values,
            self.unit[kept],
            self.rater[kept],
            self.code[kept],
            self.order[kept],
            self.n_units,
            self.n_raters,
            self.statuses,
            confidence,
        )

    def without(self, raters: Sequence[int]) -> "Table":
        """The same without the ratings of some raters, whatever their status; the numbers of the others stay."""
        kept = ~np.isin(self.rater, list(raters))
        confidence = None if self.confidence is None else self.confidence[kept]
        values, code = self.values, self.code[kept]
        if not self.categorical:
            # Answers that only they gave are no longer among those that were given.
            used, code = np.unique(code, return_inverse=True)
            places: list[int] = used.tolist()
            values = [self.values[place] for place in places]
        return replace(
            self,
            values=values,
            unit=self.unit[kept],
            rater=self.rater[kept],
            code=code,
            order=self.order[kept],
            statuses=[{} if number in raters else counts for number, counts in enumerate(self.statuses)],
            confidence=None if confidence is None or np.isnan(confidence).all() else confidence,
        )


ANSWERED = "answered"

_ANSWERABILITY = Nominal(
    type="nominal",
    labels={
        ANSWERED: Label(definition="the text answers the question"),
        UNANSWERABLE: Label(definition="the text does not answer the question"),
    },
)


def compared(table: Table) -> Table | None:
    """The table in the form in which raters can be compared on it.

    Two free answers are neither the same nor different, so where "unanswerable" is an answer they are compared on
    whether there is an answer at all; any other free text cannot be compared: None.
    """
    scale = table.criterion.scale
    if not isinstance(scale, Text):
        return table
    if not scale.unanswerable:
        return None
    recode = np.array([int(value == UNANSWERABLE) for value in table.values], dtype=np.int64)
    criterion = table.criterion.model_copy(update={"scale": _ANSWERABILITY})
    return replace(table, criterion=criterion, values=_ANSWERABILITY.values, code=recode[table.code])


@dataclass(frozen=True)
class Tables:
    """Everything that statistics need of a study.

    `clusters` gives each unit's item where an item has several units, and is None where the unit is the item.
    `documents` gives each unit's document where the protocol names a field for it. `together` is the larger of the two:
    units in it are not independent, and intervals are taken over it. `labels` are the items' label fields, by item,
    None where an item has none; `references` the reference's own answers, by unit. `left_out` counts ratings under
    other protocol digests, `failures` the failed ones by rater and reason. `adjudicators` are raters who saw what the
    others said: theirs are ratings, but no independent evidence.
    """

    protocol: Protocol
    raters: Sequence[RaterRef]
    n_items: int
    n_units: int
    tables: Mapping[str, Table]
    clusters: IntArray | None = None
    labels: Mapping[str, Sequence[str | None]] = field(default_factory=dict[str, Sequence[str | None]])
    references: Sequence[str | None] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    failures: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    documents: IntArray | None = None
    adjudicators: frozenset[str] = frozenset()

    @property
    def together(self) -> IntArray | None:
        """Which units belong together; None where all are independent."""
        return self.clusters if self.documents is None else self.documents

    def compared(self) -> "Tables":
        """The same study with only the criteria on which raters can be compared, in the form for it, and without the
        ratings of adjudicators."""
        independent = self.independent()
        views = {name: compared(table) for name, table in independent.tables.items()}
        return replace(independent, tables={name: view for name, view in views.items() if view is not None})

    def independent(self) -> "Tables":
        """The same study without the ratings of adjudicators."""
        numbers = [number for number, rater in enumerate(self.raters) if rater.id in self.adjudicators]
        if not numbers:
            return self
        return replace(self, tables={name: table.without(numbers) for name, table in self.tables.items()})

    def ruled(self) -> list[str]:
        """The adjudicators with a rating of any status here, in order of arrival."""
        return [
            rater.id
            for number, rater in enumerate(self.raters)
            if rater.id in self.adjudicators and any(table.statuses[number] for table in self.tables.values())
        ]

    def people(self) -> list[int]:
        """The numbers of the raters who are people, adjudicators apart."""
        return [
            number
            for number, rater in enumerate(self.raters)
            if rater.kind is Kind.PERSON and rater.id not in self.adjudicators
        ]

    def machines(self) -> list[int]:
        """The numbers of the raters who are models or rules."""
        return [number for number, rater in enumerate(self.raters) if rater.kind is not Kind.PERSON]

    def place(self, unit: int) -> tuple[int, int]:
        """The number of a unit's item, from 0, and its position within the item, from 1."""
        if self.clusters is None:
            return unit, 1
        item = int(self.clusters[unit])
        return item, unit - int(np.searchsorted(self.clusters, item)) + 1

    def by_unit(self, of_items: Sequence[str | None]) -> Sequence[str | None]:
        """A label of the items as a label of the units."""
        return of_items if self.clusters is None else [of_items[int(item)] for item in self.clusters]


class TableBuilder:
    """Collects one criterion's ratings, oldest first; of two by one rater on one unit the later counts.

    Numbers go into flat arrays: millions of ratings take a few tens of bytes each.
    """

    def __init__(self, criterion: Criterion, n_units: int, n_raters: int) -> None:
        self._criterion = criterion
        self._n_units, self._n_raters = n_units, n_raters
        scale = criterion.scale
        fixed: Sequence[Value] = scale.values if isinstance(scale, Ordinal | Nominal) else ()
        self._codes: dict[Value, int] = {value: code for code, value in enumerate(fixed)}
        self._cell, self._code, self._status = array("q"), array("q"), array("b")
        self._confidence = array("d")

    def add(self, unit: int, rater: int, status: Status, value: Value | None, confidence: float | None = None) -> None:
        self._cell.append(unit * self._n_raters + rater)
        self._code.append(MISSING if value is None else self._codes.setdefault(value, len(self._codes)))
        self._status.append(_STATUS_CODES[status])
        self._confidence.append(_NAN if confidence is None else confidence)

    def build(self) -> Table:
        """The table. Answers that are numbers are put in order."""
        values, recode = self._ordered_values()
        cells = np.frombuffer(self._cell, dtype=np.int64) if self._cell else np.zeros(0, dtype=np.int64)
        # `unique` names the first of equal cells; the last one counts, so it reads them backwards.
        _, backwards = np.unique(cells[::-1], return_index=True)
        last = np.sort(len(cells) - 1 - backwards)
        status = np.array(self._status, dtype=np.int8)[last]
        raters = cells[last] % max(self._n_raters, 1)
        counts = np.zeros((self._n_raters, len(STATUSES)), dtype=np.int64)
        np.add.at(counts, (raters, status), 1)
        kept = last[status == _STATUS_CODES[Status.RATED]]
        confidence = np.array(self._confidence, dtype=np.float64)[kept]
        return Table(
            self._criterion,
            values,
            cells[kept] // max(self._n_raters, 1),
            cells[kept] % max(self._n_raters, 1),
            recode[np.array(self._code, dtype=np.int64)[kept]],
            kept,
            self._n_units,
            self._n_raters,
            [{status: int(row[code]) for status, code in _STATUS_CODES.items() if row[code]} for row in counts],
            None if np.isnan(confidence).all() else confidence,
        )

    def _ordered_values(self) -> tuple[Sequence[Value], IntArray]:
        values = list(self._codes)
        recode = np.arange(len(values), dtype=np.int64)
        if self._criterion.scale.type != "percent":
            return values, recode
        order = sorted(range(len(values)), key=lambda code: float(values[code]))
        recode[order] = np.arange(len(values))
        return [values[code] for code in order], recode
