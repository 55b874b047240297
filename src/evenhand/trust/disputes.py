"""The units on which raters disagree most, with what each said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.agreement import disagreement
from evenhand.records import Value
from evenhand.scales import Percent
from evenhand.table import MISSING, FloatArray, IntArray, Table, Tables
from evenhand.trust.reading import comparable, read

_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class Disputed:
    """A unit by its number, how far its ratings lie apart (0 to 1, the most that two can), and what each rater said."""

    unit: int
    disagreement: float
    ratings: int
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class DisputedTogether:
    """A unit on several criteria: the mean of its disagreements, over the criteria on which it has two ratings."""

    unit: int
    disagreement: float
    by_criterion: Mapping[str, float]
    values: Mapping[str, Mapping[str, Value]]


def disputed(tables: Tables, criterion: str, most: int = 20) -> list[Disputed]:
    """The units with any disagreement, the worst first; among equals those with more ratings, then in their order."""
    table = tables.tables[criterion]
    if most < 1 or not comparable(table):
        return []
    cases = _Cases.of(tables, criterion)
    found = [
        (-one.disagreement, -one.ratings, int(cases.units[start + one.unit]))
        for start, codes in cases.chunks()
        for one in disagreement.most_disputed(codes, cases.labels, cases.by, cases.scores, most)
    ]
    worst = sorted(found)[:most]
    said = _values(tables, table, [unit for _, _, unit in worst])
    return [Disputed(unit, -apart, -ratings, said[unit]) for apart, ratings, unit in worst]


def disputed_together(tables: Tables, criteria: Sequence[str] | None = None, most: int = 20) -> list[DisputedTogether]:
    """The units most disputed over several criteria, or all that can be compared."""
    names = [name for name in criteria or tables.tables if comparable(tables.tables[name])]
    total, times = np.zeros(tables.n_units), np.zeros(tables.n_units)
    apart = {name: _apart(tables, name) for name in names}
    for units, values in apart.values():
        total[units] += values
        times[units] += 1
    mean = np.divide(total, times, out=np.zeros(tables.n_units), where=times > 0)
    found = np.flatnonzero(mean > 0)
    worst: list[int] = found[np.lexsort((found, -mean[found]))][: max(most, 0)].tolist()
    said = {name: _values(tables, tables.tables[name], worst) for name in names}
    return [
        DisputedTogether(
            unit,
            float(mean[unit]),
            {name: value for name, pair in apart.items() if (value := _one(pair, unit)) is not None},
            {name: said[name][unit] for name in names},
        )
        for unit in worst
    ]


@dataclass(frozen=True)
class _Cases:
    """Units with two ratings or more, each with its codes side by side; whose they are does not matter here."""

    units: IntArray
    unit: IntArray
    slot: IntArray
    code: IntArray
    labels: int
    scores: FloatArray | None

    @property
    def by(self) -> disagreement.By:
        return "nominal" if self.scores is None else "interval"

    @classmethod
    def of(cls, tables: Tables, criterion: str) -> "_Cases":
        reading = read(tables, criterion)
        code, scores, labels = reading.code, reading.scores, len(reading.labels)
        if isinstance(tables.tables[criterion].criterion.scale, Percent) and scores is not None:
            # Whole percents are fine enough to find what is far apart, and there are only 101 of them.
            code, scores, labels = np.rint(scores[code]).astype(np.int64), np.arange(101.0), 101
        order = np.argsort(reading.unit, kind="stable")
        unit, code = reading.unit[order], code[order]
        units, start, times = np.unique(unit, return_index=True, return_counts=True)
        place = np.repeat(np.cumsum(times >= 2) - 1, times)
        slot = np.arange(unit.size) - np.repeat(start, times)
        kept = np.repeat(times >= 2, times)
        return cls(units[times >= 2], place[kept], slot[kept], code[kept], labels, scores)

    def chunks(self) -> Iterator[tuple[int, IntArray]]:
        """Tables of units × ratings, -1 where a unit has fewer, and the place of the first unit of each."""
        if self.units.size == 0:
            return
        width = int(self.slot.max()) + 1
        step = max(1, _CHUNK // max(width, self.labels))
        for start in range(0, self.units.size, step):
            first, last = np.searchsorted(self.unit, (start, start + step))
            codes = np.full((min(step, self.units.size - start), width), MISSING, dtype=np.int64)
            codes[self.unit[first:last] - start, self.slot[first:last]] = self.code[first:last]
            yield start, codes


def _apart(tables: Tables, criterion: str) -> tuple[IntArray, FloatArray]:
    """The units with two ratings of a criterion, in order, and how far these lie apart."""
    cases = _Cases.of(tables, criterion)
    parts = [disagreement.unit_disagreement(codes, cases.labels, cases.by, cases.scores) for _, codes in cases.chunks()]
    return cases.units, np.concatenate(parts) if parts else np.zeros(0)


def _one(apart: tuple[IntArray, FloatArray], unit: int) -> float | None:
    units, values = apart
    place = int(np.searchsorted(units, unit))
    return float(values[place]) if place < units.size and units[place] == unit else None


def _values(tables: Tables, table: Table, units: Sequence[int]) -> Mapping[int, Mapping[str, Value]]:
    """What each rater said of each unit, as it was said: the text itself for free answers."""
    found: dict[int, dict[str, Value]] = {unit: {} for unit in units}
    for place in np.flatnonzero(np.isin(table.unit, list(units))).tolist():
        rater = tables.raters[int(table.rater[place])].id
        found[int(table.unit[place])][rater] = table.values[int(table.code[place])]
    return {unit: dict(sorted(said.items())) for unit, said in found.items()}
