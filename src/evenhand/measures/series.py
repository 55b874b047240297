"""Measures of one rater at a time: every rating becomes a number, or a reason why it is left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from evenhand.agreement.result import NO_RATINGS, Estimate, undefined
from evenhand.measures.record import Figure
from evenhand.measures.scope import BoolArray, Scope, Who, without_value
from evenhand.table import FloatArray, IntArray, Table, Tables

USED = 0
ALSO_NOT_RATED = "also_not_rated"
Statistic = Callable[[FloatArray, IntArray | None], Estimate]
"""From values, and the cluster of each where they are not independent, to an estimate."""


@dataclass(frozen=True)
class Series:
    """All ratings that a measure looks at: by whom, of what, what each counts as.

    `reason` is USED, or the place in `reasons`, from 1, of why a rating is left out. `tables` are those the ratings
    come from. `followed_up` marks the ratings whose further condition was asked and answered, where there is one.
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray
    tables: Sequence[Table]
    reason: IntArray
    reasons: Sequence[str] = ()
    followed_up: BoolArray | None = None

    @cached_property
    def _places(self) -> Sequence[IntArray]:
        order = np.argsort(self.rater, kind="stable")
        ends = np.searchsorted(self.rater[order], np.arange(self.tables[0].n_raters + 1))
        return [order[start:end] for start, end in pairwise(ends)]

    def size(self, who: Who) -> int:
        """How many ratings a rater has."""
        return sum(len(self._places[number]) for number in who.numbers)

    def of(self, who: Who, scope: Scope) -> IntArray:
        """Where the ratings of a rater in a scope are."""
        found = np.concatenate([self._places[number] for number in who.numbers])
        return found if scope.whole else found[scope.units[self.unit[found]]]


def series_of(table: Table, value: FloatArray, left_out: Sequence[tuple[str, IntArray]] = ()) -> Series:
    """A series from one table, a value for each rating; of several reasons against a rating the first counts."""
    reason = np.zeros(len(value), dtype=np.int64)
    for place, (_, where) in enumerate(left_out, start=1):
        reason[where[reason[where] == USED]] = place
    return Series(table.unit, table.rater, value, (table,), reason, [name for name, _ in left_out])


def figures(
    tables: Tables, series: Series, raters: Sequence[Who], statistic: Statistic, parts: Sequence[Scope]
) -> Iterator[tuple[Who, Scope, Figure]]:
    """The statistic for each rater, overall and in each stratum; strata only of raters who have a value at all."""
    for scope in parts:
        for who in raters:
            if scope.whole or series.size(who):
                yield who, scope, _figure(tables, series, who, scope, statistic)


def _figure(tables: Tables, series: Series, who: Who, scope: Scope, statistic: Statistic) -> Figure:
    places = series.of(who, scope)
    counts = np.bincount(series.reason[places], minlength=len(series.reasons) + 1)
    left_out = {name: int(count) for name, count in zip(series.reasons, counts[1:], strict=True) if count}
    used = places[series.reason[places] == USED]
    units = series.unit[used]
    together = tables.together
    clusters = together[units] if together is not None else units if who.pooled else None
    if used.size:
        # Several people's ratings of one unit are one unit's worth of evidence, in `n` as in the interval.
        estimate = replace(statistic(series.value[used], clusters), n=_distinct(units, tables.n_units))
    else:
        estimate = undefined(_nothing(left_out))
    if series.followed_up is not None and (unanswered := left_out.get(ALSO_NOT_RATED, 0)):
        estimate = _with_gaps(estimate, unanswered, bool(series.followed_up[used].any()))
    detail = None
    if who.pooled:
        detail = {"raters": [tables.raters[number].id for number in who.numbers], "ratings": int(used.size)}
    if scope.whole:
        left_out = {**without_value(series.tables, who.numbers), **left_out}
    return Figure(estimate, left_out, detail=detail)


def _with_gaps(estimate: Estimate, unanswered: int, some: bool) -> Estimate:
    """A share whose further condition was not always answered: too low at best, and without any answer unknown."""
    if not some:
        return undefined(f"none of {unanswered} ratings answers its further condition", estimate.n)
    gap = f"{unanswered} ratings lack an answer to its further condition and are left out: it may be too low"
    return replace(estimate, note=gap if estimate.note is None else f"{estimate.note}; {gap}")


def _distinct(units: IntArray, n_units: int) -> int:
    seen = np.zeros(n_units, dtype=np.bool_)
    seen[units] = True
    return int(np.count_nonzero(seen))


def _nothing(left_out: dict[str, int]) -> str:
    if not left_out:
        return NO_RATINGS
    counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left_out.items())
    return f"every rating is left out: {counted}"
