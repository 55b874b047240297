"""Agreement of all raters on one criterion, and of every pair: what `agree` and the report show. The agreement curve.

Chance-corrected coefficients are never shown alone. They come with plain agreement, the labels' shares, agreement on
each label and on the rare ones, what people reach among themselves, and what a constant rater would reach.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from math import comb
from typing import Literal, NamedTuple

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.figures import MAJORITY, MAJORITY_OF_OTHERS, Figure
from evenhand.analysis.tables import Table, Tables
from evenhand.records import Kind, Status, Value
from evenhand.statistics import DEFAULT, PAIR_STATISTICS, Counts, Percentages, Resampling, Spread, Votes
from evenhand.statistics.estimate import NO_RATINGS, Estimate, FloatArray, IntArray, undefined

PairKind = Literal["person-person", "person-model", "model-model"]
_KINDS: Sequence[PairKind] = ("model-model", "person-model", "person-person")
"""By the number of people; a rule counts as a model."""

_NO_LABELS = undefined("it compares labels, and these ratings are numbers")
POINTS = 10
CHEAP = Resampling(replicates=300)
"""A curve that is watched shows a trend; the report has the figures to quote."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters on the units that both rated. Coefficients that do not fit the level are None.

    Numbers have no labels: κ and macro-F1 are then undefined, and `per_label`, `labels` and `confusion` empty.
    """

    a: str
    b: str
    kind: PairKind
    n: int
    percent: Estimate
    ac: Estimate
    per_label: Mapping[str, Estimate]
    labels: Sequence[Value]
    confusion: Sequence[Sequence[int]]
    kappa: Estimate = _NO_LABELS
    macro_f1: Estimate = _NO_LABELS
    kappa_linear: Estimate | None = None
    kappa_quadratic: Estimate | None = None
    within_one: Estimate | None = None
    spearman: Estimate | None = None

    @property
    def of_people(self) -> bool:
        """Whether neither of the two is a model or a rule."""
        return self.kind == "person-person"

    @property
    def statistics(self) -> Mapping[str, Estimate]:
        """The coefficients that fit the level, by name."""
        return {name: found for name in PAIR_STATISTICS if (found := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class Majority:
    """The majority vote: of the people, on every unit that at least two of them rated, or of all raters if there are no
    two people. The votes in all and by how many votes a unit has; each rater's match with the majority.

    `plain` is the match with the majority of all voters, in which a voter's own vote is flattering; `others` that with
    the majority of the other voters.
    """

    votes: Votes
    by_count: Mapping[int, Votes]
    plain: Mapping[str, Estimate]
    others: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One criterion. `ceiling` is what people reach among themselves, `baseline` the share of their commonest label.

    `unpaired` counts the pairs of raters that share no unit, `omitted` those that do but are beyond the most that are
    compared; neither is in `pairs`. `values` sums up numbers, which have no agreement on each label (`specific`,
    `rare`). `stratum` has the fields and values that the units were restricted to, None for all.
    """

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
    unpaired: int
    omitted: int
    statuses: Mapping[Status, int]
    warnings: Sequence[str]
    values: Mapping[str, float] | None = None
    stratum: Mapping[str, str] | None = None

    def figures(self) -> Iterator[Figure]:
        """Every number here as a flat record: of all raters, of each rater with the majority, of each pair."""
        figure = partial(Figure, criterion=self.criterion, stratum=self.stratum)
        overall = {"percent": self.percent, "alpha": self.alpha, "ac": self.ac, "fleiss": self.fleiss, "icc": self.icc}
        overall |= {"ceiling_percent": self.ceiling, "ceiling_alpha": self.ceiling_alpha, "rare": self.rare}
        for name, found in overall.items():
            if found is not None:
                yield figure(name, name, found)
        for label, found in self.specific.items():
            yield figure("specific", "specific", found, label=label)
        for against, matches in ((MAJORITY, self.majority.plain), (MAJORITY_OF_OTHERS, self.majority.others)):
            for rater, found in matches.items():
                yield figure("majority", "majority", found, rater=rater, against=against)
        for pair in self.pairs:
            for name, found in pair.statistics.items():
                yield figure(name, name, found, rater=pair.b, against=pair.a)
            for label, found in pair.per_label.items():
                yield figure("per_label", "per_label", found, rater=pair.b, against=pair.a, label=label)


def criterion_agreement(table: Table, plan: Resampling = DEFAULT, combined: Sequence[Table] = ()) -> Agreement:
    """Everything about how far the raters agree on one criterion of `Tables.compared`.

    `combined` are the same table with combined raters, whose pairs are added.
    """
    everyone = _overall(table, plan)
    people = everyone if table.people == table.active else _overall(table, plan, table.people)
    n_sharing, pairs = table.n_sharing, [_pair(table, one, other, plan) for one, other in table.pairs()]
    among_people = [pair for pair in pairs if pair.of_people]
    who, labelled = voters(table), everyone.given if isinstance(everyone.given, Counts) else None
    return Agreement(
        criterion=table.criterion.id,
        level=table.level,
        labels=table.values,
        n_units=everyone.given.overlapping,
        # A single pair has one percent agreement, and one interval for it.
        percent=pairs[0].percent if len(pairs) == 1 else everyone.percent,
        ceiling=among_people[0].percent if len(among_people) == 1 else people.percent,
        baseline=people.spread,
        spread=everyone.spread,
        alpha=everyone.alpha,
        ceiling_alpha=people.alpha,
        ac=_ac(table, everyone.given, pairs, plan),
        icc=_icc(table, plan),
        warnings=_warnings(everyone.spread, table.values),
        statuses=table.status_counts(),
        majority=majority(table, who, table.opinions(who).tally),
        pairs=[*pairs, *(_pair(more, one, other, plan) for more in combined for one, other in more.pairs())],
        unpaired=comb(len(table.active), 2) - n_sharing,
        omitted=n_sharing - len(pairs),
        fleiss=statistics.fleiss_kappa(labelled, plan=plan) if labelled else _NO_LABELS,
        rare=statistics.rare_agreement(labelled, plan) if labelled else _NO_LABELS,
        specific=_by_label(table.values, statistics.specific_agreement(labelled, plan)) if labelled else {},
        values=None if table.scores is None or labelled else _summary(table.scores[table.code]),
    )


