import re

import numpy as np
import pytest

from evenhand.statistics.alpha import krippendorff_alpha
from evenhand.statistics.counts import count_wide
from evenhand.statistics.estimate import Estimate, FloatArray
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling, Sample, distinct_rows, first_over_second
from tests.statistics import oracles
from tests.statistics.tables import simulated


def mean_of(values: FloatArray, plan: Resampling = DEFAULT) -> Estimate:
    sample = Sample.of(values[:, None])
    sums = np.concatenate((sample.rows, np.ones_like(sample.rows)), axis=1)
    return sample.estimate(sums, first_over_second, len(values), "", plan)


def test_different_rows_give_back_the_table() -> None:
    table = np.array([[1, 0, 2], [0, 0, 0], [1, 0, 2], [3, 1, 0]])
    rows, place, times = distinct_rows(table)
    assert np.array_equal(rows[place], table)
    assert sorted(times.tolist()) == [1, 1, 2]


@pytest.mark.parametrize("scale", [1000, 0.5], ids=["too wide for one number", "not integers"])
def test_different_rows_of_any_kind(scale: float) -> None:
    table = np.random.default_rng(0).integers(0, 1000, size=(50, 12)) * scale
    table[10] = table[3]
    rows, place, times = distinct_rows(table)
    assert np.array_equal(rows[place], table)
    assert (len(rows), times.max()) == (49, 2)


def test_clusters_of_the_same_rows_become_one_kind() -> None:
    # Clusters 7 and 9 both have rows {0, 1}, in another order; cluster 8 has {0, 0}.
    sample = Sample.of(np.array([[0], [1], [0], [0], [1], [0]]), np.array([7, 7, 8, 8, 9, 9]))
    assert sorted(sample.blocks.tolist()) == [1, 2]
    assert sample.n_blocks == 3
    assert sorted(sample.by_block(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()) == [[1.0, 1.0], [2.0, 0.0]]


def test_clusters_keep_the_totals() -> None:
    generator = np.random.default_rng(1)
    rows, clusters = generator.integers(0, 6, size=(300, 1)), generator.integers(0, 80, size=300)
    sums = generator.normal(size=(6, 3))
    sample = Sample.of(rows, clusters)
    assert sample.n_blocks == len(set(clusters.tolist()))
    assert np.allclose(sample.blocks @ sample.by_block(sums), sums[rows[:, 0]].sum(axis=0))


def test_draws_are_kept_and_have_as_many_blocks_as_the_sample() -> None:
    sample = Sample.of(np.repeat(np.arange(4), [40, 20, 30, 10])[:, None])
    drawn = np.concatenate(list(sample.draws(Resampling(replicates=500, seed=3))))
    assert np.array_equal(drawn.sum(axis=1), np.full(500, 100.0))
    assert next(sample.draws(Resampling(replicates=500, seed=3))) is next(sample.draws(Resampling(500, 3)))


@pytest.mark.parametrize("size", [1, 4], ids=["units", "clusters"])
def test_the_normal_limit_gives_the_multinomial_interval(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Five units have a label of their own, which is too rare for a normal limit.
    codes = simulated(6000, 2, seed=7)
    codes[codes == 4] = 3
    codes[:5] = 4
    clusters = np.arange(6000) // size
    plan = Resampling(replicates=20_000, seed=1)
    found: list[Estimate] = []
    for large in (100, 10**9):
        monkeypatch.setattr("evenhand.statistics.intervals.bootstrap._LARGE", large)
        found.append(krippendorff_alpha(count_wide(codes, 5, clusters=clusters), "ordinal", plan))
    fast, exact = found
    assert exact.low is not None
    assert exact.high is not None
    assert fast.low != exact.low
    width = exact.high - exact.low
    assert fast.low == pytest.approx(exact.low, abs=0.03 * width)
    assert fast.high == pytest.approx(exact.high, abs=0.03 * width)


def test_bca_against_scipy() -> None:
    values = np.round(np.random.default_rng(4).exponential(2.0, size=400), 1)
    found = mean_of(values, Resampling(replicates=20_000, seed=5))
    low, high = oracles.bca_of_mean(values, 20_000, 6)
    assert found.value == pytest.approx(values.mean())
    # The widening for small samples is 0.3 % of the width at 400 blocks.
    assert found.low == pytest.approx(low, abs=0.03 * (high - low))
    assert found.high == pytest.approx(high, abs=0.03 * (high - low))


def test_the_same_seed_gives_the_same_interval() -> None:
    codes = simulated(80, 3, 0.1)
    first = krippendorff_alpha(count_wide(codes, 5), "interval", Resampling(seed=9))
    assert first == krippendorff_alpha(count_wide(codes, 5), "interval", Resampling(seed=9))
    assert first != krippendorff_alpha(count_wide(codes, 5), "interval", Resampling(seed=10))


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
    found = mean_of(np.array([3.0]))
    assert (found.value, found.low, found.note) == (3.0, None, "no interval: there is only one unit or cluster")


def test_values_that_never_vary_have_no_interval() -> None:
    found = mean_of(np.array([3.0, 3.0, 3.0]))
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
    assert re.fullmatch(r"no interval: undefined in \d+ of 2,000 resamples", found.note)
    codes[1] = 1, 1
    codes[2] = 0, 1
    found = krippendorff_alpha(count_wide(codes, 2))
    assert found.low is not None
    assert found.note is not None
    assert re.match(r"\d+ of 2,000 resamples were undefined and left out", found.note)
    few = [krippendorff_alpha(count_wide(codes, 2), plan=Resampling(25, seed)).note for seed in range(20)]
    assert any(note and note.startswith("1 of 25 resamples was undefined and left out") for note in few)


def test_perfect_agreement_has_a_worst_case_for_a_lower_end() -> None:
    # 20 units, half of each label: chance disagreement 1/2; no disagreement in 20 leaves a chance of one below
    # 1 - 0.025^(1/20) = 0.1684, so the coefficient is above 1 - 0.1684 / 0.5 = 0.6632.
    codes = np.repeat([[0, 0], [1, 1]], 10, axis=0)
    found = krippendorff_alpha(count_wide(codes, 2))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.6632, abs=1e-4)


def test_tails_are_those_of_as_few_blocks_as_carry_the_variance() -> None:
    def reach(values: FloatArray, informative: int | None) -> float:
        sample = Sample.of(values[:, None])
        sums = np.concatenate((sample.rows, np.ones_like(sample.rows)), axis=1)
        found = sample.estimate(sums, first_over_second, values.size, "", informative=informative)
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    even, uneven = np.tile([1.0, -1.0], 50), np.append(np.tile([1.0, -1.0], 50), [40.0, -30.0, 35.0])
    assert reach(even, 100) == reach(even, None)
    # Three of 103 values carry nearly all of the variance: 2 n / (kurtosis - 1) is 6.
    assert reach(uneven, 103) > 1.3 * reach(uneven, None)
    assert reach(even, 4) > 1.3 * reach(even, None)
