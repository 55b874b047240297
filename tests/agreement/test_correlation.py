import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.agreement.arrays import IntArray
from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.correlation import Method, correlation, kendall_w, pair_correlation
from evenhand.agreement.cross import cross
from tests.agreement import oracles
from tests.agreement.tables import code_tables, simulated

METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall")


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(most_raters=2), method=st.sampled_from(METHODS))
def test_pairs_against_scipy(codes: IntArray, method: Method) -> None:
    both = codes[(codes >= 0).all(axis=1)].astype(np.float64)
    assume(len(both) > 1 and np.ptp(both, axis=0).min() > 0)
    found = pair_correlation(cross(codes[:, 0], codes[:, 1], 4), method, None).value
    assert found == pytest.approx(oracles.correlation(both[:, 0], both[:, 1], method), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [12, 200, 1600, 6000])
def test_lists_against_scipy(method: Method, n: int) -> None:
    generator = np.random.default_rng(n)
    x = generator.normal(size=n)
    y = x + generator.normal(size=n)
    found = correlation(x, y, method, plan=Plan(replicates=20))
    assert found.value == pytest.approx(oracles.correlation(x, y, method), abs=1e-9)
    assert (found.low is None) == (n > {"pearson": 10**9, "spearman": 5000, "kendall": 1500}[method])


@pytest.mark.parametrize("method", METHODS)
def test_tables_and_lists_have_the_same_interval(method: Method) -> None:
    codes = simulated(150, 2)
    table = pair_correlation(cross(codes[:, 0], codes[:, 1], 5), method)
    x, y = codes[:, 0].astype(np.float64), codes[:, 1].astype(np.float64)
    lists = correlation(x, y, method)
    assert table.value == pytest.approx(lists.value)
    assert table.low == pytest.approx(lists.low, abs=0.01)
    grouped = correlation(x, y, method, clusters=np.arange(150))
    assert grouped.value == pytest.approx(lists.value)
    assert grouped.low == pytest.approx(lists.low, abs=0.02)


def test_missing_and_constant() -> None:
    x, y = np.array([1.0, np.nan, 3.0]), np.array([2.0, 2.0, np.nan])
    assert correlation(x, y, "spearman").n == 1
    assert correlation(x, y, "spearman").value is None
    assert correlation(np.array([np.nan]), np.array([1.0]), "pearson").why == "no unit was rated by both"


def test_kendall_w_with_ties_by_hand() -> None:
    # Ranks 1 2 3 and 1 2.5 2.5: sums 2 4.5 5.5, squared distance from 4: 4 + 0.25 + 2.25 = 6.5.
    # One tie of two: 6. W = 12·6.5 / (4·24 - 2·6) = 78 / 84; uncorrected 78 / 96.
    scores = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0]])
    assert kendall_w(scores).value == pytest.approx(78 / 84)
    assert kendall_w(scores, ties=False).value == pytest.approx(78 / 96)
    assert kendall_w(np.ones((4, 2))).value is None
    assert kendall_w(np.ones((1, 2))).value is None
