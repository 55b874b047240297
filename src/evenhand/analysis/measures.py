"""Measures: the protocol's own figures, each with its interval, its counts and, if it is undefined, the reason.

Three kinds of measure read ratings. Those of one rater (means, proportions, answers) turn each rating into a number, or
into a reason to leave it out (`Scores`). Those of two sides (percent match, κ, …) read a confusion table of two raters,
or of a rater and a majority (`_Sides`). The majority vote reads the units with at least two votes. Classification
measures read no rating: they compare two label fields of the items; the measures of `item_measures` read other fields.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from typing import Literal, NamedTuple

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.agreement import majority, voters
from evenhand.analysis.figures import MAJORITY, MAJORITY_OF_OTHERS, NO_NUMBER, PEOPLE, PEOPLES_MAJORITY, Figure
from evenhand.analysis.item_measures import INCOMPLETE, average, item_figures, item_scores, item_shares
from evenhand.analysis.strata import Stratum, coded, ordered_labels, strata
from evenhand.analysis.tables import ALL, Table, Tables, without_value
from evenhand.nlp.words import token_f1
from evenhand.protocol import model
from evenhand.records import UNANSWERABLE, Kind, Status, Value
from evenhand.scales import same_value
from evenhand.statistics import DEFAULT, Cross, Resampling, Sample, ratio
from evenhand.statistics.estimate import MISSING, NO_RATINGS, BoolArray, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.analytic import within

ALSO_NOT_RATED = "also_not_rated"
NO_LABELS = "a number has no labels to compare; percent_match compares numbers"
MANY = 15
"""Raters beyond which a pair without a shared unit has no figure."""
NO_TWO_RATERS = "there are no two raters with ratings"

ClassificationKind = Literal["accuracy", "precision", "recall", "f1", "confusion_matrix"]
Statistic = Callable[[FloatArray, IntArray | None], Estimate]
"""From values, and the cluster of each if they are not independent, to an estimate."""


def measures(
    tables: Tables,
    plan: Resampling = DEFAULT,
    only: Collection[str] | None = None,
    by: Sequence[Sequence[str]] | None = None,
    together: Sequence[str] = (),
) -> list[Figure]:
    """Every figure that the protocol asks for, in its order: overall first, then by stratum.

    `only` names the measures to compute. `by` has the fields to break them down by, several for their combinations, by
    default the protocol's. `together` names criteria on which agreement is also measured as on one. With combined
    raters in the tables, only the figures about these are returned. A measure that finds no rater has one figure,
    undefined, with the reason.
    """
    protocol = tables.protocol
    by = breakdowns(protocol, by)
    specs = [spec for spec in protocol.measures if only is None or spec.name in only]
    if together:
        joined = {"criteria": tuple(together), "together": True}
        agreement = [spec for spec in specs if isinstance(spec, model.AgreementMeasure)]
        specs += [spec.model_copy(update=joined) for spec in agreement if set(together) <= set(spec.criteria)]
    parts = whole_and_strata(tables, by)
    return [figure for spec in specs for figure in _figures(tables, spec, by, parts, plan)]


def breakdowns(protocol: model.Protocol, by: Sequence[Sequence[str]] | None) -> Sequence[Sequence[str]]:
    """The fields by which results are broken down: those that were asked for, or else the protocol's."""
    return [*((field,) for field in protocol.strata), *protocol.crossed] if by is None else by


def whole_and_strata(tables: Tables, by: Sequence[Sequence[str]]) -> Sequence[Stratum]:
    """All units, then each stratum."""
    whole = Stratum(None, np.ones(tables.n_units, dtype=np.bool_), np.ones(tables.n_items, dtype=np.bool_))
    return [whole, *strata(tables, by)] if by else [whole]


