import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.statistics.alpha import krippendorff_alpha
from evenhand.statistics.counts import count_wide
from evenhand.statistics.estimate import IntArray
from evenhand.statistics.kappa import agreement_weights
from tests.statistics import oracles
from tests.statistics.reference import counts_of
from tests.statistics.tables import code_tables, simulated


def test_by_hand() -> None:
    # Two raters, labels (0,0), (0,1), (1,1): six ratings, three of each label. Observed: one differing pair of three,
    # 1/3. Expected: 2·3·3 of 6·5 pairs, 3/5. α = 1 - (1/3)/(3/5) = 4/9.
    codes = np.array([[0, 0], [0, 1], [1, 1]])
    assert krippendorff_alpha(count_wide(codes, 2), "nominal", None).value == pytest.approx(4 / 9)


@settings(max_examples=100, deadline=None)
@given(codes=code_tables(), metric=st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_against_the_krippendorff_package(codes: IntArray, metric: str) -> None:
    assert metric in ("nominal", "ordinal", "interval", "ratio")
    paired = codes[(codes >= 0).sum(axis=1) >= 2]
    assume(np.unique(paired[paired >= 0]).size > 1)
    scores = np.array([1.0, 2.0, 4.0, 7.0])
    found = krippendorff_alpha(count_wide(codes, 4, scores), metric, None).value
    assert found == pytest.approx(oracles.alpha(codes, scores, metric), abs=1e-9)


def test_gwet_ordinal_weights_are_another_ordinal() -> None:
    # On Krippendorff's own data his ordinal metric gives 0.815, Gwet's ordinal weights 0.834.
    counts = counts_of("kripp2011_C")
    assert krippendorff_alpha(counts, "ordinal", None).value == pytest.approx(0.815, abs=5e-4)
    metric = 1.0 - agreement_weights("ordinal", counts.scores)
    assert krippendorff_alpha(counts, metric, None).value == pytest.approx(0.834, abs=5e-4)


def test_units_with_one_rating_play_no_part() -> None:
    codes = simulated(30, 3, 0.3, seed=5)
    more = np.vstack((codes, [[4, -1, -1]] * 50))
    one, two = (krippendorff_alpha(count_wide(table, 5), "ordinal", None) for table in (codes, more))
    assert one.value == pytest.approx(two.value)
    assert one.n == two.n


def test_the_ratio_metric_refuses_negative_scores() -> None:
    with pytest.raises(ValueError, match="not negative"):
        krippendorff_alpha(count_wide(np.array([[0, 1]]), 2, np.array([-1.0, 1.0])), "ratio", None)


def test_skewed_ratings_have_an_alpha_near_zero() -> None:
    # 96 % of one label, errors independent: raters agree on 92 % and α is 0 all the same.
    generator = np.random.default_rng(0)
    codes = (generator.random((3000, 5)) < 0.04).astype(np.int64)
    found = krippendorff_alpha(count_wide(codes, 2))
    assert found.value == pytest.approx(0.0, abs=0.02)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
