import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.statistics.confusion import cross
from evenhand.statistics.counts import count_table
from evenhand.statistics.estimate import IntArray
from evenhand.statistics.intervals.bootstrap import Resampling
from evenhand.statistics.kappa import cohen_kappa, fleiss_kappa
from tests.statistics import oracles
from tests.statistics.reference import counts_of, pair_of
from tests.statistics.tables import code_tables, simulated


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(most_raters=2), weights=st.sampled_from(["identity", "linear", "quadratic"]))
def test_against_scikit_learn(codes: IntArray, weights: str) -> None:
    assert weights in ("identity", "linear", "quadratic")
    complete = codes[(codes >= 0).all(axis=1)]
    assume(np.unique(complete).size > 1)
    found = cohen_kappa(cross(codes[:, 0], codes[:, 1], 4), weights, None).value
    oracle = oracles.kappa(complete[:, 0], complete[:, 1], 4, None if weights == "identity" else weights)
    assert found == pytest.approx(oracle, abs=1e-9)


def test_a_level_never_used_does_not_shift_the_weights() -> None:
    # Scores 1, 2, 5 of a five-point scale: |1-2| = 1, |2-5| = 3. A table of the three used levels with those scores
    # equals the full table with two empty levels.
    a, b = np.array([0, 1, 4, 4, 1, 0, 4]), np.array([0, 4, 4, 1, 1, 1, 4])
    full = cohen_kappa(cross(a, b, 5), "linear", None).value
    place = np.array([0, 1, -1, -1, 2])
    closed = cohen_kappa(cross(place[a], place[b], 3, np.array([0.0, 1.0, 4.0])), "linear", None).value
    assert full == pytest.approx(closed)
    assert full == pytest.approx(oracles.kappa(a, b, 5, "linear"))


def test_interval_against_the_large_sample_error() -> None:
    codes = simulated(2000, 2, seed=3)
    pair = cross(codes[:, 0], codes[:, 1], 5)
    found = cohen_kappa(pair, plan=Resampling(replicates=8000))
    value, error = oracles.kappa_errors(pair.table, None)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(value - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(value + 1.96 * error, abs=0.1 * error)


def test_fleiss_against_statsmodels_on_equal_numbers_of_raters() -> None:
    table = np.random.default_rng(0).multinomial(6, [0.5, 0.3, 0.2], size=50)
    assert fleiss_kappa(count_table(table), plan=None).value == pytest.approx(oracles.fleiss(table))


@pytest.mark.parametrize("case", ["cohen1960", "landis_koch1977_winnipeg", "gwet_abstractors"])
def test_fleiss_of_two_raters_is_scotts_pi(case: str) -> None:
    share = pair_of(case).table / pair_of(case).n
    pool = 0.5 * (share.sum(axis=0) + share.sum(axis=1))
    chance = float(pool @ pool)
    expected = (float(np.trace(share)) - chance) / (1.0 - chance)
    assert fleiss_kappa(counts_of(case), plan=None).value == pytest.approx(expected)
