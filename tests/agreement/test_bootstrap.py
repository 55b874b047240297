import numpy as np
import pytest

from evenhand.agreement.alpha import krippendorff_alpha
from evenhand.agreement.arrays import FloatArray
from evenhand.agreement.blocks import single_blocks, unique_rows
from evenhand.agreement.bootstrap import Plan, Sample, estimate, jackknife_error, sample_of, weights
from evenhand.agreement.counts import count_wide
from evenhand.agreement.ratio import first_over_second
from tests.agreement import oracles
from tests.agreement.tables import simulated


def mean_sample(values: FloatArray) -> Sample:
    levels, codes = np.unique(values, return_inverse=True)
    _, _, times = unique_rows(codes.reshape(-1, 1))
    return sample_of(single_blocks(times), np.stack((levels, np.ones_like(levels)), axis=1))


@pytest.mark.parametrize(
    "times",
    [[3, 2, 1, 1, 1], [40, 20, 30, 10], [30_000, 12_000, 400, 25, 8, 2, 1]],
    ids=["block by block", "cell by cell", "scaled Poisson"],
)
def test_weights_follow_the_multinomial_law(times: list[int]) -> None:
    counts = np.array(times)
    n = counts.sum()
    drawn = np.concatenate(list(weights(counts, Plan(replicates=40_000, seed=3))))
    assert np.allclose(drawn.sum(axis=1), n)
    assert (drawn >= 0).all()
    share = counts / n
    expected = n * (np.diag(share) - np.outer(share, share))
    error = 5 * np.sqrt(counts / 40_000)
    assert np.all(np.abs(drawn.mean(axis=0) - counts) < error + 0.01)
    found = np.cov(drawn.T)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.all(np.abs(found - expected) < 0.05 * scale)


def test_scaled_poisson_gives_the_multinomial_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = count_wide(simulated(6000, 4, 0.1, seed=2), 5)
    plan = Plan(replicates=20_000, seed=1)
    fast = krippendorff_alpha(counts, "ordinal", plan)
    monkeypatch.setattr("evenhand.agreement.bootstrap._LARGE", 10**9)
    exact = krippendorff_alpha(count_wide(simulated(6000, 4, 0.1, seed=2), 5), "ordinal", plan)
    assert fast.low is not None
    assert fast.high is not None
    assert exact.low is not None
    assert exact.high is not None
    width = exact.high - exact.low
    assert fast.low == pytest.approx(exact.low, abs=0.03 * width)
    assert fast.high == pytest.approx(exact.high, abs=0.03 * width)


def test_many_different_clusters_give_the_same_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    # 1,500 clusters of 4, hardly two alike, with a label in five units: drawn as sums, then cluster by cluster.
    codes = simulated(6000, 2, seed=7)
    codes[codes == 4] = 3
    codes[:5] = 4
    clusters = np.arange(6000) // 4
    plan = Plan(replicates=20_000, seed=1)
    exact = krippendorff_alpha(count_wide(codes, 5, clusters=clusters), "ordinal", plan)
    monkeypatch.setattr("evenhand.agreement.bootstrap._MANY", 100)
    fast = krippendorff_alpha(count_wide(codes, 5, clusters=clusters), "ordinal", plan)
    assert fast.low is not None
    assert fast.high is not None
    assert exact.low is not None
    assert exact.high is not None
    assert fast.low != exact.low
    width = exact.high - exact.low
    assert fast.low == pytest.approx(exact.low, abs=0.03 * width)
    assert fast.high == pytest.approx(exact.high, abs=0.03 * width)


def test_bca_against_scipy() -> None:
    values = np.round(np.random.default_rng(4).exponential(2.0, size=400), 1)
    found = estimate(mean_sample(values), first_over_second, 400, "", Plan(replicates=20_000, seed=5))
    low, high = oracles.bca_of_mean(values, 20_000, 6)
    assert found.value == pytest.approx(values.mean())
    # The widening for small samples is 0.3 % of the width at 400 blocks.
    assert found.low == pytest.approx(low, abs=0.03 * (high - low))
    assert found.high == pytest.approx(high, abs=0.03 * (high - low))


def test_jackknife_error_of_a_mean_is_its_standard_error() -> None:
    values = np.array([1.0, 2.0, 2.0, 4.0, 7.0])
    assert jackknife_error(mean_sample(values), first_over_second) == pytest.approx(values.std(ddof=1) / np.sqrt(5))
    assert jackknife_error(mean_sample(np.array([3.0])), first_over_second) is None


def test_the_same_seed_gives_the_same_interval() -> None:
    codes = simulated(80, 3, 0.1)
    first = krippendorff_alpha(count_wide(codes, 5), "interval", Plan(seed=9))
    assert first == krippendorff_alpha(count_wide(codes, 5), "interval", Plan(seed=9))
    assert first != krippendorff_alpha(count_wide(codes, 5), "interval", Plan(seed=10))


def test_clusters_of_one_unit_are_units() -> None:
    codes = simulated(120, 3)
    plain = krippendorff_alpha(count_wide(codes, 5), "nominal")
    alone = krippendorff_alpha(count_wide(codes, 5, clusters=np.arange(120)), "nominal")
    assert plain.value == pytest.approx(alone.value)
    assert plain.low == pytest.approx(alone.low, abs=0.02)
    assert plain.high == pytest.approx(alone.high, abs=0.02)


def test_repeating_every_unit_within_its_cluster_adds_no_certainty() -> None:
    codes = simulated(60, 3)
    once = krippendorff_alpha(count_wide(codes, 5, clusters=np.arange(60)), "interval")
    five = krippendorff_alpha(
        count_wide(np.repeat(codes, 5, axis=0), 5, clusters=np.repeat(np.arange(60), 5)), "interval"
    )
    assert once.low is not None
    assert once.high is not None
    assert five.low is not None
    assert five.high is not None
    assert five.high - five.low == pytest.approx(once.high - once.low, rel=0.1)


def test_one_block_has_no_interval() -> None:
    found = estimate(mean_sample(np.array([3.0])), first_over_second, 1, "")
    assert (found.value, found.low, found.note) == (3.0, None, "no interval: there is only one block to resample")


def test_values_that_never_vary_have_no_interval() -> None:
    found = estimate(mean_sample(np.array([3.0, 3.0, 3.0])), first_over_second, 3, "")
    assert (found.value, found.low, found.high) == (3.0, None, None)
    assert found.note == "no interval: every resample gives the same value"


def test_undefined_resamples_are_counted() -> None:
    # One pair in twenty uses the second label: 0.95^20 = 36 % of resamples miss it, and α is undefined there.
    codes = np.zeros((20, 2), dtype=np.int64)
    codes[0] = 1, 0
    found = krippendorff_alpha(count_wide(codes, 2))
    assert found.value is not None
    assert found.low is None
    assert found.note is not None
    assert "undefined in" in found.note
    codes[1] = 1, 1
    codes[2] = 0, 1
    found = krippendorff_alpha(count_wide(codes, 2))
    assert found.low is not None
    assert found.note is not None
    assert "left out" in found.note


def test_perfect_agreement_has_a_worst_case_for_a_lower_end() -> None:
    # 20 units, half of each label: chance disagreement 1/2; no disagreement in 20 leaves a chance of one below
    # 1 - 0.025^(1/20) = 0.1684, so the coefficient is above 1 - 0.1684 / 0.5 = 0.6632.
    codes = np.repeat([[0, 0], [1, 1]], 10, axis=0)
    found = krippendorff_alpha(count_wide(codes, 2))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.6632, abs=1e-4)
