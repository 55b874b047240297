"""Agreement of all raters on one criterion, and of every pair: what `agree` and the report show. The agreement curve.

Chance-corrected coefficients are never shown alone. They come with plain agreement, the labels' shares, agreement on
each label and on the rare ones, what people reach among themselves, and what a constant rater would reach.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.figures import MAJORITY, MAJORITY_OF_OTHERS, Figure
from evenhand.analysis.tables import Table, Tables
from evenhand.records import Kind, Status, Value
from evenhand.statistics import DEFAULT, Resampling, Spread, Votes
from evenhand.statistics.estimate import MISSING, NO_RATINGS, Estimate, FloatArray, IntArray, undefined

PairKind = Literal["person-person", "person-model", "model-model"]
_KINDS: Sequence[PairKind] = ("model-model", "person-model", "person-person")
"""By the number of people; a rule counts as a model."""

MANY = 15
"""With more raters than this, pairs that share no unit are left out: most pairs of a crowd are such."""
POINTS = 10
CHEAP = Resampling(replicates=300)
"""A curve that is watched shows a trend; the report has the figures to quote."""
MOST_CELLS = 20_000_000
TOO_FINE = "there are too many different answers to follow while people rate; the report has the figure"


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

    @property
    def statistics(self) -> Mapping[str, Estimate]:
        """The coefficients that fit the level, by name."""
        names = ("percent", "kappa", "kappa_linear", "kappa_quadratic", "within_one", "spearman", "ac", "macro_f1")
        return {name: found for name in names if (found := getattr(self, name)) is not None}


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

    def figures(self) -> Iterator[Figure]:
        """Every number here as a flat record: of all raters, of each rater with the majority, of each pair."""
        overall = {"percent": self.percent, "alpha": self.alpha, "ac": self.ac, "fleiss": self.fleiss, "icc": self.icc}
        overall |= {"ceiling_percent": self.ceiling, "ceiling_alpha": self.ceiling_alpha, "rare": self.rare}
        for name, found in overall.items():
            if found is not None:
                yield Figure(name, name, found, self.criterion)
        for label, found in self.specific.items():
            yield Figure("specific", "specific", found, self.criterion, label=label)
        for against, matches in ((MAJORITY, self.majority.plain), (MAJORITY_OF_OTHERS, self.majority.others)):
            for rater, found in matches.items():
                yield Figure("majority", "majority", found, self.criterion, rater, against)
        for pair in self.pairs:
            for name, found in pair.statistics.items():
                yield Figure(name, name, found, self.criterion, pair.b, pair.a)
            for label, found in pair.per_label.items():
                yield Figure("per_label", "per_label", found, self.criterion, pair.b, pair.a, label=label)


def criterion_agreement(table: Table, plan: Resampling = DEFAULT) -> Agreement:
    """Everything about how far the raters agree on one criterion of `Tables.compared`."""
    level, labels, scores, codes = table.level, table.values, table.scores, table.codes
    people, raters, statuses = table.people, sorted([*table.people, *table.machines]), table.status_counts()
    counts = statistics.count_wide(codes, len(labels), scores, table.clusters)
    among_people = statistics.count_wide(codes[:, people], len(labels), scores, table.clusters)
    found = statistics.spread(counts)
    return Agreement(
        criterion=table.criterion.id,
        level=level,
        labels=labels,
        n_units=counts.overlapping,
        percent=statistics.percent_agreement(counts, plan),
        ceiling=statistics.percent_agreement(among_people, plan),
        baseline=statistics.spread(among_people),
        spread=found,
        rare=statistics.rare_agreement(counts, plan),
        specific=dict(zip(map(str, labels), statistics.specific_agreement(counts, plan), strict=True)),
        alpha=statistics.krippendorff_alpha(counts, level, plan),
        ceiling_alpha=statistics.krippendorff_alpha(among_people, level, plan),
        ac=statistics.gwet_ac(counts, "identity" if scores is None else "quadratic", plan),
        fleiss=statistics.fleiss_kappa(counts, plan=plan),
        icc=None if scores is None else _icc(codes[:, raters], scores),
        majority=_majority(table, raters),
        warnings=_warnings(found, labels),
        pairs=_pairs(table, raters, plan),
        statuses=statuses,
    )


def _icc(codes: IntArray, scores: FloatArray) -> Estimate:
    if codes.shape[1] < 2:
        return undefined("there is only one rater" if codes.shape[1] else NO_RATINGS)
    return statistics.icc(scores[codes[(codes != MISSING).all(axis=1)]])


def _majority(table: Table, raters: Sequence[int]) -> Majority:
    codes, labels = table.codes[:, raters], len(table.values)
    complete = (codes != MISSING).all(axis=1)
    inside, clusters = codes[complete], table.clusters_of(complete)
    vote = statistics.votes(codes, labels)
    plain: dict[str, Estimate] = {}
    others: dict[str, Estimate] = {}
    for place, number in enumerate(raters if len(raters) > 1 else ()):
        name = table.raters[number].id
        plain[name], others[name] = statistics.match_with_majority(inside, labels, place, clusters)
    return Majority(vote, plain, others)


def _pairs(table: Table, raters: Sequence[int], plan: Resampling) -> Sequence[Pair]:
    pairs: list[Pair] = []
    columns = {number: np.ascontiguousarray(table.codes[:, number]) for number in raters}
    for numbers in combinations(raters, 2):
        # A person comes first, so that rows of a confusion table are the people's.
        one, other = sorted(numbers, key=lambda number: table.raters[number].kind is not Kind.PERSON)
        crossed = statistics.cross(columns[one], columns[other], len(table.values), table.scores, table.clusters)
        if crossed.n == 0 and len(raters) > MANY:
            continue
        a, b = table.raters[one], table.raters[other]
        pairs.append(
            Pair(
                a=a.id,
                b=b.id,
                kind=_KINDS[(a.kind is Kind.PERSON) + (b.kind is Kind.PERSON)],
                n=crossed.n,
                per_label=dict(zip(map(str, table.values), statistics.label_agreement(crossed, plan), strict=True)),
                labels=table.values,
                confusion=crossed.table.tolist(),
                **statistics.pair_statistics(crossed, plan),
            )
        )
    return pairs


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
        f"{share} of the ratings are {commonest}. κ and α near 0 are then correct, not a "
        "mistake; plain agreement and AC near 1 say little. Read the agreement on each label, and on the rare ones.",
    )


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Agreement after a number of ratings, in order of arrival; `units` are those rated twice by then."""

    ratings: int
    units: int
    alpha: Estimate
    percent: Estimate


