"""Agreement on percentages, against the same statistics on 101 labels with scores."""

import tracemalloc

import numpy as np
import pytest

import evenhand.statistics as statistics
from evenhand.statistics import FloatArray, IntArray, Resampling

QUICK = Resampling(replicates=200)
WHOLE = np.arange(101.0)


def rated(n: int, raters: int, seed: int = 1) -> IntArray:
    """Units × raters of whole percents around a common value, a fifth of them missing."""
    rng = np.random.default_rng(seed)
    codes = np.clip(rng.integers(0, 101, (n, 1)) + rng.integers(-20, 21, (n, raters)), 0, 100)
    return np.where(rng.random((n, raters)) < 0.2, -1, codes)


def long(codes: IntArray) -> tuple[IntArray, FloatArray]:
    units, raters = np.nonzero(codes >= 0)
    return units, codes[units, raters].astype(np.float64)


@pytest.mark.parametrize("clustered", [False, True])
def test_whole_percents_are_101_labels_with_scores(clustered: bool):
    codes = rated(60, 3)
    clusters = np.arange(60) // 4 if clustered else None
    counts = statistics.count_wide(codes, 101, WHOLE, clusters)
    given = statistics.percentages(*long(codes), clusters)
    for found, expected in (
        (statistics.percentage_match(given, QUICK), statistics.percent_agreement(counts, QUICK)),
        (statistics.percentage_alpha(given, QUICK), statistics.krippendorff_alpha(counts, "interval", QUICK)),
        (statistics.percentage_ac(given, QUICK), statistics.gwet_ac(counts, "quadratic", QUICK)),
    ):
        assert (found.value, found.n) == (pytest.approx(expected.value), expected.n)
        assert found.low is not None
        assert expected.low is not None
        assert expected.high is not None
        assert found.low == pytest.approx(expected.low, abs=0.25 * (expected.high - expected.low))


def test_two_raters_on_whole_percents():
    codes = rated(80, 2)
    pair = statistics.cross(codes[:, 0], codes[:, 1], 101, WHOLE)
    found = statistics.pair_statistics(pair, QUICK, percentages=True)
    expected = statistics.pair_statistics(pair, QUICK)
    assert set(found) == set(expected) - {"kappa", "kappa_linear", "macro_f1"}
    for name, one in found.items():
        assert (one.value, one.n) == (pytest.approx(expected[name].value), expected[name].n), name


def test_equal_percentages_with_decimals_leave_no_dust():
    units, scores = np.repeat(np.arange(5), 3), np.full(15, 50.1)
    given = statistics.percentages(units, scores)
    assert statistics.percentage_alpha(given).why == "every rating is the same label: expected disagreement is 0"
    assert statistics.percentage_match(given).value == 1.0
    assert statistics.percentage_ac(given).value == 1.0


def test_ac2_does_not_depend_on_how_many_different_percentages_occur():
    units, scores = long(rated(60, 3))
    scores: FloatArray = np.rint(5.0 + 0.9 * scores)
    # A quarter more on every other unit: the same distances and whole percents, and twice as many different values.
    moved = scores + 0.25 * (units % 2)
    found, expected = (
        statistics.percentage_ac(statistics.percentages(units, one), None).value for one in (moved, scores)
    )
    assert found == pytest.approx(expected)


def test_nothing_rated_twice_has_a_reason():
    given = statistics.percentages(np.arange(3), np.array([1.0, 2.0, 3.0]))
    for found in (statistics.percentage_match, statistics.percentage_alpha, statistics.percentage_ac):
        assert found(given).why == "no unit was rated twice"


def test_memory_does_not_grow_with_the_square_of_the_different_values():
    rng = np.random.default_rng(5)
    n = 3_000
    values = np.sort(rng.random(2 * n)) * 100.0
    codes = rng.permutation(2 * n).reshape(n, 2)
    tracemalloc.start()
    pair = statistics.cross(codes[:, 0], codes[:, 1], 2 * n, values)
    statistics.pair_statistics(pair, QUICK, percentages=True)
    given = statistics.percentages(np.repeat(np.arange(n), 2), values[codes].reshape(-1))
    statistics.percentage_alpha(given, QUICK)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A table of 6,000 × 6,000 would take 288 MB.
    assert most < 150_000_000
