"""Measures: the protocol's own figures, each with its interval, its counts and, if it is undefined, the reason.

Three kinds of measure read ratings. Those of one rater (means, proportions, answers) turn each rating into a number, or
into a reason to leave it out (`Scores`). Those of two sides (percent match, κ, …) read a confusion table of two raters,
or of a rater and a majority (`_Sides`). The majority vote reads the units that every rater rated. Classification
measures read no rating: they compare two label fields of the items.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.figures import MAJORITY, MAJORITY_OF_OTHERS, NO_NUMBER, PEOPLE, PEOPLES_MAJORITY, Figure
from evenhand.analysis.tables import Table, Tables
from evenhand.nlp.words import token_f1
from evenhand.protocol import model
from evenhand.records import UNANSWERABLE, Kind, Status, Value
from evenhand.scales import same_value
from evenhand.statistics import DEFAULT, Cross, Resampling, Sample, ratio
from evenhand.statistics.estimate import MISSING, NO_RATINGS, BoolArray, Estimate, FloatArray, IntArray, undefined

ALSO_NOT_RATED = "also_not_rated"
INCOMPLETE = "incomplete"
NO_LABELS = "a percentage has no labels to compare; percent_match compares numbers"
NO_TWO_RATERS = "there are no two raters with ratings"

ClassificationKind = Literal["accuracy", "precision", "recall", "f1", "confusion_matrix"]
Statistic = Callable[[FloatArray, IntArray | None], Estimate]
"""From values, and the cluster of each if they are not independent, to an estimate."""


class Stratum(NamedTuple):
    """The units and items with one value in one field; all of them if `of` is None."""

    of: Mapping[str, str] | None
    units: BoolArray
    items: BoolArray


def measures(tables: Tables, plan: Resampling = DEFAULT, only: Collection[str] | None = None) -> list[Figure]:
    """Every figure that the protocol asks for, in its order: overall first, then by stratum.

    `only` names the measures to compute. A measure that finds no rater has one figure, undefined, with the reason.
    """
    # All units, then each value of each field for breakdowns; items without the field are in none of its strata.
    parts = [Stratum(None, np.ones(tables.n_units, dtype=np.bool_), np.ones(tables.n_items, dtype=np.bool_))]
    for field in tables.protocol.strata:
        values = ordered_labels(tables.protocol, {field: tables.labels.get(field, ())})
        of_items = coded(tables.labels.get(field, ()), values)
        of_units = of_items if tables.clusters is None or not values else of_items[tables.clusters]
        parts += [Stratum({field: value}, of_units == code, of_items == code) for code, value in enumerate(values)]
    specs = [spec for spec in tables.protocol.measures if only is None or spec.name in only]
    return [figure for spec in specs for figure in _figures(tables, spec, parts, plan)]


def ordered_labels(protocol: model.Protocol, columns: Mapping[str, Sequence[str | None]]) -> Sequence[str]:
    """The values that items have in label fields, in the protocol's order if it has one, else by alphabet."""
    used = {value for column in columns.values() for value in column if value is not None}
    known = list(dict.fromkeys(label for field in columns for label in protocol.item.fields[field].labels or ()))
    return [label for label in known if label in used] + sorted(used.difference(known))


def coded(values: Sequence[str | None], labels: Sequence[str]) -> IntArray:
    """Labels as their places in a list, -1 for none."""
    places: dict[str | None, int] = {label: place for place, label in enumerate(labels)}
    return np.fromiter((places.get(value, MISSING) for value in values), dtype=np.int64, count=len(values))


