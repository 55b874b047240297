"""Words: the tokens of token F1, the segmentation of Chinese, and stems of the words that carry meaning.

Token F1 of English and other languages that put spaces between words: as SQuAD does, case, ASCII punctuation and the
articles a, an, the left aside. Of Chinese: words by jieba's dictionary, every token counted, punctuation too, as the
published values of RAGQuestEval were made.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from evenhand.nlp.chinese import segmented
from evenhand.nlp.sentences import HAN

_HAN = re.compile(f"[{HAN}]")
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_GAP = re.compile(r"[^\w\s]")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LOWER = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_PUNCTUATION = string.punctuation.encode()
_REMEMBERED = 100_000
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]+")

STOP = frozenset(
    """a an and are as at be been being but by can could did do does for from had has have he her hers him his how i if
    in into is it its itself may me might more most my no nor not of on one or our ours out over own shall she should
    so some such than that the their theirs them then there these they this those to too under up us very was we were
    what when where which while who whom whose why will with would you your yours also about after all any because
    before between both during each few further here just only other same through until again against
    never cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't couldn't wouldn't
    shouldn't
    的 了 在 是 和 与 及 或 也 都 就 而 着 过 为 以 于 由 被 把 将 从 到 对 向 等 这 那 其 他 她 它 他们 她们 它们
    一个 这个 那个 该 之 中 上 下 有 并 还 又 很 更 最 所 地 得 什么 谁 哪 哪里 哪儿 哪个 哪位 哪些 哪年 何 何时
    多少 几 吗 呢 怎么 怎样 为什么 为何 如何 时候 请问 年 月 日""".split()
)
"""Words that carry no meaning of their own, in English and Chinese."""


class Word(NamedTuple):
    """A word that carries meaning, with its place in the text."""

    stem: str
    start: int
    end: int


def token_f1(answer: str, reference: str, language: str = "en") -> float:
    """How far two texts share their words, 0 to 1; words that occur twice count twice.

    1 where both have no words at all, 0 where only one has none. `language` is a BCP 47 tag; a pair in which either
    text has a Han character is read as Chinese whatever the tag says, so that both are cut the same way.
    """
    cut = segmented if is_chinese(answer, language) or is_chinese(reference, language) else _spaced
    return overlap_f1(cut(answer), cut(reference))


def overlap_f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    """The F1 of two lists of words; see `token_f1`."""
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


def plain_words(*texts: str, language: str = "en") -> list[Sequence[str]]:
    """The words of each text as HALO-RAG counts them: lower case, with every other character but white space as a gap
    between words, without articles. If any text is Chinese, all are segmented as Chinese."""
    chinese = any(is_chinese(text, language) for text in texts)
    found: list[Sequence[str]] = []
    for text in texts:
        plain = _GAP.sub(" ", text.lower())
        parts = segmented(plain) if chinese else plain.split()
        found.append([part for part in parts if part not in _ARTICLES and not part.isspace()])
    return found


def words(text: str, language: str = "en") -> Sequence[str]:
    """The words that count, in order."""
    return segmented(text) if is_chinese(text, language) else _spaced(text)


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


def words_of(text: str) -> list[str]:
    """The words and numbers of a text with spaces between words, in order, lower case."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def stems_of(text: str) -> list[str]:
    """The stems of the English words that carry meaning, in order."""
    return [stem(word) for word in words_of(text) if word not in STOP]


def content_words(text: str, start: int, end: int, chinese: bool = False) -> list[Word]:
    """The words that carry meaning in a range of the text: stems, in Chinese the words as they are."""
    if not chinese:
        placed = [(found[0].lower().replace("’", "'"), *found.span()) for found in _WORD.finditer(text, start, end)]
        return [Word(stem(word), first, last) for word, first, last in placed if word not in STOP]
    found: list[Word] = []
    for word in segmented(text[start:end]):
        if word not in STOP and word[0].isalnum():
            found.append(Word(word.lower(), start, start + len(word)))
        start += len(word)
    return found


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """A word without its inflection: rough, and the same for both texts that are compared."""
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) <= 3 or not word.isalpha():
        return word.replace(",", "") if word[:1].isdigit() else word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        body = word.removesuffix(ending)
        if body != word and len(body) > 2 and any(letter in "aeiouy" for letter in body):
            return _whole(body)
    if word.endswith("es") and len(word) > 4 and word[-3] in "sxzh":
        return word[:-2]
    if word.endswith("s") and word[-2] not in "su":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _whole(body: str) -> str:
    """`planned` and `planning` lose the letter they doubled; `filed` and `filing` meet `file` without its e."""
    if len(body) > 3 and body[-1] == body[-2] and body[-1] not in "lsz":
        return body[:-1]
    if body.endswith("y") or not body.endswith("i"):
        return body
    return body[:-1] + "y"
