import numpy as np
import pytest

from evenhand.statistics.intervals.distributions import t_quantile
from evenhand.statistics.models.severity import drift, leniency, severities
from tests.statistics import oracles
from tests.statistics.tables import simulated


def test_leniency_by_hand() -> None:
    # Rater 0 against the mean of the others: 3 - 2.5, 4 - 4; the last unit has no other rater.
    scores = np.array([[3.0, 2.0, 3.0], [4.0, 4.0, np.nan], [5.0, np.nan, np.nan]])
    found = leniency(scores, 0)
    assert (found.value, found.n) == (0.25, 2)
    assert leniency(np.array([[1.0, np.nan]]), 0).why == "this rater shares no unit with another"


def test_drift_against_statsmodels() -> None:
    generator = np.random.default_rng(0)
    scores = simulated(100, 3).astype(np.float64)
    when = generator.permutation(100).astype(np.float64)
    scores[:, 1] += 0.01 * when
    found = drift(scores, 1, when)
    slope, error = oracles.slope_hc3(when / 99.0, scores[:, 1] - scores[:, [0, 2]].mean(axis=1))
    assert found.value == pytest.approx(slope)
    assert found.low == pytest.approx(slope - t_quantile(0.975, 98) * error)
    assert found.low is not None
    assert found.low > 0


def test_drift_undefined() -> None:
    scores = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]])
    assert drift(scores[:2], 0, np.arange(2.0)).value is None
    assert drift(scores, 0, np.zeros(3)).why == "all units have one position in time"
    line = drift(np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), 0, np.arange(3.0))
    assert line.value == pytest.approx(2.0)
    assert line.low is None


def test_two_raters_with_two_labels_have_a_closed_form() -> None:
    # Conditional on one mark of two, the odds that rater 0 gave it are exp(s1 - s0): 30 against 10.
    codes = np.array([[1, 0]] * 30 + [[0, 1]] * 10 + [[1, 1]] * 7 + [[0, 0]] * 5)
    found = severities(codes)
    assert found.raters[0].value == pytest.approx(-np.log(3) / 2, abs=1e-6)
    # The log odds has variance 1/30 + 1/10; a severity is half of it.
    assert found.raters[0].high is not None
    assert found.raters[0].value is not None
    reach = 1.959964 * np.sqrt(1 / 30 + 1 / 10) / 2
    assert found.raters[0].high - found.raters[0].value == pytest.approx(reach, rel=1e-3)


def test_known_severities_are_found_again_with_missing_ratings() -> None:
    generator = np.random.default_rng(3)
    true = np.array([-0.8, 0.0, 0.3, 0.5])
    quality = generator.normal(size=4000)
    steps = np.array([-1.0, 0.0, 1.0])
    logits = quality[:, None, None] - true[None, :, None] - steps[None, None, :]
    cumulative = np.concatenate((np.zeros((4000, 4, 1)), np.cumsum(logits, axis=2)), axis=2)
    chances = np.exp(cumulative - cumulative.max(axis=2, keepdims=True))
    chances /= chances.sum(axis=2, keepdims=True)
    codes = (generator.random((4000, 4, 1)) > np.cumsum(chances, axis=2)).sum(axis=2)
    codes[generator.random(codes.shape) < 0.3] = -1
    found = severities(codes)
    for rater, severity in zip(found.raters, true, strict=True):
        assert rater.low is not None
        assert rater.high is not None
        assert rater.low - 0.05 < severity < rater.high + 0.05
    assert len(found.steps) == 3
    assert found.steps == tuple(sorted(found.steps))


def test_no_solution_is_a_reason() -> None:
    apart = np.array([[0, 1, -1, -1], [1, 0, -1, -1], [-1, -1, 0, 1], [-1, -1, 1, 0]])
    assert all("not linked" in (one.why or "") for one in severities(apart).raters)
    unbounded = np.array([[0, 1]] * 5)
    assert all("unbounded" in (one.why or "") for one in severities(unbounded).raters)
    assert severities(np.full((5, 2), 3)).raters[0].why == "every rating is the same label"
    assert severities(np.array([[1, -1]])).raters[0].why == "no unit was rated twice"
