"""How well predictions match labels, over all rows of a frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from evenhand.analysis.classification import classification_figures
from evenhand.analysis.figures import Figure
from evenhand.analysis.strata import coded, ordered_labels, strata
from evenhand.analysis.tables import Tables
from evenhand.protocol.model import ClassificationMeasure, Protocol
from evenhand.report.numbers import described
from evenhand.scales import label_key
from evenhand.statistics import DEFAULT, Cross, Estimate, Resampling, cross, mean_over_labels, undefined

NO_LABEL, NO_PREDICTION = "no_label", "no_prediction"
Score = Literal["precision", "recall", "f1"]
SCORES: tuple[Score, ...] = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class LabelScores:
    """One label taken as the positive one; None where the label was never predicted, or never true."""

    precision: float | None
    recall: float | None
    f1: float | None
    support: int
    """Rows whose label it is."""


@dataclass(frozen=True, slots=True)
class Classification:
    """Accuracy, precision, recall and F1 with their intervals, and the confusion table.

    `precision`, `recall` and `f1` are macro averages, over the labels that occur; `weighted` weighs each label by its
    support. The micro average of each is the accuracy, since a row has one label. Rows of `confusion` are labels,
    columns predictions. `left_out` counts the rows without a label or a prediction, `remarks` say what to look at.
    """

    rows: int
    left_out: Mapping[str, int]
    labels: Sequence[str]
    confusion: Sequence[Sequence[int]]
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    weighted: Mapping[str, Estimate]
    per_label: Mapping[str, LabelScores]
    remarks: Sequence[str]

    def as_dict(self) -> dict[str, object]:
        """The same as JSON would hold it."""
        return {
            "rows": self.rows,
            "left_out": dict(self.left_out),
            "accuracy": self.accuracy.to_dict(),
            "macro": {name: getattr(self, name).to_dict() for name in ("precision", "recall", "f1")},
            "weighted": {name: found.to_dict() for name, found in self.weighted.items()},
            "per_label": {
                label: {"precision": s.precision, "recall": s.recall, "f1": s.f1, "support": s.support}
                for label, s in self.per_label.items()
            },
            "labels": list(self.labels),
            "confusion": [list(row) for row in self.confusion],
            "remarks": list(self.remarks),
        }

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} rows" + "".join(f", {count:,} left out: {why}" for why, count in self.left_out.items())
        ]
        figures = {"accuracy": self.accuracy, "precision": self.precision, "recall": self.recall, "f1": self.f1}
        lines += [f"  {name:<10} {described(found)}" for name, found in figures.items()]
        lines += [f"  {label}: {_spoken(scores)}" for label, scores in self.per_label.items()]
        lines += [f"labels (rows) by predictions (columns): {', '.join(self.labels)}"]
        lines += [
            f"  {label}: {' '.join(map(str, row))}" for label, row in zip(self.labels, self.confusion, strict=True)
        ]
        return "\n".join([*lines, *self.remarks])


def classify(
    protocol: Protocol, truth: Sequence[str | None], prediction: Sequence[str | None], plan: Resampling = DEFAULT
) -> Classification:
    """Every row counts that has both; the figures are the project's own, with the values that scikit-learn gives."""
    specs = {spec.kind: spec for spec in protocol.measures if isinstance(spec, ClassificationMeasure)}
    fields = next(iter(specs.values()))
    tables = Tables(
        protocol=protocol,
        raters=(),
        n_items=len(truth),
        n_units=len(truth),
        tables={},
        labels={fields.truth: truth, fields.prediction: prediction},
    )
    whole = strata(tables)[:1]
    found = {kind: next(classification_figures(tables, spec, whole, plan)) for kind, spec in specs.items()}
    labels = ordered_labels(tables, [fields.truth, fields.prediction])
    crossed = cross(coded(truth, labels), coded(prediction, labels), len(labels))
    missing = {NO_LABEL: sum(label is None for label in truth)}
    missing[NO_PREDICTION] = len(truth) - crossed.n - missing[NO_LABEL]
    return Classification(
        rows=len(truth),
        left_out={why: count for why, count in missing.items() if count},
        labels=labels,
        confusion=crossed.table.tolist(),
        accuracy=found["accuracy"].estimate,
        precision=found["precision"].estimate,
        recall=found["recall"].estimate,
        f1=found["f1"].estimate,
        weighted={name: _weighted(crossed, name, plan) for name in SCORES},
        per_label=_per_label(labels, crossed, found),
        remarks=_remarks(labels),
    )


def _per_label(labels: Sequence[str], crossed: Cross, found: Mapping[str, Figure]) -> Mapping[str, LabelScores]:
    def by_label(kind: str) -> Mapping[str, float | None]:
        return cast("Mapping[str, float | None]", (found[kind].detail or {})["per_label"])

    precision, recall, f1 = by_label("precision"), by_label("recall"), by_label("f1")
    support: list[int] = crossed.table.sum(axis=1).tolist()
    return {
        label: LabelScores(precision[label], recall[label], f1[label], count)
        for label, count in zip(labels, support, strict=True)
    }


def _weighted(crossed: Cross, name: Score, plan: Resampling) -> Estimate:
    if crossed.n == 0:
        return undefined("no item has both labels")
    return mean_over_labels(crossed, name, weighted=True, plan=plan)


def _remarks(labels: Sequence[str]) -> Sequence[str]:
    """Labels that look like two spellings of one are not joined, but named."""
    spellings: dict[str, list[str]] = {}
    for label in labels:
        spellings.setdefault(label_key(label), []).append(label)
    return [
        f"{' and '.join(map(repr, same))} are counted as different labels; write them alike if they mean the same"
        for same in spellings.values()
        if len(same) > 1
    ]


def _spoken(scores: LabelScores) -> str:
    named = {"precision": scores.precision, "recall": scores.recall, "F1": scores.f1}
    parts = [f"{name} {'undefined' if value is None else format(value, '.2f')}" for name, value in named.items()]
    return ", ".join([*parts, f"support {scores.support:,}"])
