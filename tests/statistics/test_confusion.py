import numpy as np
import pytest

from evenhand.statistics.confusion import cross


def test_rows_are_the_first_rater() -> None:
    pair = cross(np.array([0, 0, 1, -1, 2]), np.array([1, 1, 1, 0, -1]), 3)
    assert pair.table.tolist() == [[0, 2, 0], [0, 1, 0], [0, 0, 0]]
    assert pair.n == 3


def test_clusters_keep_the_table() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.integers(-1, 3, size=(2, 200))
    plain, grouped = cross(a, b, 3), cross(a, b, 3, clusters=np.arange(200) // 4)
    assert np.array_equal(plain.table, grouped.table)
    assert grouped.sample.member_kind is not None
    assert grouped.sample.n_blocks <= 50


def test_no_overlap() -> None:
    assert cross(np.array([0, -1]), np.array([-1, 1]), 2).n == 0
    assert cross(np.array([0, -1]), np.array([-1, 1]), 2, clusters=np.array([0, 0])).n == 0


def test_codes_outside_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="between -1"):
        cross(np.array([0]), np.array([2]), 2)
