import numpy as np
import pytest

from evenhand.agreement.alpha import krippendorff_alpha
from evenhand.agreement.counts import count_table
from evenhand.agreement.spans import Spans, character_alpha, spans_of, unitizing_alpha

# Krippendorff 2004, Measuring the reliability of qualitative text analysis data: two observers, a text of 300
# positions (150 to 450 there), categories c and k.
KRIPPENDORFF = [
    (0, 0, 0, 75, 145),
    (0, 0, 0, 220, 250),
    (0, 1, 0, 70, 150),
    (0, 1, 0, 205, 225),
    (0, 1, 0, 250, 270),
    (0, 0, 1, 30, 90),
    (0, 0, 1, 150, 200),
    (0, 1, 1, 30, 90),
    (0, 1, 1, 150, 200),
]


def texts(rows: list[tuple[int, int, int, int, int]], lengths: list[int], raters: int = 2) -> Spans:
    return spans_of(np.array(rows), np.array(lengths), np.ones((len(lengths), raters), dtype=np.bool_))


def test_published_example() -> None:
    spans = texts(KRIPPENDORFF, [300])
    # Category c by hand. Overlaps: 70 and 80 long, ends 5 apart each: 25 + 25; 30 and 20 long: 15² + 25². One span of
    # 20 in the other's gap: 20². Both ways: 2·(50 + 850 + 400) / (2·300²) = 0.01444; expected 0.0532; α = 0.7286.
    assert unitizing_alpha(spans, 0, None).value == pytest.approx(0.7286, abs=5e-5)
    assert unitizing_alpha(spans, 1, None).value == 1.0
    assert unitizing_alpha(spans, None, None).value == pytest.approx(0.8587, abs=5e-5)


def test_expected_disagreement_by_hand() -> None:
    # A text of 4, one span of 2 each, apart: [0, 2) and [2, 4). Observed: each lies in the other's gap of 2:
    # 2·(4 + 4) / (2·1·16) = 0.5. Expected: spans against spans (1/3)(16 - 12 + 2) = 2 each; against two gaps of 2:
    # 4·(1 + 1) = 8 each. (2/4)·20 / (8·7 - 2·2) = 10/52. α = 1 - 0.5·5.2 = -1.6.
    spans = texts([(0, 0, 0, 0, 2), (0, 1, 0, 2, 4)], [4])
    assert unitizing_alpha(spans, None, None).value == pytest.approx(-1.6)


def test_characters_are_units_of_nominal_alpha() -> None:
    spans = texts(KRIPPENDORFF, [300])
    marks = np.zeros((2, 300), dtype=np.int64)
    for _, rater, label, begin, end in KRIPPENDORFF:
        if label == 0:
            marks[rater, begin:end] = 1
    table = np.stack(((marks == 0).sum(axis=0), (marks == 1).sum(axis=0)), axis=1)
    expected = krippendorff_alpha(count_table(table), "nominal", None).value
    assert character_alpha(spans, 0, None).value == pytest.approx(expected)


def test_two_halves_are_one_whole_for_characters_only() -> None:
    halves = texts([(0, 0, 0, 10, 30), (0, 1, 0, 10, 20), (0, 1, 0, 21, 30)], [100])
    assert (character_alpha(halves, plan=None).value or 0) > 0.9
    assert (unitizing_alpha(halves, plan=None).value or 0) < (character_alpha(halves, plan=None).value or 0)


def test_spans_that_touch_are_one() -> None:
    split = texts([(0, 0, 0, 10, 20), (0, 0, 0, 20, 30), (0, 1, 0, 10, 30)], [100])
    assert unitizing_alpha(split, plan=None).value == 1.0


def test_texts_are_resampled() -> None:
    generator = np.random.default_rng(0)
    rows: list[tuple[int, int, int, int, int]] = []
    for text in range(40):
        begin = int(generator.integers(0, 60))
        shift = int(generator.integers(0, 12))
        rows += [(text, 0, 0, begin, begin + 20), (text, 1, 0, begin + shift, begin + 20 + shift)]
    spans = texts(rows, [100] * 40)
    for statistic in (unitizing_alpha, character_alpha):
        found = statistic(spans)
        assert found.n == 40
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        assert 0 < found.low < found.value < found.high <= 1


def test_unmarked_and_unseen_texts_differ() -> None:
    rows = np.array([(0, 0, 0, 0, 5), (0, 1, 0, 0, 5), (1, 0, 0, 0, 5)])
    seen = np.array([[True, True], [True, True]])
    unseen = np.array([[True, True], [True, False]])
    assert (unitizing_alpha(spans_of(rows, np.array([20, 20]), seen), plan=None).value or 0) < 1
    assert unitizing_alpha(spans_of(rows, np.array([20, 20]), unseen), plan=None).value == 1.0


def test_undefined_and_refused() -> None:
    nothing = texts([], [50])
    assert unitizing_alpha(nothing).why == "no rater marked anything: expected disagreement is 0"
    assert character_alpha(nothing).value is None
    alone = spans_of(np.array([(0, 0, 0, 0, 5)]), np.array([20]), np.array([[True, False]]))
    assert unitizing_alpha(alone).why == character_alpha(alone).why == "no unit was rated twice"
    with pytest.raises(ValueError, match="within its text"):
        texts([(0, 0, 0, 5, 500)], [20])
    with pytest.raises(ValueError, match="did not rate"):
        spans_of(np.array([(0, 1, 0, 0, 5)]), np.array([20]), np.array([[True, False]]))
