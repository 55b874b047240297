import numpy as np
import pytest

from evenhand.statistics.intervals.analytic import wilson
from evenhand.statistics.majority import majority_of, match_with_majority, votes

CODES = np.array(
    [
        [0, 0, 0],  # full
        [0, 0, 1],  # majority 0
        [0, 1, 2],  # none
        [1, 1, 1],  # full
        [2, 1, 1],  # majority 1
        [0, 0, -1],  # not rated by all
        [-1, 1, -1],
    ]
)


def test_votes_count_units_that_all_rated() -> None:
    found = votes(CODES, 3)
    assert (found.n, found.full, found.majority, found.none) == (5, 2, 2, 1)
    assert votes(CODES[:, :1], 3).n == 0


def test_half_is_no_majority() -> None:
    assert majority_of(np.array([[0, 0, 1, 1], [0, 0, 0, 1], [2, -1, -1, -1]]), 3).tolist() == [-1, 0, 2]


def test_a_rater_against_the_others_and_against_all() -> None:
    # Rater 0. Others: unit 0 both 0, match; unit 1 split; unit 2 split; unit 3 both 1, match; unit 4 both 1, no match;
    # unit 5 one other says 0, match. 3 of 4. All: units 0, 1, 3, 5 match, unit 4 does not, unit 2 has none. 4 of 5.
    plain, with_others = match_with_majority(CODES, 3, 0)
    assert (with_others.value, with_others.n) == (0.75, 4)
    assert (plain.value, plain.n) == (0.8, 5)
    assert (with_others.low, with_others.high) == wilson(3, 4)


def test_the_plain_form_flatters() -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 2, size=(4000, 3))
    plain, with_others = match_with_majority(codes, 2, 0)
    assert with_others.value == pytest.approx(0.5, abs=0.03)
    assert plain.value == pytest.approx(0.75, abs=0.03)


def test_no_majority_anywhere() -> None:
    assert match_with_majority(np.array([[0, -1], [-1, 1]]), 2, 0)[1].value is None
