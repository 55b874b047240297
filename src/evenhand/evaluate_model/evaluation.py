"""What a model said of each row, and what that comes to."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analysis.measures import mean_within
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Rating, Status
from evenhand.report.numbers import described
from evenhand.scales import Nominal, Ordinal, Text
from evenhand.statistics import NO_RATINGS, Estimate, undefined
from evenhand.text import counted


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model's ratings, a mapping for each row of the dataset, in its order.

    A row has `row` (from 1) and `item`; `ratings` and `rationales` by criterion; criteria in free text, such as
    `improvements`, under their own names; `overall` where a criterion sums the others up; `confidence` and `notes`;
    and `failures`, the reason for each criterion that has no rating because the model gave none that could be used. A
    failure is in no mean. A row that was not reached has no ratings and no failures.
    """

    rater: str
    protocol: Protocol
    rows: Sequence[Mapping[str, Any]]
    means: Mapping[str, Estimate]
    counts: Mapping[str, Mapping[str, int]]
    """How often each label was given, for criteria with labels."""
    failures: Mapping[str, int]
    """Rows that failed, by reason."""

    @property
    def rated(self) -> int:
        """Rows with a rating on every criterion that must have one."""
        return sum(bool(row["ratings"]) and not row["failures"] for row in self.rows)

    def columns(self) -> dict[str, list[object]]:
        """The rows as flat columns: `CRITERION`, `CRITERION_rationale`, and `failure` with all reasons of a row."""
        flat: dict[str, list[object]] = {name: [row[name] for row in self.rows] for name in ("row", "item")}
        for criterion in self.protocol.criteria:
            name = criterion.id
            if isinstance(criterion.scale, Text):
                flat[name] = [row[name] for row in self.rows]
                continue
            flat[name] = [row["ratings"].get(name) for row in self.rows]
            flat[f"{name}_rationale"] = [row["rationales"].get(name) for row in self.rows]
        flat |= {name: [row[name] for row in self.rows] for name in ("confidence", "notes")}
        flat["failure"] = ["; ".join(dict.fromkeys(row["failures"].values())) or None for row in self.rows]
        return flat

    def __str__(self) -> str:
        lines = [f"{self.protocol.name}, rated by {self.rater}: {self.rated:,} of {counted(len(self.rows), 'row')}"]
        width = max(map(len, [*self.means, *self.counts]), default=0)
        lines += [f"  {name:<{width}}  {described(mean, 'score')}" for name, mean in self.means.items()]
        for name, labels in self.counts.items():
            given = ", ".join(f"{label} {count:,}" for label, count in labels.items())
            lines.append(f"  {name:<{width}}  {given}, n {sum(labels.values()):,}")
        if self.failures:
            failed = sum(bool(row["failures"]) for row in self.rows)
            lines.append(f"failed, in no figure above: {counted(failed, 'row')}")
            lines += [f"  {reason}: {counted(count, 'row')}" for reason, count in self.failures.items()]
        return "\n".join(lines)


def evaluation_of(rater: str, protocol: Protocol, items: Sequence[Item], ratings: Iterable[Rating]) -> Evaluation:
    """What these ratings, all by one rater and all on whole items, come to."""
    by_item: dict[str, dict[str, Rating]] = {}
    for rating in ratings:
        by_item.setdefault(rating.unit, {})[rating.criterion] = rating
    rows = [_row(protocol, place, item.id, by_item.get(item.id, {})) for place, item in enumerate(items, start=1)]
    failures = Counter(reason for row in rows for reason in dict.fromkeys(row["failures"].values()))
    values = {c.id: [row["ratings"][c.id] for row in rows if c.id in row["ratings"]] for c in protocol.criteria}
    scales = {criterion.id: criterion.scale for criterion in protocol.criteria}
    return Evaluation(
        rater=rater,
        protocol=protocol,
        rows=rows,
        means={name: _mean(values[name], scale) for name, scale in scales.items() if isinstance(scale, Ordinal)},
        counts={
            name: {label: values[name].count(label) for label in scale.values}
            for name, scale in scales.items()
            if isinstance(scale, Nominal)
        },
        failures=dict(failures.most_common()),
    )


def _row(protocol: Protocol, place: int, item: str, given: Mapping[str, Rating]) -> dict[str, Any]:
    row: dict[str, Any] = {"row": place, "item": item, "ratings": {}, "rationales": {}}
    for criterion in protocol.criteria:
        rating = given.get(criterion.id)
        value = None if rating is None else rating.value
        if isinstance(criterion.scale, Text):
            row[criterion.id] = value
        elif value is not None and rating is not None:
            row["ratings"][criterion.id] = value
            row["rationales"][criterion.id] = rating.rationale
        if criterion.overall:
            row["overall"] = value
    lead = given.get(protocol.lead.id)
    row["confidence"] = None if lead is None else lead.confidence
    row["notes"] = None if lead is None else lead.notes
    failed = {name: rating.reason for name, rating in given.items() if rating.status is Status.FAILED}
    return {**row, "failures": failed}


def _mean(values: Sequence[float], scale: Ordinal) -> Estimate:
    if not values:
        return undefined(NO_RATINGS)
    return mean_within(np.array(values, dtype=np.float64), None, float(scale.values[0]), float(scale.values[-1]))
