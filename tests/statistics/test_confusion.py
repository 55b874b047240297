import numpy as np
import pytest

from evenhand.statistics.confusion import cross, label_agreement, macro_f1, mean_over_labels, pair_percent
from evenhand.statistics.estimate import IntArray
from evenhand.statistics.intervals.analytic import proportion
from evenhand.statistics.intervals.bootstrap import Resampling
from evenhand.statistics.pairs import pair_statistics


def test_rows_are_the_first_rater() -> None:
    pair = cross(np.array([0, 0, 1, -1, 2]), np.array([1, 1, 1, 0, -1]), 3)
    assert pair.table.tolist() == [[0, 2, 0], [0, 1, 0], [0, 0, 0]]
    assert pair.n == 3


def test_clusters_keep_the_table() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.integers(-1, 3, size=(2, 200))
    plain, grouped = cross(a, b, 3), cross(a, b, 3, clusters=np.arange(200) // 4)
    assert np.array_equal(plain.table, grouped.table)
    assert grouped.sample.member_kind is not None
    assert grouped.sample.n_blocks <= 50


def test_no_overlap() -> None:
    assert cross(np.array([0, -1]), np.array([-1, 1]), 2).n == 0
    assert cross(np.array([0, -1]), np.array([-1, 1]), 2, clusters=np.array([0, 0])).n == 0


def test_codes_outside_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="between -1"):
        cross(np.array([0]), np.array([2]), 2)


def test_shares_over_clusters_are_proportions_over_clusters() -> None:
    generator = np.random.default_rng(4)
    clusters = np.repeat(np.arange(25), 8)
    a = generator.integers(0, 3, size=200)
    b = np.where(np.repeat(generator.random(25) < 0.6, 8), a, generator.integers(0, 3, size=200))
    pair = cross(a, b, 3, clusters=clusters)
    assert pair_percent(pair) == proportion((a == b).astype(np.float64), clusters)
    either = (a == 1) | (b == 1)
    assert label_agreement(pair)[1] == proportion((a == b)[either].astype(np.float64), clusters[either])


def test_perfect_agreement_of_clusters_has_an_interval() -> None:
    codes = np.arange(400) % 3
    found = pair_statistics(cross(codes, codes, 3, clusters=np.arange(400) // 4))
    for name, one in found.items():
        assert (one.value, one.high) == (1.0, 1.0), name
        assert one.low is not None, name
        assert 0.9 < one.low < 1.0, name
    # Every document counts as one unit: t² with 99 degrees of freedom is 3.937, and 100 / (100 + 3.937) = 0.962.
    assert found["percent"].low == pytest.approx(0.962, abs=5e-4)


def test_a_perfect_macro_f1_falls_by_the_worst_that_the_sample_allows() -> None:
    codes = np.repeat([0, 0, 0, 1], 50)
    found = macro_f1(cross(codes, codes, 2))
    # No disagreement in 200 units: at most 1 - 0.025^(1/200) = 1.83 % disagree; at worst on label 1, a quarter of all.
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1.0 - 0.01828 / (2 * 0.25), abs=1e-4)
    # A label of the scale that neither used may be lost altogether; with 1.83 % on label 1, too: 1 - (1 + 0.0731) / 3.
    assert macro_f1(cross(codes, codes, 3)).low == pytest.approx(1.0 - 1.0731 / 3, abs=1e-4)
    assert mean_over_labels(cross(codes, codes, 3), "f1", weighted=True).low == pytest.approx(1.0 - 0.01828, abs=1e-4)
    assert macro_f1(cross(codes[:1], codes[:1], 3)).low is None


def test_a_rare_label_leaves_a_mean_over_labels_without_interval() -> None:
    generator = np.random.default_rng(1)
    a = np.concatenate((np.repeat([0, 1], 100), np.full(9, 2)))
    b = np.where(generator.random(209) < 0.9, a, 0)
    found = macro_f1(cross(a, b, 3))
    assert found.value is not None
    assert (found.low, found.note) == (
        None,
        "no interval: too few units have the rarest label of the scale: 9 of 10 needed",
    )
    assert macro_f1(cross(np.append(a, 2), np.append(b, 2), 3)).low is not None
    # A label that neither used may be as rare; weighted by how often a label is true, a rare one does not matter.
    assert macro_f1(cross(a[:200], b[:200], 3)).low is None
    assert mean_over_labels(cross(a, b, 3), "f1", weighted=True).low is not None


@pytest.mark.parametrize("clusters", [None, np.arange(300)])
def test_what_few_agreements_on_a_rare_label_leave_open_is_in_the_interval(clusters: IntArray | None) -> None:
    """Without agreement beyond chance, a sample often has no unit on which both gave the rare label."""
    share, held = 0.05, 0
    # Both give it by chance: its F1 is its share, and that of the other label as much.
    truth = 0.5 * (share + 1.0 - share)
    for seed in range(60):
        a, b = (np.random.default_rng(seed).random((2, 300)) < share).astype(np.int64)
        found = macro_f1(cross(a, b, 2, clusters=clusters), Resampling(replicates=300))
        held += found.low is None or (found.high or 0.0) >= truth >= found.low
    # The bootstrap alone holds it in 55 of 100; 93 % of 60 is 56.
    assert held >= 56


def test_few_clusters_that_decide_a_macro_f1_count_half() -> None:
    a = (np.arange(60) < 18).astype(np.int64)
    b = np.where(np.random.default_rng(0).random(60) < 0.9, a, 1 - a)
    # Every cluster is a unit four times: without wider tails, the interval is that of the units within 3 %.
    often = cross(np.repeat(a, 4), np.repeat(b, 4), 2, clusters=np.repeat(np.arange(60), 4))
    once, often = macro_f1(cross(a, b, 2)), macro_f1(often)
    assert once.value == pytest.approx(often.value)
    assert (often.high or 0.0) - (often.low or 0.0) > 1.15 * ((once.high or 0.0) - (once.low or 0.0)) > 0.0


def test_precision_and_recall_of_a_label_without_a_hit_reach_up() -> None:
    a, b = np.repeat([0, 0, 1], [170, 15, 15]), np.repeat([0, 1, 0], [170, 15, 15])
    found = [mean_over_labels(cross(a, b, 2), score) for score in ("precision", "recall", "f1")]
    # Wilson's upper end for 0 of 15 is 0.204, half of which is added; that of F1 for 0 of 30 is 0.114, or 0.204 as F1.
    assert [(one.high or 0.0) - (one.value or 0.0) for one in found] == pytest.approx([0.107, 0.107, 0.104], abs=0.004)
