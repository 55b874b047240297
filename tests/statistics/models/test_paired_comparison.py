import numpy as np
import pytest

from evenhand.statistics.confusion import cross
from evenhand.statistics.intervals.bootstrap import Resampling
from evenhand.statistics.kappa import Weighting, cohen_kappa
from evenhand.statistics.models.paired_comparison import compare_means, compare_raters, compare_shares
from tests.statistics import oracles
from tests.statistics.tables import simulated


def test_means_against_scipy() -> None:
    generator = np.random.default_rng(0)
    first, second = generator.normal(size=(2, 40))
    found = compare_means(np.append(first, np.nan), np.append(second, 3.0))
    assert found.difference.value == pytest.approx((first - second).mean())
    assert found.p == pytest.approx(oracles.paired_t(first, second), rel=1e-9)


def test_shares_against_scipy() -> None:
    first, second = np.array([1.0] * 12 + [0.0] * 8), np.array([1.0] * 5 + [0.0] * 7 + [1.0] * 2 + [0.0] * 6)
    assert compare_shares(first, second).p == pytest.approx(oracles.sign_test(7, 2))
    assert compare_shares(first, first).p == 1.0
    assert compare_shares(first, second, np.arange(20) // 2).p != pytest.approx(oracles.sign_test(7, 2))


@pytest.mark.parametrize("weighting", ["identity", "linear", "quadratic"])
def test_raters_have_their_own_agreements(weighting: Weighting) -> None:
    codes = simulated(200, 3, 0.1, seed=4)
    all_rated = codes[(codes >= 0).all(axis=1)]
    found = compare_raters(codes[:, 0], codes[:, 1], codes[:, 2], 5, weighting)
    pairs = [cross(all_rated[:, 2], all_rated[:, i], 5) for i in (0, 1)]
    expected = [cohen_kappa(pair, weighting, None).value for pair in pairs]
    assert [found.first, found.second] == pytest.approx(expected)
    assert found.difference.n == len(all_rated)
    assert found.difference.low is not None


def test_pairing_cancels_what_the_raters_share() -> None:
    # The second rater is the first with two labels changed: the difference is far surer than either agreement.
    codes = simulated(150, 2, seed=6)
    other = codes[:, 0].copy()
    other[:2] = (other[:2] + 1) % 5
    plan = Resampling(replicates=500)
    gap = compare_raters(codes[:, 0], other, codes[:, 1], 5, plan=plan).difference
    alone = cohen_kappa(cross(codes[:, 0], codes[:, 1], 5), plan=plan)
    assert gap.low is not None
    assert gap.high is not None
    assert alone.low is not None
    assert alone.high is not None
    assert gap.high - gap.low < 0.3 * (alone.high - alone.low)


def test_undefined() -> None:
    missing = np.array([-1, 0])
    assert compare_raters(missing, missing[::-1], missing, 2).difference.value is None
    constant = compare_raters(np.zeros(4, dtype=np.int64), np.arange(4) % 2, np.zeros(4, dtype=np.int64), 2)
    assert constant.first is None
    assert constant.difference.why is not None
    assert compare_means(np.array([np.nan]), np.array([1.0])).difference.value is None
