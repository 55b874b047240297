import numpy as np
import pytest

from evenhand.agreement.counts import count_table
from evenhand.agreement.percent import percent_agreement, within_one


def test_units_weigh_the_same_however_many_raters() -> None:
    # Three raters, one differing pair kind: 1/3 of pairs agree; two raters: 1. Mean 2/3.
    assert percent_agreement(count_table(np.array([[2, 1], [0, 2]])), plan=None).value == pytest.approx(2 / 3)


def test_within_one_reads_the_scores() -> None:
    table = np.array([[1, 1, 0], [1, 0, 1]])
    assert within_one(count_table(table), None).value == pytest.approx(0.5)
    assert within_one(count_table(table, np.array([0.0, 0.5, 1.0])), None).value == 1.0


def test_full_agreement_has_the_exact_binomial_end() -> None:
    found = percent_agreement(count_table(np.array([[2, 0]] * 10)))
    assert found.value == 1.0
    assert found.low == pytest.approx(0.025 ** (1 / 10))
