"""Token F1 of two short texts, with words as their language makes them.

English and other languages that put spaces between words: as SQuAD does, case, ASCII punctuation and the articles a,
an, the left aside. Chinese: words by jieba with its own dictionary, every token counted, punctuation too, as the
published values of RAGQuestEval were made.
"""

import re
import string
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from evenhand.nlp.sentences import HAN

with warnings.catch_warnings():
    # Its patterns have escapes that newer Pythons warn of, and it looks for the deprecated pkg_resources.
    warnings.simplefilter("ignore")
    import jieba  # pyright: ignore[reportMissingTypeStubs]

_HAN = re.compile(f"[{HAN}]")
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LOWER = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_PUNCTUATION = string.punctuation.encode()
_REMEMBERED = 100_000


def token_f1(answer: str, reference: str, language: str = "en") -> float:
    """How far two texts share their words, 0 to 1; words that occur twice count twice.

    1 where both have no words at all, 0 where only one has none. `language` is a BCP 47 tag; a pair in which either
    text has a Han character is read as Chinese whatever the tag says, so that both are cut the same way.
    """
    chinese = is_chinese(answer, language) or is_chinese(reference, language)
    found, wanted = (_segmented(answer), _segmented(reference)) if chinese else (_spaced(answer), _spaced(reference))
    if not found or not wanted:
        return float(len(found) == len(wanted))
    one, other = set(found), set(wanted)
    same = len(one & other)
    # Words that occur twice count twice; where either side has each word once, the smaller count of a shared word is 1.
    if same and len(one) < len(found) and len(other) < len(wanted):
        same = (Counter(found) & Counter(wanted)).total()
    if same == 0:
        return 0.0
    # Written as SQuAD writes it: 2·same / (found + wanted) is the same number but for its last digit.
    precision, recall = same / len(found), same / len(wanted)
    return (2 * precision * recall) / (precision + recall)


def words(text: str, language: str = "en") -> Sequence[str]:
    """The words that count, in order."""
    return _segmented(text) if is_chinese(text, language) else _spaced(text)


def is_chinese(text: str, language: str = "en") -> bool:
    """Whether words must be found by dictionary: by the language's tag, or by a Han character in the text."""
    if language == "zh" or language.startswith("zh-"):
        return True
    return not text.isascii() and _HAN.search(text) is not None


def _spaced(text: str) -> list[str]:
    if text.isascii() and text.isprintable():
        # Nothing but spaces is then left between words, so that an article is a whole word.
        parts = text.encode().translate(_LOWER, _PUNCTUATION).decode().split()
        return parts if _ARTICLES.isdisjoint(parts) else [part for part in parts if part not in _ARTICLES]
    return _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


@cache
def _segmenter() -> Any:
    """One tokenizer with its dictionary, read when first needed: it takes half a second.

    Jieba's own way to load it trusts and writes a file in the folder for temporary files, which other users share.
    """
    segmenter: Any = jieba.Tokenizer()
    segmenter.FREQ, segmenter.total = segmenter.gen_pfdict(segmenter.get_dict_file())
    segmenter.initialized = True
    return segmenter


@lru_cache(maxsize=_REMEMBERED)
def _segmented(text: str) -> tuple[str, ...]:
    return tuple(_segmenter().lcut(text))
