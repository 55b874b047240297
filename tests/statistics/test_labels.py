import numpy as np
import pytest
from hypothesis import assume, given, settings

from evenhand.statistics.confusion import cross, cross_table, label_agreement, macro_f1, pair_percent, pair_within_one
from evenhand.statistics.counts import count_table, count_wide, rare_agreement, specific_agreement, spread
from evenhand.statistics.estimate import IntArray
from evenhand.statistics.intervals.analytic import wilson
from tests.statistics import oracles
from tests.statistics.tables import code_tables


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(most_raters=2))
def test_macro_f1_against_scikit_learn(codes: IntArray) -> None:
    both = codes[(codes >= 0).all(axis=1)]
    assume(len(both) > 0)
    found = macro_f1(cross(codes[:, 0], codes[:, 1], 4), None).value
    assert found == pytest.approx(oracles.macro_f1(both[:, 0], both[:, 1]), abs=1e-9)


def test_label_agreement_by_hand() -> None:
    # Label 0: both on 6, only the first on 3, only the second on 1: 6 of 10.
    pair = cross_table(np.array([[6, 3], [1, 5]]))
    found = label_agreement(pair)[0]
    assert (found.value, found.n) == (0.6, 10)
    assert (found.low, found.high) == wilson(6, 10)
    assert label_agreement(pair)[1].value == pytest.approx(5 / 9)


def test_label_agreement_without_the_label() -> None:
    found = label_agreement(cross_table(np.array([[6, 0], [0, 0]])))[1]
    assert found.value is None
    assert found.why == "neither rater gave this label"


def test_pair_shares_have_wilsons_interval_and_the_bootstraps_with_clusters() -> None:
    generator = np.random.default_rng(0)
    a = generator.integers(0, 3, size=120)
    b = np.where(generator.random(120) < 0.7, a, generator.integers(0, 3, size=120))
    plain, grouped = cross(a, b, 3), cross(a, b, 3, clusters=np.arange(120) // 2)
    hits = int((a == b).sum())
    assert (pair_percent(plain).low, pair_percent(plain).high) == wilson(hits, 120)
    for statistic in (pair_percent, pair_within_one):
        assert statistic(plain).value == pytest.approx(statistic(grouped).value)
        assert statistic(grouped).low == pytest.approx(statistic(plain).low, abs=0.05)
    one, two = label_agreement(plain)[1], label_agreement(grouped)[1]
    assert one.value == pytest.approx(two.value)
    assert two.low == pytest.approx(one.low, abs=0.08)


def test_specific_agreement_of_many_raters_by_hand() -> None:
    # Unit A: labels 0 0 1. Each rating of 0 meets another 0 in one of two others: 2·1/2 = 1 of 2. Unit B: 0 and 1:
    # 0 of 1. Unit C, rated once, has no part. Together 1 of 3.
    counts = count_table(np.array([[2, 1], [1, 1], [1, 0]]))
    assert specific_agreement(counts, None)[0].value == pytest.approx(1 / 3)


def test_rare_side_and_spread_of_skewed_ratings() -> None:
    # 18 units all 0, one unit (0, 1), one unit (1, 2): 37 of 40 ratings are 0; of three rare ratings two meet another.
    codes = np.array([[0, 0]] * 18 + [[0, 1], [1, 2]])
    counts = count_wide(codes, 3)
    found = spread(counts.used)
    assert found is not None
    assert found.shares == pytest.approx((37 / 40, 2 / 40, 1 / 40))
    assert (found.commonest, found.skewed, found.n) == (0, True, 40)
    assert found.baseline == pytest.approx(0.925)
    assert rare_agreement(counts, None).value == pytest.approx(2 / 3)


def test_spread_of_even_and_of_no_ratings() -> None:
    even = spread(count_wide(np.array([[0, 1], [1, 0]]), 2).used)
    assert even is not None
    assert not even.skewed
    nothing = count_wide(np.full((2, 2), -1), 2)
    assert spread(nothing.used) is None
    assert rare_agreement(nothing).why == "there are no ratings"