def _figures(tables: Tables, spec: model.Measure, parts: Sequence[Stratum], plan: Resampling) -> Iterator[Figure]:
    match spec:
        case model.ClassificationMeasure():
            yield from _classification(tables, spec, parts, plan)
        case model.AgreementMeasure(kind="majority"):
            yield from _votes(tables.independent(), spec, parts, plan)
        case model.AgreementMeasure():
            yield from _pairs(tables.independent(), spec, parts, plan)
        case model.MeanMeasure():
            for criteria in [spec.criteria] if spec.together else [(criterion,) for criterion in spec.criteria]:
                figure = Figure(spec.name, spec.kind, undefined(NO_RATINGS), None if spec.together else criteria[0])
                yield from _of_raters(tables, figure, _averages(tables, spec, criteria, plan), parts)
        case model.ProportionMeasure() | model.AnswerMeasure():
            figure = Figure(spec.name, spec.kind, undefined(NO_RATINGS), spec.criterion)
            scores = _hits(tables, spec, plan) if spec.kind == "proportion" else _answers(tables, spec, plan)
            yield from _of_raters(tables, figure, scores, parts)


def _active(used: Sequence[Table]) -> Sequence[int]:
    """The raters with a record of any status in one of these tables."""
    return [number for number in range(used[0].n_raters) if any(table.statuses[number] for table in used)]


def _left_out(
    counts: Mapping[str, int], used: Sequence[Table], raters: Sequence[int], stratum: Mapping[str, str] | None
) -> Mapping[str, int]:
    """Reasons with their counts; over all units also these raters' ratings that have no value, by status."""
    found: Counter[str] = Counter()
    for table in used if stratum is None else ():
        for number in raters:
            found.update({str(status): count for status, count in table.statuses[number].items()})
    del found[Status.RATED]
    return {why: count for why, count in {**found, **counts}.items() if count}


# --- Measures of one rater, or of all people together ---


