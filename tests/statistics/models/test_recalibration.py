"""Probabilities adjusted to people's labels: what is fitted, what is left out, and whether it helps."""

import numpy as np
import pytest

from evenhand.statistics import FloatArray, IntArray, Resampling, cohen_kappa, cross
from evenhand.statistics.models.recalibration import FOLDS, Recalibration, apply, fit, recalibrate

LABELS = 3
SIGNAL = 1.5


def stated(
    units: int, seed: int, bias: tuple[float, ...] = (0, 0, 0), sharp: float = 1.0
) -> tuple[FloatArray, IntArray]:
    """Probabilities of a rater whose logits are `sharp` times too large and shifted by `bias`, and the true labels."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, LABELS, units)
    seen = generator.normal(size=(units, LABELS)) + SIGNAL * np.eye(LABELS)[truth]
    logits = sharp * (SIGNAL * seen + np.array(bias))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), truth


def recalibrated(probabilities: FloatArray, truth: IntArray, clusters: IntArray | None = None) -> Recalibration:
    return recalibrate(probabilities, probabilities.argmax(axis=1), truth, clusters)


def test_the_fit_finds_the_distortion():
    probabilities, truth = stated(20_000, 1, bias=(1, 0, -1), sharp=1.5)
    inverse_temperature, *offsets = map(float, fit(probabilities, truth))
    assert inverse_temperature == pytest.approx(1 / 1.5, abs=0.05)
    assert offsets == pytest.approx([-1, 0, 1], abs=0.15)
    assert sum(offsets) == pytest.approx(0, abs=1e-5)


def test_a_rater_that_gives_the_opposite_is_not_reversed():
    probabilities, truth = stated(200, 1)
    assert fit(1 / LABELS - probabilities / 2 + 1 / (2 * LABELS), truth)[0] == 0.01


def test_few_labels_change_little():
    probabilities, truth = stated(2, 1, bias=(3, 0, 0))
    inverse_temperature, *offsets = map(float, fit(probabilities, truth))
    assert 0.4 < inverse_temperature < 2.5
    assert max(map(abs, offsets)) < 1


def test_a_probability_of_0_is_adjusted_like_any_other():
    probabilities, truth = np.eye(LABELS)[np.arange(60) % LABELS], np.arange(60) // 2 % LABELS
    adjusted = recalibrated(probabilities, truth).adjusted
    assert np.isfinite(adjusted).all()
    assert adjusted.sum(axis=1) == pytest.approx(1)
    assert float(adjusted.min()) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_biased_rater_becomes_better_on_labels_left_out(seed: int):
    found = recalibrated(*stated(300, seed, bias=(2, 0, 0)))
    assert found.better == ["kappa", "log_loss"]
    assert found.offsets[0] < -0.8
    for one in found.held_out.values():
        assert one.difference.low is not None
        assert one.difference.low > 0


def test_an_overconfident_rater_gets_better_probabilities_and_the_same_labels():
    found = recalibrated(*stated(600, 4, sharp=4))
    assert found.better == ["log_loss"]
    assert found.temperature > 2


@pytest.mark.parametrize("seed", range(3))
def test_a_calibrated_rater_does_not_become_better(seed: int):
    assert recalibrated(*stated(300, seed)).better == []


def test_labels_that_are_all_the_same_show_nothing():
    probabilities, truth = stated(100, 3)
    found = recalibrated(probabilities, np.zeros_like(truth))
    assert found.better == []
    assert found.held_out["kappa"].difference.why is not None


def test_a_rater_that_guesses_does_not_become_better_by_giving_the_commonest_label():
    generator = np.random.default_rng(0)
    truth = generator.choice(LABELS, 300, p=(0.8, 0.1, 0.1))
    seen = generator.normal(size=(300, LABELS)) + 0.6 * np.eye(LABELS)[truth]
    powers = np.exp(seen)
    found = recalibrated(powers / powers.sum(axis=1, keepdims=True), truth)
    gain = found.held_out["log_loss"].difference
    assert gain.low is not None
    assert gain.low > 0
    assert found.better == []


def test_labels_of_an_item_are_never_used_for_its_own_units():
    probabilities, truth = stated(120, 5, bias=(1, 0, 0))
    items = np.repeat(np.arange(40), 3)
    truth[-30:] = -1
    before = recalibrated(probabilities, truth, items)
    changed = truth.copy()
    changed[:3] = (truth[:3] + 1) % LABELS
    after = recalibrated(probabilities, changed, items)
    assert np.array_equal(before.adjusted[:3], after.adjusted[:3])
    same_part = before.fold == before.fold[0]
    assert np.array_equal(before.adjusted[same_part], after.adjusted[same_part])
    assert (before.adjusted[~same_part] != after.adjusted[~same_part]).any(axis=1).all()


def test_an_item_is_in_one_part_and_the_parts_are_equally_large():
    probabilities, truth = stated(120, 6)
    items = np.repeat(np.arange(40), 3)
    truth[-30:] = -1
    found = recalibrated(probabilities, truth, items)
    assert [set(found.fold[items == item].tolist()) for item in range(30, 40)] == [{-1}] * 10
    parts = [set(found.fold[items == item].tolist()) for item in range(30)]
    assert all(len(part) == 1 for part in parts)
    assert sorted(part for one in parts for part in one) == sorted(list(range(FOLDS)) * 3)


def test_units_without_a_label_get_the_fit_on_all_labels():
    probabilities, truth = stated(120, 7, bias=(1, 0, 0))
    truth[60:] = -1
    found = recalibrated(probabilities, truth)
    on_all = apply(fit(probabilities[:60], truth[:60]), probabilities)
    assert np.array_equal(found.adjusted[60:], on_all[60:])
    assert (found.adjusted[:60] != on_all[:60]).any(axis=1).all()


def test_the_figures_are_those_of_the_labels_left_out():
    probabilities, truth = stated(200, 8, bias=(1, 0, 0))
    truth[150:] = -1
    found = recalibrated(probabilities, truth)
    for given, side in ((probabilities.argmax(axis=1), "second"), (found.adjusted.argmax(axis=1), "first")):
        own, label = given[:150], truth[:150]
        kappa = cohen_kappa(cross(own, label, LABELS), plan=None)
        recalls = [float((own[label == one] == one).mean()) for one in range(LABELS)]
        assert getattr(found.held_out["balanced_accuracy"], side) == pytest.approx(np.mean(recalls))
        assert getattr(found.held_out["kappa"], side) == pytest.approx(kappa.value)
    loss = -np.log(found.adjusted[np.arange(150), truth[:150]]).mean()
    assert found.held_out["log_loss"].first == pytest.approx(loss)
    assert all(one.difference.n == 150 for one in found.held_out.values())


def test_the_same_seed_gives_the_same_result_and_another_one_other_parts():
    probabilities, truth = stated(100, 9, bias=(1, 0, 0))
    first, second = recalibrated(probabilities, truth), recalibrated(probabilities, truth)
    assert np.array_equal(first.adjusted, second.adjusted)
    assert first.held_out == second.held_out
    other = recalibrate(probabilities, probabilities.argmax(axis=1), truth, None, Resampling(seed=1))
    assert not np.array_equal(first.fold, other.fold)
