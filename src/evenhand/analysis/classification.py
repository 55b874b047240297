"""Classification measures: how well one label field of the items predicts another. No rating is needed."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from evenhand.analysis.figures import NO_NUMBER, Figure
from evenhand.analysis.strata import Stratum, coded, ordered_labels
from evenhand.analysis.tables import Tables
from evenhand.protocol.model import ClassificationMeasure
from evenhand.statistics import Cross, Estimate, Resampling, Statistic, cross, macro_f1, pair_percent, ratio, undefined
from evenhand.statistics.arrays import FloatArray, IntArray

NO_LABEL = "no_label"


def classification_figures(
    tables: Tables, spec: ClassificationMeasure, parts: Sequence[Stratum], plan: Resampling
) -> Iterator[Figure]:
    """The figure over all items that have both labels, and in each stratum."""
    labels = ordered_labels(tables, [spec.truth, spec.prediction])
    truth, prediction = (coded(tables.labels.get(name, ()), labels) for name in (spec.truth, spec.prediction))
    for stratum in parts:
        inside = stratum.items if truth.size else np.zeros(0, dtype=np.bool_)
        crossed = cross(truth[inside], prediction[inside], len(labels))
        missing = int(inside.sum()) - crossed.n
        yield Figure(
            spec.name,
            spec.kind,
            _estimate(spec, crossed, plan),
            stratum=stratum.of,
            detail=_detail(spec, crossed, labels),
            left_out={NO_LABEL: missing} if missing else {},
        )


def _estimate(spec: ClassificationMeasure, crossed: Cross, plan: Resampling) -> Estimate:
    if crossed.n == 0:
        return undefined("no item has both labels")
    match spec.kind:
        case "accuracy":
            return pair_percent(crossed, plan)
        case "f1":
            return macro_f1(crossed, plan)
        case "precision":
            return crossed.sample.estimate(crossed.margins, _averaged("prediction"), crossed.n, "", plan)
        case "recall":
            return crossed.sample.estimate(crossed.margins, _averaged("truth"), crossed.n, "", plan)
        case "confusion_matrix":
            return undefined(NO_NUMBER, crossed.n)


def _averaged(over: Literal["truth", "prediction"]) -> Statistic:
    """The mean, over the labels that occur, of hits over how often one side has the label; 0 if it never does."""

    def value(sums: FloatArray) -> FloatArray:
        hits, true, predicted = np.split(sums, 3, axis=-1)
        given = true if over == "truth" else predicted
        present = true + predicted > 0
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