class Scores(NamedTuple):
    """A number for each rating that a measure reads: by which rater, of which unit; and the statistic of the numbers.

    `left_out` has, by reason, the ratings that do not count; of several reasons the first counts. `tables` are those
    that the ratings come from. `followed_up` marks the ratings whose further condition, if any, was asked and answered.
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray
    statistic: Statistic
    tables: Sequence[Table]
    left_out: Mapping[str, BoolArray]
    followed_up: BoolArray | None = None


def _of_raters(tables: Tables, figure: Figure, scores: Scores, parts: Sequence[Stratum]) -> Iterator[Figure]:
    """The statistic of each rater, then of the people together, overall and in each stratum."""
    raters = _active(scores.tables)
    people = [number for number in tables.people() if number in raters]
    groups = {tables.raters[number].id: [number] for number in raters}
    if len(people) > 1:
        groups[PEOPLE] = people
    if not groups:
        yield figure
    places = {name: np.flatnonzero(np.isin(scores.rater, numbers)) for name, numbers in groups.items()}
    for stratum in parts:
        for name, numbers in groups.items():
            inside = places[name] if stratum.of is None else places[name][stratum.units[scores.unit[places[name]]]]
            if stratum.of is None or places[name].size:
                yield _of_rater(tables, replace(figure, rater=name, stratum=stratum.of), scores, numbers, inside)


def _of_rater(tables: Tables, figure: Figure, scores: Scores, raters: Sequence[int], places: IntArray) -> Figure:
    left_out: dict[str, int] = {}
    used = places
    for why, ratings in scores.left_out.items():
        left_out[why] = int(ratings[used].sum())
        used = used[~ratings[used]]
    units, pooled = scores.unit[used], len(raters) > 1
    clusters = tables.together[units] if tables.together is not None else units if pooled else None
    if used.size:
        # Several people's ratings of one unit are one unit's worth of evidence, in `n` as in the interval.
        found = replace(scores.statistic(scores.value[used], clusters), n=int(np.unique(units).size))
    else:
        counted = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in left_out.items() if count)
        found = undefined(f"every rating is left out: {counted}" if counted else NO_RATINGS)
    if scores.followed_up is not None and (unanswered := left_out.get(ALSO_NOT_RATED, 0)):
        found = _with_gaps(found, unanswered, bool(scores.followed_up[used].any()))
    names = [tables.raters[number].id for number in raters]
    detail = {"raters": names, "ratings": int(used.size)} if pooled else None
    reasons = _left_out(left_out, scores.tables, raters, figure.stratum)
    return replace(figure, estimate=found, detail=detail, left_out=reasons)


def _with_gaps(found: Estimate, unanswered: int, some: bool) -> Estimate:
    """A share whose further condition was not always answered: too low at best, and unknown without any answer."""
    if not some:
        return undefined(f"none of {unanswered} ratings answers its further condition", found.n)
    gap = f"{unanswered} ratings lack an answer to its further condition and are left out: it may be too low"
    return replace(found, note=gap if found.note is None else f"{found.note}; {gap}")


def _averages(tables: Tables, spec: model.MeanMeasure, criteria: tuple[str, ...], plan: Resampling) -> Scores:
    """Each rater's average over the criteria of a unit; a unit that lacks one of them is incomplete."""
    used = [tables.tables[criterion] for criterion in dict.fromkeys(criteria)]
    ends = [tables.tables[criterion].criterion.scale.values or (0.0, 100.0) for criterion in criteria]
    low, high = (float(np.mean([float(values[end]) for values in ends])) for end in (0, -1))
    within = partial(mean_within, lowest=low, highest=high, level=plan.level)
    statistic = within if spec.kind == "mean" else partial(_deviation, plan=plan)
    if len(used) == 1:
        return Scores(used[0].unit, used[0].rater, _numbers(used[0]), statistic, used, {})
    width = max(1, len(tables.raters))
    cells = [table.unit * width + table.rater for table in used]
    keys, place, given = np.unique(np.concatenate(cells), return_inverse=True, return_counts=True)
    numbers = np.concatenate([_numbers(table) for table in used])
    totals = np.bincount(place.reshape(-1), weights=numbers, minlength=len(keys))
    incomplete = {INCOMPLETE: given < len(used)}
    return Scores(keys // width, keys % width, totals / given, statistic, used, incomplete)


def _numbers(table: Table) -> FloatArray:
    assert table.scores is not None, "the protocol's check lets only numbers have means"
    return table.scores[table.code]


def _hits(tables: Tables, spec: model.ProportionMeasure, plan: Resampling) -> Scores:
    """Each rating as 1 or 0. Left out: excluded labels, and ratings whose `also` was asked but never answered.

    Such a rating is neither a hit nor a miss: to call it a miss would turn a missing answer into a score.
    """
    table = tables.tables[spec.criterion]
    hit, excluded = (
        np.array([any(same_value(value, other) for other in wanted) for value in table.values], np.bool_)[table.code]
        for wanted in (spec.any_of, spec.exclude)
    )
    left_out, followed_up = {"excluded_label": excluded}, None
    if spec.also is not None:
        answered, holds = _condition(tables, spec.also, table)
        when = tables.protocol.criterion(spec.also.criterion).when
        asked = True if when is None else _condition(tables, when, table)[1]
        left_out[ALSO_NOT_RATED] = hit & ~answered & asked
        followed_up = hit & answered
        hit = hit & holds
    share = partial(statistics.proportion, level=plan.level)
    return Scores(table.unit, table.rater, hit.astype(np.float64), share, (table,), left_out, followed_up)


def _condition(tables: Tables, condition: model.Condition, table: Table) -> tuple[BoolArray, BoolArray]:
    """Whether each rating's rater gave the same unit a value on the condition's criterion, and whether it holds."""
    other = tables.tables[condition.criterion]
    codes = other.codes_at(table.rater, table.unit)
    holds = np.array([condition.holds(value) for value in other.values] + [False], dtype=np.bool_)
    return codes != MISSING, holds[codes]


def _answers(tables: Tables, spec: model.AnswerMeasure, plan: Resampling) -> Scores:
    """Each rating as answered or not, or as its F1; questions that the reference does not answer are left out."""
    table = tables.tables[spec.criterion]
    references = tables.references or [None] * tables.n_units
    answered = np.array([value != UNANSWERABLE for value in table.values], dtype=np.bool_)[table.code]
    unanswerable, unknown = (
        np.array([reference == none for reference in references], dtype=np.bool_)[table.unit]
        for none in (UNANSWERABLE, None)
    )
    left_out = {"unanswerable_reference": unanswerable}
    if spec.kind == "answered":
        share = partial(statistics.proportion, level=plan.level)
        return Scores(table.unit, table.rater, answered.astype(np.float64), share, (table,), left_out)
    left_out["no_reference"] = unknown
    if spec.over == "answered":
        left_out["unanswered"] = ~answered
    f1 = cache(partial(token_f1, language=tables.protocol.language))
    values = np.zeros(table.code.size)
    for place in np.flatnonzero(answered & ~unanswerable & ~unknown).tolist():
        answer, reference = table.values[int(table.code[place])], references[int(table.unit[place])]
        values[place] = f1(str(answer), str(reference))
    return Scores(table.unit, table.rater, values, partial(resampled_mean, plan=plan), (table,), left_out)


def mean_within(
    values: FloatArray, clusters: IntArray | None, lowest: float, highest: float, level: float = 0.95
) -> Estimate:
    """The mean with its t interval, cut off at the ends of the scale."""
    found = statistics.mean(values, clusters, level)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(lowest, found.low), high=min(highest, found.high))


