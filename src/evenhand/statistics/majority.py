"""Majority vote: how often raters agree on a label, and how often each gives the label of the majority."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.estimate import MISSING, AnyInts, Estimate, IntArray, undefined
from evenhand.statistics.intervals.analytic import proportion


@dataclass(frozen=True, slots=True)
class Votes:
    """Units that every rater rated: all the same label, more than half the same but not all, neither."""

    n: int
    full: int
    majority: int
    none: int


def _tally(codes: AnyInts, labels: int) -> IntArray:
    """How many raters gave each label to each unit."""
    tally: IntArray = np.zeros((len(codes), labels), dtype=np.int64)
    for label in range(labels):
        tally[:, label] = (codes == label).sum(axis=1)
    return tally


def majority_label(tally: IntArray) -> IntArray:
    """For each row of label counts the label with more than half of them, -1 where there is none."""
    if tally.shape[1] == 0:
        return np.full(len(tally), MISSING, dtype=np.int64)
    strict = 2 * tally.max(axis=1) > tally.sum(axis=1)
    return np.where(strict, tally.argmax(axis=1), MISSING)


def majority_of(codes: AnyInts, labels: int) -> IntArray:
    """The label that more than half of a unit's ratings give, -1 where there is none; `codes` is units × raters."""
    return majority_label(_tally(codes, labels))


def votes(codes: AnyInts, labels: int) -> Votes:
    """The votes on the units that every rater rated; all zero with fewer than two raters."""
    raters = codes.shape[1]
    complete = codes[(codes >= 0).all(axis=1)] if raters >= 2 else codes[:0]
    top = _tally(complete, labels).max(axis=1, initial=0)
    full = int((top == raters).sum())
    more = int((2 * top > raters).sum()) - full
    return Votes(n=len(complete), full=full, majority=more, none=len(complete) - full - more)


def match_with_majority(
    codes: AnyInts, labels: int, rater: int, clusters: AnyInts | None = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """A rater's share of units on which the majority's label is the rater's own. Range 0 to 1. Level: nominal.

    First with the majority of all, in which the rater's own vote is flattering, then with that of the others. Units
    where they have no label in more than half of their ratings are left out; `n` counts those used. Undefined if none.
    """
    own = codes[:, rater]
    tally = _tally(codes, labels)
    others = tally.copy()
    rated = np.flatnonzero(own >= 0)
    others[rated, own[rated]] -= 1
    of_all = np.where(tally.sum(axis=1) >= 2, majority_label(tally), MISSING)
    return match_with(own, of_all, clusters, level), match_with(own, majority_label(others), clusters, level)


def match_with(own: AnyInts, label: IntArray, clusters: AnyInts | None = None, level: float = 0.95) -> Estimate:
    """The share of units on which a rater's code is the majority's, of those that have both."""
    used = (own >= 0) & (label >= 0)
    if not used.any():
        return undefined("no unit that this rater rated has a majority")
    hits = (own[used] == label[used]).astype(np.float64)
    return proportion(hits, None if clusters is None else clusters[used], level)
