import numpy as np

from evenhand.statistics.majority import Votes, majority_label, match_with, votes

TALLY = np.array(
    [
        [3, 0, 0],  # full
        [2, 1, 0],  # majority
        [1, 1, 1],  # none
        [0, 3, 0],  # full
        [2, 0, 0],  # full, of two
        [1, 1, 0],  # none, of two
        [0, 1, 0],  # one vote is not a vote
        [0, 0, 0],
    ]
)


def test_votes_count_units_with_two_votes_by_how_many_they_have() -> None:
    assert votes(TALLY) == {2: Votes(n=2, full=1, majority=0, none=1), 3: Votes(n=4, full=2, majority=1, none=1)}
    assert votes(TALLY[6:]) == {}


def test_half_is_no_majority() -> None:
    assert majority_label(np.array([[2, 2, 0], [3, 1, 0], [0, 0, 1], [0, 0, 0]])).tolist() == [-1, 0, 2, -1]


def test_units_with_fewer_votes_than_needed_have_no_majority() -> None:
    assert majority_label(TALLY, fewest=2).tolist() == [0, 0, -1, 1, 0, -1, -1, -1]
    assert majority_label(TALLY)[6] == 1


def test_a_match_leaves_out_units_without_a_majority() -> None:
    found = match_with(np.array([0, 0, 1, -1]), np.array([0, 1, -1, 0]))
    assert (found.value, found.n) == (0.5, 2)
    assert match_with(np.array([0]), np.array([-1])).value is None
