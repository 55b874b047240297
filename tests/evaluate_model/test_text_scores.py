from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from evenhand.errors import MissingExtraError
from evenhand.evaluate_model.text_scores import TextScores, score_texts
from evenhand.overlap import Encoder

FOX = "The quick brown fox jumps over the lazy dog"
DOG = "The quick brown dog jumps on the log."
CAT, MAT = "the cat sat on the mat", "the cat sat on a mat"


def scored(generated: Sequence[str | None], references: Sequence[str | None], language: str) -> TextScores:
    """Each text against a single reference, or none."""
    return score_texts(generated, [[one] if one else [] for one in references], language)


def test_rouge_by_hand():
    # 8 generated words, 9 in the reference. Shared: the (twice), quick, brown, dog, jumps. Pairs of words: 7 and 8,
    # shared "the quick" and "quick brown". The longest common sequence: the quick brown jumps the.
    found = scored([DOG], [FOX], "en")
    assert found.rouge["rouge1"].value == pytest.approx(2 * 6 / (8 + 9))
    assert found.rouge["rouge2"].value == pytest.approx(2 * 2 / (7 + 8))
    assert found.rouge["rougeL"].value == pytest.approx(2 * 5 / (8 + 9))


def test_bleu_by_hand():
    # Hits and n-grams from 1 to 4: 5 of 6 ("the" counts once), 3 of 5, 2 of 4, 1 of 3; equal length, no penalty.
    found = scored([CAT], [MAT], "en")
    assert found.bleu.value == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_bleu_is_that_of_the_whole_corpus_and_not_a_mean():
    # Hits and n-grams of both rows together: 11 of 12, 8 of 10, 6 of 8, 4 of 6.
    found = scored([CAT, MAT], [MAT, MAT], "en")
    assert found.bleu.value == pytest.approx(100 * (11 / 12 * 8 / 10 * 6 / 8 * 4 / 6) ** 0.25)
    assert found.bleu.n == 2


def test_the_interval_of_bleu_has_the_spread_of_resampled_corpora():
    rows = [(CAT, MAT), (MAT, MAT), ("a cat on a mat", MAT), ("the dog sat on the mat", MAT), ("no", MAT)] * 10
    found = scored([ours for ours, _ in rows], [theirs for _, theirs in rows], "en").bleu
    draw = np.random.default_rng(5)
    scores: list[float] = []
    for places in draw.integers(0, len(rows), (400, len(rows))):
        drawn = [rows[int(place)] for place in places]
        scores.append(BLEU().corpus_score([ours for ours, _ in drawn], [[theirs for _, theirs in drawn]]).score)
    assert found.low is not None
    assert found.high is not None
    assert [found.low, found.high] == pytest.approx(np.quantile(scores, [0.025, 0.975]), abs=2)


def test_every_row_counts_and_not_the_first_few():
    # 40 perfect rows and 10 that share nothing.
    found = scored([MAT] * 40 + ["unrelated"] * 10, [MAT] * 50, "en")
    assert found.rouge["rouge1"].value == pytest.approx(0.8)
    assert found.rouge["rouge1"].n == 50
    assert [row["row"] for row in found.per_row] == list(range(1, 51))
    low, high = found.rouge["rouge1"].low, found.rouge["rouge1"].high
    assert low is not None
    assert high is not None
    assert low < 0.8 < high


def test_an_empty_text_scores_nought_and_a_row_without_reference_is_left_out():
    found = scored([MAT, None, "anything", MAT], [MAT, MAT, None, MAT], "en")
    assert (found.rows, found.left_out, found.empty) == (4, {"no_reference": 1}, 1)
    assert found.rouge["rougeL"].value == pytest.approx(2 / 3)
    assert [row["rouge1"] for row in found.per_row] == [1.0, 0.0, 1.0]
    # All n-grams are hits, but the three generated texts have 12 words against 18: e^(1 - 18/12).
    assert found.bleu.value == pytest.approx(100 * np.exp(-0.5))


def test_without_any_reference_there_are_no_scores():
    found = scored(["a"], [None], "en")
    assert (found.bleu.value, found.bleu.why) == (None, "no row has a reference")
    assert found.rouge["rouge1"].value is None


def test_nothing_in_common_is_nought_and_not_undefined():
    found = scored(["one two three four", ""], ["five six seven eight", "nine"], "en")
    assert found.bleu.value == 0.0
    assert found.rouge["rouge1"].value == 0.0


def test_chinese_is_cut_into_words():
    found = scored(["我喜欢北京的冬天"], ["我喜欢上海的冬天"], "en")
    assert found.rouge["rouge1"].value == pytest.approx(4 / 5)
    expected = BLEU(tokenize="none").corpus_score(["我 喜欢 北京 的 冬天"], [["我 喜欢 上海 的 冬天"]]).score
    assert found.bleu.value == pytest.approx(expected)
    assert found.method["bleu"].endswith("Chinese words by rjieba")
    assert found.remarks == []


def test_other_alphabets_need_their_language():
    pairs = ["Привет большой мир"], ["Привет весь мир"]
    assert scored(*pairs, "ru").rouge["rouge1"].value == pytest.approx(2 / 3)
    found = scored(*pairs, "en")
    assert found.rouge["rouge1"].value == 0.0
    assert found.remarks == [
        "1 reference has no word in the letters a to z, so that ROUGE is 0 there; name the language, such as "
        "language='ru'"
    ]


def test_the_scores_can_be_read_and_written_as_json():
    found = scored([CAT, None], [MAT, None], "en")
    text = str(found)
    assert "2 rows, 1 left out: no_reference" in text
    assert "BLEU                53.73" in text
    assert found.as_dict()["bert_score"] is None
    assert found.method["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_bert_score_without_torch_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r"BERTScore needs an optional package.*\[hf\]"):
        Encoder.of("folder", None, None)
