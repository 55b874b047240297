import numpy as np
import pytest

from evenhand.statistics.models.dawid_skene import dawid_skene


def test_raters_who_never_err_are_recognised() -> None:
    generator = np.random.default_rng(0)
    true = generator.integers(0, 3, size=300)
    noisy = np.where(generator.random(300) < 0.5, true, generator.integers(0, 3, size=300))
    units, raters = np.tile(np.arange(300), 3), np.repeat(np.arange(3), 300)
    found = dawid_skene(units, raters, np.concatenate((true, true, noisy)), 3)
    assert found.converged
    assert np.array_equal(found.labels, true)
    assert found.confusion[0] == pytest.approx(np.eye(3), abs=1e-6)
    assert np.diag(found.confusion[2]).mean() == pytest.approx(2 / 3, abs=0.1)
    assert found.chances.sum(axis=1) == pytest.approx(np.ones(300))


def test_missing_ratings_and_empty_units() -> None:
    found = dawid_skene(np.array([0, 0, 2]), np.array([0, 1, 0]), np.array([1, 1, -1]), 2)
    assert found.labels[0] == 1
    assert found.chances.shape == (3, 2)
    empty = np.zeros(0, dtype=np.int64)
    assert dawid_skene(empty, empty, empty, 2).shares.tolist() == [0.5, 0.5]