def resampled_mean(values: FloatArray, clusters: IntArray | None, plan: Resampling) -> Estimate:
    """The mean with its bootstrap interval: F1 piles up at 0 and 1, far from the distribution that t expects."""
    sample = Sample.of(values[:, None], clusters)
    sums = np.concatenate((sample.rows, np.ones_like(sample.rows)), axis=1)
    return sample.estimate(sums, statistics.first_over_second, int(values.size), NO_RATINGS, plan)


def _deviation(values: FloatArray, clusters: IntArray | None, plan: Resampling) -> Estimate:
    """The sample standard deviation (n - 1) with its bootstrap interval; undefined with fewer than two ratings."""
    if values.size < 2:
        return undefined("a standard deviation needs two ratings", int(values.size))
    sample = Sample.of(values[:, None], clusters)
    # Measured from the middle, so that the squares lose no digits.
    apart = sample.rows - values.mean()
    sums = np.concatenate((np.ones_like(apart), apart, apart**2), axis=1)

    def deviation(sums: FloatArray) -> FloatArray:
        n, total, squares = sums[..., 0], sums[..., 1], sums[..., 2]
        apart = np.maximum(squares - ratio(total**2, n), 0.0)
        return np.sqrt(ratio(apart, np.where(n > 1, n - 1.0, 0.0)))

    return sample.estimate(sums, deviation, int(values.size), "", plan)


# --- Measures of two sides ---


class _Sides(NamedTuple):
    """Two sides, unit by unit, -1 if one has no label. `against` is the rows of a confusion table.

    `raters` are those whose ratings it reads; `split` the units whose raters have no majority.
    """

    rater: str
    against: str
    raters: Sequence[int]
    own: IntArray
    other: IntArray
    split: BoolArray


