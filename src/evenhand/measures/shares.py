"""Proportions of ratings with certain labels, under a further condition where the measure has one."""

from dataclasses import replace

import numpy as np

from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.intervals import proportion
from evenhand.agreement.result import Estimate
from evenhand.measures.scope import BoolArray
from evenhand.measures.series import ALSO_NOT_RATED, Series, Statistic, series_of
from evenhand.protocol.model import Condition, ProportionMeasure
from evenhand.records import Value
from evenhand.scales import same_value
from evenhand.table import MISSING, FloatArray, IntArray, Table, Tables

EXCLUDED = "excluded_label"


def share(plan: Plan) -> Statistic:
    """The share of ones, with Wilson's interval."""

    def value(values: FloatArray, clusters: IntArray | None) -> Estimate:
        return proportion(values, clusters, plan.level)

    return value


def label_series(tables: Tables, spec: ProportionMeasure) -> Series:
    """Each rating as 1 or 0. Left out: excluded labels, and ratings whose `also` was asked but never answered.

    Such a rating is neither a hit nor a miss: to call it a miss would make a score of a missing answer.
    """
    table = tables.tables[spec.criterion]
    hit = _any_of(table, spec.any_of)[table.code]
    left_out = [(EXCLUDED, np.flatnonzero(_any_of(table, spec.exclude)[table.code]))]
    followed_up = None
    if spec.also is not None:
        answered, holds = _condition(tables, spec.also, table)
        unknown = hit & ~answered & _asked(tables, spec.also.criterion, table)
        left_out.append((ALSO_NOT_RATED, np.flatnonzero(unknown)))
        followed_up = hit & answered
        hit = hit & holds
    return replace(series_of(table, hit.astype(np.float64), left_out), followed_up=followed_up)


def _any_of(table: Table, wanted: tuple[Value, ...]) -> BoolArray:
    """Which values of a table are among those wanted."""
    return np.array([any(same_value(value, other) for other in wanted) for value in table.values], dtype=np.bool_)


def _asked(tables: Tables, criterion: str, table: Table) -> BoolArray:
    """Whether each rating's unit was asked about another criterion, too."""
    when = tables.protocol.criterion(criterion).when
    return np.ones(len(table.code), dtype=np.bool_) if when is None else _condition(tables, when, table)[1]


def _condition(tables: Tables, condition: Condition, table: Table) -> tuple[BoolArray, BoolArray]:
    """Whether each rating's rater gave the same unit a value on the condition's criterion, and whether it holds."""
    other = tables.tables[condition.criterion]
    codes = _codes_at(other, table)
    holds = np.array([condition.holds(value) for value in other.values] + [False], dtype=np.bool_)
    return codes != MISSING, holds[codes]


def _codes_at(other: Table, table: Table) -> IntArray:
    """What the same rater said of the same unit on another criterion, -1 where nothing."""
    if other.code.size == 0:
        return np.full(len(table.code), MISSING, dtype=np.int64)
    have = other.unit * other.n_raters + other.rater
    want = table.unit * table.n_raters + table.rater
    order = np.argsort(have)
    place = np.minimum(np.searchsorted(have[order], want), len(have) - 1)
    return np.where(have[order][place] == want, other.code[order][place], MISSING)
