import numpy as np
import pytest

from evenhand.statistics.icc import icc
from tests.statistics import oracles
from tests.statistics.tables import simulated


@pytest.mark.parametrize("seed", range(4))
def test_against_pingouin(seed: int) -> None:
    scores = simulated(25, 4, seed=seed).astype(np.float64) + np.array([0.0, 0.5, -0.3, 1.0])
    oracle = oracles.icc(scores)
    found = icc(scores)
    value, low, high = oracle["ICC2"]
    assert found.value == pytest.approx(value, abs=1e-9)
    # pingouin rounds its interval to two digits.
    assert found.low == pytest.approx(low, abs=0.0051)
    assert found.high == pytest.approx(high, abs=0.0051)


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