def _pairs(
    tables: Tables, spec: model.AgreementMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """Every kind of agreement between two sides, for each criterion, pair and stratum."""
    for criterion in spec.criteria:
        table = tables.tables[criterion]
        labels = table.criterion.scale.values or spec.kind == "percent_match"
        pairs = list(_sides(table, spec)) if labels else []
        if not pairs:
            why = NO_TWO_RATERS if spec.between == "all" else "there is no person with a model to compare"
            yield Figure(spec.name, spec.kind, undefined(why if labels else NO_LABELS), criterion)
        for stratum in parts:
            for sides in pairs:
                if stratum.of is None or ((sides.own != MISSING) & (sides.other != MISSING)).any():
                    yield from _of_pair(table, spec, sides, stratum, plan)


def _sides(table: Table, spec: model.AgreementMeasure) -> Iterator[_Sides]:
    raters = _active([table])
    people = [number for number in raters if table.raters[number].kind is Kind.PERSON]
    models = [number for number in raters if number not in people]
    to_majority = spec.kind in ("exact_match", "macro_f1")
    if spec.between == "majority-model" or (to_majority and spec.between == "person-model"):
        for number in models if people else ():
            yield _with_majority(table, number, people, PEOPLES_MAJORITY)
    elif to_majority:
        for number in raters if len(raters) > 1 else ():
            yield _with_majority(table, number, [other for other in raters if other != number], MAJORITY_OF_OTHERS)
    elif spec.between == "person-model":
        for number in models:
            yield from (_of_two(table, number, person) for person in people)
    else:
        # A person is in the rows of a confusion table wherever there is one.
        for against, number in combinations([*people, *models], 2):
            yield _of_two(table, number, against)


def _of_two(table: Table, number: int, against: int) -> _Sides:
    names = table.raters[number].id, table.raters[against].id
    never = np.zeros(table.n_units, dtype=np.bool_)
    return _Sides(*names, (number, against), table.codes[:, number], table.codes[:, against], never)


def _with_majority(table: Table, number: int, others: Sequence[int], name: str) -> _Sides:
    codes = table.codes[:, others]
    label = statistics.majority_of(codes, len(table.values))
    split = (label == MISSING) & (codes != MISSING).any(axis=1)
    return _Sides(table.raters[number].id, name, (number, *others), table.codes[:, number], label, split)


def _of_pair(
    table: Table, spec: model.AgreementMeasure, sides: _Sides, stratum: Stratum, plan: Resampling
) -> Iterator[Figure]:
    own, other = (side[stratum.units] for side in (sides.own, sides.other))
    split = sides.split[stratum.units]
    rated, alone = own != MISSING, (own != MISSING) != (other != MISSING)
    counts = {"no_majority": int((rated & split).sum()), "unmatched": int((alone & ~split).sum())}
    clusters = table.clusters_of(stratum.units)
    if table.criterion.scale.values:
        pair = statistics.cross(other, own, len(table.values), table.scores, clusters)
    else:
        # Of numbers only whether they are equal is asked: two labels are enough for that.
        differs = np.where(own == MISSING, MISSING, np.where(own == other, 0, 1))
        pair = statistics.cross(np.minimum(other, 0), differs, 2, None, clusters)
    left_out = _left_out(counts, [table], sides.raters, stratum.of)
    figure = Figure(spec.name, spec.kind, undefined(NO_NUMBER, pair.n), table.criterion.id, sides.rater, sides.against)
    figure = replace(figure, stratum=stratum.of, left_out=left_out)
    match spec.kind:
        case "per_label":
            for label, found in zip(table.values, statistics.label_agreement(pair, plan), strict=True):
                yield replace(figure, estimate=found, label=label)
        case "confusion":
            yield replace(figure, detail=_confusion(table.values, sides.against, sides.rater, pair))
        case _:
            name = "percent" if spec.kind in ("percent_match", "exact_match") else spec.kind
            yield replace(figure, estimate=statistics.pair_statistics(pair, plan, [name])[name])


def _confusion(labels: Sequence[Value], rows: str, columns: str, crossed: Cross) -> Mapping[str, object]:
    return {"labels": list(labels), "rows": rows, "columns": columns, "counts": crossed.table.tolist()}


# --- The majority vote of all raters ---


def _votes(
    tables: Tables, spec: model.AgreementMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """For each criterion: shares of full, majority and none, then each rater's match with the majority."""
    for criterion in spec.criteria:
        table = tables.tables[criterion]
        raters = [number for number in _active([table]) if Status.RATED in table.statuses[number]]
        if not table.criterion.scale.values or len(raters) < 2:
            why = NO_TWO_RATERS if table.criterion.scale.values else NO_LABELS
            yield Figure(spec.name, spec.kind, undefined(why), criterion)
            continue
        figure = Figure(spec.name, spec.kind, undefined("no unit was rated by every rater"), criterion)
        for stratum in parts:
            yield from _vote(figure, table, raters, stratum, plan)


def _vote(figure: Figure, table: Table, raters: Sequence[int], stratum: Stratum, plan: Resampling) -> Iterator[Figure]:
    """The figures of one vote, over the units that every rater rated."""
    given = table.codes[:, raters]
    complete: BoolArray = (given != MISSING).all(axis=1) & stratum.units
    incomplete = {INCOMPLETE: int((given[stratum.units & ~complete] != MISSING).sum())}
    figure = replace(figure, stratum=stratum.of, left_out=_left_out(incomplete, [table], raters, stratum.of))
    codes, clusters, labels = given[complete], table.clusters_of(complete), len(table.values)
    names = [table.raters[number].id for number in raters]
    full = (codes == codes[:, :1]).all(axis=1)
    most = statistics.majority_of(codes, labels) != MISSING
    for label, hits in (("full", full), ("majority", most & ~full), ("none", ~most)):
        found = statistics.proportion(hits.astype(np.float64), clusters, plan.level) if len(codes) else figure.estimate
        yield replace(figure, estimate=found, label=label, detail={"count": int(hits.sum()), "raters": names})
    for place, name in enumerate(names):
        matches = statistics.match_with_majority(codes, labels, place, clusters, plan.level)
        for against, found in zip((MAJORITY, MAJORITY_OF_OTHERS), matches, strict=True):
            yield replace(figure, estimate=found if len(codes) else figure.estimate, rater=name, against=against)


# --- Two label fields of the items ---


def _classification(
    tables: Tables, spec: model.ClassificationMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """How well one field predicts another, over all items that have both labels and in each stratum."""
    columns = {name: tables.labels.get(name, ()) for name in (spec.truth, spec.prediction)}
    labels = ordered_labels(tables.protocol, columns)
    truth, prediction = (coded(columns[name], labels) for name in (spec.truth, spec.prediction))
    for stratum in parts:
        inside = stratum.items if truth.size else np.zeros(0, dtype=np.bool_)
        crossed = statistics.cross(truth[inside], prediction[inside], len(labels))
        detail: Mapping[str, object] | None = None
        if spec.kind == "confusion_matrix":
            detail = _confusion(labels, spec.truth, spec.prediction, crossed)
        elif spec.kind != "accuracy":
            detail = {"per_label": by_label(crossed, labels)[spec.kind]}
        without = int(inside.sum()) - crossed.n
        found = classification_score(crossed, spec.kind, plan)
        left_out = {"no_label": without} if without else {}
        yield Figure(spec.name, spec.kind, found, stratum=stratum.of, detail=detail, left_out=left_out)


def classification_score(crossed: Cross, kind: ClassificationKind, plan: Resampling = DEFAULT) -> Estimate:
    """Accuracy, or the macro average of precision, recall or F1; rows are the truth."""
    if crossed.n == 0:
        return undefined("no item has both labels")
    if kind == "confusion_matrix":
        return undefined(NO_NUMBER, crossed.n)
    if kind == "accuracy":
        return statistics.pair_percent(crossed, plan)
    return statistics.mean_over_labels(crossed, kind, plan=plan)


def by_label(crossed: Cross, labels: Sequence[str]) -> Mapping[str, Mapping[str, float | None]]:
    """Precision, recall and F1 of each label; None where the label was never predicted, or never true."""
    hits, true, predicted = np.diagonal(crossed.table), crossed.table.sum(axis=1), crossed.table.sum(axis=0)

    def shares(top: IntArray, bottom: IntArray) -> Mapping[str, float | None]:
        both = zip(labels, top.tolist(), bottom.tolist(), strict=True)
        return {label: hit / total if total else None for label, hit, total in both}

    f1 = shares(2 * hits, true + predicted)
    return {"precision": shares(hits, predicted), "recall": shares(hits, true), "f1": f1}
