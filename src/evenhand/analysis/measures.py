"""Measures: the protocol's own figures, each with its interval, its counts and, if it is undefined, the reason.

Three kinds of measure read ratings. Those of one rater (means, proportions, answers) turn each rating into a number, or
into a reason to leave it out (`Scores`). Those of two sides (percent match, κ, …) read a confusion table of two raters,
or of a rater and a majority (`_Sides`). The majority vote reads the units that every rater rated. Classification
measures read no rating: they compare two label fields of the items.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.figures import MAJORITY, MAJORITY_OF_OTHERS, NO_NUMBER, PEOPLE, PEOPLES_MAJORITY, Figure
from evenhand.analysis.tables import Table, Tables
from evenhand.nlp.words import token_f1
from evenhand.protocol import model
from evenhand.records import UNANSWERABLE, Kind, Status, Value
from evenhand.scales import Percent, same_value
from evenhand.statistics import (
    DEFAULT,
    MISSING,
    NO_RATINGS,
    BoolArray,
    Cross,
    Estimate,
    FloatArray,
    IntArray,
    Resampling,
    Sample,
    ratio,
    undefined,
)

ALSO_NOT_RATED = "also_not_rated"
EXCLUDED = "excluded_label"
INCOMPLETE = "incomplete"
NO_LABEL = "no_label"
NO_MAJORITY = "no_majority"
NO_REFERENCE = "no_reference"
UNANSWERABLE_REFERENCE = "unanswerable_reference"
UNANSWERED = "unanswered"
UNMATCHED = "unmatched"

NO_COMMON_UNIT = "no unit was rated by every rater"
NO_LABELS = "a percentage has no labels to compare; percent_match compares numbers"
NO_TWO_RATERS = "there are no two raters with ratings"
NO_PERSON_AND_MODEL = "there is no person with a model to compare"

ClassificationKind = Literal["accuracy", "precision", "recall", "f1", "confusion_matrix"]
Statistic = Callable[[FloatArray, IntArray | None], Estimate]
"""From values, and the cluster of each if they are not independent, to an estimate."""


@dataclass(frozen=True)
class Stratum:
    """The units and items with one value in one field; all of them if `of` is None."""

    of: Mapping[str, str] | None
    units: BoolArray
    items: BoolArray


def measures(tables: Tables, plan: Resampling = DEFAULT, only: Collection[str] | None = None) -> list[Figure]:
    """Every figure that the protocol asks for, in its order: overall first, then by stratum.

    `only` names the measures to compute. A measure that finds no rater to measure has one figure, undefined, with the
    reason.
    """
    specs = [spec for spec in tables.protocol.measures if only is None or spec.name in only]
    parts = _strata(tables)
    return [figure for spec in specs for figure in _figures(tables, spec, parts, plan)]


def _strata(tables: Tables) -> Sequence[Stratum]:
    """All units, then each value of each field for breakdowns; items without the field are in none of its strata."""
    found = [Stratum(None, np.ones(tables.n_units, dtype=np.bool_), np.ones(tables.n_items, dtype=np.bool_))]
    for field in tables.protocol.strata:
        values = ordered_labels(tables.protocol, {field: tables.labels.get(field, ())})
        of_items = coded(tables.labels.get(field, ()), values)
        of_units = of_items if tables.clusters is None or not values else of_items[tables.clusters]
        found += [Stratum({field: value}, of_units == code, of_items == code) for code, value in enumerate(values)]
    return found


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
                low, high = _ends(tables, criteria)
                within = partial(mean_within, lowest=low, highest=high, level=plan.level)
                statistic = within if spec.kind == "mean" else partial(_deviation, plan=plan)
                yield from _of_raters(tables, spec, criteria, _averages(tables, criteria), statistic, parts)
        case model.ProportionMeasure():
            statistic = partial(statistics.proportion, level=plan.level)
            yield from _of_raters(tables, spec, (spec.criterion,), _hits(tables, spec), statistic, parts)
        case model.AnswerMeasure():
            share, average = partial(statistics.proportion, level=plan.level), partial(resampled_mean, plan=plan)
            statistic = share if spec.kind == "answered" else average
            yield from _of_raters(tables, spec, (spec.criterion,), _answers(tables, spec), statistic, parts)


def _active(tables: Tables, criteria: Iterable[str]) -> Sequence[int]:
    """The raters with a record of any status on one of these criteria."""
    used = [tables.tables[criterion].statuses for criterion in criteria]
    return [number for number in range(len(tables.raters)) if any(statuses[number] for statuses in used)]


def _without_value(tables: Iterable[Table], raters: Sequence[int]) -> Mapping[str, int]:
    """These raters' ratings that have no value, by status."""
    counts: Counter[str] = Counter()
    for table in tables:
        for number in raters:
            counts.update({str(status): count for status, count in table.statuses[number].items()})
    del counts[Status.RATED]
    return counts


