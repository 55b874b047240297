import numpy as np
import pytest
from hypothesis import given

from evenhand.agreement.arrays import IntArray
from evenhand.agreement.cross import cross, cross_long, cross_wide
from tests.agreement.tables import code_tables


def test_rows_are_the_first_rater() -> None:
    pair = cross(np.array([0, 0, 1, -1, 2]), np.array([1, 1, 1, 0, -1]), 3)
    assert pair.table.tolist() == [[0, 2, 0], [0, 1, 0], [0, 0, 0]]
    assert pair.n == 3


@given(code_tables())
def test_wide_and_long_agree(codes: IntArray) -> None:
    wide = cross_wide(codes, 4)
    units, raters = np.nonzero(codes >= -1)
    long = cross_long(units, raters, codes[units, raters], 4)
    assert {key: pair.table.tolist() for key, pair in wide.items() if pair.n} == {
        key: pair.table.tolist() for key, pair in long.items()
    }


def test_the_later_of_two_ratings_counts() -> None:
    units, raters, codes = np.array([0, 0, 0]), np.array([0, 1, 0]), np.array([1, 1, 0])
    assert cross_long(units, raters, codes, 2)[0, 1].table.tolist() == [[0, 1], [0, 0]]


def test_clusters_keep_the_table() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.integers(-1, 3, size=(2, 200))
    plain, grouped = cross(a, b, 3), cross(a, b, 3, clusters=np.arange(200) // 4)
    assert np.array_equal(plain.table, grouped.table)
    assert np.allclose(plain.sample.total, grouped.sample.total)
    assert grouped.blocks.clustered
    assert grouped.blocks.n <= 50


def test_no_overlap() -> None:
    assert cross(np.array([0, -1]), np.array([-1, 1]), 2).n == 0
    assert cross(np.array([0, -1]), np.array([-1, 1]), 2, clusters=np.array([0, 0])).n == 0
    empty = np.zeros(0, dtype=np.int64)
    assert cross_long(empty, empty, empty, 2) == {}
    assert cross_long(np.array([0, 1]), np.array([0, 1]), np.array([1, 1]), 2) == {}


def test_codes_outside_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="between -1"):
        cross(np.array([0]), np.array([2]), 2)
