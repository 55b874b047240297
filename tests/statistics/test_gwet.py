import numpy as np
import pytest

from evenhand.statistics.counts import count_table
from evenhand.statistics.kappa import gwet_ac


def test_ac1_by_hand() -> None:
    # Two raters, ten units: 8 × (0,0), 1 × (0,1), 1 × (1,1). Agreement 0.9; share of label 0 is 17/20.
    # Chance 2·0.85·0.15 = 0.255. AC1 = (0.9 - 0.255) / 0.745.
    counts = count_table(np.array([[2, 0]] * 8 + [[1, 1], [0, 2]]))
    assert gwet_ac(counts, plan=None).value == pytest.approx(0.645 / 0.745)


def test_a_scale_of_one_label() -> None:
    counts = count_table(np.array([[2], [3]]))
    assert gwet_ac(counts, plan=None).value == 1.0


def test_units_with_one_rating_shape_the_pool_but_not_the_agreement() -> None:
    # Agreement over the two units rated twice: 1/2. Pool over all three: (1 + 1/2 + 0) / 3 = 1/2.
    counts = count_table(np.array([[2, 0], [1, 1], [0, 1]]))
    assert gwet_ac(counts, plan=None).value == pytest.approx((0.5 - 0.5) / 0.5)
