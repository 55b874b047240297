"""Figures: the one record that agreement, measures and trust all yield."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from evenhand.records import Value
from evenhand.statistics import Estimate

PEOPLE = "people"
MAJORITY = "majority"
PEOPLES_MAJORITY = "people's majority"
MAJORITY_OF_OTHERS = "majority of the others"
ABSENT_FIELDS = "absent_fields"
"""The entry of `detail` in the figure of a measure whose optional fields no item has: nobody asked for it."""
NO_NUMBER = "a table is not a single number; see its detail"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: which statistic, of whom, compared with whom, on which units.

    `statistic` is the name of the protocol's measure, or of the coefficient; `kind` says how it is computed. `rater` is
    whose figure it is, `against` whom or what the rater was compared with; both are None if the figure has no such
    side. `criterion` is None if it combines several or reads no rating. `stratum` is the field and value that the units
    were restricted to, None for all. `label` names the part of a statistic that has several: a label of the scale, or
    full, majority, none. `detail` holds what is not a single number: a confusion table, the raters who were pooled.
    `left_out` counts the ratings that are not in the figure, by reason; ratings without a value are counted by status,
    in the figures over all units only.
    """

    statistic: str
    kind: str
    estimate: Estimate
    criterion: str | None = None
    rater: str | None = None
    against: str | None = None
    stratum: Mapping[str, str] | None = None
    label: Value | None = None
    detail: Mapping[str, object] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])

    def to_dict(self) -> dict[str, object]:
        """The figure as `evenhand measures --json` lists it."""
        entries = flattened(self)
        return {"name": entries.pop("statistic"), **entries}


def flattened(record: Any) -> dict[str, object]:
    """The entries of a dataclass, with those of its estimate among them."""
    entries = {entry.name: getattr(record, entry.name) for entry in fields(record)}
    return entries | entries.pop("estimate").to_dict()
