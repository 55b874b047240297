"""Strata: which units a figure is about, and the label fields that define them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.analysis.tables import Tables
from evenhand.statistics import BoolArray, IntArray


@dataclass(frozen=True)
class Stratum:
    """The units and items with one value in one field; all of them if `of` is None."""

    of: Mapping[str, str] | None
    units: BoolArray
    items: BoolArray

    @property
    def whole(self) -> bool:
        return self.of is None


def strata(tables: Tables) -> Sequence[Stratum]:
    """All units, then each value of each field for breakdowns; items without the field are in none of its strata."""
    found = [Stratum(None, np.ones(tables.n_units, dtype=np.bool_), np.ones(tables.n_items, dtype=np.bool_))]
    for field in tables.protocol.strata:
        values = ordered_labels(tables, [field])
        if not values:
            continue
        of_items = coded(tables.labels[field], values)
        of_units = of_items if tables.clusters is None else of_items[tables.clusters]
        found += [Stratum({field: value}, of_units == code, of_items == code) for code, value in enumerate(values)]
    return found


def ordered_labels(tables: Tables, fields: Sequence[str]) -> Sequence[str]:
    """The values that items have in label fields, in the protocol's order if it has one, else by alphabet."""
    used = {value for field in fields for value in tables.labels.get(field, ()) if value is not None}
    specs = tables.protocol.item.fields
    known = list(dict.fromkeys(label for field in fields for label in specs[field].labels or ()))
    return [label for label in known if label in used] + sorted(used.difference(known))


def coded(values: Sequence[str | None], labels: Sequence[str]) -> IntArray:
    """Labels as their places in a list, -1 for none."""
    places: dict[str | None, int] = {label: place for place, label in enumerate(labels)}
    return np.fromiter((places.get(value, -1) for value in values), dtype=np.int64, count=len(values))
