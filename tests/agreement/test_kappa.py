import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.agreement.arrays import IntArray
from evenhand.agreement.bootstrap import Plan, jackknife_error
from evenhand.agreement.cross import cross, cross_table
from evenhand.agreement.kappa import (
    cohen_kappa,
    cohen_kappa_asymptotic,
    conger_kappa,
    kappa_of_cells,
    kappa_standard_error,
)
from evenhand.agreement.weights import agreement_weights
from tests.agreement import oracles
from tests.agreement.reference import pair_of
from tests.agreement.tables import code_tables, simulated


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(most_raters=2), weights=st.sampled_from(["identity", "linear", "quadratic"]))
def test_against_scikit_learn(codes: IntArray, weights: str) -> None:
    assert weights in ("identity", "linear", "quadratic")
    complete = codes[(codes >= 0).all(axis=1)]
    assume(np.unique(complete).size > 1)
    found = cohen_kappa(cross(codes[:, 0], codes[:, 1], 4), weights, None).value
    oracle = oracles.kappa(complete[:, 0], complete[:, 1], 4, None if weights == "identity" else weights)
    assert found == pytest.approx(oracle, abs=1e-9)


@pytest.mark.parametrize(("weighting", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_standard_error_against_statsmodels(weighting: str, power: int) -> None:
    assert weighting in ("linear", "quadratic")
    pair = pair_of("landis_koch1977_winnipeg")
    distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(np.float64) ** power
    value, error = oracles.kappa_errors(pair.table, distance)
    assert cohen_kappa(pair, weighting, None).value == pytest.approx(value, abs=1e-9)
    assert kappa_standard_error(pair, weighting) == pytest.approx(error, rel=1e-9)


def test_three_intervals_agree_on_many_units() -> None:
    codes = simulated(2000, 2, seed=3)
    pair = cross(codes[:, 0], codes[:, 1], 5)
    boot, large = cohen_kappa(pair, plan=Plan(replicates=8000)), cohen_kappa_asymptotic(pair)
    error = kappa_standard_error(pair)
    statistic = kappa_of_cells(1.0 - agreement_weights("identity", pair.scores))
    assert error is not None
    assert large.low is not None
    assert large.high is not None
    assert jackknife_error(pair.sample, statistic) == pytest.approx(error, rel=0.01)
    assert boot.low == pytest.approx(large.low, abs=0.1 * error)
    assert boot.high == pytest.approx(large.high, abs=0.1 * error)


def test_asymptotic_interval_where_there_is_none() -> None:
    assert cohen_kappa_asymptotic(cross_table(np.array([[5, 0], [0, 0]]))).why is not None
    perfect = cohen_kappa_asymptotic(cross_table(np.array([[5, 0], [0, 5]])))
    assert (perfect.value, perfect.low) == (1.0, None)


def test_a_level_never_used_does_not_shift_the_weights() -> None:
    # Scores 1, 2, 5 of a five-point scale: |1-2| = 1, |2-5| = 3. A table of the three used levels with those scores
    # equals the full table with two empty levels.
    a, b = np.array([0, 1, 4, 4, 1, 0, 4]), np.array([0, 4, 4, 1, 1, 1, 4])
    full = cohen_kappa(cross(a, b, 5), "linear", None).value
    place = np.array([0, 1, -1, -1, 2])
    closed = cohen_kappa(cross(place[a], place[b], 3, np.array([0.0, 1.0, 4.0])), "linear", None).value
    assert full == pytest.approx(closed)
    assert full == pytest.approx(oracles.kappa(a, b, 5, "linear"))


def test_conger_counts_clusters() -> None:
    codes = simulated(90, 3, 0.1)
    plain, grouped = conger_kappa(codes, 5), conger_kappa(codes, 5, clusters=np.arange(90) // 3)
    assert plain.value == pytest.approx(grouped.value)
    assert grouped.low is not None
    assert grouped.low != plain.low
