"""Agreement of two sides: two raters, or a rater and a majority."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.cross import Cross, cross
from evenhand.agreement.kappa import cohen_kappa
from evenhand.agreement.labels import label_agreement, macro_f1, pair_percent
from evenhand.agreement.majority import majority_of
from evenhand.agreement.result import undefined
from evenhand.measures.record import MAJORITY_OF_OTHERS, PEOPLES_MAJORITY, Figure, Measure, placed
from evenhand.measures.scope import BoolArray, Scope, active, only, without_value
from evenhand.protocol.model import AgreementMeasure
from evenhand.records import Kind
from evenhand.table import MISSING, IntArray, Table, Tables

UNMATCHED = "unmatched"
NO_MAJORITY = "no_majority"
NO_LABELS = "a percentage has no labels to compare; percent_match does it for numbers"
NO_NUMBER = "a table is no single number: it stands in detail"


@dataclass(frozen=True)
class Pairing:
    """Two sides, unit by unit, -1 where one has no label. `against` gives the rows of a confusion table.

    `raters` are those whose ratings it takes; `split` the units whose raters came to no majority.
    """

    rater: str
    against: str
    raters: Sequence[int]
    own: IntArray
    other: IntArray
    split: BoolArray


def pair_measures(tables: Tables, spec: AgreementMeasure, parts: Sequence[Scope], plan: Plan) -> Iterator[Measure]:
    """Every kind of agreement between two, for each criterion, pair and stratum."""
    for criterion in spec.criteria:
        table = tables.tables[criterion]
        if not table.categorical and spec.kind != "percent_match":
            yield placed(spec.name, spec.kind, Figure(undefined(NO_LABELS)), criterion=criterion)
            continue
        pairings = list(_pairings(tables, table, spec))
        if not pairings:
            yield placed(spec.name, spec.kind, Figure(undefined(_missing_side(spec))), criterion=criterion)
        for scope in parts:
            for pairing in pairings:
                if not scope.whole and not ((pairing.own != MISSING) & (pairing.other != MISSING)).any():
                    continue
                for figure in _figures(tables, table, spec, pairing, scope, plan):
                    yield placed(
                        spec.name,
                        spec.kind,
                        figure,
                        criterion=criterion,
                        rater=pairing.rater,
                        against=pairing.against,
                        stratum=scope.stratum,
                    )


def _missing_side(spec: AgreementMeasure) -> str:
    if spec.between == "all":
        return "there are no two raters with ratings"
    return "there is no person with a model to compare"


def _pairings(tables: Tables, table: Table, spec: AgreementMeasure) -> Iterator[Pairing]:
    raters = active(tables, [table.criterion.id])
    people = [number for number in raters if tables.raters[number].kind is Kind.PERSON]
    models = [number for number in raters if number not in people]
    to_majority = spec.kind in ("exact_match", "macro_f1")
    if spec.between == "majority-model" or (to_majority and spec.between == "person-model"):
        for model in models if people else ():
            yield _with_majority(tables, table, model, people, PEOPLES_MAJORITY)
    elif to_majority:
        for number in raters if len(raters) > 1 else ():
            others = [other for other in raters if other != number]
            yield _with_majority(tables, table, number, others, MAJORITY_OF_OTHERS)
    elif spec.between == "person-model":
        for model in models:
            yield from (_of_two(tables, table, model, person) for person in people)
    else:
        # A person stands in the rows wherever there is one.
        for against, number in combinations([*people, *models], 2):
            yield _of_two(tables, table, number, against)


def _of_two(tables: Tables, table: Table, number: int, against: int) -> Pairing:
    names = tables.raters[number].id, tables.raters[against].id
    never = np.zeros(tables.n_units, dtype=np.bool_)
    return Pairing(*names, (number, against), table.codes[:, number], table.codes[:, against], never)


def _with_majority(tables: Tables, table: Table, number: int, others: Sequence[int], name: str) -> Pairing:
    codes = table.codes[:, others]
    label = majority_of(codes, len(table.values))
    split = (label == MISSING) & (codes != MISSING).any(axis=1)
    return Pairing(tables.raters[number].id, name, (number, *others), table.codes[:, number], label, split)


def _figures(
    tables: Tables, table: Table, spec: AgreementMeasure, pairing: Pairing, scope: Scope, plan: Plan
) -> Iterator[Figure]:
    crossed = _crossed(tables, table, pairing, scope)
    left_out = _left_out(table, pairing, scope)
    match spec.kind:
        case "percent_match" | "exact_match":
            yield Figure(pair_percent(crossed, plan), left_out)
        case "kappa":
            yield Figure(cohen_kappa(crossed, plan=plan), left_out)
        case "macro_f1":
            yield Figure(macro_f1(crossed, plan), left_out)
        case "per_label":
            for code, label in enumerate(table.values):
                yield Figure(label_agreement(crossed, code, plan), left_out, label)
        case _:
            detail = {
                "labels": list(table.values),
                "rows": pairing.against,
                "columns": pairing.rater,
                "counts": crossed.table.tolist(),
            }
            yield Figure(undefined(NO_NUMBER, crossed.n), left_out, detail=detail)


def _crossed(tables: Tables, table: Table, pairing: Pairing, scope: Scope) -> Cross:
    own, other = pairing.own[scope.units], pairing.other[scope.units]
    clusters = only(scope.units, tables.together)
    if table.categorical:
        return cross(other, own, len(table.values), table.scores, clusters)
    # Of numbers only whether they are equal is asked: two labels do, however many numbers there are.
    differs = np.where(own == MISSING, MISSING, np.where(own == other, 0, 1))
    return cross(np.minimum(other, 0), differs, 2, None, clusters)


def _left_out(table: Table, pairing: Pairing, scope: Scope) -> Mapping[str, int]:
    own, other = (side[scope.units] != MISSING for side in (pairing.own, pairing.other))
    split = pairing.split[scope.units]
    counts = {
        NO_MAJORITY: int((own & split).sum()),
        UNMATCHED: int((own & ~other & ~split).sum() + (other & ~own).sum()),
    }
    return {**without_value([table], pairing.raters), **counts} if scope.whole else counts
