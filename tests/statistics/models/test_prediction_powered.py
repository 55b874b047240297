import numpy as np
import pytest

from evenhand.statistics.estimate import FloatArray
from evenhand.statistics.models.prediction_powered import ppi_labels, ppi_mean, ppi_proportion, tuned_weight


def data(n: int, more: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=n + more)
    human = np.clip(np.round(3.5 + quality), 1, 5)
    model = np.clip(np.round(3.8 + quality + 0.5 * generator.normal(size=n + more)), 1, 5)
    return human[:n], model[:n], model[n:]


def test_interval_by_hand() -> None:
    human, model, more = data(60, 500)
    found = ppi_mean(human, model, more, "classical").combined
    correction = human - model
    assert found.value == pytest.approx(more.mean() + correction.mean())
    error = np.sqrt(correction.var(ddof=1) / 60 + more.var(ddof=1) / 500)
    assert found.high is not None
    assert found.low is not None
    # Between the normal quantile and that of t with 59 degrees of freedom.
    assert 1.959 * error < (found.high - found.low) / 2 < 2.001 * error


def test_a_good_model_narrows_the_interval() -> None:
    found = ppi_mean(*data(120, 3000))
    assert found.tuned
    assert 0.5 < found.weight <= 1.0
    combined, people = found.combined, found.human_only
    assert combined.high is not None
    assert combined.low is not None
    assert people.high is not None
    assert people.low is not None
    assert combined.high - combined.low < 0.8 * (people.high - people.low)


def test_the_model_alone_is_sure_and_wrong() -> None:
    found = ppi_mean(*data(200, 3000))
    assert found.combined.low is not None
    assert found.combined.value is not None
    assert found.model_only.low is not None
    assert found.model_only.low > found.combined.value


def test_few_labels_are_not_tuned_on() -> None:
    found = ppi_mean(*data(20, 500))
    assert (found.weight, found.tuned) == (1.0, False)
    assert found.note == "too few human labels to tune the weight: classical"
    skewed = np.ones(150)
    skewed[:10] = 0.0
    assert not ppi_proportion(skewed, skewed, np.ones(500)).tuned
    assert not ppi_mean(4.0 + skewed, 4.0 + skewed, np.full(500, 5.0)).tuned


def test_skewed_means_are_covered() -> None:
    generator = np.random.default_rng(6)
    levels, shares = np.arange(1.0, 6.0), [0.005, 0.01, 0.025, 0.06, 0.9]
    truth, held, intervals = float(levels @ shares), 0, 0
    for _ in range(600):
        human = generator.choice(levels, size=1100, p=shares)
        model = np.where(generator.random(1100) < 0.7, human, generator.choice(levels, size=1100, p=shares))
        found = ppi_mean(human[:100], model[:100], model[100:]).combined
        if found.low is not None and found.high is not None:
            intervals += 1
            held += found.low <= truth <= found.high
    # Tuned on 100 skewed labels, with a symmetric interval, it covers 88 %.
    assert intervals > 500
    assert 0.93 < held / intervals < 0.985


def test_few_human_ratings_off_the_commonest_and_few_errors_of_the_model_leave_no_interval() -> None:
    human = np.full(100, 5.0)
    human[:4] = 4.0
    # The model errs in both directions, which as a mean of its own would have an interval.
    model = human.copy()
    model[3:6] = 5.0, 4.0, 4.0
    found = ppi_mean(human, model, np.full(500, 5.0))
    assert (found.human_only.low, found.combined.low, found.combined.high) == (None, None, None)
    assert found.combined.note == "no interval: the human ratings leave too little to go by"
    model[6:10] = 4.0
    assert ppi_mean(human, model, np.full(500, 5.0)).combined.low is not None


def test_a_useless_model_gets_no_weight() -> None:
    human, _, _ = data(150, 0)
    assert tuned_weight(human, np.full(150, 3.0), np.full(100, 3.0)) == 0.0
    found = ppi_mean(human, np.full(150, 3.0), np.full(100, 3.0), "tuned")
    assert found.combined.value == pytest.approx(human.mean())
    assert (found.combined.low, found.combined.high) == pytest.approx((found.human_only.low, found.human_only.high))


def test_a_model_that_is_never_wrong_still_leaves_doubt() -> None:
    generator = np.random.default_rng(1)
    human = (generator.random(30) < 0.8).astype(np.float64)
    more = (generator.random(5000) < 0.8).astype(np.float64)
    found = ppi_proportion(human, human, more).combined
    assert found.value == pytest.approx(more.mean())
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.05


def test_labels_sum_to_one() -> None:
    generator = np.random.default_rng(2)
    human, more = generator.integers(0, 3, size=60), generator.integers(0, 3, size=900)
    model = np.where(generator.random(60) < 0.8, human, generator.integers(0, 3, size=60))
    found = ppi_labels(human, model, more, 3)
    assert sum(one.combined.value or 0.0 for one in found) == pytest.approx(1.0)


def test_clusters_widen() -> None:
    human, model, more = data(60, 500)
    wide = ppi_mean(
        np.repeat(human, 4),
        np.repeat(model, 4),
        np.repeat(more, 4),
        "classical",
        np.repeat(np.arange(60), 4),
        np.repeat(np.arange(60, 560), 4),
    )
    plain = ppi_mean(human, model, more, "classical")
    assert wide.combined.value == pytest.approx(plain.combined.value)
    assert wide.combined.low == pytest.approx(plain.combined.low)
    assert (wide.human_only.low, wide.model_only.high) == pytest.approx((plain.human_only.low, plain.model_only.high))


def test_without_people_or_without_more() -> None:
    none = np.zeros(0)
    assert ppi_mean(none, none, np.ones(5)).combined.why == "there are no human ratings"
    assert ppi_proportion(none, none, np.ones(5)).combined.why == "there are no human ratings"
    human, model, _ = data(20, 0)
    found = ppi_mean(human, model, none)
    assert found.combined.value == found.human_only.value
    with pytest.raises(ValueError, match="same units"):
        ppi_mean(human, model[:3], none)
