"""How well predictions match labels, over all rows of a frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.analysis.measures import by_label, classification_score
from evenhand.analysis.strata import coded, ordered_labels
from evenhand.protocol.model import ClassificationMeasure, Protocol
from evenhand.report.json import plain
from evenhand.report.numbers import described
from evenhand.scales import label_key
from evenhand.statistics import Estimate, cross, mean_over_labels

SCORES: tuple[Literal["precision", "recall", "f1"], ...] = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class LabelScores:
    """One label taken as the positive one; None where the label was never predicted, or never true."""

    precision: float | None
    recall: float | None
    f1: float | None
    support: int
    """Rows whose label it is."""

    def __str__(self) -> str:
        named = {"precision": self.precision, "recall": self.recall, "F1": self.f1}
        parts = [f"{name} {'undefined' if value is None else format(value, '.2f')}" for name, value in named.items()]
        return ", ".join([*parts, f"support {self.support:,}"])


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
        found = plain(self)
        macro = {name: found.pop(name) for name in SCORES}
        return {**found, "macro": macro}

    def __str__(self) -> str:
        figures = {"accuracy": self.accuracy, "precision": self.precision, "recall": self.recall, "f1": self.f1}
        lines = [rows_counted(self.rows, self.left_out)]
        lines += [f"  {name:<10} {described(found)}" for name, found in figures.items()]
        lines += [f"  {label}: {scores}" for label, scores in self.per_label.items()]
        lines += [f"labels (rows) by predictions (columns): {', '.join(self.labels)}"]
        crossed = zip(self.labels, self.confusion, strict=True)
        lines += [f"  {label}: {' '.join(map(str, row))}" for label, row in crossed]
        return "\n".join([*lines, *self.remarks])


def rows_counted(rows: int, left_out: Mapping[str, int]) -> str:
    """`4 rows, 1 left out: no_label`."""
    return f"{rows:,} rows" + "".join(f", {count:,} left out: {why}" for why, count in left_out.items())


def classify(protocol: Protocol, truth: Sequence[str | None], prediction: Sequence[str | None]) -> Classification:
    """Every row counts that has both; the figures are the project's own, with the values that scikit-learn gives."""
    fields = next(spec for spec in protocol.measures if isinstance(spec, ClassificationMeasure))
    labels = ordered_labels(protocol, {fields.truth: truth, fields.prediction: prediction})
    crossed = cross(coded(truth, labels), coded(prediction, labels), len(labels))
    no_label = sum(label is None for label in truth)
    missing = {"no_label": no_label, "no_prediction": len(truth) - crossed.n - no_label}
    each = by_label(crossed, labels)
    support: list[int] = crossed.table.sum(axis=1).tolist()
    macro = {name: classification_score(crossed, name) for name in SCORES}
    weighted = {name: mean_over_labels(crossed, name, weighted=True) for name in SCORES if crossed.n}
    return Classification(
        rows=len(truth),
        left_out={why: count for why, count in missing.items() if count},
        labels=labels,
        confusion=crossed.table.tolist(),
        accuracy=classification_score(crossed, "accuracy"),
        **macro,
        weighted=weighted or macro,
        per_label={
            label: LabelScores(*(each[name][label] for name in SCORES), support=count)
            for label, count in zip(labels, support, strict=True)
        },
        remarks=_remarks(labels),
    )


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
