import numpy as np
import pytest

from evenhand.agreement.counts import count_table
from evenhand.agreement.fleiss import fleiss_category_kappa, fleiss_kappa, fleiss_null_z
from evenhand.agreement.kappa import scott_pi
from tests.agreement import oracles
from tests.agreement.reference import counts_of, pair_of


def test_against_statsmodels_on_equal_numbers_of_raters() -> None:
    generator = np.random.default_rng(0)
    table = generator.multinomial(6, [0.5, 0.3, 0.2], size=50)
    assert fleiss_kappa(count_table(table), plan=None).value == pytest.approx(oracles.fleiss(table))


@pytest.mark.parametrize("case", ["cohen1960", "landis_koch1977_winnipeg", "gwet_abstractors"])
def test_of_two_raters_is_scotts_pi(case: str) -> None:
    assert fleiss_kappa(counts_of(case), plan=None).value == pytest.approx(scott_pi(pair_of(case), None).value)


def test_a_label_that_nobody_or_everybody_gave() -> None:
    counts = count_table(np.array([[3, 0, 0], [2, 1, 0]]))
    assert fleiss_category_kappa(counts, 2).value is None
    assert fleiss_category_kappa(counts, 0).value is not None


def test_null_z_needs_equal_numbers_of_raters() -> None:
    assert fleiss_null_z(count_table(np.array([[3, 0], [1, 1]]))) is None
    assert fleiss_null_z(count_table(np.array([[3, 0], [3, 0]]))) is None
