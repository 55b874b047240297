import numpy as np
import pytest
from hypothesis import assume, given, settings

from evenhand.statistics.confusion import cross
from evenhand.statistics.correlation import spearman
from evenhand.statistics.estimate import IntArray
from tests.statistics import oracles
from tests.statistics.tables import code_tables, simulated


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(most_raters=2))
def test_spearman_against_scipy(codes: IntArray) -> None:
    both = codes[(codes >= 0).all(axis=1)].astype(np.float64)
    assume(len(both) > 1 and np.ptp(both, axis=0).min() > 0)
    found = spearman(cross(codes[:, 0], codes[:, 1], 4), None).value
    assert found == pytest.approx(oracles.correlation(both[:, 0], both[:, 1], "spearman"), abs=1e-9)


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
