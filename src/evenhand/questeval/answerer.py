"""Answers to questions from a text, in its own words: a range of it, or `<Unanswerable>`.

Every name, number, date and phrase of the sentences that share words with the question is a candidate. A logistic model
weighs a few clues for each; `training/questions.py` fits and measures it. Questions to be answered with yes or no are
declined.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from operator import mul
from typing import NamedTuple

from evenhand.nlp.mentions import Kind, Mention, mentions
from evenhand.nlp.sentences import HAN, sentences
from evenhand.nlp.words import Word, content_words, is_chinese, words_of
from evenhand.questeval.cloze import GAP
from evenhand.records import UNANSWERABLE

_MOST_QUESTION, _NEAREST, _OTHER_SIDE = 2_000, 12, 0.4
_BACK, _BEFORE = 3, 0.7
"""How many sentences before one are read with it, and what their words count."""
_FADES, _FADES_IN_QUESTION = 30.0, 60.0
"""Characters between two words after which they count half."""
_SAME_WORDS, _SAME_AT_LEAST, _SIDE, _LONGEST_FILLING = 0.99, 3, 60, 120
_PIECE = re.compile(r"\S(?:.{0,299}\Z|.{0,298}(?=\s)|.{0,299})", re.DOTALL)
"""A sentence, or up to 300 characters of a long one."""
_PART = re.compile(rf"[{HAN}]|(?:(?![{HAN}])[^\W_])+|[^\w\s]")
_STOP = re.compile(r"[.!?](?=\s|$)|[。！？]")
_YES_OR_NO = re.compile(
    r"\s*(?:is|are|was|were|did|do(?:es)?|ha[sd]|have|can|will|would|should)\s|.*[吗嘛][？?]?\s*\Z", re.I
)
_WHY = re.compile(r"\bwhy\b|为什么|为何", re.I)
_REASON = re.compile(
    r"(?:\b(?:because(?:\sof)?|due to|owing to|thanks to|so that)\s|因为|由于)([^.。;；!！?？\n]{2,300})"
)
_YEAR_ASKED = re.compile(r"\b(?:what|which)\syear\b|哪一?年", re.IGNORECASE)
_YEAR = re.compile(r"(?:1\d|20)\d\d(?!\d)年?")

Fit = Mapping[Kind, float]
"""How well each kind of mention answers."""
_ANY: Fit = {"name": 0.8, "phrase": 0.7, "number": 0.8, "date": 0.3}
_NAME: Fit = {"name": 1.0, "phrase": 0.4, "number": 0.0, "date": 0.0}
_WHICH: Fit = {"name": 1.0, "phrase": 0.6, "number": 0.1, "date": 0.1}
_NUMBER: Fit = {"name": 0.0, "phrase": 0.1, "number": 1.0, "date": 0.1}
_DATE: Fit = {"name": 0.1, "phrase": 0.1, "number": 0.1, "date": 1.0}
_THING: Fit = {"name": 0.6, "phrase": 1.0, "number": 0.2, "date": 0.1}
_WHEN_OR_WHERE: Fit = {"name": 0.7, "phrase": 0.6, "number": 0.1, "date": 1.0}
_FIRST: Fit = {"name": 1.0, "phrase": 0.5, "number": 0.4, "date": 0.1}
_AGENT: Fit = {"name": 1.0, "phrase": 0.8, "number": 0.0, "date": 0.0}
_BY_QUESTION: Mapping[str, Fit] = {
    r"\bwhen\b|\b(?:what|which)\s(?:year|date|day|month|century|decade|time)\b": _DATE,
    r"\bhow\s(?!did|does|do|was|were|is|are)\w+|\bwhat\s(?:percentage|share|number|amount)\b": _NUMBER,
    r"什么时候|何时|哪一?[年天]|几[月号]|哪个(?:月|世纪)|什么时间": _DATE,
    r"多少|几[个名位人家座次年天岁种条项所辆艘部成]|多[长高大远重久深宽快]|百分之几": _NUMBER,
    r"\bwho(?:m|se)?\b|\bwhere\b|谁|哪[位里儿省]|何[人地处]|在哪|什么(?:人|地方)|哪[个座](?:城市|国家)": _NAME,
    r"\bwhich\b|哪": _WHICH,
    r"\bwh(?:at|y)\b|什么|为何": _THING,
}
_AROUND_GAP: Mapping[str, Fit] = {
    r"(?:\b(?:about|approximately|nearly|over|roughly|some|only|costs?|than|least)\s|[$€£])_": _NUMBER,
    r"_[\s-]?(?:%|per ?cent|million|billion|thousand|km|kg|met(?:re|er)s?|miles|years?|people)": _NUMBER,
    r"(?:[约近达共长高重资逾仅]|超过|增长|下降|面积)_|_[%％万亿个名位座米元吨]": _NUMBER,
    r"(?:\b(?:in|on|at|since|until|from|during|before|after|between)\s|[在于自从])_": _WHEN_OR_WHERE,
    r"(?:\bby\s|[由被与和对向])_": _AGENT,
    r"\b(?:a|an|the|this|that|its|his|her|their)\s_": _THING,
    r"(?:^|[.!?。！？]\s?)_": _FIRST,
}


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer with its place in the text, and how sure it is, from 0 to 1. No place if there is no answer."""

    answer: str
    span: tuple[int, int] | None
    confidence: float


