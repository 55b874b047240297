"""What is accepted of what a model wrote: enough words, and nothing that was written before from the same text."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.nlp.chinese import segmented
from evenhand.nlp.words import is_chinese, words_of

Vectors = NDArray[np.float64]

Embed = Callable[[Sequence[str]], Vectors]
"""Vectors of length 1 for some texts, a row each."""


def word_count(text: str, language: str) -> int:
    """The words of a text: what is between spaces; in Chinese the words that a dictionary finds."""
    if is_chinese(text, language):
        return sum(word[:1].isalnum() for word in segmented(text))
    return len(text.split())


def tf_idf(texts: Sequence[str]) -> Vectors:
    """TF-IDF vectors of length 1 for texts that are compared with each other: counts × (ln((1 + n) / (1 + df)) + 1)."""
    counts = [Counter(_terms(text)) for text in texts]
    places = {term: place for place, term in enumerate(dict.fromkeys(term for found in counts for term in found))}
    table = np.zeros((len(texts), len(places)))
    for row, found in enumerate(counts):
        for term, count in found.items():
            table[row, places[term]] = count
    table *= np.log((1 + len(texts)) / (1 + (table > 0).sum(axis=0))) + 1
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1)


def _terms(text: str) -> Sequence[str]:
    return [word for word in segmented(text) if word[:1].isalnum()] if is_chinese(text) else words_of(text)


def most_similar(text: str, earlier: Sequence[str], embed: Embed = tf_idf) -> tuple[float, str]:
    """The highest cosine similarity of a text to earlier ones, and to which; 0 if there is none."""
    if not earlier:
        return 0.0, ""
    vectors = embed([*earlier, text])
    found = vectors[:-1] @ vectors[-1]
    place = int(np.argmax(found))
    return float(found[place]), earlier[place]
