import numpy as np
import pytest

from evenhand.agreement.disagreement import most_disputed, unit_disagreement

CODES = np.array([[0, 0, 0], [0, 4, -1], [0, 1, 2], [3, -1, -1], [1, 1, 2], [4, 0, -1]])


def test_by_hand() -> None:
    # Interval, largest 16: (0,4) 16/16; (0,1,2): (1 + 4 + 1)/3/16; (1,1,2): (0 + 1 + 1)/3/16.
    apart = unit_disagreement(CODES, 5, "interval")
    assert apart[[0, 1, 2, 4]] == pytest.approx([0.0, 1.0, 2 / 16, (2 / 3) / 16])
    assert np.isnan(apart[3])
    assert unit_disagreement(CODES, 5)[4] == pytest.approx(2 / 3)


def test_the_worst_first_then_more_ratings_then_own_order() -> None:
    assert [one.unit for one in most_disputed(CODES, 5)] == [2, 1, 5, 4]
    assert [one.unit for one in most_disputed(CODES, 5, "interval", most=3)] == [1, 5, 2]
    assert most_disputed(CODES[:1], 5) == ()
