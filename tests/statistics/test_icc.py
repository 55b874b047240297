import numpy as np
import pytest

from evenhand.statistics.estimate import FloatArray
from evenhand.statistics.icc import icc
from evenhand.statistics.intervals.bootstrap import Resampling
from tests.statistics import oracles
from tests.statistics.tables import simulated


@pytest.mark.parametrize("seed", range(4))
def test_against_pingouin(seed: int) -> None:
    scores = simulated(25, 4, seed=seed).astype(np.float64) + np.array([0.0, 0.5, -0.3, 1.0])
    oracle = oracles.icc(scores)
    found = icc(scores)
    value, low, high = oracle["ICC2"]
    assert found.value == pytest.approx(value, abs=1e-9)
    # The interval holds the F interval, which pingouin rounds to two digits, and the bootstrap's, which is close to it.
    assert found.low is not None
    assert found.high is not None
    assert low - 0.03 < found.low < low + 0.0051
    assert high - 0.0051 < found.high < high + 0.03


def test_incomplete_units_are_left_out() -> None:
    scores = simulated(20, 3).astype(np.float64)
    holed = np.vstack((scores, [[5.0, np.nan, 1.0]]))
    assert icc(holed) == icc(scores)
    assert icc(holed).n == 20


def test_severity_counts_against_agreement() -> None:
    scores = np.array([[1.0, 3.0], [2.0, 4.0], [3.0, 5.0], [4.0, 6.0]])
    two = icc(scores).value
    assert two is not None
    assert two < 0.6


def test_undefined() -> None:
    assert icc(np.full((5, 3), 2.0)).why == "the scores do not vary"
    assert icc(np.ones((1, 3))).why == "fewer than two units were rated by every rater"
    assert icc(np.ones((4, 1))).why == "fewer than two raters"
    assert icc(np.zeros((0, 2))).value is None


def skewed(n: int, seed: int, fives: float = 0.9) -> FloatArray:
    """Three raters on a five-point scale: a unit's true level with chance 0.8, otherwise any level by its share."""
    generator = np.random.default_rng(seed)
    shares = [0.05 * (1 - fives), 0.1 * (1 - fives), 0.25 * (1 - fives), 0.6 * (1 - fives), fives]
    true, other = generator.choice(5, size=(n, 1), p=shares), generator.choice(5, size=(n, 3), p=shares)
    return np.where(generator.random((n, 3)) < 0.8, true, other).astype(np.float64)


def test_skewed_scores_are_covered() -> None:
    # Two raters of a unit share its level with chance 0.8², and nothing else: the ICC is 0.64.
    found = [icc(skewed(160, seed), plan=Resampling(replicates=300, seed=seed)) for seed in range(60)]
    covered = sum(one.low is not None and one.high is not None and one.low <= 0.64 <= one.high for one in found)
    # The F interval alone covers 41 %, the bootstrap with the tails of 160 units 52 of these 60, and ours 57.
    assert covered >= 55


def test_too_few_units_off_the_commonest_score_leave_no_interval() -> None:
    scores = np.full((100, 3), 5.0)
    scores[:4, :2] = 4.0
    found = icc(scores)
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
    assert found.note == "no interval: only 4 units with two scores off the commonest"
    scores[4, 1:] = 3.0
    assert icc(scores).low is not None
    assert icc(scores, np.arange(100) // 2).note == "no interval: only 3 clusters with two scores off the commonest"


def test_units_of_a_cluster_are_not_independent() -> None:
    scores = simulated(40, 3).astype(np.float64)
    once, often = icc(scores), icc(np.repeat(scores, 10, axis=0), np.repeat(np.arange(40), 10))
    assert often.value == pytest.approx(once.value, abs=0.02)
    assert once.low is not None
    assert often.low is not None
    assert often.low == pytest.approx(once.low, abs=0.03)


def test_few_clusters_of_skewed_scores_count_half() -> None:
    # Every cluster is a unit twice: without wider tails, the interval is 13 % wider than that of the units.
    scores = skewed(80, 1, 0.8)
    once, twice = icc(scores), icc(np.repeat(scores, 2, axis=0), np.repeat(np.arange(80), 2))
    assert (twice.high or 0.0) - (twice.low or 0.0) > 1.3 * ((once.high or 0.0) - (once.low or 0.0)) > 0.0


def test_perfect_agreement_has_a_lower_end() -> None:
    found = icc(np.repeat(np.arange(100.0)[:, None] % 5, 3, axis=1))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low is not None
    assert 0.7 < found.low < 1.0
