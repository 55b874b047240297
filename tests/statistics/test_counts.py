import numpy as np
import pytest
from hypothesis import given

from evenhand.statistics.counts import Counts, count_long, count_table, count_wide, percent_agreement
from evenhand.statistics.estimate import IntArray
from tests.statistics.tables import code_tables


def as_dict(counts: Counts) -> dict[tuple[int, ...], int]:
    return {tuple(row): int(times) for row, times in zip(counts.sample.rows.tolist(), counts.sample.times, strict=True)}


def test_units_that_look_alike_are_counted_once() -> None:
    codes = np.array([[0, 1, -1], [1, 0, -1], [2, 2, 2], [-1, -1, -1]])
    counts = count_wide(codes, 3)
    assert as_dict(counts) == {(1, 1, 0): 2, (0, 0, 3): 1}
    assert (counts.sample.n_blocks, counts.overlapping, counts.scores.size) == (3, 3, 3)


@given(code_tables())
def test_wide_long_and_table_agree(codes: IntArray) -> None:
    wide = as_dict(count_wide(codes, 4))
    units, raters = np.nonzero(codes >= -1)
    long = count_long(units, codes[units, raters], 4)
    tally = np.stack([(codes == label).sum(axis=1) for label in range(4)], axis=1)
    assert wide == as_dict(long) == as_dict(count_table(tally))
    assert wide == as_dict(count_wide(codes, 4, clusters=np.arange(len(codes))))


def test_many_raters_with_few_ratings_each() -> None:
    generator = np.random.default_rng(0)
    units = np.repeat(np.arange(2000), 3)
    counts = count_long(units, generator.integers(0, 5, size=6000), 5)
    assert counts.sample.n_blocks == counts.overlapping == 2000
    assert set(counts.raters.tolist()) == {3}


def test_codes_outside_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="between -1"):
        count_wide(np.array([[0, 3]]), 3)
    with pytest.raises(ValueError, match="3 scores"):
        count_wide(np.array([[0, 2]]), 3, np.array([1.0, 2.0]))


def test_a_wide_scale_takes_the_other_path() -> None:
    codes = np.array([[0, 100], [50, 50], [0, 100]])
    assert sorted(count_wide(codes, 101).sample.times.tolist()) == [1, 2]


def test_no_units_and_no_ratings() -> None:
    assert count_wide(np.zeros((0, 3), dtype=np.int64), 3).sample.n_blocks == 0
    assert count_wide(np.full((4, 2), -1), 3).sample.n_blocks == 0
    assert count_wide(np.full((4, 2), -1), 3, clusters=np.zeros(4, dtype=np.int64)).sample.n_blocks == 0
    empty = np.zeros(0, dtype=np.int64)
    assert count_long(empty, empty, 3).sample.n_blocks == 0


def test_units_weigh_the_same_however_many_raters() -> None:
    # Three raters, one differing pair kind: 1/3 of pairs agree; two raters: 1. Mean 2/3.
    assert percent_agreement(count_table(np.array([[2, 1], [0, 2]])), plan=None).value == pytest.approx(2 / 3)


def test_full_agreement_has_the_exact_binomial_end() -> None:
    found = percent_agreement(count_table(np.array([[2, 0]] * 10)))
    assert found.value == 1.0
    assert found.low == pytest.approx(0.025 ** (1 / 10))
