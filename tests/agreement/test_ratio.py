import numpy as np

from evenhand.agreement.ratio import first_over_second, ratio


def test_nan_marks_what_is_undefined_without_a_warning() -> None:
    found = ratio(np.array([1.0, 0.0, 3.0]), np.array([2.0, 0.0, 0.0]))
    assert found[0] == 0.5
    assert np.isnan(found[1:]).all()
    assert first_over_second(np.array([[1.0, 4.0, 9.0]])).tolist() == [0.25]
