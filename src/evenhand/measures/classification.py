"""How well one label field of the items predicts another; no rating is needed."""

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.agreement.arrays import IntArray
from evenhand.agreement.bootstrap import Plan, Statistic, estimate
from evenhand.agreement.cross import Cross, cross
from evenhand.agreement.labels import macro_f1, pair_percent
from evenhand.agreement.ratio import ratio
from evenhand.agreement.result import Estimate, undefined
from evenhand.measures.pairs import NO_NUMBER
from evenhand.measures.record import Figure, Measure, placed
from evenhand.measures.scope import Scope, coded, ordered_labels
from evenhand.protocol.model import ClassificationMeasure
from evenhand.table import FloatArray, Tables

NO_LABEL = "no_label"


def classification_measures(
    tables: Tables, spec: ClassificationMeasure, parts: Sequence[Scope], plan: Plan
) -> Iterator[Measure]:
    """The figure over all items that have both labels, and in each stratum."""
    labels = ordered_labels(tables, [spec.truth, spec.prediction])
    truth, prediction = (coded(tables.labels.get(name, ()), labels) for name in (spec.truth, spec.prediction))
    for scope in parts:
        inside = scope.items if truth.size else np.zeros(0, dtype=np.bool_)
        crossed = cross(truth[inside], prediction[inside], len(labels))
        left_out = {NO_LABEL: int(inside.sum()) - crossed.n}
        figure = Figure(_estimate(spec, crossed, plan), left_out, detail=_detail(spec, crossed, labels))
        yield placed(spec.name, spec.kind, figure, stratum=scope.stratum)


def _estimate(spec: ClassificationMeasure, crossed: Cross, plan: Plan) -> Estimate:
    if crossed.n == 0:
        return undefined("no item has both labels")
    match spec.kind:
        case "accuracy":
            return pair_percent(crossed, plan)
        case "f1":
            return macro_f1(crossed, plan)
        case "precision":
            return estimate(crossed.sample, _averaged(crossed.labels, -2), crossed.n, "", plan, crossed.resampler(plan))
        case "recall":
            return estimate(crossed.sample, _averaged(crossed.labels, -1), crossed.n, "", plan, crossed.resampler(plan))
        case "confusion_matrix":
            return undefined(NO_NUMBER, crossed.n)


def _averaged(labels: int, axis: int) -> Statistic:
    """The mean over the labels that occur of hits over the sum along an axis; 0 for a label whose sum there is 0."""

    def value(sums: FloatArray) -> FloatArray:
        table = sums.reshape(*sums.shape[:-1], labels, labels)
        hits = np.diagonal(table, axis1=-2, axis2=-1)
        given = table.sum(axis=axis)
        present = table.sum(axis=-1) + table.sum(axis=-2) > 0
        score = np.divide(hits, given, out=np.zeros_like(given), where=given > 0)
        return ratio(score.sum(axis=-1), present.sum(axis=-1).astype(np.float64))

    return value


def _detail(spec: ClassificationMeasure, crossed: Cross, labels: Sequence[str]) -> dict[str, object] | None:
    table = crossed.table
    hits, true, predicted = np.diagonal(table), table.sum(axis=1), table.sum(axis=0)
    match spec.kind:
        case "accuracy":
            return None
        case "precision":
            return {"per_label": _by_label(labels, hits, predicted)}
        case "recall":
            return {"per_label": _by_label(labels, hits, true)}
        case "f1":
            return {"per_label": _by_label(labels, 2 * hits, true + predicted)}
        case "confusion_matrix":
            counts = table.tolist()
            return {"labels": list(labels), "rows": spec.truth, "columns": spec.prediction, "counts": counts}


def _by_label(labels: Sequence[str], hits: IntArray, given: IntArray) -> dict[str, float | None]:
    pairs = zip(labels, hits.tolist(), given.tolist(), strict=True)
    return {label: hit / total if total else None for label, hit, total in pairs}
