"""Majority vote: how often raters agree on a label, and how often each gives the label of the majority."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.statistics.estimate import MISSING, AnyInts, Estimate, IntArray, undefined
from evenhand.statistics.intervals.analytic import proportion


@dataclass(frozen=True, slots=True)
class Votes:
    """Units with at least two votes: all for the same label, more than half for the same but not all, neither."""

    n: int = 0
    full: int = 0
    majority: int = 0
    none: int = 0


def majority_label(tally: IntArray, fewest: int = 1) -> IntArray:
    """For each row of label counts the label with more than half of them, -1 if there is none or too few votes."""
    if tally.shape[1] == 0:
        return np.full(len(tally), MISSING, dtype=np.int64)
    count = tally.sum(axis=1)
    strict = (2 * tally.max(axis=1) > count) & (count >= fewest)
    return np.where(strict, tally.argmax(axis=1), MISSING)


def votes(tally: IntArray) -> Mapping[int, Votes]:
    """The votes on the units with at least two, by how many votes a unit has; rows of `tally` are label counts."""
    count, top = tally.sum(axis=1), tally.max(axis=1, initial=0)
    found: dict[int, Votes] = {}
    for size in np.unique(count[count >= 2]).tolist():
        most = top[count == size]
        full = int((most == size).sum())
        more = int((2 * most > size).sum()) - full
        found[size] = Votes(n=most.size, full=full, majority=more, none=most.size - full - more)
    return found


def match_with(own: AnyInts, label: IntArray, clusters: AnyInts | None = None, level: float = 0.95) -> Estimate:
    """The share of units on which a rater's code is the majority's, of those that have both."""
    used = (own >= 0) & (label >= 0)
    if not used.any():
        return undefined("no unit that this rater rated has a majority")
    hits = (own[used] == label[used]).astype(np.float64)
    return proportion(hits, None if clusters is None else clusters[used], level)