def _by_label(labels: Sequence[Value], found: Sequence[Estimate]) -> Mapping[str, Estimate]:
    return dict(zip(map(str, labels), found, strict=True))


class _Overall(NamedTuple):
    """What some raters gave, how far they agree, and how they use the scale."""

    given: Counts | Percentages
    percent: Estimate
    alpha: Estimate
    spread: Spread | None


def _overall(
    table: Table, plan: Resampling, raters: Sequence[int] | None = None, chosen: IntArray | None = None
) -> _Overall:
    """How far all or some raters agree in all of their ratings, or in the `chosen` ones."""
    raters = table.active if raters is None else raters
    used = np.flatnonzero(np.isin(table.rater, raters)) if chosen is None else chosen
    unit, code, n_labels = table.unit[used], table.code[used], len(table.values)
    if not table.labels and (scores := table.positions) is not None:
        given = statistics.percentages(unit, scores[code], table.clusters)
    elif chosen is None:
        given = statistics.count_wide(table.codes[:, raters], n_labels, table.scores, table.clusters)
    else:
        given = statistics.count_long(unit, code, n_labels, table.scores, table.clusters, table.n_units)
    spread = statistics.spread(np.bincount(code, minlength=n_labels).astype(np.float64))
    if isinstance(given, Percentages):
        percent, alpha = statistics.percentage_match(given, plan), statistics.percentage_alpha(given, plan)
    else:
        percent = statistics.percent_agreement(given, plan)
        alpha = statistics.krippendorff_alpha(given, table.level, plan)
    return _Overall(given, percent, alpha, spread)


def _ac(table: Table, given: Counts | Percentages, pairs: Sequence[Pair], plan: Resampling) -> Estimate:
    if len(table.active) == 2 and pairs and pairs[0].n == given.sample.times.sum():
        return pairs[0].ac
    if isinstance(given, Percentages):
        return statistics.percentage_ac(given, plan)
    return statistics.gwet_ac(given, "identity" if table.scores is None else "quadratic", plan)


def _summary(scores: FloatArray) -> Mapping[str, float]:
    if not scores.size:
        return {}
    lowest, median, highest = np.quantile(scores, (0.0, 0.5, 1.0)).tolist()
    different, mean = np.unique(scores).size, float(scores.mean())
    return {"different": different, "lowest": lowest, "median": median, "mean": mean, "highest": highest}


def _icc(table: Table, plan: Resampling) -> Estimate | None:
    if table.scores is None:
        return None
    if len(table.active) < 2:
        return undefined("there is only one rater" if table.active else NO_RATINGS)
    return statistics.icc(np.append(table.scores, np.nan)[table.codes[:, table.active]], table.clusters, plan)


def voters(table: Table) -> Sequence[int]:
    """Who votes: the people, or all raters if there are no two people."""
    return table.people if len(table.people) > 1 else table.active


def majority(table: Table, who: Sequence[int], tally: IntArray, level: float = 0.95) -> Majority:
    """The vote of some raters on a criterion, from their label counts; there is none on one that has no labels."""
    by_count = statistics.votes(tally)
    plain: dict[str, Estimate] = {}
    others: dict[str, Estimate] = {}
    for number in table.active if table.labels and len(table.active) > 1 else ():
        name, units = table.raters[number].id, table.units_of(number)
        own, clusters = table.codes_at(number, units), table.clusters_of(units)
        rest = tally[units] - (number in who) * np.eye(len(table.values), dtype=np.int64)[own]
        label, label_of_rest = statistics.majority_label(tally[units], fewest=2), statistics.majority_label(rest)
        plain[name] = statistics.match_with(own, label, clusters, level)
        others[name] = statistics.match_with(own, label_of_rest, clusters, level)
    total = Votes(*(sum(counts) for counts in zip(*map(astuple, by_count.values()), strict=True)))
    return Majority(total, by_count, plain, others)


def _pair(table: Table, one: int, other: int, plan: Resampling) -> Pair:
    a, b, values, shared = table.raters[one], table.raters[other], table.labels, table.shared(one, other)
    crossed = statistics.cross(shared.first, shared.second, len(table.values), table.positions, shared.clusters)
    return Pair(
        a=a.id,
        b=b.id,
        kind=_KINDS[(a.kind is Kind.PERSON) + (b.kind is Kind.PERSON)],
        n=crossed.n,
        labels=values,
        confusion=crossed.table.tolist() if values else [],
        per_label=_by_label(values, statistics.label_agreement(crossed, plan)) if values else {},
        **statistics.pair_statistics(crossed, plan, percentages=not values),
    )


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
    found = [(end, _overall(table, plan, table.people, in_time[:end])) for end in ends]
    return [CurvePoint(end, one.given.overlapping, one.alpha, one.percent) for end, one in found]
