"""A text in which answers are looked for: its sentences, what each says and what each mentions."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from evenhand.nlp.sentences import sentences
from evenhand.nlp.words import is_chinese, words
from evenhand.questeval import chinese, english
from evenhand.questeval.cloze import leans
from evenhand.questeval.english import Mention
from evenhand.verify.languages import unreadable
from evenhand.verify.stems import STOP, stem

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]+")
_MEANS = re.compile(r"[^\W_]")
_LONGEST_WORDS, _LONGEST_CHARACTERS = 60, 300
_PIECE = re.compile(rf"\S+(?:\s+\S+){{0,{_LONGEST_WORDS - 1}}}")
_LOOKED_AT = 12
_PLACED = re.compile(r"\b(?:in|near|at|outside|around|towards)\s((?:[A-Z]\w+\s?){1,3})(?<!\s)(?!['’])")
_TEXTS = 2
_TOLD_BY = 4_000
STOP_CHINESE = frozenset(
    """的 了 在 是 和 与 及 或 也 都 就 而 着 过 为 以 于 由 被 把 将 从 到 对 向 等 这 那 其 他 她 它 他们 她们 它们
    一个 这个 那个 该 之 中 上 下 有 并 还 又 很 更 最 所 地 得 什么 谁 哪 哪里 哪儿 哪个 哪位 哪些 哪年 何 何时
    多少 几 吗 呢 怎么 怎样 为什么 为何 如何 时候 请问 年 月 日""".split()
)


class Word(NamedTuple):
    """A word that carries meaning: its stem and its place in the text."""

    stem: str
    start: int
    end: int


class Sentence:
    """One sentence of a text, or a piece of a very long one."""

    def __init__(self, text: str, start: int, end: int, chinese_text: bool) -> None:
        self.start, self.end = start, end
        self.text = text[start:end]
        self.words = words_at(text, start, end, chinese_text)
        self.leans = leans(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)


class Text:
    """A text with an index of its words. Building one is linear in its length."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.chinese = text, is_chinese(text, language)
        tagged = not self.chinese and language.split("-")[0].lower() == "en"
        self.english = tagged and unreadable(text[:_TOLD_BY]) is None
        spans = [piece for span in sentences(text, language) for piece in _pieces(text, *span)]
        self.sentences = [Sentence(text, *span, self.chinese) for span in spans]
        self._spans = spans
        self._mentions: dict[int, list[Mention]] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, sentence in enumerate(self.sentences):
            for one in sentence.stems:
                self._places[one].append(place)

    @cached_property
    def _capitals(self) -> english.Capitals:
        return english.Capitals.of(self.text, self._spans)

    @cached_property
    def place_names(self) -> frozenset[str]:
        """The names that the text somewhere says to be in, or near."""
        return frozenset(found[1] for found in _PLACED.finditer(self.text))

    def mentions(self, place: int) -> list[Mention]:
        """What a sentence mentions."""
        if place not in self._mentions:
            start, end = self._spans[place]
            self._mentions[place] = (
                chinese.mentions(self.text, start, end)
                if self.chinese
                else english.mentions(self.text, start, end, self._capitals, phrases=self.english)
            )
        return self._mentions[place]

    def near(self, stems: Iterable[str]) -> list[int]:
        """The sentences that share most with these stems, those after them, and the text's first."""
        scores: Counter[int] = Counter()
        for one in stems:
            found = self._places.get(one, ())
            for place in found:
                scores[place] += 1 / (1 + len(found) ** 0.5)  # pyright: ignore[reportArgumentType]
        best = sorted(scores, key=lambda place: (-scores[place], place))[:_LOOKED_AT]
        following = [place + 1 for place in best if place + 1 < len(self.sentences)]
        return list(dict.fromkeys([*best, *following, *range(min(_LOOKED_AT, len(self.sentences)))]))

    def window(self, place: int) -> str:
        """A sentence with its neighbours, to be read with it."""
        first, last = max(0, place - 1), min(len(self.sentences), place + 2)
        return " ".join(sentence.text for sentence in self.sentences[first:last])


@lru_cache(maxsize=_TEXTS)
def read(text: str, language: str) -> Text:
    """The index of a text; the last few are remembered, since many questions are put to one text."""
    return Text(text, language)


def words_at(text: str, start: int, end: int, chinese_text: bool) -> Sequence[Word]:
    """The words that carry meaning between two places."""
    if not chinese_text:
        found = ((word[0].lower().replace("’", "'"), word.span()) for word in _WORD.finditer(text, start, end))
        return [Word(stem(word), *span) for word, span in found if word not in STOP]
    kept: list[Word] = []
    place = start
    for word in words(text[start:end], "zh"):
        if word not in STOP_CHINESE and _MEANS.search(word):
            kept.append(Word(word.lower(), place, place + len(word)))
        place += len(word)
    return kept


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence whole, or in pieces of at most 60 words, or of 300 characters where there are no spaces."""
    if end - start <= _LONGEST_CHARACTERS:
        return [(start, end)]
    pieces: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(text, start, end):
        first, last = piece.span()
        if last - first <= 20 * _LONGEST_WORDS and not is_chinese(piece[0]):
            pieces.append((first, last))
        else:
            cuts = range(first, last, _LONGEST_CHARACTERS)
            pieces += [(cut, min(cut + _LONGEST_CHARACTERS, last)) for cut in cuts]
    return pieces
