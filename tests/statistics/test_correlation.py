from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings

from evenhand.statistics.confusion import Cross, cross, pair_within_one
from evenhand.statistics.correlation import EXACT, cross_scores, kendall, spearman
from evenhand.statistics.estimate import Estimate, FloatArray, IntArray
from tests.statistics import oracles
from tests.statistics.tables import code_tables, simulated


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(most_raters=2))
def test_rank_correlations_against_scipy(codes: IntArray) -> None:
    both = codes[(codes >= 0).all(axis=1)].astype(np.float64)
    assume(len(both) > 1 and np.ptp(both, axis=0).min() > 0)
    pair = cross(codes[:, 0], codes[:, 1], 4)
    for method, found in (("spearman", spearman(pair, None)), ("kendall", kendall(pair, None))):
        assert found.value == pytest.approx(oracles.correlation(both[:, 0], both[:, 1], method), abs=1e-9)


def test_clusters_of_one_unit_have_the_interval_of_units() -> None:
    codes = simulated(150, 2)
    plain = spearman(cross(codes[:, 0], codes[:, 1], 5))
    grouped = spearman(cross(codes[:, 0], codes[:, 1], 5, clusters=np.arange(150)))
    assert grouped.value == pytest.approx(plain.value)
    assert grouped.low == pytest.approx(plain.low, abs=0.02)


def test_missing_and_constant() -> None:
    alone = spearman(cross(np.array([1, -1, 3]), np.array([2, 2, -1]), 4))
    assert (alone.n, alone.value) == (1, None)
    assert spearman(cross(np.array([-1]), np.array([1]), 4)).why == "no unit was rated by both"


def scored(n: int, seed: int, levels: int | None = None) -> tuple[FloatArray, FloatArray]:
    """Two lists that go together somewhat; with levels the second has many ties."""
    generator = np.random.default_rng(seed)
    common = generator.normal(size=n)
    x, y = (common + generator.normal(size=n) for _ in range(2))
    return x, y if levels is None else np.clip(np.round(y + levels / 2), 1, levels)


METHODS = {"spearman": spearman, "kendall": kendall}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("levels", [None, 5, 2])
@pytest.mark.parametrize("n", [20, EXACT + 50, 3000])
def test_the_value_is_scipys_however_many_units_there_are(method: str, levels: int | None, n: int) -> None:
    x, y = scored(n, n, levels)
    x = np.concatenate((x, x[:5], [np.nan, 3.0]))
    y = np.concatenate((y, y[:5], [2.0, np.nan]))
    found = METHODS[method](cross_scores(x, y), None)
    assert found.value == pytest.approx(oracles.correlation(x[:-2], y[:-2], method), abs=1e-12)
    assert found.n == n + 5


def resampled(x: FloatArray, y: FloatArray, method: str, blocks: IntArray) -> tuple[float, float]:
    """The percentile interval from resampled rows of blocks of units."""
    generator = np.random.default_rng(8)
    drawn = (blocks[generator.integers(0, len(blocks), len(blocks))].reshape(-1) for _ in range(600))
    low, high = np.quantile([oracles.correlation(x[some], y[some], method) for some in drawn], (0.025, 0.975))
    return float(low), float(high)


def ends(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("levels", [None, 5])
@pytest.mark.parametrize("n", [EXACT, EXACT + 60])
def test_intervals_are_those_of_resamples_exact_or_to_the_first_order(method: str, levels: int | None, n: int) -> None:
    x, y = scored(n, 3, levels)
    found = ends(METHODS[method](cross_scores(x, y)))
    assert found == pytest.approx(resampled(x, y, method, np.arange(n)[:, None]), abs=0.02)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [240, 3 * EXACT])
def test_intervals_respect_clusters(method: str, n: int) -> None:
    # Three units of a cluster are nearly copies: there is the evidence of a third of the units.
    x, y = (np.repeat(side, 3) + np.tile([0.0, 1e-6, 2e-6], n // 3) for side in scored(n // 3, 5))
    found = METHODS[method](cross_scores(x, y, np.repeat(np.arange(n // 3), 3)))
    assert ends(found) == pytest.approx(resampled(x, y, method, np.arange(n).reshape(-1, 3)), abs=0.05)
    low, high = ends(METHODS[method](cross_scores(x, y)))
    assert ends(found)[0] < low < high < ends(found)[1]


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("n", [10, EXACT + 10])
def test_correlations_without_a_value_say_why(method: Callable[[Cross], Estimate], n: int) -> None:
    constant = method(cross_scores(np.arange(n) / n, np.full(n, 0.5)))
    assert (constant.value, constant.n, constant.why) == (None, n, "one of the two does not vary")
    nothing = method(cross_scores(np.full(n, np.nan), np.arange(n) / n))
    assert (nothing.value, nothing.n) == (None, 0)
    none = np.zeros(0)
    assert method(cross_scores(none, none)).value is None


def test_identical_and_opposite_orders_are_1_and_minus_1() -> None:
    x = np.arange(EXACT + 30) / 1000
    assert [kendall(cross_scores(x, sign * x), None).value for sign in (1, -1)] == pytest.approx([1.0, -1.0])


def test_the_scores_of_two_lists_are_their_numbers() -> None:
    pair = cross_scores(np.array([0.0, 5.0, np.nan, 10.0]), np.array([0.5, 5.0, 2.0, 20.0]))
    assert pair.ordered
    assert pair.scores.tolist() == [0.0, 0.5, 2.0, 5.0, 10.0, 20.0]
    assert pair_within_one(pair).value == pytest.approx(2 / 3)