class Clues(NamedTuple):
    """What speaks for a candidate, each from 0 to 1; and, in the same order, what each of them weighs."""

    bias: float
    """Always 1. Its weight decides where unanswerable begins."""
    cover: float
    """How much of what the question says its sentence says, sentences before helping out."""
    near: float
    """How close to the candidate the question's words are, on the side of the gap where the question has them."""
    fit: float
    """Whether it is of the kind that is asked for."""
    only: float
    """Whether nothing else in its sentence fits as well."""
    left: float
    """How many of the words before it are those before the gap."""
    right: float
    """How many of the words after it are those after the gap."""


CLOZE = Clues(bias=-5.98, cover=3.98, near=3.53, fit=0.97, only=1.52, left=4.06, right=2.93)
NATURAL = Clues(bias=-6.82, cover=4.05, near=2.64, fit=2.49, only=1.42, left=3.34, right=2.76)


class Candidate(NamedTuple):
    """A range of the text that may answer."""

    start: int
    end: int
    clues: Clues


def find_answer(question: str, text: str, language: str = "en") -> FoundAnswer:
    """What a text answers to a question or a cloze (a sentence with a gap of underscores)."""
    question = question[:_MOST_QUESTION]
    if filled := _filled(question, text):
        return FoundAnswer(text[slice(*filled)], filled, _SAME_WORDS)
    weights = CLOZE if GAP in question else NATURAL
    scored = [(sum(map(mul, one.clues, weights)), one) for one in candidates(question, text, language)]
    score, best = max(scored, key=lambda pair: pair[0], default=(-math.inf, None))
    sure = 1 / (1 + math.exp(-score)) if best else 0.0
    if best is None or sure < 0.5:
        return FoundAnswer(UNANSWERABLE, None, 1 - sure)
    return FoundAnswer(text[best.start : best.end], (best.start, best.end), sure)


def candidates(question: str, text: str, language: str = "en") -> list[Candidate]:
    """What may answer a question, with the clues. Yes or no has no candidates."""
    if GAP not in question and _YES_OR_NO.match(question):
        return []
    asked, read = _Question(question, language), _read(text, language)
    near = read.nearest(asked)
    found = mentions(text, [read.places[place] for place in near], language)
    return [one for place, some in zip(near, found, strict=True) for one in _candidates(asked, read, place, some)]


def _filled(question: str, text: str) -> tuple[int, int] | None:
    """What is in the place of a cloze's gap, if the text has the cloze's own words on both sides of it."""
    before, _, after = question.partition(GAP)
    before, after = before.lstrip()[-_SIDE:], after.rstrip(" .。")[:_SIDE]
    start = text.find(before) + len(before)
    if question.count(GAP) != 1 or len(words_of(before)) < _SAME_AT_LEAST or start < len(before):
        return None
    found = re.compile(re.escape(after) if after else _STOP.pattern).search(text, start)
    filling = text[start : found.start()].strip() if found and found.start() - start <= _LONGEST_FILLING else ""
    if not filling or _STOP.search(filling) or (not after and ", " in filling):
        return None
    return (first := text.index(filling, start)), first + len(filling)


class _Question:
    """A question taken apart: its words, what is around its gap and what it asks for."""

    def __init__(self, question: str, language: str) -> None:
        self.text, self.is_cloze, chinese = question, GAP in question, is_chinese(question, language)
        gap = re.search(GAP, question) or _first(_BY_QUESTION, question)
        self.gap, end = gap.span() if gap else (0, 0)
        ranges = ((0, self.gap), (end, len(question)))
        given = [word for some in ranges for word in content_words(question, *some, chinese)]
        self.words = list({_root(word): word for word in given}.values())
        distances = [max(self.gap - word.end, word.start - end) if self.is_cloze else 0 for word in self.words]
        self.weights = [1 / (1 + distance / _FADES_IN_QUESTION) for distance in distances]
        self.roots = {_root(word) for word in self.words}
        places = sentences(question, language)
        opening = max((start for start, _ in places if start <= self.gap), default=0)
        before = _before(question, self.gap, opening)
        self.left, self.right = before if self.is_cloze or before != ["^"] else ["by"], _after(question, end)
        around = f"{question[max(0, self.gap - 20) : self.gap]}_{question[end : end + 20]}"
        kind = _first(_AROUND_GAP, around) if self.is_cloze else gap
        self.fit = {**_BY_QUESTION, **_AROUND_GAP}[kind.re.pattern] if kind else _ANY

    def share(self, credits: Iterable[float]) -> float:
        """The weighted mean of what each word of the question is credited with."""
        return sum(map(mul, self.weights, credits)) / (sum(self.weights) or 1.0)


