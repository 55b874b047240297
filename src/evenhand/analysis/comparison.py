"""Comparisons of two groups of items: two systems, two strata."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.tables import FREE_TEXT, Table, Tables, compared
from evenhand.analysis.trust import MEAN
from evenhand.statistics import DEFAULT, Comparison, Resampling, Sample, ratio
from evenhand.statistics.estimate import MISSING, BoolArray, FloatArray, IntArray, undefined


@dataclass(frozen=True, slots=True)
class Compared:
    """Items whose `field` is `a` less those where it is `b`: the mean score, or the share of each label.

    By one rater, or by the people together (`rater` None). `paired_by` names the field whose value pairs the items;
    without it the two groups are taken as independent. `n_a` and `n_b` count units.
    """

    criterion: str
    field: str
    a: str
    b: str
    rater: str | None
    paired_by: str | None
    n_a: int
    n_b: int
    differences: Mapping[str, Comparison]
    why: str | None = None


def compare(
    tables: Tables,
    criterion: str,
    field: str,
    a: str,
    b: str,
    rater: str | None = None,
    pair: str | None = None,
    plan: Resampling = DEFAULT,
) -> Compared:
    """Compare two values of a label field: two systems, two strata.

    Paired if `pair` names a label field whose value the items that belong together share (the question both systems
    answered, say): the paired t over those values, and McNemar's exact p for shares of single items. Otherwise the
    difference of two independent groups, by the bootstrap over items; its p is left to the interval. A unit's value is
    the rater's, or the people's majority label or mean score.
    """
    found = Compared(criterion, field, a, b, rater, pair, 0, 0, {})
    table = compared(tables.tables[criterion])
    why = FREE_TEXT if table is None else None
    if unknown := [name for name in (field, pair) if name is not None and name not in tables.labels]:
        why = f"{unknown[0]} is not a label field of the items; there are: {', '.join(tables.labels) or 'none'}"
    elif rater is not None and rater not in [known.id for known in tables.raters]:
        why = f"no rater is called {rater}"
    elif a == b:
        why = "a group does not differ from itself"
    if table is None or why is not None:
        return replace(found, why=why)
    values = _unit_values(table, rater)
    labels = tables.by_unit(tables.labels[field])
    given = ~np.isnan(next(iter(values.values())))
    in_a, in_b = (given & np.array([label == group for label in labels], dtype=np.bool_) for group in (a, b))
    found = replace(found, n_a=int(in_a.sum()), n_b=int(in_b.sum()))
    if not (found.n_a and found.n_b):
        return replace(found, why=f"no unit with {field} {b if found.n_a else a} has a value")
    if pair is None:
        differences = {name: _apart(each, in_a, in_b, table.clusters, plan) for name, each in values.items()}
    else:
        keys = tables.by_unit(tables.labels[pair])
        differences = {name: _paired(each, in_a, in_b, keys, plan) for name, each in values.items()}
    return replace(found, differences=differences)


def _unit_values(table: Table, rater: str | None) -> Mapping[str, FloatArray]:
    """Each unit's score, or ones and zeros for each label; NaN where there is no value."""
    units = np.arange(table.n_units)
    place = next((number for number, known in enumerate(table.raters) if known.id == rater), None)
    if table.scores is not None:
        return {MEAN: table.of_people.mean if place is None else table.numbers_at(place, units)}
    codes = table.of_people.majority if place is None else table.codes_at(place, units)
    return {str(label): np.where(codes == MISSING, np.nan, codes == code) for code, label in enumerate(table.labels)}


def _apart(
    values: FloatArray, in_a: BoolArray, in_b: BoolArray, clusters: IntArray | None, plan: Resampling
) -> Comparison:
    """Two independent groups, resampled together by items."""
    used = in_a | in_b
    rows = np.stack((values[used], in_b[used].astype(np.float64)), axis=1)
    sample = Sample.of(rows, None if clusters is None else clusters[used])
    value, second = sample.rows[:, 0], sample.rows[:, 1]
    sums = np.stack((value * (1.0 - second), 1.0 - second, value * second, second), axis=1)

    def difference(of: FloatArray) -> FloatArray:
        return ratio(of[..., 0], of[..., 1]) - ratio(of[..., 2], of[..., 3])

    found = sample.estimate(sums, difference, int(used.sum()), "a group has no units", plan)
    return Comparison(found, float(values[in_a].mean()), float(values[in_b].mean()), None)


def _paired(
    values: FloatArray, in_a: BoolArray, in_b: BoolArray, keys: Sequence[str | None], plan: Resampling
) -> Comparison:
    """Each key's mean in one group and in the other; keys that are not in both have no part."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(key for key in keys if key is not None))}
    place = np.fromiter((-1 if key is None else numbers[key] for key in keys), np.int64, len(keys))
    first, second = (_by_key(values, place, side & (place >= 0), len(numbers)) for side in (in_a, in_b))
    both = ~(np.isnan(first) | np.isnan(second))
    if not both.any():
        return Comparison(undefined("no pair has a value in both groups"), None, None, None)
    first, second = first[both], second[both]
    single = bool(np.isin(np.concatenate((first, second)), (0.0, 1.0)).all())
    compare = statistics.compare_shares if single else statistics.compare_means
    return compare(first, second, None, plan.level)


def _by_key(values: FloatArray, place: IntArray, used: BoolArray, keys: int) -> FloatArray:
    times = np.bincount(place[used], minlength=keys).astype(np.float64)
    return ratio(np.bincount(place[used], weights=values[used], minlength=keys).astype(np.float64), times)
