"""Ratings of one criterion as arrays, and all tables of a study.

A table holds what counts: current ratings under one protocol with the status `rated`. Everything else is counted by
status, so that every figure can report what it left out.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Literal, NamedTuple

import numpy as np

from evenhand.errors import UserError
from evenhand.protocol.model import SCORES, CombinationRule, Criterion, Protocol
from evenhand.records import UNANSWERABLE, FieldValue, Kind, RaterRef, Status, Value
from evenhand.scales import Label, Nominal, Numeric, Ordinal, Text
from evenhand.statistics import MISSING, BoolArray, FloatArray, IntArray, majority_label, ratio

Level = Literal["nominal", "ordinal", "interval"]

ALL = "all criteria"
"""The name of several criteria taken as one; no criterion has a space in its id."""
VOTES = ("majority", "plurality")
MOST_PAIRS = 500
"""Pairs of raters that are compared: all of up to 32 raters. Each costs about 2 ms, and 3 kB of JSON."""
FREE_TEXT = "answers in free text cannot be compared as such"
_STATUS_CODES = {status: code for code, status in enumerate(Status)}
_NAN = float("nan")


@dataclass(frozen=True)
class Opinions:
    """What a group of raters says of some units: how often each label, the sum of the scores, how many ratings."""

    tally: IntArray
    total: FloatArray
    count: IntArray

    @cached_property
    def majority(self) -> IntArray:
        """The label that more than half of them give, -1 if there is none."""
        return majority_label(self.tally)

    @cached_property
    def mean(self) -> FloatArray:
        """Their mean score, NaN if there is none."""
        return ratio(self.total, self.count.astype(np.float64))

    def at(self, units: IntArray | BoolArray) -> "Opinions":
        """The same of fewer units."""
        return Opinions(self.tally[units], self.total[units], self.count[units])


class Combined(NamedTuple):
    """A rater that stands for several others: their numbers, and how their ratings are combined."""

    members: Sequence[int]
    rule: CombinationRule


class Gaps(NamedTuple):
    """The current records without a value: of which unit, by which rater, with which status."""

    unit: IntArray
    rater: IntArray
    status: IntArray
    """The places of the statuses in `Status`."""


NO_GAPS = Gaps(*[np.zeros(0, dtype=np.int64)] * 3)


class Shared(NamedTuple):
    """Two raters on the units that both rated: the units, each one's codes, and the clusters of the units, if any."""

    units: IntArray
    first: IntArray
    second: IntArray
    clusters: IntArray | None