def _figures(
    tables: Tables, spec: model.Measure, by: Sequence[Sequence[str]], parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    match spec:
        case model.ClassificationMeasure():
            yield from _classification(tables, spec, parts, plan) if not tables.combined else ()
        case model.TextMeasure() | model.AbstentionMeasure() | model.RetrievalMeasure():
            yield from item_figures(tables, spec, item_scores(tables, spec), parts, plan) if not tables.combined else ()
        case model.AgreementMeasure(together=True):
            joined = tables.joined(spec.criteria)
            alone = spec.model_copy(update={"criteria": (ALL,), "together": False})
            yield from (
                replace(figure, criterion=None)
                for figure in _figures(joined, alone, by, whole_and_strata(joined, by), plan)
            )
        case model.AgreementMeasure(kind="majority"):
            yield from _votes(tables.independent(), spec, parts, plan) if not tables.combined else ()
        case model.AgreementMeasure():
            yield from _pairs(tables.independent(), spec, parts, plan)
        case model.MeanMeasure():
            for criteria in [spec.criteria] if spec.together else [(criterion,) for criterion in spec.criteria]:
                figure = Figure(spec.name, spec.kind, undefined(NO_RATINGS), None if spec.together else criteria[0])
                yield from _of_raters(tables, figure, _averages(tables, spec, criteria, plan), parts)
        case model.ProportionMeasure() | model.AnswerMeasure():
            figure = Figure(spec.name, spec.kind, undefined(NO_RATINGS), spec.criterion)
            scores = _shares(tables, spec, plan) if spec.kind == "proportion" else _answers(tables, spec, plan)
            yield from _of_raters(tables, figure, scores, parts)


def _active(used: Sequence[Table]) -> Sequence[int]:
    """The raters with a record of any status in one of these tables."""
    return [number for number in range(used[0].n_raters) if any(table.statuses[number] for table in used)]


def _left_out(
    counts: Mapping[str, int],
    used: Sequence[Table],
    raters: Sequence[int],
    stratum: Stratum,
    asked: BoolArray | None = None,
) -> Mapping[str, int]:
    """Reasons with their counts; also how many units have no value at all by these raters, by status."""
    if stratum.of is None and asked is None and len(used) == 1:
        statuses = [used[0].statuses[number] for number in raters]
    else:
        statuses = [without_value(used, raters, stratum.units if asked is None else stratum.units & asked)]
    found: Counter[str] = Counter()
    for one in statuses:
        found.update({str(status): count for status, count in one.items()})
    del found[Status.RATED]
    return {why: count for why, count in {**found, **counts}.items() if count}


# --- Measures of one rater, or of all people together ---


class Scores(NamedTuple):
    """A number for each rating that a measure reads: by which rater, of which unit; and the statistic of the numbers.

    `left_out` has, by reason, the ratings that do not count; of several reasons the first counts. `tables` are those
    that the ratings come from. `followed_up` marks the ratings whose further condition, if any, was asked and answered.
    `asked` are the units whose missing ratings are counted, if not all. With `by_item`, each number is an item's, and
    `unit` is the item.
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray
    statistic: Statistic
    tables: Sequence[Table]
    left_out: Mapping[str, BoolArray]
    followed_up: BoolArray | None = None
    asked: BoolArray | None = None
    by_item: bool = False


def _of_raters(tables: Tables, figure: Figure, scores: Scores, parts: Sequence[Stratum]) -> Iterator[Figure]:
    """The statistic of each rater, then of the people together, overall and in each stratum."""
    raters = _active(scores.tables)
    people = [number for number in tables.people() if number in raters]
    groups: dict[str, Sequence[int]] = {tables.raters[number].id: [number] for number in raters}
    if len(people) > 1:
        groups[PEOPLE] = people
    if tables.combined:
        # Two combined raters are there for their pair.
        alone = tables.combined if len(tables.combined) == 1 else ()
        groups = {tables.raters[number].id: scores.tables[0].voices(number) for number in alone}
    elif not groups:
        yield figure
    left_out: BoolArray = np.logical_or.reduce([np.zeros(scores.unit.size, dtype=np.bool_), *scores.left_out.values()])
    places = {name: np.flatnonzero(np.isin(scores.rater, numbers)) for name, numbers in groups.items()}
    for stratum in parts:
        for name, numbers in groups.items():
            members = stratum.items if scores.by_item else stratum.units
            inside = places[name] if stratum.of is None else places[name][members[scores.unit[places[name]]]]
            if stratum.of is None or (~left_out[places[name]]).any():
                yield _of_rater(tables, replace(figure, rater=name), scores, numbers, inside, stratum)


def _of_rater(
    tables: Tables, figure: Figure, scores: Scores, raters: Sequence[int], places: IntArray, stratum: Stratum
) -> Figure:
    left_out: dict[str, int] = {}
    used = places
    for why, ratings in scores.left_out.items():
        left_out[why] = int(ratings[used].sum())
        used = used[~ratings[used]]
    units, pooled = scores.unit[used], len(raters) > 1
    together = tables.documents_of_items if scores.by_item else tables.together
    clusters = together[units] if together is not None else units if pooled else None
    if used.size:
        # Several people's ratings of one unit are one unit's worth of evidence, in `n` as in the interval.
        found = replace(scores.statistic(scores.value[used], clusters), n=int(np.unique(units).size))
    else:
        counted = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in left_out.items() if count)
        what = "item" if scores.by_item else "rating"
        found = undefined(f"every {what} is left out: {counted}" if counted else NO_RATINGS)
    if scores.followed_up is not None and (unanswered := left_out.get(ALSO_NOT_RATED, 0)):
        found = _with_gaps(found, unanswered, bool(scores.followed_up[used].any()))
    names = [tables.raters[number].id for number in raters]
    detail = {"raters": names, "ratings": int(used.size)} if pooled else None
    reasons = _left_out(left_out, scores.tables, raters, stratum, scores.asked)
    return replace(figure, estimate=found, stratum=stratum.of, detail=detail, left_out=reasons)


def _with_gaps(found: Estimate, unanswered: int, some: bool) -> Estimate:
    """A share whose further condition was not always answered: too low at best, and unknown without any answer."""
    if not some:
        return undefined(f"none of {unanswered} ratings answers its further condition", found.n)
    gap = f"{unanswered} ratings lack an answer to its further condition and are left out: it may be too low"
    return replace(found, note=gap if found.note is None else f"{found.note}; {gap}")


def _averages(tables: Tables, spec: model.MeanMeasure, criteria: tuple[str, ...], plan: Resampling) -> Scores:
    """Each rater's average over the criteria of a unit; a unit that lacks one of them is incomplete."""
    used = [tables.tables[criterion] for criterion in dict.fromkeys(criteria)]
    low, high = np.mean([tables.tables[criterion].ends for criterion in criteria], axis=0).tolist()
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


def _shares(tables: Tables, spec: model.ProportionMeasure, plan: Resampling) -> Scores:
    """Each rating as 1 or 0, or with `per: item` each item as a share of its units."""
    scores = _hits(tables, spec, plan)
    if tables.unit_fields is not None and (field := tables.protocol.field_of(spec)) is not None:
        scores = _among(scores, tables.units_from(field))
    if spec.per == "rating":
        return scores
    none = np.zeros(scores.unit.size, dtype=np.bool_)
    masks = (scores.left_out.get(why, none) for why in ("excluded_label", ALSO_NOT_RATED))
    found = item_shares(tables, spec, scores.unit, scores.rater, scores.value, *masks)
    statistic = partial(average, plan=plan)
    return Scores(*found[:3], statistic, scores.tables, found.left_out, asked=scores.asked, by_item=True)


def _among(scores: Scores, units: BoolArray) -> Scores:
    """The ratings of some units only."""
    kept = units[scores.unit]
    return scores._replace(
        unit=scores.unit[kept],
        rater=scores.rater[kept],
        value=scores.value[kept],
        left_out={why: ratings[kept] for why, ratings in scores.left_out.items()},
        followed_up=None if scores.followed_up is None else scores.followed_up[kept],
        asked=units,
    )


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
    return Scores(table.unit, table.rater, values, partial(statistics.resampled_mean, plan=plan), (table,), left_out)


def mean_within(
    values: FloatArray, clusters: IntArray | None, lowest: float, highest: float, level: float = 0.95
) -> Estimate:
    """The mean with its t interval, cut off at the ends of the scale."""
    return within(statistics.mean(values, clusters, level), lowest, highest)


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

    `raters` are those whose ratings it reads; `split` the units whose raters have no majority. `units` has every unit
    once, or once for each comparison with a member of a pool.
    """

    rater: str
    against: str
    raters: Sequence[int]
    units: IntArray
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
        if not pairs and not tables.combined:
            why = NO_TWO_RATERS if spec.between == "all" else "there is no person with a model to compare"
            yield Figure(spec.name, spec.kind, undefined(why if labels else NO_LABELS), criterion)
        for stratum in parts:
            for sides in pairs:
                if stratum.of is None or ((sides.own != MISSING) & (sides.other != MISSING)).any():
                    yield from _of_pair(table, spec, sides, stratum, plan)


def _sides(table: Table, spec: model.AgreementMeasure) -> Iterator[_Sides]:
    if table.combined:
        yield from _sides_of_combined(table, spec)
        return
    raters = _active([table])
    people = [number for number in raters if table.raters[number].kind is Kind.PERSON]
    models = [number for number in raters if number not in people]
    if _to_majority(spec):
        for number in models if people else ():
            yield _with_majority(table, number, people, PEOPLES_MAJORITY)
    elif spec.kind in ("exact_match", "macro_f1"):
        for number in raters if len(raters) > 1 else ():
            yield _with_majority(table, number, [other for other in raters if other != number], MAJORITY_OF_OTHERS)
    elif spec.between == "person-model":
        for number in models:
            yield from (_of_two(table, number, person) for person in people)
    else:
        # Most pairs of a crowd share no unit. A few raters without one get a figure with the reason.
        pairs = combinations([*people, *models], 2) if len(raters) <= MANY else table.pairs()
        # A person is in the rows of a confusion table wherever there is one.
        for against, number in pairs:
            yield _of_two(table, number, against)


def _sides_of_combined(table: Table, spec: model.AgreementMeasure) -> Iterator[_Sides]:
    """A combined rater of people is compared as one of them, and as the people's majority is; one of models as they."""
    first, *second = table.combined
    is_person = {number: table.raters[number].kind is Kind.PERSON for number in (*table.active, *table.combined)}
    if _to_majority(spec) and not is_person[first] and not second:
        yield _with_majority(table, first, table.people, PEOPLES_MAJORITY)
        return
    for pair in table.combined_pairs():
        against, number = sorted(pair, key=lambda one: not is_person[one])
        if spec.between == "all" or is_person[against] != is_person[number]:
            yield _of_two(table, number, against)


def _to_majority(spec: model.AgreementMeasure) -> bool:
    """Whether models are compared with the people's majority and not with each person."""
    exact = spec.kind in ("exact_match", "macro_f1")
    return spec.between == "majority-model" or (exact and spec.between == "person-model")


def _of_two(table: Table, number: int, against: int) -> _Sides:
    names = table.raters[number].id, table.raters[against].id
    both = list(product(table.voices(number), table.voices(against)))
    own, other = (np.concatenate([table.codes[:, pair[side]] for pair in both]) for side in (0, 1))
    units, never = np.tile(np.arange(table.n_units), len(both)), np.zeros(own.size, dtype=np.bool_)
    return _Sides(*names, sorted({one for pair in both for one in pair}), units, own, other, never)


def _with_majority(table: Table, number: int, others: Sequence[int], name: str) -> _Sides:
    said, voices = table.opinions(others), table.voices(number)
    own = np.concatenate([table.codes[:, voice] for voice in voices])
    label, count, units = (
        np.tile(of_units, len(voices)) for of_units in (said.majority, said.count, np.arange(table.n_units))
    )
    split = (label == MISSING) & (count > 0)
    return _Sides(table.raters[number].id, name, (*voices, *others), units, own, label, split)


def _of_pair(
    table: Table, spec: model.AgreementMeasure, sides: _Sides, stratum: Stratum, plan: Resampling
) -> Iterator[Figure]:
    inside = stratum.units[sides.units]
    own, other, units = (side[inside] for side in (sides.own, sides.other, sides.units))
    split = sides.split[inside]
    rated, alone = own != MISSING, (own != MISSING) != (other != MISSING)
    # A unit that one of them skipped, or that failed, is counted by that status.
    by_status = np.isin(units, table.gaps.unit[np.isin(table.gaps.rater, sides.raters)])
    counts = {"no_majority": int((rated & split).sum()), "unmatched": int((alone & ~split & ~by_status).sum())}
    clusters = table.clusters_of(units)
    if clusters is None and sides.units.size > table.n_units:
        clusters = units
    if table.criterion.scale.values:
        pair = statistics.cross(other, own, len(table.values), table.scores, clusters)
    else:
        # Of numbers only whether they are equal is asked: two labels are enough for that.
        differs = np.where(own == MISSING, MISSING, np.where(own == other, 0, 1))
        pair = statistics.cross(np.minimum(other, 0), differs, 2, None, clusters)
    left_out = _left_out(counts, [table], sides.raters, stratum)
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


# --- The majority vote ---


def _votes(
    tables: Tables, spec: model.AgreementMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """For each criterion: shares of full, majority and none, then each rater's match with the majority."""
    for criterion in spec.criteria:
        table = tables.tables[criterion]
        if not table.criterion.scale.values or len(table.active) < 2:
            why = NO_TWO_RATERS if table.criterion.scale.values else NO_LABELS
            yield Figure(spec.name, spec.kind, undefined(why), criterion)
            continue
        figure = Figure(spec.name, spec.kind, undefined("no unit has two votes"), criterion)
        for stratum in parts:
            yield from _vote(figure, table, stratum, plan)


def _vote(figure: Figure, table: Table, stratum: Stratum, plan: Resampling) -> Iterator[Figure]:
    """The figures of one vote, over the units with at least two votes."""
    inside = table if stratum.of is None else table.within(stratum.units)
    who = voters(table)
    tally = inside.opinions(who).tally
    count, top = tally.sum(axis=1), tally.max(axis=1, initial=0)
    counted = count >= 2
    left_out = _left_out({INCOMPLETE: int(count[~counted].sum())}, [table], table.active, stratum)
    figure = replace(figure, stratum=stratum.of, left_out=left_out)
    found, names = majority(inside, who, tally, plan.level), [table.raters[number].id for number in who]
    full, most = (count == top)[counted], (2 * top > count)[counted]
    for label, hits in (("full", full), ("majority", most & ~full), ("none", ~most)):
        share = figure.estimate
        if hits.size:
            share = statistics.proportion(hits.astype(np.float64), table.clusters_of(counted), plan.level)
        by_count = {str(size): getattr(votes, label) for size, votes in found.by_count.items()}
        detail = {"count": int(hits.sum()), "by_count": by_count, "raters": names}
        yield replace(figure, estimate=share, label=label, detail=detail)
    if inside.joined > 1:
        yield from _on_all_criteria(figure, inside, tally, plan.level)
    for rater, against in product(found.plain, (MAJORITY, MAJORITY_OF_OTHERS)):
        matches = found.plain if against == MAJORITY else found.others
        yield replace(figure, estimate=matches[rater], rater=rater, against=against)


def _on_all_criteria(figure: Figure, table: Table, tally: IntArray, level: float) -> Iterator[Figure]:
    """The shares of units with a majority on all the criteria, on some and on none, if any of these has two votes."""
    votes = tally.sum(axis=1).reshape(table.joined, -1)
    decided = (votes >= 2) & (statistics.majority_label(tally) != MISSING).reshape(votes.shape)
    used = np.flatnonzero((votes >= 2).any(axis=0))
    size, times = votes[:, used].min(axis=0), decided[:, used].sum(axis=0)
    every, none = times == table.joined, times == 0
    for label, hits in (("on all", every), ("on some", ~every & ~none), ("on none", none)):
        share = figure.estimate
        if hits.size:
            share = statistics.proportion(hits.astype(np.float64), table.clusters_of(used), level)
        by_count = {str(count): int(hits[size == count].sum()) for count in np.unique(size).tolist()}
        yield replace(figure, estimate=share, label=label, detail={"count": int(hits.sum()), "by_count": by_count})


# --- Two label fields of the items ---


def _classification(
    tables: Tables, spec: model.ClassificationMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """How well one field predicts another, over all items that have both labels and in each stratum."""
    columns = {name: tables.labels.get(name, ()) for name in (spec.truth, spec.prediction)}
    labels = ordered_labels(tables.protocol, columns)
    truth, prediction = (coded(columns[name], labels) for name in (spec.truth, spec.prediction))
    documents = tables.documents_of_items
    for stratum in parts:
        inside = stratum.items if truth.size else np.zeros(0, dtype=np.bool_)
        clusters = documents[inside] if documents is not None and truth.size else None
        crossed = statistics.cross(truth[inside], prediction[inside], len(labels), None, clusters)
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