def _counted(left_out: Mapping[str, int]) -> Mapping[str, int]:
    return {why: count for why, count in left_out.items() if count}


# --- Measures of one rater, or of all people together ---


@dataclass(frozen=True)
class Scores:
    """A number for each rating that a measure reads: by which rater, of which unit.

    `left_out` has, by reason, the ratings that do not count; of several reasons the first counts. `tables` are those
    that the ratings come from. `followed_up` marks the ratings whose further condition was asked and answered, if the
    measure has one.
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray
    tables: Sequence[Table]
    left_out: Mapping[str, BoolArray]
    followed_up: BoolArray | None = None


def _of_raters(
    tables: Tables,
    spec: model.MeanMeasure | model.ProportionMeasure | model.AnswerMeasure,
    criteria: tuple[str, ...],
    scores: Scores,
    statistic: Statistic,
    parts: Sequence[Stratum],
) -> Iterator[Figure]:
    """The statistic of each rater, then of the people together, overall and in each stratum."""
    together = isinstance(spec, model.MeanMeasure) and spec.together
    figure = Figure(spec.name, spec.kind, undefined(NO_RATINGS), None if together else criteria[0])
    raters = _active(tables, criteria)
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
                yield _of_rater(tables, replace(figure, rater=name), scores, numbers, inside, statistic, stratum)


def _of_rater(
    tables: Tables,
    figure: Figure,
    scores: Scores,
    raters: Sequence[int],
    places: IntArray,
    statistic: Statistic,
    stratum: Stratum,
) -> Figure:
    left_out: dict[str, int] = {}
    used = places
    for why, ratings in scores.left_out.items():
        left_out[why] = int(ratings[used].sum())
        used = used[~ratings[used]]
    units, pooled = scores.unit[used], len(raters) > 1
    clusters = tables.together[units] if tables.together is not None else units if pooled else None
    if used.size:
        # Several people's ratings of one unit are one unit's worth of evidence, in `n` as in the interval.
        found = replace(statistic(scores.value[used], clusters), n=int(np.unique(units).size))
    else:
        found = undefined(_nothing_left(left_out))
    if scores.followed_up is not None and (unanswered := left_out.get(ALSO_NOT_RATED, 0)):
        found = _with_gaps(found, unanswered, bool(scores.followed_up[used].any()))
    if stratum.of is None:
        left_out = {**_without_value(scores.tables, raters), **left_out}
    names = [tables.raters[number].id for number in raters]
    return replace(
        figure,
        estimate=found,
        stratum=stratum.of,
        detail={"raters": names, "ratings": int(used.size)} if pooled else None,
        left_out=_counted(left_out),
    )


def _with_gaps(found: Estimate, unanswered: int, some: bool) -> Estimate:
    """A share whose further condition was not always answered: too low at best, and unknown without any answer."""
    if not some:
        return undefined(f"none of {unanswered} ratings answers its further condition", found.n)
    gap = f"{unanswered} ratings lack an answer to its further condition and are left out: it may be too low"
    return replace(found, note=gap if found.note is None else f"{found.note}; {gap}")


def _nothing_left(left_out: Mapping[str, int]) -> str:
    counted = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in left_out.items() if count)
    return f"every rating is left out: {counted}" if counted else NO_RATINGS


def _averages(tables: Tables, criteria: tuple[str, ...]) -> Scores:
    """Each rater's average over the criteria of a unit; a unit that lacks one of them is incomplete."""
    used = [tables.tables[criterion] for criterion in dict.fromkeys(criteria)]
    if len(used) == 1:
        return Scores(used[0].unit, used[0].rater, _numbers(used[0]), used, {})
    width = max(1, len(tables.raters))
    cells = [table.unit * width + table.rater for table in used]
    keys, place, given = np.unique(np.concatenate(cells), return_inverse=True, return_counts=True)
    numbers = np.concatenate([_numbers(table) for table in used])
    totals = np.bincount(place.reshape(-1), weights=numbers, minlength=len(keys))
    return Scores(keys // width, keys % width, totals / given, used, {INCOMPLETE: given < len(used)})


def _numbers(table: Table) -> FloatArray:
    assert table.scores is not None, "the protocol's check lets only numbers have means"
    return table.scores[table.code]


def _ends(tables: Tables, criteria: tuple[str, ...]) -> tuple[float, float]:
    """The lowest and the highest mean that the scales allow."""
    scales = [tables.tables[criterion].criterion.scale for criterion in criteria]
    both = [(0.0, 100.0) if isinstance(s, Percent) else (float(s.values[0]), float(s.values[-1])) for s in scales]
    return float(np.mean([low for low, _ in both])), float(np.mean([high for _, high in both]))


def _hits(tables: Tables, spec: model.ProportionMeasure) -> Scores:
    """Each rating as 1 or 0. Left out: excluded labels, and ratings whose `also` was asked but never answered.

    Such a rating is neither a hit nor a miss: to call it a miss would turn a missing answer into a score.
    """
    table = tables.tables[spec.criterion]
    hit = _any_of(table, spec.any_of)[table.code]
    left_out = {EXCLUDED: _any_of(table, spec.exclude)[table.code]}
    followed_up = None
    if spec.also is not None:
        answered, holds = _condition(tables, spec.also, table)
        left_out[ALSO_NOT_RATED] = hit & ~answered & _asked(tables, spec.also.criterion, table)
        followed_up = hit & answered
        hit = hit & holds
    return Scores(table.unit, table.rater, hit.astype(np.float64), (table,), left_out, followed_up)


def _any_of(table: Table, wanted: tuple[Value, ...]) -> BoolArray:
    """Which values of a table are among those wanted."""
    return np.array([any(same_value(value, other) for other in wanted) for value in table.values], dtype=np.bool_)


def _asked(tables: Tables, criterion: str, table: Table) -> BoolArray:
    """Whether each rating's unit was also asked about another criterion."""
    when = tables.protocol.criterion(criterion).when
    return np.ones(len(table.code), dtype=np.bool_) if when is None else _condition(tables, when, table)[1]


def _condition(tables: Tables, condition: model.Condition, table: Table) -> tuple[BoolArray, BoolArray]:
    """Whether each rating's rater gave the same unit a value on the condition's criterion, and whether it holds."""
    other = tables.tables[condition.criterion]
    codes = other.codes_at(table.rater, table.unit)
    holds = np.array([condition.holds(value) for value in other.values] + [False], dtype=np.bool_)
    return codes != MISSING, holds[codes]


def _answers(tables: Tables, spec: model.AnswerMeasure) -> Scores:
    """Each rating as answered or not, or as its F1; questions that the reference does not answer are left out."""
    table = tables.tables[spec.criterion]
    answered = np.array([value != UNANSWERABLE for value in table.values], dtype=np.bool_)[table.code]
    left_out = {UNANSWERABLE_REFERENCE: _reference_is(tables, UNANSWERABLE)[table.unit]}
    if spec.kind == "answered":
        return Scores(table.unit, table.rater, answered.astype(np.float64), (table,), left_out)
    left_out[NO_REFERENCE] = _reference_is(tables, None)[table.unit]
    if spec.over == "answered":
        left_out[UNANSWERED] = ~answered
    return Scores(table.unit, table.rater, _f1(tables, table, answered), (table,), left_out)


def _reference_is(tables: Tables, answer: str | None) -> BoolArray:
    references = tables.references if tables.references is not None else [None] * tables.n_units
    return np.fromiter((reference == answer for reference in references), dtype=np.bool_, count=tables.n_units)


def _f1(tables: Tables, table: Table, answered: BoolArray) -> FloatArray:
    """The F1 of each rating, 0 if there is no answer or nothing to compare it with; equal pairs are scored once."""
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
    return sample.estimate(sums, _deviation_of_sums, int(values.size), "", plan)


def _deviation_of_sums(sums: FloatArray) -> FloatArray:
    n, total, squares = sums[..., 0], sums[..., 1], sums[..., 2]
    apart = np.maximum(squares - ratio(total**2, n), 0.0)
    return np.sqrt(ratio(apart, np.where(n > 1, n - 1.0, 0.0)))


# --- Measures of two sides ---


@dataclass(frozen=True)
class _Sides:
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
        labels = table.categorical or spec.kind == "percent_match"
        pairs = list(_sides(tables, table, spec)) if labels else []
        if not pairs:
            why = NO_TWO_RATERS if spec.between == "all" else NO_PERSON_AND_MODEL
            yield Figure(spec.name, spec.kind, undefined(why if labels else NO_LABELS), criterion)
        for stratum in parts:
            for sides in pairs:
                if stratum.of is None or ((sides.own != MISSING) & (sides.other != MISSING)).any():
                    yield from _of_pair(table, spec, sides, stratum, plan)


def _sides(tables: Tables, table: Table, spec: model.AgreementMeasure) -> Iterator[_Sides]:
    raters = _active(tables, [table.criterion.id])
    people = [number for number in raters if tables.raters[number].kind is Kind.PERSON]
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
    pair = _crossed(table, sides, stratum)
    figure = Figure(
        spec.name,
        spec.kind,
        undefined(NO_NUMBER, pair.n),
        table.criterion.id,
        sides.rater,
        sides.against,
        stratum.of,
        left_out=_counted(_left_out_of_pair(table, sides, stratum)),
    )
    match spec.kind:
        case "per_label":
            for code, label in enumerate(table.values):
                yield replace(figure, estimate=statistics.label_agreement(pair, code, plan), label=label)
        case "confusion":
            counts = {"rows": sides.against, "columns": sides.rater, "counts": pair.table.tolist()}
            yield replace(figure, detail={"labels": list(table.values), **counts})
        case _:
            name = "percent" if spec.kind in ("percent_match", "exact_match") else spec.kind
            yield replace(figure, estimate=statistics.pair_statistics(pair, plan, [name])[name])


def _crossed(table: Table, sides: _Sides, stratum: Stratum) -> Cross:
    own, other = sides.own[stratum.units], sides.other[stratum.units]
    clusters = table.clusters_of(stratum.units)
    if table.categorical:
        return statistics.cross(other, own, len(table.values), table.scores, clusters)
    # Of numbers only whether they are equal is asked: two labels are enough for that.
    differs = np.where(own == MISSING, MISSING, np.where(own == other, 0, 1))
    return statistics.cross(np.minimum(other, 0), differs, 2, None, clusters)


def _left_out_of_pair(table: Table, sides: _Sides, stratum: Stratum) -> Mapping[str, int]:
    own, other = (side[stratum.units] != MISSING for side in (sides.own, sides.other))
    split = sides.split[stratum.units]
    counts = {
        NO_MAJORITY: int((own & split).sum()),
        UNMATCHED: int((own & ~other & ~split).sum() + (other & ~own).sum()),
    }
    return {**_without_value([table], sides.raters), **counts} if stratum.of is None else counts


# --- The majority vote of all raters ---


def _votes(
    tables: Tables, spec: model.AgreementMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """For each criterion: shares of full, majority and none, then each rater's match with the majority."""
    for criterion in spec.criteria:
        table = tables.tables[criterion]
        raters = [number for number in _active(tables, [criterion]) if Status.RATED in table.statuses[number]]
        if not table.categorical or len(raters) < 2:
            why = NO_TWO_RATERS if table.categorical else NO_LABELS
            yield Figure(spec.name, spec.kind, undefined(why), criterion)
            continue
        for stratum in parts:
            figure = Figure(spec.name, spec.kind, undefined(NO_COMMON_UNIT), criterion, stratum=stratum.of)
            yield from _vote(figure, table, raters, stratum, plan)


def _vote(figure: Figure, table: Table, raters: Sequence[int], stratum: Stratum, plan: Resampling) -> Iterator[Figure]:
    """The figures of one vote, over the units that every rater rated."""
    given = table.codes[:, raters]
    complete: BoolArray = (given != MISSING).all(axis=1) & stratum.units
    incomplete = {INCOMPLETE: int((given[stratum.units & ~complete] != MISSING).sum())}
    left_out = {**_without_value([table], raters), **incomplete} if stratum.of is None else incomplete
    figure = replace(figure, left_out=_counted(left_out))
    codes, clusters, labels = given[complete], table.clusters_of(complete), len(table.values)
    names = [table.raters[number].id for number in raters]
    full = (codes == codes[:, :1]).all(axis=1)
    most = statistics.majority_of(codes, labels) != MISSING
    for label, hits in (("full", full), ("majority", most & ~full), ("none", ~most)):
        found = statistics.proportion(hits.astype(np.float64), clusters, plan.level) if len(codes) else figure.estimate
        yield replace(figure, estimate=found, label=label, detail={"count": int(hits.sum()), "raters": names})
    for place, name in enumerate(names):
        match = statistics.match_with_majority(codes, labels, place, clusters, plan.level)
        for against, found in ((MAJORITY, match.plain), (MAJORITY_OF_OTHERS, match.with_others)):
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
            counts = {"rows": spec.truth, "columns": spec.prediction, "counts": crossed.table.tolist()}
            detail = {"labels": list(labels), **counts}
        elif spec.kind != "accuracy":
            detail = {"per_label": by_label(crossed, labels)[spec.kind]}
        missing = _counted({NO_LABEL: int(inside.sum()) - crossed.n})
        found = classification_score(crossed, spec.kind, plan)
        yield Figure(spec.name, spec.kind, found, stratum=stratum.of, detail=detail, left_out=missing)


def classification_score(crossed: Cross, kind: ClassificationKind, plan: Resampling = DEFAULT) -> Estimate:
    """Accuracy, or the macro average of precision, recall or F1; rows are the truth."""
    if crossed.n == 0:
        return undefined("no item has both labels")
    if kind == "confusion_matrix":
        return undefined(NO_NUMBER, crossed.n)
    return (
        statistics.pair_percent(crossed, plan)
        if kind == "accuracy"
        else statistics.mean_over_labels(crossed, kind, plan=plan)
    )


def by_label(crossed: Cross, labels: Sequence[str]) -> Mapping[str, Mapping[str, float | None]]:
    """Precision, recall and F1 of each label; None where the label was never predicted, or never true."""
    hits, true, predicted = np.diagonal(crossed.table), crossed.table.sum(axis=1), crossed.table.sum(axis=0)

    def shares(top: IntArray, bottom: IntArray) -> Mapping[str, float | None]:
        both = zip(labels, top.tolist(), bottom.tolist(), strict=True)
        return {label: hit / total if total else None for label, hit, total in both}

    return {
        "precision": shares(hits, predicted),
        "recall": shares(hits, true),
        "f1": shares(2 * hits, true + predicted),
    }