def agreement_curve(tables: Tables, plan: Resampling = CHEAP) -> Mapping[str, Sequence[CurvePoint]]:
    """The curve of each criterion on which people can be compared, without adjudicators.

    At most ten points; none if no person has rated. A rating that was changed counts from its last change on.
    """
    return {name: _curve(table, plan) for name, table in tables.compared().tables.items()}


def _curve(table: Table, plan: Resampling) -> Sequence[CurvePoint]:
    theirs = np.flatnonzero(np.isin(table.rater, table.people))
    in_time = theirs[np.argsort(table.order[theirs], kind="stable")]
    ends = sorted({len(in_time) * step // POINTS for step in range(1, POINTS + 1)} - {0})
    return [_point(table, in_time[:end], plan) for end in ends]


def _point(table: Table, chosen: IntArray, plan: Resampling) -> CurvePoint:
    rated, unit = np.unique(table.unit[chosen], return_inverse=True)
    if len(rated) * len(table.values) > MOST_CELLS:
        return CurvePoint(len(chosen), 0, undefined(TOO_FINE), undefined(TOO_FINE))
    labels, clusters = len(table.values), table.clusters_of(rated)
    counts = statistics.count_long(unit.reshape(-1), table.code[chosen], labels, table.scores, clusters)
    alpha = statistics.krippendorff_alpha(counts, table.level, plan)
    return CurvePoint(len(chosen), counts.overlapping, alpha, statistics.percent_agreement(counts, plan))
