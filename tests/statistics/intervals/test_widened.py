"""Intervals on skewed labels, where the bootstrap has nothing to draw from."""

import numpy as np
import pytest

from evenhand.statistics.alpha import krippendorff_alpha
from evenhand.statistics.confusion import cross
from evenhand.statistics.counts import count_wide
from evenhand.statistics.estimate import Estimate, IntArray
from evenhand.statistics.intervals.analytic import NOTE, rare_side, widened
from evenhand.statistics.intervals.bootstrap import Resampling
from evenhand.statistics.kappa import cohen_kappa


def skewed(seed: int, n: int = 100) -> IntArray:
    """Two raters who give the common label 96 times in a hundred, each on a whim: the true κ is 0."""
    return np.random.default_rng(seed).choice(3, size=(n, 2), p=[0.96, 0.02, 0.02])


def rare(codes: IntArray) -> tuple[int, int, float]:
    counts = count_wide(codes, 3)
    return rare_side(counts.table, counts.sample.times)


def test_the_rare_side_by_hand():
    # Six units, label 0 the commonest: (0,0) ×3, (1,1), (0,1), (1,2). Off it: three units, one of which agrees.
    codes = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [0, 1], [1, 2]])
    assert rare(codes) == (6, 3, 1.0)


def test_more_than_two_ratings_count_by_their_pairs():
    # (0,1,1): three pairs, all with a 1 in them, one of them the same. (0,0,2): two pairs with the 2, none the same.
    n, involved, agreeing = rare(np.array([[0, 1, 1], [0, 0, 2], [0, 0, 0]]))
    assert (n, involved) == (3, 2)
    assert agreeing == pytest.approx(1 / 3)


def test_an_interval_on_skewed_labels_holds_chance():
    held = 0
    for seed in range(60):
        codes = skewed(seed)
        found = cohen_kappa(cross(codes[:, 0], codes[:, 1], 3), plan=Resampling(replicates=400))
        held += found.low is None or (found.high is not None and found.low <= 0.0 <= found.high)
    # The bootstrap alone holds 0 in about half of them.
    assert held >= 57


def test_two_raters_and_many_are_widened_alike():
    codes = skewed(3)
    pair = cohen_kappa(cross(codes[:, 0], codes[:, 1], 3))
    many = krippendorff_alpha(count_wide(codes, 3))
    assert pair.note is not None
    assert NOTE in pair.note
    assert pair.high == pytest.approx(many.high, abs=0.05)


def test_nothing_is_widened_where_many_units_agree_off_the_commonest_label():
    codes = np.random.default_rng(1).choice(3, size=(100, 1), p=[0.5, 0.3, 0.2]).repeat(2, axis=1)
    codes[:20, 1] = (codes[:20, 1] + 1) % 3
    found = Estimate(value=0.7, low=0.6, high=0.8, n=100)
    assert rare(codes)[-1] >= 10
    assert widened(found, rare(codes), 100, 0.95) is found


def test_an_estimate_without_an_interval_stays_without():
    alone = Estimate(value=-0.01, n=100, note="no interval: every resample gives the same value")
    assert widened(alone, rare(skewed(3)), 100, 0.95) is alone
