import numpy as np
import pytest

from evenhand.statistics.estimate import FloatArray
from evenhand.statistics.models.alt_test import alt_test, alt_test_beside_constant
from tests.statistics import oracles
from tests.statistics.tables import simulated


def people_and_model() -> tuple[FloatArray, FloatArray]:
    scores = simulated(120, 4, seed=8).astype(np.float64)
    return scores[:, :3], scores[:, 3]


def test_one_duel_against_scipy() -> None:
    people, model = people_and_model()
    found = alt_test(people, model, "accuracy", 0.1)
    others = people[:, 1:]
    own, its = (others == people[:, :1]).mean(axis=1), (others == model[:, None]).mean(axis=1)
    gap = (own >= its).astype(np.float64) - (its >= own) - 0.1
    assert found.duels[0].p == pytest.approx(oracles.less_than_zero(gap), abs=1e-10)
    assert found.duels[0].advantage == pytest.approx((its >= own).mean())


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.1, 0.15, 0.2])
def test_wins_against_statsmodels(epsilon: float) -> None:
    people, model = people_and_model()
    found = alt_test(people, model, "neg_rmse", epsilon)
    assert [duel.won for duel in found.duels] == oracles.rejected_by([duel.p or 0.0 for duel in found.duels], 0.05)


def test_a_constant_rater_passes_on_skewed_labels() -> None:
    generator = np.random.default_rng(0)
    people = np.where(generator.random((200, 3)) < 0.95, 5.0, 4.0)
    noise = np.where(generator.random(200) < 0.9, 5.0, 4.0)
    _, constant, score = alt_test_beside_constant(people, noise, epsilon=0.1)
    assert score == 5.0
    assert constant.passed


def test_too_few_units_is_a_reason() -> None:
    people, model = people_and_model()
    found = alt_test(people[:20], model[:20])
    assert found.winning_rate is None
    assert found.passed is None
    assert found.why is not None
    assert all(duel.why for duel in found.duels)
    nothing = np.full((40, 2), np.nan)
    assert alt_test_beside_constant(nothing, np.ones(40))[2] is None


def test_a_model_that_never_differs_from_all() -> None:
    people = np.repeat(np.arange(40.0)[:, None] % 3, 3, axis=1)
    found = alt_test(people, people[:, 0], epsilon=0.2)
    assert found.winning_rate == 1.0
    assert found.advantage == 1.0
    assert alt_test(people, people[:, 0], epsilon=0.0).winning_rate == 0.0
