from typing import Any, cast

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer  # pyright: ignore[reportMissingTypeStubs]

from evenhand.generation.filters import most_similar, tf_idf, word_count
from evenhand.nlp.words import words_of

QUESTIONS = [
    "Who is responsible for funding post-16 education in the 2021/2022 academic year?",
    "How is the Secretary of State related to the ESFA's funding decisions?",
    "What are the differences between primary and secondary education funding?",
    "If a learner withdraws early, how might that affect the funding claim?",
]
"""The example questions of the document, one of each type."""


def test_tf_idf_is_what_scikit_learn_computes():
    vectorizer: Any = TfidfVectorizer(analyzer=cast("Any", words_of))
    wanted: Any = vectorizer.fit_transform(QUESTIONS).toarray()
    found = tf_idf(QUESTIONS)
    assert np.allclose(found @ found.T, wanted @ wanted.T)


def test_similarity_to_the_nearest_earlier_question():
    assert most_similar(QUESTIONS[0], []) == (0.0, "")
    assert most_similar(QUESTIONS[0], QUESTIONS) == (pytest.approx(1.0), QUESTIONS[0])
    assert most_similar(QUESTIONS[3], QUESTIONS[:3])[0] < 0.5
    assert most_similar("大桥什么时候通车？", ["大桥什么时候通车？"])[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [(QUESTIONS[0], "en", 12), ("  ", "en", 0), ("大桥于1967年6月通车。", "zh", 7)],
)
def test_words_are_counted(text: str, language: str, words: int):
    assert word_count(text, language) == words
