import numpy as np
import pytest

from evenhand.statistics.estimate import FloatArray
from evenhand.statistics.intervals.analytic import error_of_mean, mean, proportion, wilson
from tests.statistics import oracles


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (3, 7), (7, 7), (90, 100), (499, 1000)])
def test_shares_against_statsmodels(successes: int, n: int) -> None:
    assert wilson(successes, n) == pytest.approx(oracles.share_interval(successes, n, "wilson"), abs=1e-9)


def test_mean_against_scipy() -> None:
    values = np.array([1.0, 5.0, 4.0, 4.0, 2.0])
    found = mean(values)
    assert (found.low, found.high) == pytest.approx(oracles.mean_interval(values))


def test_clustered_error_against_statsmodels() -> None:
    generator = np.random.default_rng(0)
    clusters = np.repeat(np.arange(30), 5)
    values = generator.normal(size=30)[clusters] + generator.normal(size=150)
    error, df = error_of_mean(values, clusters)
    assert df == 29
    assert error == pytest.approx(oracles.cluster_error(values, clusters), rel=1e-6)


def test_clusters_of_one_are_units() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    assert mean(values, np.arange(6)) == mean(values)
    # With each unit a cluster only the quantile differs: t instead of normal.
    grouped, plain = proportion(values, np.arange(6)), proportion(values)
    assert grouped.low is not None
    assert plain.low is not None
    assert grouped.low < plain.low


def test_whole_clusters_of_equal_units_count_as_one_each() -> None:
    hits = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0], 10)
    grouped = proportion(hits, np.repeat(np.arange(8), 10))
    plain = proportion(hits)
    assert grouped.low is not None
    assert grouped.high is not None
    assert plain.low is not None
    assert plain.high is not None
    assert grouped.high - grouped.low > 2.5 * (plain.high - plain.low)


def test_nothing_one_and_equal() -> None:
    assert mean(np.zeros(0)).why == proportion(np.zeros(0)).why == "there are no ratings"
    assert mean(np.array([2.0])).low is None
    assert mean(np.array([2.0, 2.0])).note == "no interval: all values are equal"
    assert proportion(np.ones(3), np.zeros(3, dtype=np.int64)).note == "no interval: there is only one unit or cluster"
    ones = proportion(np.ones(40), np.arange(40) // 4)
    assert (ones.value, ones.high) == (1.0, 1.0)
    assert ones.low is not None
    assert ones.low < 0.8


def skewed(generator: np.random.Generator, n: int) -> FloatArray:
    return generator.choice([1.0, 2.0, 3.0, 4.0, 5.0], size=n, p=[0.005, 0.01, 0.025, 0.06, 0.9])


def test_means_of_skewed_ratings_are_covered() -> None:
    generator = np.random.default_rng(0)
    truth = 0.005 * 1 + 0.01 * 2 + 0.025 * 3 + 0.06 * 4 + 0.9 * 5
    found = [one for one in (mean(skewed(generator, 100)) for _ in range(2000)) if one.low is not None]
    covered = sum(one.low <= truth <= one.high for one in found if one.low is not None and one.high is not None)
    assert len(found) > 1900
    # The plain t interval covers 91 %.
    assert 0.94 < covered / len(found) < 0.98


def test_only_the_long_tail_reaches_further_than_t() -> None:
    values = skewed(np.random.default_rng(2), 200)
    low, high = oracles.mean_interval(values)
    found, turned = mean(values), mean(-values)
    assert found.high == pytest.approx(high)
    assert found.low is not None
    assert found.low < low - 0.1 * (high - low)
    assert (turned.low, turned.high) == pytest.approx((-high, -found.low))


def test_a_mean_that_few_values_decide_has_no_interval() -> None:
    values = np.full(100, 5.0)
    values[:4] = 3.0
    assert (mean(values).low, mean(values).note) == (None, "no interval: only 4 units off the commonest value")
    values[4] = 3.0
    assert mean(values).low is not None
    # All five are in one cluster.
    assert mean(values, np.arange(100) // 5).note == "no interval: only 1 cluster off the commonest value"
    # Values on both sides have no long tail.
    values[:2] = 6.0
    assert mean(values[1:]).low is not None
