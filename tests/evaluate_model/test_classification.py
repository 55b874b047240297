import random
from collections.abc import Sequence

import pytest

from evenhand.evaluate_model.classification import classify
from evenhand.protocol.load import load_protocol
from tests.statistics.oracles import metrics

PROTOCOL = load_protocol("ai-detection")
LABELS = ["AI", "human", "mixed", "unsure"]


def rows(seed: int, size: int) -> tuple[list[str], list[str]]:
    """Labels and predictions that often agree; the last label is predicted now and then but never true."""
    draw = random.Random(seed)
    truth = [draw.choice(LABELS[:3]) for _ in range(size)]
    return truth, [label if draw.random() < 0.6 else draw.choice(LABELS) for label in truth]


def scikit(truth: Sequence[str], prediction: Sequence[str], average: str) -> list[float]:
    found: tuple[float, float, float, None] = metrics.precision_recall_fscore_support(
        truth,
        prediction,
        average=average,
        zero_division=0,
    )
    return [float(value) for value in found[:3]]


@pytest.mark.parametrize(("seed", "size"), [(1, 12), (2, 200), (3, 1000)])
def test_the_figures_are_those_of_scikit_learn(seed: int, size: int):
    truth, prediction = rows(seed, size)
    found = classify(PROTOCOL, truth, prediction)
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(truth, prediction))
    macro = [found.precision.value, found.recall.value, found.f1.value]
    assert macro == pytest.approx(scikit(truth, prediction, "macro"))
    weighted = [found.weighted[name].value for name in ("precision", "recall", "f1")]
    assert weighted == pytest.approx(scikit(truth, prediction, "weighted"))
    assert [found.accuracy.value] * 3 == pytest.approx(scikit(truth, prediction, "micro"))
    assert found.confusion == metrics.confusion_matrix(truth, prediction, labels=list(found.labels)).tolist()


def test_one_label_at_a_time_by_hand():
    # AI: 3 true, 2 predicted, 2 hits. human: 2 true, 3 predicted, 2 hits.
    found = classify(PROTOCOL, ["AI", "AI", "AI", "human", "human"], ["AI", "AI", "human", "human", "human"])
    ai, human = found.per_label["AI"], found.per_label["human"]
    assert (ai.precision, ai.recall, ai.f1, ai.support) == pytest.approx((1.0, 2 / 3, 0.8, 3))
    assert (human.precision, human.recall, human.f1, human.support) == pytest.approx((2 / 3, 1.0, 0.8, 2))
    assert found.confusion == [[2, 1], [0, 2]]
    assert found.accuracy.low is not None
    assert found.accuracy.high is not None
    assert found.accuracy.low < 0.8 < found.accuracy.high


def test_rows_without_a_label_or_a_prediction_are_counted_and_left_out():
    truth = ["AI", None, "human", None, "human"]
    found = classify(PROTOCOL, truth, ["AI", "AI", None, None, "human"])
    assert found.rows == 5
    assert found.left_out == {"no_label": 2, "no_prediction": 1}
    assert (found.accuracy.value, found.accuracy.n) == (1.0, 2)
    assert "2 left out: no_label" in str(found)


def test_a_label_that_was_never_predicted_has_no_precision():
    found = classify(PROTOCOL, ["AI", "human"], ["human", "human"])
    assert found.per_label["AI"].precision is None
    # As scikit-learn has it, the mean takes it as 0: (0 + 1/2) / 2.
    assert found.precision.value == pytest.approx(0.25)


def test_without_a_single_pair_there_are_no_figures():
    found = classify(PROTOCOL, ["AI", None], [None, "human"])
    assert found.accuracy.value is None
    assert found.accuracy.why == "no item has both labels"
    assert found.weighted["f1"].value is None


def test_two_spellings_are_two_labels_and_are_named():
    found = classify(PROTOCOL, ["AI", "ai"], ["ai", "ai"])
    assert found.accuracy.value == 0.5
    assert found.remarks == ["'AI' and 'ai' are counted as different labels; write them alike if they mean the same"]


def test_the_figures_can_be_written_as_json():
    found = classify(PROTOCOL, ["AI", "AI", "human"], ["AI", "human", "human"]).as_dict()
    assert found["labels"] == ["AI", "human"]
    assert found["confusion"] == [[1, 1], [0, 1]]
    assert found["per_label"] == {
        "AI": {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2},
        "human": {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1},
    }
