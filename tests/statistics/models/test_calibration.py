import numpy as np
import pytest

from evenhand.statistics.models.calibration import calibration
from tests.statistics import oracles


def test_against_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    sure = np.round(generator.random(300), 2)
    right = (generator.random(300) < sure).astype(np.float64)
    found = calibration(sure, right)
    assert found.brier.value == pytest.approx(oracles.brier(right, sure))
    assert found.discrimination.value == pytest.approx(oracles.area_under_curve(right, sure))
    assert found.discrimination.low is not None
    assert found.discrimination.low > 0.7
    assert found.overconfidence.value == pytest.approx((sure - right).mean())


def test_by_hand() -> None:
    # Two at 0.95, one right; two at 0.55, both right: gaps 0.45 and 0.45 in bins of half the ratings each.
    found = calibration(np.array([0.95, 0.95, 0.55, 0.55, np.nan]), np.array([1.0, 0.0, 1.0, 1.0, 1.0]))
    assert found.n == 4
    assert found.error.value == pytest.approx(0.45)
    assert [(one.low, one.right.n, one.right.value) for one in found.bins] == [(0.5, 2, 1.0), (0.9, 2, 0.5)]


def test_full_confidence_belongs_to_the_last_bin() -> None:
    assert calibration(np.array([1.0, 0.0]), np.array([1.0, 0.0])).bins[-1].high == 1.0


def test_undefined_and_refused() -> None:
    assert calibration(np.zeros(0), np.zeros(0)).brier.value is None
    assert calibration(np.array([0.5, 0.6]), np.ones(2)).discrimination.value is None
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration(np.array([95.0]), np.ones(1))


def test_finer_confidence_than_anyone_states_and_clusters() -> None:
    generator = np.random.default_rng(1)
    sure = generator.random(2000)
    right = (generator.random(2000) < sure).astype(np.float64)
    found = calibration(sure, right, clusters=np.arange(2000) // 4)
    assert found.discrimination.value == pytest.approx(oracles.area_under_curve(right, sure), abs=1e-3)
