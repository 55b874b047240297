"""Answers to questions made from a reference: how many there are, and how far they are the reference's own."""

import numpy as np

from evenhand.agreement.blocks import cluster_blocks, single_blocks
from evenhand.agreement.bootstrap import Plan, estimate, sample_of
from evenhand.agreement.ratio import first_over_second
from evenhand.agreement.result import NO_RATINGS, Estimate
from evenhand.measures.scope import BoolArray
from evenhand.measures.series import Series, Statistic, series_of
from evenhand.protocol.model import AnswerMeasure
from evenhand.records import UNANSWERABLE
from evenhand.table import FloatArray, IntArray, Table, Tables
from evenhand.textmatch import token_f1

UNANSWERABLE_REFERENCE = "unanswerable_reference"
NO_REFERENCE = "no_reference"
UNANSWERED = "unanswered"


def answer_series(tables: Tables, spec: AnswerMeasure) -> Series:
    """Each rating as answered or not, or as its F1; questions that the reference does not answer are left out."""
    table = tables.tables[spec.criterion]
    answered = _answered(table)
    unasked = (UNANSWERABLE_REFERENCE, np.flatnonzero(_reference_is(tables, UNANSWERABLE)[table.unit]))
    if spec.kind == "answered":
        return series_of(table, answered.astype(np.float64), [unasked])
    left_out = [unasked, (NO_REFERENCE, np.flatnonzero(_reference_is(tables, None)[table.unit]))]
    if spec.over == "answered":
        left_out.append((UNANSWERED, np.flatnonzero(~answered)))
    return series_of(table, _f1(tables, table, answered), left_out)


def _answered(table: Table) -> BoolArray:
    return np.array([value != UNANSWERABLE for value in table.values], dtype=np.bool_)[table.code]


def _reference_is(tables: Tables, answer: str | None) -> BoolArray:
    references = tables.references if tables.references is not None else [None] * tables.n_units
    return np.fromiter((reference == answer for reference in references), dtype=np.bool_, count=tables.n_units)


def _f1(tables: Tables, table: Table, answered: BoolArray) -> FloatArray:
    """The F1 of each rating, 0 where there is no answer or nothing to compare it with; equal pairs are read once."""
    out = np.zeros(len(table.code))
    references, language = tables.references, tables.protocol.language
    if references is None:
        return out
    known: dict[tuple[int, str], float] = {}
    for place in np.flatnonzero(answered).tolist():
        code, reference = int(table.code[place]), references[int(table.unit[place])]
        if reference is None or reference == UNANSWERABLE:
            continue
        found = known.get((code, reference))
        if found is None:
            found = known[code, reference] = token_f1(str(table.values[code]), reference, language)
        out[place] = found
    return out


def resampled_mean(plan: Plan) -> Statistic:
    """The mean with its bootstrap interval: F1 piles up at 0 and 1, far from the law that t expects."""

    def value(values: FloatArray, clusters: IntArray | None) -> Estimate:
        different, pattern, times = np.unique(values, return_inverse=True, return_counts=True)
        blocks = single_blocks(times) if clusters is None else cluster_blocks(pattern.reshape(-1), clusters)
        sums = np.stack((different, np.ones_like(different)), axis=1)
        return estimate(sample_of(blocks, sums), first_over_second, int(values.size), NO_RATINGS, plan)

    return value