@dataclass(frozen=True)
class Table:
    """The ratings of one criterion as a long list: `rater[i]` gave `unit[i]` the value `values[code[i]]`.

    Units and raters are numbers that index the study's units and raters. `values` are the labels or levels of the
    scale in its order; of a text or numeric criterion, the different answers that were given. `order` grows with time.
    `gaps` are the records without a value. `raters`, `clusters` and `combined` are those of `Tables`, which adds them
    to what a `TableBuilder` makes. `joined` is how many criteria were taken as one, each with all units, one after the
    other.

    The list is never spread out to units × raters unless `codes` is read: where many people rate a little each, such a
    matrix would be mostly holes.
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
    raters: Sequence[RaterRef] = ()
    clusters: IntArray | None = None
    combined: Mapping[int, Combined] = field(default_factory=dict[int, Combined])
    gaps: Gaps = NO_GAPS
    joined: int = 1

    @property
    def level(self) -> Level:
        """The level of measurement; texts count as labels."""
        level = self.criterion.scale.level
        return "nominal" if level == "text" else level

    @property
    def labels(self) -> Sequence[Value]:
        """The values that can be counted one by one: none where any number is one."""
        return () if isinstance(self.criterion.scale, Numeric) else self.values

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of a scale with scores."""
        assert isinstance(self.criterion.scale, Ordinal | Numeric)
        return self.criterion.scale.ends

    @cached_property
    def scores(self) -> FloatArray | None:
        """The numbers that the values stand for; None for labels and texts."""
        if self.level == "nominal":
            return None
        return np.array([float(value) for value in self.values], dtype=np.float64)

    @cached_property
    def positions(self) -> FloatArray | None:
        """The scores as agreement reads them: any numbers in percent of their scale, so that 0.53 of 1 is 53 of 100."""
        if self.scores is None or self.labels:
            return self.scores
        lowest, highest = self.ends
        return (self.scores - lowest) * (100.0 / (highest - lowest))

    @cached_property
    def codes(self) -> IntArray:
        """Units × raters, -1 if a rater has no value for a unit."""
        wide = np.full((self.n_units, self.n_raters), MISSING, dtype=np.int64)
        wide[self.unit, self.rater] = self.code
        return wide

    @cached_property
    def _sorted(self) -> tuple[IntArray, IntArray]:
        """The order of the ratings by rater and then by unit, and their keys in that order."""
        keys = self.rater * self.n_units + self.unit
        order = np.argsort(keys, kind="stable")
        return order, keys[order]

    @cached_property
    def _starts(self) -> IntArray:
        return np.searchsorted(self._sorted[1], np.arange(self.n_raters + 1) * self.n_units).astype(np.int64)

    def by_rater(self, rater: int) -> IntArray:
        """The places of a rater's ratings in the list, in order of their units."""
        return self._sorted[0][self._starts[rater] : self._starts[rater + 1]]

    def units_of(self, rater: int) -> IntArray:
        """The units that a rater rated, in order."""
        return self.unit[self.by_rater(rater)]

    def places_of(self, rater: int | IntArray, units: IntArray) -> IntArray:
        """The places in the list of what a rater, or the rater of each unit, gave some units; -1 if there is none."""
        order, keys = self._sorted
        if keys.size == 0:
            return np.full(units.size, MISSING, dtype=np.int64)
        wanted = rater * self.n_units + units
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[place] == wanted, order[place], MISSING)

    def codes_at(self, rater: int | IntArray, units: IntArray) -> IntArray:
        """The codes that a rater, or the rater of each unit, gave some units; -1 if there is none."""
        places = self.places_of(rater, units)
        return np.append(self.code, MISSING)[places]

    def numbers_at(self, rater: int, units: IntArray) -> FloatArray:
        """The scores that a rater gave some units, or the codes of labels; NaN if there is none."""
        numbers = np.arange(len(self.values)) if self.scores is None else self.scores
        return np.append(numbers, np.nan)[self.codes_at(rater, units)]

    def clusters_of(self, units: IntArray | BoolArray) -> IntArray | None:
        """The clusters of some units; None if all units are independent."""
        return None if self.clusters is None else self.clusters[units]

    def _active(self, *kinds: Kind) -> list[int]:
        rated = np.diff(self._starts) > 0
        numbers = [number for number in np.flatnonzero(rated).tolist() if number not in self.combined]
        return [number for number in numbers if self.raters[number].kind in kinds]

    @cached_property
    def people(self) -> list[int]:
        """The people with a rating here."""
        return self._active(Kind.PERSON)

    @cached_property
    def machines(self) -> list[int]:
        """The models and rules with a rating here."""
        return self._active(Kind.MODEL, Kind.RULE)

    @cached_property
    def active(self) -> list[int]:
        """The raters with a rating here, in their order."""
        return sorted([*self.people, *self.machines])

    def voices(self, rater: int) -> Sequence[int]:
        """The raters whose ratings are this one's: the members of a pool, else the rater itself."""
        one = self.combined.get(rater)
        return one.members if one is not None and one.rule == "pool" else (rater,)

    def combined_pairs(self) -> Sequence[tuple[int, int]]:
        """The combined rater with the others, and a vote with its voters, too; of two combined raters that pair."""
        first, *second = self.combined
        members, rule = self.combined[first]
        others = self.active if rule in VOTES else [number for number in self.active if number not in members]
        return [(first, other) for other in second or others]

    def pairs(self) -> Sequence[tuple[int, int]]:
        """The pairs of raters, or those of a combined rater, that share a unit, at most `MOST_PAIRS`. A person comes
        first. Of more pairs, those with a model are kept before those that share most units.
        """
        if self.combined:
            every = [pair for pair in self.combined_pairs() if self.has_shared(*pair)]
        else:
            shared = {(a, b): n for a in self.active for b, n in self._partners[a].items() if a < b}
            people = set(self.people)
            kept = sorted(shared, key=lambda pair: (people.issuperset(pair), -shared[pair], pair))[:MOST_PAIRS]
            every = sorted(kept)
        # The rows of a confusion table are then the people's.
        ordered = (sorted(pair, key=lambda one: self.raters[one].kind is not Kind.PERSON) for pair in every)
        return [(one, other) for one, other in ordered]

    @property
    def n_sharing(self) -> int:
        """How many pairs of raters share a unit."""
        return sum(a < b for a in self.active for b in self._partners[a])

    def shared(self, a: int, b: int) -> Shared:
        """What two raters gave the units that both rated. Of a pool each member is compared by itself."""
        found: list[tuple[IntArray, IntArray, IntArray]] = []
        for one in self.voices(a):
            places = self.by_rater(one)
            for other in self.voices(b):
                theirs = self.codes_at(other, self.unit[places])
                both = theirs != MISSING
                found.append((self.unit[places][both], self.code[places][both], theirs[both]))
        units, first, second = (np.concatenate(columns) for columns in zip(*found, strict=True))
        clusters = self.clusters_of(units)
        return Shared(units, first, second, units if clusters is None and len(found) > 1 else clusters)

    def has_shared(self, a: int, b: int) -> bool:
        """Whether there is a unit that both raters rated."""
        return any(other in self._partners.get(one, ()) for one in self.voices(a) for other in self.voices(b))

    @cached_property
    def _partners(self) -> Mapping[int, Mapping[int, int]]:
        """For each rater with ratings, the raters of the same units, with the number of these."""
        found: dict[int, Mapping[int, int]] = {}
        for rater in np.flatnonzero(np.diff(self._starts)).tolist():
            inside = np.zeros(self.n_units, dtype=np.bool_)
            inside[self.units_of(rater)] = True
            shared = np.bincount(self.rater[inside[self.unit]])
            found[rater] = {other: int(shared[other]) for other in np.flatnonzero(shared).tolist()}
        return found

    def people_at(self, units: IntArray, without: Sequence[int] = (), *, machines: bool = False) -> Opinions:
        """What the people, or with `machines` all raters, say of some units, without some of them."""
        found = (self._of_all if machines else self.of_people).at(units)
        # Their ratings are taken off copies of the sums.
        for rater in without:
            if not (machines or rater in self.people):
                continue
            own = self.codes_at(rater, units)
            rated = np.flatnonzero(own != MISSING)
            if self.labels:
                found.tally[rated, own[rated]] -= 1
            if self.scores is not None:
                found.total[rated] -= self.scores[own[rated]]
            found.count[rated] -= 1
        return found

    @cached_property
    def of_people(self) -> Opinions:
        """What the people say of all units."""
        return self.opinions(self.people)

    @cached_property
    def _of_all(self) -> Opinions:
        return self.opinions(self.active)

    def opinions(self, raters: Sequence[int]) -> Opinions:
        """What some raters say of all units."""
        used = np.isin(self.rater, raters)
        unit, code, labels, n = self.unit[used], self.code[used], len(self.labels), self.n_units
        tally = np.bincount(unit * labels + code, minlength=n * labels) if labels else np.zeros(0, dtype=np.int64)
        total = np.full(n, np.nan)
        if self.scores is not None:
            scores = self.scores[code] if code.size else np.zeros(0)
            total = np.bincount(unit, weights=scores, minlength=n).astype(np.float64)
        return Opinions(tally.reshape(n, labels), total, np.bincount(unit, minlength=n).astype(np.int64))

    def status_counts(self) -> Mapping[Status, int]:
        """Ratings by status, of all raters."""
        found = sum(map(Counter[Status], self.statuses), Counter[Status]())
        return {status: found[status] for status in Status}

    def without(self, raters: Sequence[int]) -> "Table":
        """The same without the ratings of some raters, of any status; the numbers of the others stay."""
        gone: Mapping[Status, int] = {}
        statuses = [gone if number in raters else counts for number, counts in enumerate(self.statuses)]
        return self._only(~np.isin(self.rater, list(raters)), statuses)

    def within(self, units: BoolArray) -> "Table":
        """The same with the ratings of some units only; ratings without a value are no longer counted."""
        kept = units[self.unit]
        counts = np.bincount(self.rater[kept], minlength=self.n_raters).tolist()
        return self._only(kept, [{Status.RATED: count} if count else {} for count in counts])

    def _only(self, kept: BoolArray, statuses: Sequence[Mapping[Status, int]]) -> "Table":
        confidence = None if self.confidence is None else self.confidence[kept]
        values, code = self.values, self.code[kept]
        if not self.criterion.scale.values:
            # Answers that are no longer given are no longer among the values.
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
            statuses=statuses,
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

    Two free answers are neither the same nor different. If "unanswerable" is an answer, they are compared on whether
    there is an answer at all; any other free text cannot be compared: None.
    """
    scale = table.criterion.scale
    if not isinstance(scale, Text):
        return table
    if not scale.unanswerable:
        return None
    recode = np.array([int(value == UNANSWERABLE) for value in table.values], dtype=np.int64)
    criterion = table.criterion.model_copy(update={"scale": _ANSWERABILITY})
    return replace(table, criterion=criterion, values=_ANSWERABILITY.values, code=recode[table.code])


def without_value(tables: Sequence[Table], raters: Sequence[int], units: BoolArray) -> Mapping[Status, int]:
    """How many of these units have no value by each of these raters in any of the tables, by status: the first table's
    that has one."""
    width = max(1, tables[0].n_raters)
    gaps = [table.gaps for table in tables]
    cells = np.concatenate([one.unit * width + one.rater for one in gaps])
    codes = np.concatenate([one.status for one in gaps])
    rated = np.concatenate([table.unit * width + table.rater for table in tables])
    counted = np.isin(cells % width, raters) & units[cells // width] & ~np.isin(cells, rated)
    _, first = np.unique(cells[counted], return_index=True)
    counts = np.bincount(codes[counted][first], minlength=len(Status)).tolist()
    return {status: count for status, count in zip(Status, counts, strict=True) if count}


@dataclass(frozen=True)
class Tables:
    """Everything that statistics need of a study.

    `clusters` gives each unit's item if items have several units, and is None if the unit is the item. `documents`
    gives each unit's document if the protocol names a field for it. `together` is the larger of the two: units in it
    are not independent, and intervals are taken over it. `labels` are the items' label fields, by item, None if an item
    has none, and `fields` what the protocol's measures read of items besides; `references` the reference's own answers,
    by unit. `left_out` counts ratings under other protocol digests, `failures` the failed ones by rater and reason.
    `adjudicators` are raters who saw what the others said: their ratings are not independent evidence. `combined` are
    raters that stand for several others (`analysis.combined`). `unit_fields` gives the field that each unit comes from,
    if units come from several. `scores` are the overlap scores that were computed, in tables whose units are the items.
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
    combined: Mapping[int, Combined] = field(default_factory=dict[int, Combined])
    fields: Mapping[str, Sequence[FieldValue | None]] = field(default_factory=dict[str, Sequence[FieldValue | None]])
    unit_fields: Sequence[str | None] | None = None
    scores: Mapping[str, Table] = field(default_factory=dict[str, Table])

    def __post_init__(self) -> None:
        bound = {
            name: table
            if table.raters is self.raters and table.clusters is self.together
            else replace(table, raters=self.raters, clusters=self.together, combined=self.combined)
            for name, table in self.tables.items()
        }
        object.__setattr__(self, "tables", bound)

    @property
    def together(self) -> IntArray | None:
        """Which units belong together; None if all are independent."""
        return self.clusters if self.documents is None else self.documents

    @cached_property
    def items_of_units(self) -> IntArray:
        """Each unit's item, counted from 0."""
        return np.arange(self.n_units) if self.clusters is None else self.clusters

    def units_from(self, field: str | None) -> BoolArray:
        """The units that come from a field; all if they have no fields to tell apart, or it is None."""
        if field is None or self.unit_fields is None:
            return np.ones(self.n_units, dtype=np.bool_)
        return np.array([name == field for name in self.unit_fields], dtype=np.bool_)

    @cached_property
    def documents_of_items(self) -> IntArray | None:
        """Each item's document, from those of its units; an item without units is a document by itself."""
        if self.documents is None or self.clusters is None:
            return self.documents
        documents = self.documents.max(initial=-1) + 1 + np.arange(self.n_items)
        documents[self.clusters] = self.documents
        return documents

    def compared(self) -> "Tables":
        """The criteria on which raters can be compared, in the form for it, without adjudicators."""
        independent = self.independent()
        views = {name: compared(table) for name, table in independent.tables.items()}
        return replace(independent, tables={name: view for name, view in views.items() if view is not None})

    def independent(self) -> "Tables":
        """The same study without the ratings of adjudicators."""
        numbers = [number for number, rater in enumerate(self.raters) if rater.id in self.adjudicators]
        if not numbers:
            return self
        return replace(self, tables={name: table.without(numbers) for name, table in self.tables.items()})

    def joined(self, criteria: Sequence[str]) -> "Tables":
        """Some criteria taken as one, `ALL`: each rating of each of them counts, and those of one item stay together.

        Raises UserError if they do not have the same labels or levels.
        """
        used = [self.tables[name] for name in criteria]
        if len({tuple(table.criterion.scale.values) for table in used}) > 1 or not used[0].labels:
            raise UserError(
                f"only criteria with the same labels or levels can be taken together: {', '.join(criteria)}"
            )
        # A combined rater may have values between the levels of the scale, and not the same on every criterion.
        values: Sequence[Value] = used[0].values
        if any(table.values != values for table in used):
            values = sorted({value for table in used for value in table.values}, key=float)
        places = {value: place for place, value in enumerate(values)}
        codes = [np.array([places[value] for value in table.values], dtype=np.int64)[table.code] for table in used]
        by_rater = zip(*(table.statuses for table in used), strict=True)
        table = replace(
            used[0],
            criterion=used[0].criterion.model_copy(update={"id": ALL, "name": None, "question": ", ".join(criteria)}),
            values=values,
            unit=np.concatenate([table.unit + place * self.n_units for place, table in enumerate(used)]),
            rater=np.concatenate([table.rater for table in used]),
            code=np.concatenate(codes),
            order=np.concatenate([table.order for table in used]),
            n_units=self.n_units * len(used),
            joined=len(used),
            gaps=Gaps(
                np.concatenate([table.gaps.unit + place * self.n_units for place, table in enumerate(used)]),
                np.concatenate([table.gaps.rater for table in used]),
                np.concatenate([table.gaps.status for table in used]),
            ),
            statuses=[sum(map(Counter[Status], counts), Counter[Status]()) for counts in by_rater],
            confidence=None,
        )
        items = np.tile(self.items_of_units, len(used))
        documents = None if self.documents is None else np.tile(self.documents, len(used))
        return replace(self, n_units=table.n_units, tables={ALL: table}, clusters=items, documents=documents)

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
            if rater.kind is Kind.PERSON and rater.id not in self.adjudicators and number not in self.combined
        ]

    def machines(self) -> list[int]:
        """The numbers of the raters who are models or rules."""
        numbers = [number for number in range(len(self.raters)) if number not in self.combined]
        return [number for number in numbers if self.raters[number].kind is not Kind.PERSON]

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
        self._codes: dict[Value, int] = dict(zip(criterion.scale.values, count()))
        self._cell, self._code, self._status = array("q"), array("q"), array("b")
        self._confidence = array("d")

    def add(self, unit: int, rater: int, status: Status, value: Value | None, confidence: float | None = None) -> None:
        self._cell.append(unit * self._n_raters + rater)
        self._code.append(MISSING if value is None else self._codes.setdefault(value, len(self._codes)))
        self._status.append(_STATUS_CODES[status])
        self._confidence.append(_NAN if confidence is None else confidence)

    def build(self) -> Table:
        """The table. Answers that are numbers are put in order."""
        given = list(self._codes)
        values = sorted(given, key=float) if isinstance(self._criterion.scale, Numeric) else given
        places = {value: place for place, value in enumerate(values)}
        recode = np.array([places[value] for value in given], dtype=np.int64)
        cells = np.array(self._cell, dtype=np.int64)
        # `unique` names the first of equal cells; the last one counts, so it reads them backwards.
        _, backwards = np.unique(cells[::-1], return_index=True)
        last = np.sort(len(cells) - 1 - backwards)
        status = np.array(self._status, dtype=np.int8)[last]
        counts = np.zeros((self._n_raters, len(_STATUS_CODES)), dtype=np.int64)
        np.add.at(counts, (cells[last] % max(self._n_raters, 1), status), 1)
        statuses = [{one: int(row[code]) for one, code in _STATUS_CODES.items() if row[code]} for row in counts]
        kept = last[status == _STATUS_CODES[Status.RATED]]
        other = status != _STATUS_CODES[Status.RATED]
        gaps = Gaps(*np.divmod(cells[last[other]], max(self._n_raters, 1)), status[other].astype(np.int64))
        unit, rater = np.divmod(cells[kept], max(self._n_raters, 1))
        code = recode[np.array(self._code, dtype=np.int64)[kept]]
        confidence = np.array(self._confidence)[kept]
        return Table(
            self._criterion,
            values,
            unit,
            rater,
            code,
            order=kept,
            n_units=self._n_units,
            n_raters=self._n_raters,
            statuses=statuses,
            confidence=None if np.isnan(confidence).all() else confidence,
            gaps=gaps,
        )


def table_builders(protocol: Protocol, n_items: int, n_units: int, n_raters: int) -> Mapping[str, TableBuilder]:
    """A builder for each criterion by the units, and for each overlap score by the items."""
    wanted = [(criterion.id, criterion, n_units) for criterion in protocol.criteria]
    wanted += [(name, score, n_items) for name, score in SCORES.items()]
    return {name: TableBuilder(criterion, size, n_raters) for name, criterion, size in wanted}


def built(builders: Mapping[str, TableBuilder]) -> tuple[Mapping[str, Table], Mapping[str, Table]]:
    """The tables of the criteria, and those of the overlap scores that a rater has given."""
    tables = {name: builder.build() for name, builder in builders.items()}
    return tables, {name: table for name in SCORES if any((table := tables.pop(name)).statuses)}
