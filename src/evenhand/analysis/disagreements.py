"""Disagreements: the units on which raters disagree most, with what each rater said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.analysis.tables import Table, Tables, compared
from evenhand.records import Value
from evenhand.statistics import FloatArray, ratio


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
    view = compared(table)
    if most < 1 or view is None:
        return []
    spread, ratings = _spread(view), np.bincount(view.unit, minlength=view.n_units)
    found = np.flatnonzero(spread > 0)
    worst: list[int] = found[np.lexsort((found, -ratings[found], -spread[found]))][:most].tolist()
    said = _values(table, worst)
    return [Disputed(unit, float(spread[unit]), int(ratings[unit]), said[unit]) for unit in worst]


def disputed_together(tables: Tables, criteria: Sequence[str] | None = None, most: int = 20) -> list[DisputedTogether]:
    """The units most disputed over several criteria, or all that can be compared."""
    views = {name: compared(tables.tables[name]) for name in criteria or tables.tables}
    spreads = {name: _spread(view) for name, view in views.items() if view is not None}
    total, times = np.zeros(tables.n_units), np.zeros(tables.n_units)
    for spread in spreads.values():
        total += np.nan_to_num(spread)
        times += ~np.isnan(spread)
    mean = ratio(total, times)
    found = np.flatnonzero(mean > 0)
    worst: list[int] = found[np.lexsort((found, -mean[found]))][: max(most, 0)].tolist()
    said = {name: _values(tables.tables[name], worst) for name in spreads}
    together: list[DisputedTogether] = []
    for unit in worst:
        apart = {name: float(spread[unit]) for name, spread in spreads.items() if not np.isnan(spread[unit])}
        values = {name: said[name][unit] for name in spreads}
        together.append(DisputedTogether(unit, float(mean[unit]), apart, values))
    return together


def _spread(table: Table) -> FloatArray:
    """The mean squared difference of two ratings of each unit, over the largest possible: 0 to 1, NaN without two."""
    unit, n = table.unit, table.n_units
    ratings = np.bincount(unit, minlength=n).astype(np.float64)
    pairs = ratings * (ratings - 1.0)
    if table.scores is None:
        cells, times = np.unique(unit * len(table.values) + table.code, return_counts=True)
        alike = np.bincount(cells // max(1, len(table.values)), weights=times * (times - 1.0), minlength=n)
        return ratio(pairs - alike, pairs)
    lowest, highest = table.ends
    # Measured from a rating of the unit, so that equal ratings differ by exactly 0.
    score, origin = table.scores[table.code], np.zeros(n)
    origin[unit] = score
    gap = (score - origin[unit]) / (highest - lowest or 1.0)
    total, squares = (np.bincount(unit, weights=weights, minlength=n) for weights in (gap, gap**2))
    return ratio(2.0 * (ratings * squares - total**2), pairs)


def _values(table: Table, units: Sequence[int]) -> Mapping[int, Mapping[str, Value]]:
    """What each rater said of each unit, as it was said: the text itself for free answers."""
    found: dict[int, dict[str, Value]] = {unit: {} for unit in units}
    for place in np.flatnonzero(np.isin(table.unit, list(units))).tolist():
        rater = table.raters[int(table.rater[place])].id
        found[int(table.unit[place])][rater] = table.values[int(table.code[place])]
    return {unit: dict(sorted(said.items())) for unit, said in found.items()}
