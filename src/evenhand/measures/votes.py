"""The majority vote of all raters: how often there is one, and how each rater stands to it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.intervals import proportion
from evenhand.agreement.majority import majority_of, standing
from evenhand.agreement.result import undefined
from evenhand.measures.pairs import NO_LABELS
from evenhand.measures.record import MAJORITY, MAJORITY_OF_OTHERS, Figure, Measure, placed
from evenhand.measures.scope import BoolArray, Scope, active, only, without_value
from evenhand.protocol.model import AgreementMeasure
from evenhand.records import Status
from evenhand.table import MISSING, IntArray, Table, Tables

INCOMPLETE = "incomplete"
NO_COMMON_UNIT = "no unit was rated by every rater"


@dataclass(frozen=True)
class Ballot:
    """The units of a scope that every rater rated."""

    raters: Sequence[int]
    codes: IntArray
    clusters: IntArray | None
    left_out: Mapping[str, int]


def vote_measures(tables: Tables, spec: AgreementMeasure, parts: Sequence[Scope], plan: Plan) -> Iterator[Measure]:
    """For each criterion: shares of full, majority and none, then each rater's match with the majority."""
    for criterion in spec.criteria:
        table = tables.tables[criterion]
        raters = [number for number in active(tables, [criterion]) if Status.RATED in table.statuses[number]]
        why = NO_LABELS if not table.categorical else "there are no two raters with ratings"
        if not table.categorical or len(raters) < 2:
            yield placed(spec.name, spec.kind, Figure(undefined(why)), criterion=criterion)
            continue
        for scope in parts:
            ballot = _ballot(tables, table, raters, scope)
            for rater, against, figure in _figures(tables, table, ballot, plan):
                yield placed(
                    spec.name,
                    spec.kind,
                    figure,
                    criterion=criterion,
                    rater=rater,
                    against=against,
                    stratum=scope.stratum,
                )


def _ballot(tables: Tables, table: Table, raters: Sequence[int], scope: Scope) -> Ballot:
    codes = table.codes[:, raters]
    complete: BoolArray = (codes != MISSING).all(axis=1) & scope.units
    partly = (codes != MISSING).any(axis=1) & scope.units & ~complete
    left_out = {INCOMPLETE: int((codes[partly] != MISSING).sum())}
    if scope.whole:
        left_out = {**without_value([table], raters), **left_out}
    return Ballot(raters, codes[complete], only(complete, tables.together), left_out)


def _figures(
    tables: Tables, table: Table, ballot: Ballot, plan: Plan
) -> Iterator[tuple[str | None, str | None, Figure]]:
    codes, labels, nothing = ballot.codes, len(table.values), undefined(NO_COMMON_UNIT)
    names = [tables.raters[number].id for number in ballot.raters]
    full = (codes == codes[:, :1]).all(axis=1)
    most = majority_of(codes, labels) != MISSING
    for label, hits in (("full", full), ("majority", most & ~full), ("none", ~most)):
        found = proportion(hits.astype(np.float64), ballot.clusters, plan.level)
        detail = {"count": int(hits.sum()), "raters": names}
        yield None, None, Figure(found if len(codes) else nothing, ballot.left_out, label, detail)
    for place, name in enumerate(names):
        placing = standing(codes, labels, place, ballot.clusters, plan.level)
        yield name, MAJORITY, Figure(placing.plain if len(codes) else nothing, ballot.left_out)
        yield name, MAJORITY_OF_OTHERS, Figure(placing.with_others if len(codes) else nothing, ballot.left_out)
