"""What a figure is about: which units, and whose ratings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.measures.record import PEOPLE
from evenhand.records import Status
from evenhand.table import IntArray, Table, Tables

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Scope:
    """All units, or those of one stratum."""

    stratum: Mapping[str, str] | None
    units: BoolArray
    items: BoolArray

    @property
    def whole(self) -> bool:
        return self.stratum is None


def scopes(tables: Tables) -> Sequence[Scope]:
    """Everything, then each value of each field for breakdowns; items without the field are in none of its parts."""
    found = [Scope(None, np.ones(tables.n_units, dtype=np.bool_), np.ones(tables.n_items, dtype=np.bool_))]
    for field in tables.protocol.strata:
        of_items = tables.labels.get(field, ())
        values = ordered_labels(tables, [field])
        if not values:
            continue
        codes = coded(of_items, values)
        of_units = codes if tables.clusters is None else codes[tables.clusters]
        found += [Scope({field: value}, of_units == code, codes == code) for code, value in enumerate(values)]
    return found


def ordered_labels(tables: Tables, fields: Sequence[str]) -> Sequence[str]:
    """The values that items have in label fields: in the protocol's order where it has one, else by alphabet."""
    used = {value for field in fields for value in tables.labels.get(field, ()) if value is not None}
    specs = tables.protocol.item.fields
    known = list(dict.fromkeys(label for field in fields for label in specs[field].labels or ()))
    return [label for label in known if label in used] + sorted(used.difference(known))


def coded(values: Sequence[str | None], labels: Sequence[str]) -> IntArray:
    """Labels as their places in a list, -1 for none."""
    places: dict[str | None, int] = {label: place for place, label in enumerate(labels)}
    return np.fromiter((places.get(value, -1) for value in values), dtype=np.int64, count=len(values))


@dataclass(frozen=True, slots=True)
class Who:
    """One rater, or all people taken together."""

    name: str
    numbers: Sequence[int]

    @property
    def pooled(self) -> bool:
        return len(self.numbers) > 1


def active(tables: Tables, criteria: Iterable[str]) -> Sequence[int]:
    """The raters with a record of any status on one of these criteria."""
    used = [tables.tables[criterion].statuses for criterion in criteria]
    return [number for number in range(len(tables.raters)) if any(statuses[number] for statuses in used)]


def whose(tables: Tables, criteria: Sequence[str]) -> Sequence[Who]:
    """Each rater by itself, then, where there are two people or more, the people together."""
    raters = active(tables, criteria)
    people = [number for number in tables.people() if number in raters]
    single = [Who(tables.raters[number].id, (number,)) for number in raters]
    return [*single, Who(PEOPLE, people)] if len(people) > 1 else single


def without_value(tables: Iterable[Table], raters: Iterable[int]) -> Mapping[str, int]:
    """These raters' ratings that have no value, by status."""
    counts: Counter[str] = Counter()
    numbers = list(raters)
    for table in tables:
        for number in numbers:
            counts.update({str(status): count for status, count in table.statuses[number].items()})
    del counts[Status.RATED]
    return counts


def only(units: BoolArray, clusters: IntArray | None) -> IntArray | None:
    """The clusters of some units."""
    return None if clusters is None else clusters[units]
