"""All measures of a protocol, one after the other."""

from collections.abc import Iterator, Sequence

from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.agreement.result import NO_RATINGS, undefined
from evenhand.measures.answers import answer_series, resampled_mean
from evenhand.measures.classification import classification_measures
from evenhand.measures.means import average_series, ends, mean_within, score_series, spread
from evenhand.measures.pairs import pair_measures
from evenhand.measures.record import Figure, Measure, placed
from evenhand.measures.scope import Scope, scopes, whose
from evenhand.measures.series import Series, Statistic, figures
from evenhand.measures.shares import label_series, share
from evenhand.measures.votes import vote_measures
from evenhand.protocol import model
from evenhand.table import Tables

RaterSpec = model.MeanMeasure | model.ProportionMeasure | model.AnswerMeasure


def measures(tables: Tables, *, plan: Plan = DEFAULT) -> list[Measure]:
    """Every figure that the protocol asks for, in its order: overall first, then by stratum.

    A measure that finds nobody to measure has one figure, undefined, that says so.
    """
    parts = scopes(tables)
    return [figure for spec in tables.protocol.measures for figure in _measure(tables, spec, parts, plan)]


def _measure(tables: Tables, spec: model.Measure, parts: Sequence[Scope], plan: Plan) -> Iterator[Measure]:
    match spec:
        case model.ClassificationMeasure():
            yield from classification_measures(tables, spec, parts, plan)
        case model.AgreementMeasure(kind="majority"):
            yield from vote_measures(tables.independent(), spec, parts, plan)
        case model.AgreementMeasure():
            yield from pair_measures(tables.independent(), spec, parts, plan)
        case model.MeanMeasure():
            groups = [spec.criteria] if spec.together else [(criterion,) for criterion in spec.criteria]
            for criteria in groups:
                series = average_series(tables, criteria) if spec.together else score_series(tables.tables[criteria[0]])
                statistic = mean_within(*ends(tables, criteria), plan) if spec.kind == "mean" else spread(plan)
                yield from _of_raters(tables, spec, criteria, series, statistic, parts)
        case model.ProportionMeasure():
            series = label_series(tables, spec)
            yield from _of_raters(tables, spec, (spec.criterion,), series, share(plan), parts)
        case model.AnswerMeasure():
            statistic = share(plan) if spec.kind == "answered" else resampled_mean(plan)
            yield from _of_raters(tables, spec, (spec.criterion,), answer_series(tables, spec), statistic, parts)


def _of_raters(
    tables: Tables,
    spec: RaterSpec,
    criteria: tuple[str, ...],
    series: Series,
    statistic: Statistic,
    parts: Sequence[Scope],
) -> Iterator[Measure]:
    together = isinstance(spec, model.MeanMeasure) and spec.together
    criterion = None if together else criteria[0]
    raters = whose(tables, criteria)
    if not raters:
        yield placed(spec.name, spec.kind, Figure(undefined(NO_RATINGS)), criterion=criterion)
    for who, scope, figure in figures(tables, series, raters, statistic, parts):
        yield placed(spec.name, spec.kind, figure, criterion=criterion, rater=who.name, stratum=scope.stratum)
