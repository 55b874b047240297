"""How far one person's answers match known answers and the majority of the others.

A figure over all criteria is a share of answers; its interval is taken over items (or documents), since the answers of
one item go together. Percentages have no exact match that means anything and free texts none at all: they are left out,
but for whether there is an answer, where the protocol has one that says there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from evenhand.agreement.arrays import BoolArray
from evenhand.agreement.intervals import proportion
from evenhand.agreement.result import Estimate, undefined
from evenhand.table import MISSING, IntArray, Tables
from evenhand.trust.reading import Reading, comparable, read

NOTHING_COMPARED = "no criterion of this protocol has answers that can be the same"


@dataclass(frozen=True, slots=True)
class Alike:
    """One criterion: the share of same answers; of levels also the share at most one apart, and κ with quadratic
    weights."""

    same: Estimate
    within_one: Estimate | None = None
    kappa_quadratic: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """The share of same answers over all criteria, from so many different units, and criterion by criterion."""

    same: Estimate
    units: int = 0
    by_criterion: Mapping[str, Alike] = field(default_factory=dict[str, Alike])


@dataclass(frozen=True, slots=True)
class Hits:
    """Answers to one criterion: the unit of each, whether it was the same, and which units belong together."""

    unit: IntArray
    same: BoolArray
    together: IntArray | None

    @property
    def share(self) -> Estimate:
        return proportion(self.same.astype(np.float64), self.together)


def readings(tables: Tables) -> Mapping[str, Reading]:
    """The criteria on which answers can be the same."""
    found = {name: read(tables, name) for name, table in tables.tables.items() if comparable(table)}
    return {name: reading for name, reading in found.items() if reading.labels}


def with_known(criteria: Mapping[str, Reading], rater: int, known: int) -> Match:
    """A rater's answers against those of the rater whose answers are taken for right."""
    hits: dict[str, Hits] = {}
    for name, reading in criteria.items():
        units = reading.units_of(rater)
        hits[name] = _hits(reading, units, reading.codes_at(rater, units), reading.codes_at(known, units))
    return match(hits, "no item with a known answer is rated yet")


def with_others(criteria: Mapping[str, Reading], rater: int, known: int | None = None) -> Match:
    """A rater's answers against what more than half of the other people say, the rater with known answers apart."""
    left_out = (rater,) if known is None else (rater, known)
    hits: dict[str, Hits] = {}
    for name, reading in criteria.items():
        units = reading.units_of(rater)
        majority = reading.people_at(units, left_out).majority
        hits[name] = _hits(reading, units, reading.codes_at(rater, units), majority)
    return match(hits, "no unit has a majority of other people yet")


def _hits(reading: Reading, units: IntArray, own: IntArray, other: IntArray) -> Hits:
    used = (own != MISSING) & (other != MISSING)
    return Hits(units[used], own[used] == other[used], reading.clusters_of(units[used]))


def match(hits: Mapping[str, Hits], none: str) -> Match:
    """All criteria in one figure; `none` is the reason where there is no answer to compare."""
    used = {name: one for name, one in hits.items() if one.unit.size}
    if not used:
        return Match(undefined(none if hits else NOTHING_COMPARED))
    unit = np.concatenate([one.unit for one in used.values()])
    same = np.concatenate([one.same for one in used.values()])
    groups = [one.together for one in used.values() if one.together is not None]
    # One answer for each unit: the units are as independent as they are. Several: a unit's answers go together.
    together = np.concatenate(groups) if groups else unit if len(used) > 1 else None
    by_criterion = {name: Alike(one.share) for name, one in used.items()}
    return Match(Hits(unit, same, together).share, len(np.unique(unit)), by_criterion)
