"""Classification measures: how well one label field of the items predicts another. No rating is needed."""

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.analysis.figures import NO_NUMBER, Figure
from evenhand.analysis.strata import Stratum, coded, ordered_labels
from evenhand.analysis.tables import Tables
from evenhand.protocol.model import ClassificationMeasure
from evenhand.statistics import Cross, Estimate, IntArray, Resampling, cross, mean_over_labels, pair_percent, undefined

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
        case "confusion_matrix":
            return undefined(NO_NUMBER, crossed.n)
        case _:
            return mean_over_labels(crossed, spec.kind, plan=plan)


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