class _Text:
    """A text in pieces: its sentences, long ones cut, with an index of their words."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.chinese = text, is_chinese(text, language)
        pieces = (_PIECE.finditer(text, *place) for place in sentences(text, language))
        self.places = [piece.span() for some in pieces for piece in some]
        self.words: list[dict[str, list[Word]]] = []
        self._index: dict[str, list[int]] = defaultdict(list)
        for place, (start, end) in enumerate(self.places):
            self.words.append(defaultdict(list))
            for word in content_words(text, start, end, self.chinese):
                self.words[place][_root(word)].append(word)
            for root in self.words[place]:
                self._index[root].append(place)

    def nearest(self, asked: _Question) -> list[int]:
        """The pieces that share most with the question, and those after them, in order."""
        scores: dict[int, float] = defaultdict(float)
        for root in asked.roots:
            for place in self._index.get(root, ()):
                scores[place] += 1 / (1 + math.sqrt(len(self._index[root])))
        best = sorted(scores, key=lambda place: (-scores[place], place))[:_NEAREST]
        return sorted({place for one in best for place in (one, one + 1) if place < len(self.places)})

    def credits(self, asked: _Question, place: int) -> dict[str, float]:
        """How far a piece says what the question says; what is said in the pieces before it counts less."""
        credits = dict.fromkeys(asked.roots, 0.0)
        for back in range(min(_BACK, place) + 1):
            for root in asked.roots.intersection(self.words[place - back]):
                credits[root] = max(credits[root], _BEFORE**back)
        return credits


_read = lru_cache(maxsize=2)(_Text)  # many questions are put to one text


def _candidates(asked: _Question, read: _Text, place: int, found: Sequence[Mention]) -> Iterator[Candidate]:
    """The candidates of one piece, without those that the question itself gives."""
    credits, first = read.credits(asked, place), read.places[place][0]
    cover = asked.share([credits[_root(word)] for word in asked.words])
    if _WHY.search(asked.text):
        found = [Mention(*reason.span(1), "phrase") for reason in _REASON.finditer(read.text, *read.places[place])]
    for start, end, kind in found:
        inside = {_root(word) for word in content_words(read.text, start, end, read.chinese)}
        if (inside and inside <= asked.roots) or (read.text[end : end + 2] in ("'s", "’s") and not asked.is_cloze):
            continue
        places = [(word, read.words[place].get(_root(word), ())) for word in asked.words]
        near = [max((_closeness(asked, word, one, start, end) for one in some), default=0.0) for word, some in places]
        rivals = sum(asked.fit[other.kind] >= asked.fit[kind] for other in found)
        left, right = _alike(_before(read.text, start, first), asked.left), _alike(_after(read.text, end), asked.right)
        clues = Clues(1.0, cover, asked.share(near), asked.fit[kind], 1 / rivals, left, right)
        year = _YEAR.search(read.text, start, end) if _YEAR_ASKED.search(asked.text) else None
        yield Candidate(*(year.span() if year else (start, end)), clues)


def _closeness(asked: _Question, word: Word, other: Word, start: int, end: int) -> float:
    """How close a word of the text is to a candidate; less if the question has it on the other side of its gap."""
    if start <= other.start < end:
        return 0.0 if asked.is_cloze else 1.0
    before = other.end <= start
    close = 1 / (1 + (start - other.end if before else other.start - end) / _FADES)
    return close if not asked.is_cloze or before == (word.end <= asked.gap) else close * _OTHER_SIDE


def _before(text: str, place: int, first: int) -> list[str]:
    """The three words or signs before a place, the nearest first; `^` is where the sentence begins."""
    near = max(first, place - 40)
    return (["^"] * (near == first) + _PART.findall(text[near:place].lower()))[:-4:-1]


def _after(text: str, place: int) -> list[str]:
    return _PART.findall(text[place : place + 40].lower())[:3]


def _alike(one: Sequence[str], other: Sequence[str]) -> float:
    """How many words in a row are the same, as a share of three."""
    same = takewhile(lambda pair: pair[0] == pair[1] and pair[0] not in ".,", zip(one, other, strict=False))
    return sum(1 for _ in same) / 3


def _first(patterns: Iterable[str], text: str) -> re.Match[str] | None:
    found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    return next((match for match in found if match), None)


def _root(word: Word) -> str:
    """What the forms of a word share: design, designer."""
    return word.stem[:5] if word.stem.isalpha() else word.stem
