"""Strata: the units and items with one value in a label field, or with one combination of values in several."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from evenhand.analysis.tables import Tables
from evenhand.errors import UserError
from evenhand.protocol.model import Protocol
from evenhand.statistics import MISSING, BoolArray, IntArray
from evenhand.text import unknown


class Stratum(NamedTuple):
    """The units and items with these values in these fields; all of them if `of` is None."""

    of: Mapping[str, str] | None
    units: BoolArray
    items: BoolArray


def strata(tables: Tables, by: Sequence[Sequence[str]]) -> list[Stratum]:
    """Each combination of values that occurs in some fields, for each of `by`.

    Items that lack one of the fields are in none of its strata. Raises UserError if a name is not a label field's.
    """
    parts: list[Stratum] = []
    for fields in by:
        columns = {field: _column(tables, field) for field in fields}
        values = [ordered_labels(tables.protocol, {field: column}) for field, column in columns.items()]
        codes = [coded(column, labels) for column, labels in zip(columns.values(), values, strict=True)]
        for places in product(*(range(len(labels)) for labels in values)):
            items: BoolArray = np.logical_and.reduce([code == place for code, place in zip(codes, places, strict=True)])
            of = {field: labels[place] for field, labels, place in zip(columns, values, places, strict=True)}
            if items.any():
                parts.append(Stratum(of, items if tables.clusters is None else items[tables.clusters], items))
    return parts


def _column(tables: Tables, field: str) -> Sequence[str | None]:
    fields = [name for name, spec in tables.protocol.item.fields.items() if spec.kind == "label"]
    if field not in fields:
        there = [name for name in fields if any(tables.labels.get(name, ()))]
        raise UserError(
            f"results are broken down by fields of kind label: {unknown('label field', field, there)}; a column of "
            "your own becomes one when the study is created with --map FIELD=COLUMN"
        )
    return tables.labels.get(field) or [None] * tables.n_items


def ordered_labels(protocol: Protocol, columns: Mapping[str, Sequence[str | None]]) -> Sequence[str]:
    """The values that items have in label fields, in the protocol's order if it has one, else by alphabet."""
    used = {value for column in columns.values() for value in column if value is not None}
    known = list(dict.fromkeys(label for field in columns for label in protocol.item.fields[field].labels or ()))
    return [label for label in known if label in used] + sorted(used.difference(known))


def coded(values: Sequence[str | None], labels: Sequence[str]) -> IntArray:
    """Labels as their places in a list, -1 for none."""
    places: dict[str | None, int] = {label: place for place, label in enumerate(labels)}
    return np.fromiter((places.get(value, MISSING) for value in values), dtype=np.int64, count=len(values))
