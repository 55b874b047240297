"""Confidence: whether raters are right as often as they say they are sure."""

from dataclasses import dataclass

import numpy as np

from evenhand.analysis.tables import Table, Tables
from evenhand.analysis.trust.standing import NO_MAJORITY
from evenhand.records import Kind
from evenhand.statistics import BoolArray, Calibration, FloatArray, Resampling, calibration

MOST_DIFFERENT = 102
"""Different confidences that are kept as they are: the 101 whole percents, and not stated."""
NOT_STATED = "no rater stated a confidence"


@dataclass(frozen=True, slots=True)
class Confidence:
    """A rater's stated confidence, compared with matching the majority of the other people.

    `stated` ratings have a confidence; `lent` of them had it from the leading criterion's rating of the same unit,
    since it is asked once for a unit. Without a calibration `why` is the reason.
    """

    rater: str
    kind: Kind
    stated: int
    lent: int
    calibration: Calibration | None
    why: str | None = None


def confidences(tables: Tables, table: Table, raters: list[int], plan: Resampling) -> list[Confidence]:
    """The calibration of each rater who stated a confidence."""
    sure, lent = _stated(tables, table)
    found = (_confidence(table, rater, sure, lent, plan) for rater in raters)
    return [one for one in found if one is not None]


def _confidence(table: Table, rater: int, sure: FloatArray, lent: BoolArray, plan: Resampling) -> Confidence | None:
    own = table.by_rater(rater)
    own = own[~np.isnan(sure[own])]
    if own.size == 0:
        return None
    ref, units = table.raters[rater], table.unit[own]
    majority = table.people_at(units, (rater,)).majority
    right = np.where(majority >= 0, (table.code[own] == majority).astype(np.float64), np.nan)
    counts = int(own.size), int(lent[own].sum())
    if np.isnan(right).all():
        why = NO_MAJORITY if not table.labels else "no unit with a confidence has a majority of other people"
        return Confidence(ref.id, ref.kind, *counts, None, why)
    found = calibration(_rounded(sure[own]), right, table.clusters_of(units), plan=plan)
    return Confidence(ref.id, ref.kind, *counts, found)


def _stated(tables: Tables, table: Table) -> tuple[FloatArray, BoolArray]:
    """Each rating's confidence from 0 to 1, NaN if none was stated, and whether it came from another criterion.

    Confidence is asked once for a unit and kept with the leading criterion; a rating without one takes it from there.
    One outside 0 to 100 counts as not stated.
    """
    own = np.full(table.unit.size, np.nan) if table.confidence is None else table.confidence
    lead = tables.tables.get(tables.protocol.lead.id)
    lent = np.zeros(own.size, dtype=np.bool_)
    if lead is not None and lead.criterion.id != table.criterion.id and lead.confidence is not None and own.size:
        places = lead.places_of(table.rater, table.unit)
        there = np.where(places >= 0, lead.confidence[places], np.nan)
        lent = np.isnan(own) & ~np.isnan(there)
        own = np.where(lent, there, own)
    return np.where((own >= 0.0) & (own <= 100.0), own / 100.0, np.nan), lent


def _rounded(sure: FloatArray) -> FloatArray:
    """Confidences as they are, or to the whole percent if hardly two are equal: no rater is sure to a tenth of one."""
    return sure if np.unique(sure).size <= MOST_DIFFERENT else np.rint(sure * 100.0) / 100.0
