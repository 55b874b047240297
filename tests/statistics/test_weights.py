import numpy as np
import pytest

from evenhand.statistics.intervals.bootstrap import first_over_second, ratio
from evenhand.statistics.kappa import agreement_weights


def test_nan_marks_what_is_undefined_without_a_warning() -> None:
    found = ratio(np.array([1.0, 0.0, 3.0]), np.array([2.0, 0.0, 0.0]))
    assert found[0] == 0.5
    assert np.isnan(found[1:]).all()
    assert first_over_second(np.array([[1.0, 4.0, 9.0]])).tolist() == [0.25]


def test_gwets_ordinal_weights() -> None:
    # Five labels: pairs between labels at distance 0…4 are 0, 1, 3, 6, 10.
    weights = agreement_weights("ordinal", np.arange(5.0))
    assert weights[0] == pytest.approx([1.0, 0.9, 0.7, 0.4, 0.0])


def test_linear_and_quadratic_read_the_scores() -> None:
    scores = np.array([0.0, 1.0, 4.0])
    assert agreement_weights("linear", scores)[0] == pytest.approx([1.0, 0.75, 0.0])
    assert agreement_weights("quadratic", scores)[0] == pytest.approx([1.0, 15 / 16, 0.0])


def test_identity_and_given_matrices() -> None:
    assert np.array_equal(agreement_weights("identity", np.arange(3.0)), np.eye(3))
    given = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert np.array_equal(agreement_weights(given, np.arange(2.0)), given)
    with pytest.raises(ValueError, match="3 × 3"):
        agreement_weights(given, np.arange(3.0))
