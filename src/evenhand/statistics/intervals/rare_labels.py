"""Intervals for rare labels: agreement beyond chance that hangs on a handful of units.

When nearly all ratings are one label, a chance-corrected coefficient rests on the few units where a rater gave
another. If in the sample no two ratings of those units happen to agree, no resample can make them agree, and the
bootstrap's upper end stops short of the truth. What is uncertain is then a plain share: of the units off the commonest
label, those where the ratings agree. Its Wilson interval, carried over to the coefficient, is the least the interval
must hold.
"""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.statistics.confusion import Cross
from evenhand.statistics.counts import Counts
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.intervals.analytic import wilson

FEW = 10.0
"""Units that agree off the commonest label; from here on the bootstrap has enough to draw from."""

MOST = 0.6
"""Share of units off the commonest label beyond which no label is so common that the others are rare."""

NOTE = "few units agree on any but the commonest label: the interval is widened"


@dataclass(frozen=True, slots=True)
class RareSide:
    """Units rated twice: `n` of them, `involved` with a rating off the commonest label, `agreeing` of these on it.

    Where a unit has more than two ratings, `agreeing` adds up the share of its pairs off the commonest label that are
    the same. `blocks` is how many independent blocks the units make up.
    """

    n: int
    involved: float
    agreeing: float
    blocks: int


def rare_of_counts(counts: Counts) -> RareSide:
    """The rare side of many raters' counts."""
    rated = counts.raters >= 2
    table, times = counts.table[rated].astype(np.float64), counts.times[rated].astype(np.float64)
    common = int(np.argmax(counts.times @ counts.table)) if counts.table.size else 0
    raters, most = table.sum(axis=1), table[:, common] if table.size else np.zeros(0)
    # Pairs of a unit's ratings with at least one off the commonest label, and those of them that agree.
    pairs = (raters * (raters - 1.0) - most * (most - 1.0)) / 2.0
    same = ((table * (table - 1.0)).sum(axis=1) - most * (most - 1.0)) / 2.0
    off = pairs > 0
    share = np.divide(same, pairs, out=np.zeros_like(same), where=off)
    return RareSide(int(times.sum()), float(times[off].sum()), float(times @ share), counts.sample.n_blocks)


def rare_of_pair(pair: Cross) -> RareSide:
    """The rare side of two raters."""
    common = int(np.argmax(pair.table.sum(axis=0) + pair.table.sum(axis=1)))
    both = float(pair.table[common, common])
    return RareSide(pair.n, pair.n - both, float(np.trace(pair.table)) - both, pair.sample.n_blocks)


def widened(found: Estimate, rare: RareSide, level: float) -> Estimate:
    """The estimate with an interval that holds what so few units leave open; unchanged where they are many."""
    if found.value is None or found.low is None or found.high is None or rare.agreeing >= FEW:
        return found
    if rare.involved < 1.0 or rare.agreeing >= rare.involved or rare.involved > MOST * rare.n:
        return found
    # Units of one block are not independent: what counts is how many blocks they make up.
    effective = max(1.0, rare.involved * min(1.0, rare.blocks / rare.n))
    seen = rare.agreeing / rare.involved
    ends = [_carried(found.value, seen, share, rare) for share in wilson(seen * effective, effective, level)]
    note = NOTE if found.note is None else f"{found.note}; {NOTE}"
    return replace(found, low=min(found.low, *ends), high=max(found.high, *ends), note=note)


def _carried(value: float, seen: float, share: float, rare: RareSide) -> float:
    """The coefficient if this share of the involved units agreed and everything else stayed.

    Observed disagreement falls as 1 - share; expected disagreement is that of a rare side of the size that follows.
    """
    involved = rare.involved / rare.n

    def disagreement(at: float) -> float:
        size = min(0.5 * involved * (1.0 + at), 0.5)
        return (1.0 - at) / (size * (1.0 - size))

    return max(-1.0, 1.0 - (1.0 - value) * disagreement(share) / disagreement(seen))
