"""Agreement of all raters on one criterion, and of every pair: what `agree` and the report show.

Chance-corrected coefficients are never shown alone: beside them stand plain agreement, the labels' shares, agreement on
each label and on the rare side, what people reach among themselves and what a rater without eyes would reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.agreement.alpha import krippendorff_alpha
from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.agreement.correlation import pair_correlation
from evenhand.agreement.counts import Counts, count_wide
from evenhand.agreement.cross import Cross, cross
from evenhand.agreement.fleiss import fleiss_kappa
from evenhand.agreement.gwet import gwet_ac
from evenhand.agreement.icc import icc
from evenhand.agreement.kappa import cohen_kappa
from evenhand.agreement.labels import (
    Spread,
    label_agreement,
    macro_f1,
    pair_percent,
    pair_within_one,
    rare_agreement,
    specific_agreement,
    spread,
)
from evenhand.agreement.majority import Votes, standing, votes
from evenhand.agreement.percent import percent_agreement
from evenhand.agreement.result import NO_RATINGS, Estimate, undefined
from evenhand.records import Kind, RaterRef, Status, Value
from evenhand.table import MISSING, IntArray, Table, Tables

PairKind = Literal["person-person", "person-model", "model-model"]

MANY = 15
"""With more raters than this, pairs that share no unit are left out: most pairs of a crowd are such."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters on the units that both rated. Coefficients that do not fit the level are None."""

    a: str
    b: str
    kind: PairKind
    n: int
    percent: Estimate
    kappa: Estimate
    ac: Estimate
    macro_f1: Estimate
    per_label: Mapping[str, Estimate]
    labels: Sequence[Value]
    confusion: Sequence[Sequence[int]]
    kappa_linear: Estimate | None = None
    kappa_quadratic: Estimate | None = None
    within_one: Estimate | None = None
    spearman: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Majority:
    """The vote on units that every rater rated; each rater's match with it, and with the majority of the others."""

    votes: Votes
    plain: Mapping[str, Estimate]
    others: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One criterion. `ceiling` is what people reach among themselves, `baseline` the share of their commonest label."""

    criterion: str
    level: str
    labels: Sequence[Value]
    n_units: int
    percent: Estimate
    alpha: Estimate
    ac: Estimate
    fleiss: Estimate
    icc: Estimate | None
    ceiling: Estimate
    ceiling_alpha: Estimate
    baseline: Spread | None
    spread: Spread | None
    specific: Mapping[str, Estimate]
    rare: Estimate
    majority: Majority
    pairs: Sequence[Pair]
    statuses: Mapping[Status, int]
    warnings: Sequence[str]


def agreement(tables: Tables, criterion: str, plan: Plan = DEFAULT) -> Agreement:
    """Everything about how far the raters agree on one criterion of `Tables.compared`."""
    table = tables.tables[criterion]
    codes, labels, scores, level = table.codes, table.values, table.scores, table.criterion.scale.level
    raters = [number for number in range(len(tables.raters)) if (codes[:, number] != MISSING).any()]
    counts = count_wide(codes, len(labels), scores, tables.together)
    people = codes[:, [number for number in raters if tables.raters[number].kind is Kind.PERSON]]
    among_people = count_wide(people, len(labels), scores, tables.together)
    found = spread(counts)
    return Agreement(
        criterion=criterion,
        level=level,
        labels=labels,
        n_units=counts.overlapping,
        percent=percent_agreement(counts, plan=plan),
        alpha=krippendorff_alpha(counts, _metric(level), plan),
        ac=gwet_ac(counts, _weighting(level), plan),
        fleiss=fleiss_kappa(counts, plan=plan),
        icc=_icc(codes[:, raters], table) if scores is not None else None,
        ceiling=percent_agreement(among_people, plan=plan),
        ceiling_alpha=krippendorff_alpha(among_people, _metric(level), plan),
        baseline=spread(among_people),
        spread=found,
        specific={str(label): specific_agreement(counts, code, plan) for code, label in enumerate(labels)},
        rare=rare_agreement(counts, plan),
        majority=_majority(codes[:, raters], len(labels), [tables.raters[n].id for n in raters], tables.together),
        pairs=_pairs(tables, codes, labels, raters, table, plan),
        statuses=table.status_counts(),
        warnings=_warnings(found, labels),
    )


def _metric(level: str) -> Literal["nominal", "ordinal", "interval"]:
    return "ordinal" if level == "ordinal" else "interval" if level == "interval" else "nominal"


def _weighting(level: str) -> Literal["identity", "quadratic"]:
    return "identity" if level == "nominal" else "quadratic"


def _icc(codes: IntArray, table: Table) -> Estimate:
    assert table.scores is not None
    complete = codes[(codes != MISSING).all(axis=1)]
    if codes.shape[1] < 2:
        return undefined("there is only one rater" if codes.shape[1] else NO_RATINGS)
    return icc(table.scores[complete], "ICC2")


def _majority(codes: IntArray, labels: int, names: Sequence[str], clusters: IntArray | None) -> Majority:
    complete = (codes != MISSING).all(axis=1)
    inside = codes[complete]
    groups = None if clusters is None else clusters[complete]
    placed = [standing(inside, labels, place, groups) for place in range(len(names))] if len(names) > 1 else []
    return Majority(
        votes(codes, labels),
        {name: place.plain for name, place in zip(names, placed, strict=False)},
        {name: place.with_others for name, place in zip(names, placed, strict=False)},
    )


def pair_kind(a: RaterRef, b: RaterRef) -> PairKind:
    """A rule counts as a model: neither has eyes."""
    people = (a.kind is Kind.PERSON) + (b.kind is Kind.PERSON)
    return ("model-model", "person-model", "person-person")[people]


def _pairs(
    tables: Tables, codes: IntArray, labels: Sequence[Value], raters: Sequence[int], table: Table, plan: Plan
) -> Sequence[Pair]:
    pairs: list[Pair] = []
    columns = {number: np.ascontiguousarray(codes[:, number]) for number in raters}
    rated = {number: column != MISSING for number, column in columns.items()}
    for place, first in enumerate(raters):
        for second in raters[place + 1 :]:
            if len(raters) > MANY and not (rated[first] & rated[second]).any():
                continue
            a, b = tables.raters[first], tables.raters[second]
            # A person stands first, so that rows of a confusion matrix are the people's.
            turned = a.kind is not Kind.PERSON and b.kind is Kind.PERSON
            one, other = (second, first) if turned else (first, second)
            crossed = cross(columns[one], columns[other], len(labels), table.scores, tables.together)
            pairs.append(_pair(tables.raters[one], tables.raters[other], crossed, labels, table, plan))
    return pairs


def _pair(a: RaterRef, b: RaterRef, crossed: Cross, labels: Sequence[Value], table: Table, plan: Plan) -> Pair:
    ordered = table.scores is not None
    counts = _as_counts(crossed)
    return Pair(
        a=a.id,
        b=b.id,
        kind=pair_kind(a, b),
        n=crossed.n,
        percent=pair_percent(crossed, plan),
        kappa=cohen_kappa(crossed, plan=plan),
        ac=gwet_ac(counts, "quadratic" if ordered else "identity", plan),
        macro_f1=macro_f1(crossed, plan),
        per_label={str(label): label_agreement(crossed, code, plan) for code, label in enumerate(labels)},
        labels=labels,
        confusion=crossed.table.tolist(),
        kappa_linear=cohen_kappa(crossed, "linear", plan) if ordered else None,
        kappa_quadratic=cohen_kappa(crossed, "quadratic", plan) if ordered else None,
        within_one=pair_within_one(crossed, plan) if ordered else None,
        spearman=pair_correlation(crossed, "spearman", plan) if ordered else None,
    )


def _as_counts(crossed: Cross) -> Counts:
    """The pair as label counts, for the statistics that do not ask who said what."""
    table = np.zeros((len(crossed.cells), crossed.labels), dtype=np.int64)
    rows, columns = np.divmod(crossed.cells, crossed.labels)
    places = np.arange(len(crossed.cells))
    np.add.at(table, (places, rows), 1)
    np.add.at(table, (places, columns), 1)
    times = crossed.table.reshape(-1)[crossed.cells]
    return Counts(table=table, times=times, blocks=crossed.blocks, scores=crossed.scores)


def _warnings(found: Spread | None, labels: Sequence[Value]) -> Sequence[str]:
    if found is None or not found.skewed:
        return ()
    commonest = labels[found.commonest]
    if found.baseline == 1.0:
        return (
            f"100% of the ratings are {commonest}: κ and α are undefined because every rating is the same, and plain "
            "agreement and AC say little.",
        )
    share = f"{found.baseline:.0%}" if found.baseline < 0.995 else "More than 99%"
    return (
        f"{share} of the ratings are {commonest}. κ and α near 0 are then true and not a "
        "mistake; plain agreement and AC near 1 say little. Read the agreement on each label, and on the rare ones.",
    )
