"""Overlap scores of items: their means, and how far they put items in the same order as people and models do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.figures import PEOPLE, Figure
from evenhand.analysis.measures import breakdowns, whole_and_strata
from evenhand.analysis.strata import Stratum
from evenhand.analysis.tables import Table, Tables
from evenhand.records import Status, Value
from evenhand.statistics import DEFAULT, FloatArray, IntArray, Resampling, ratio
from evenhand.statistics.estimate import Estimate, undefined

FEWEST = 3
"""Items below which a rank correlation says nothing: of two it is always 1 or -1."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """How far a score puts items in the same order as the ratings on a criterion do.

    `against` is all people or a model. An item's rating is the mean over its ratings; on a criterion with labels, it is
    the share of its ratings that are `label`.
    """

    criterion: str
    against: str
    label: Value | None
    spearman: Estimate
    kendall: Estimate


@dataclass(frozen=True, slots=True)
class OverlapScore:
    """One score by one rater: its mean over all items, then by stratum, and its correlation with people and models."""

    score: str
    rater: str
    means: Sequence[Figure]
    correlations: Sequence[Correlation]
    statuses: Mapping[Status, int]

    def figures(self) -> Iterator[Figure]:
        """Every number here as a flat record."""
        yield from self.means
        for one in self.correlations:
            against = f"{one.criterion} by {one.against}"
            for name, found in (("spearman", one.spearman), ("kendall", one.kendall)):
                yield Figure(name, name, found, self.score, self.rater, against, label=one.label)


class _Ratings(NamedTuple):
    """What people or a model say of each item, as a number; NaN if nothing."""

    criterion: str
    against: str
    label: Value | None
    numbers: FloatArray


def overlap_scores(
    tables: Tables, plan: Resampling = DEFAULT, by: Sequence[Sequence[str]] | None = None
) -> Sequence[OverlapScore]:
    """Every score of every rater in the tables of `Tables.compared`; `by` as in `measures`."""
    parts, documents = whole_and_strata(tables, breakdowns(tables.protocol, by)), tables.documents_of_items
    ratings = [one for table in tables.tables.values() for one in _ratings(tables, table)]
    found: list[OverlapScore] = []
    for number, rater in enumerate(tables.raters):
        for name, table in tables.scores.items():
            own, statuses = table.numbers_at(number, np.arange(tables.n_items)), table.statuses[number]
            if not statuses:
                continue
            empty = Figure("mean", "mean", undefined("no item has this score"), name, rater.id)
            means = [_mean(empty, own, part, documents, statuses, plan) for part in parts]
            means = [one for one in means if one.stratum is None or one.estimate.n]
            correlations = [_correlation(one, own, documents, plan) for one in ratings]
            found.append(OverlapScore(name, rater.id, means, correlations, statuses))
    return found


def _ratings(tables: Tables, table: Table) -> Iterator[_Ratings]:
    """What all people, and each model, say of the items on a criterion."""
    items = tables.items_of_units
    groups = {PEOPLE: table.people} if table.people else {}
    groups |= {table.raters[number].id: [number] for number in table.machines}
    for against, numbers in groups.items():
        said = table.opinions(numbers)
        count = _by_item(said.count, items, tables.n_items)
        if table.scores is not None:
            mean = ratio(_by_item(said.total, items, tables.n_items), count)
            yield _Ratings(table.criterion.id, against, None, mean)
        for place, label in enumerate(table.values if table.scores is None else ()):
            share = ratio(_by_item(said.tally[:, place], items, tables.n_items), count)
            yield _Ratings(table.criterion.id, against, label, share)


def _by_item(of_units: IntArray | FloatArray, items: IntArray, n_items: int) -> FloatArray:
    return np.bincount(items, weights=of_units, minlength=n_items).astype(np.float64)


def _mean(
    figure: Figure,
    own: FloatArray,
    part: Stratum,
    documents: IntArray | None,
    statuses: Mapping[Status, int],
    plan: Resampling,
) -> Figure:
    known = part.items & ~np.isnan(own)
    left_out = {str(status): count for status, count in statuses.items() if status is not Status.RATED}
    estimate = figure.estimate
    if known.any():
        estimate = statistics.resampled_mean(own[known], None if documents is None else documents[known], plan)
    return replace(figure, estimate=estimate, stratum=part.of, left_out=left_out if part.of is None else {})


def _correlation(one: _Ratings, own: FloatArray, documents: IntArray | None, plan: Resampling) -> Correlation:
    pair = statistics.cross_scores(own, one.numbers, documents)
    few = undefined(f"fewer than {FEWEST} items have both", pair.n) if pair.n < FEWEST else None
    both = (few or statistics.spearman(pair, plan), few or statistics.kendall(pair, plan))
    return Correlation(one.criterion, one.against, one.label, *both)
