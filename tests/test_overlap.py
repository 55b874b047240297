"""Overlap scores against other implementations."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from evenhand.overlap import MOST_PAIRS, PACKAGES, overlap_scores
from evenhand.protocol.model import SCORES
from evenhand.scales import CONTINUOUS
from tests.later import Later

rouge_scorer = Later("rouge_score.rouge_scorer")

TEXT = "The cat sat quietly on a mat, and the dog didn't."
REFERENCES = ["A cat sat on the mat.", "The cat sat quietly on the rug and the dog did not."]


def test_every_score_is_in_the_registry() -> None:
    assert PACKAGES.keys() < SCORES.keys()
    assert SCORES.keys() - PACKAGES.keys() == {"token-F1"}


@pytest.mark.parametrize("references", [REFERENCES, REFERENCES[:1], REFERENCES[1:]])
def test_scores_are_those_of_sacrebleu_and_rouge_score(references: list[str]) -> None:
    found, remarks = overlap_scores(list(SCORES), TEXT, references, "en")
    for order in range(1, 5):
        expected = BLEU(max_ngram_order=order, effective_order=True).sentence_score(TEXT, references).score
        assert found[f"BLEU-{order}"] == pytest.approx(expected / 100)
    assert found["chrF"] == pytest.approx(CHRF().sentence_score(TEXT, references).score / 100)
    rouge = rouge_scorer.RougeScorer(["rougeL"])
    assert found["ROUGE-L"] == pytest.approx(max(rouge.score(one, TEXT)["rougeL"].fmeasure for one in references))
    assert (remarks, "BERTScore" in found) == ({}, False)


def test_token_f1_is_that_of_the_best_reference() -> None:
    # Articles aside: cat sat on mat against cat sat on mat, then against dog.
    found, _ = overlap_scores(["token-F1"], "the cat sat on a mat", ["a dog", "cat on mat"], "en")
    assert found == {"token-F1": pytest.approx(2 * (3 / 4) * 1 / (3 / 4 + 1))}


def test_chinese_is_compared_by_words() -> None:
    # rjieba: 我 喜欢 北京 against 我 喜欢 上海. Two of three words; of two pairs of words one; no triple.
    found, _ = overlap_scores(["BLEU-1", "BLEU-2", "ROUGE-L", "token-F1"], "我喜欢北京", ["我喜欢上海"], "en")
    assert found["BLEU-1"] == pytest.approx(2 / 3)
    assert found["BLEU-2"] == pytest.approx((2 / 3 * 1 / 2) ** 0.5)
    assert found["ROUGE-L"] == pytest.approx(2 / 3)
    assert found["token-F1"] == pytest.approx(2 / 3)


def test_letters_beyond_a_to_z_are_words_whatever_the_language_says() -> None:
    found, _ = overlap_scores(["ROUGE-L"], "Привет большой мир", ["Привет весь мир"], "en")
    assert found["ROUGE-L"] == pytest.approx(2 / 3)
    assert overlap_scores(["ROUGE-L"], "ไทยแลนด์", ["ไทยแลนด์"], "th")[0]["ROUGE-L"] == 1.0


def test_scores_of_equal_texts_are_1_and_of_unlike_ones_0() -> None:
    names = [name for name in SCORES if name != "BERTScore"]
    assert list(overlap_scores(names, TEXT, [TEXT], "en")[0].values()) == pytest.approx([1.0] * 7)
    assert list(overlap_scores(names, "xxx yyy zzz www", ["aaa bbb"], "en")[0].values()) == [0.0] * 7


def test_texts_too_long_for_a_table_of_word_pairs_have_no_rouge() -> None:
    long = "word " * (int(MOST_PAIRS**0.5) + 1)
    found, remarks = overlap_scores(["ROUGE-L", "token-F1"], long, ["short", long], "en")
    assert (found, list(remarks)) == ({"token-F1": 1.0}, ["ROUGE-L"])


@settings(max_examples=150, deadline=None)
@example("0", "0", "en")
@given(text=st.text(min_size=1), reference=st.text(min_size=1), language=st.sampled_from(["en", "zh", "ja", "de"]))
def test_any_texts_have_scores_from_0_to_1(text: str, reference: str, language: str) -> None:
    found, _ = overlap_scores(list(SCORES), text, [reference, text[::-1]], language)
    assert len(found) == 7
    assert all(0 <= score <= 1 for score in found.values())
    assert all(CONTINUOUS.read(score) == score for score in found.values())
