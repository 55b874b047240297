"""Answers to questions from a text, in its own words: a stretch of it, or `<Unanswerable>`.

Every name, number, date and phrase of the sentences that share words with the question is a candidate. What speaks for
it is weighed in a logistic model, fitted on the development half of `training/questions_cases.py` by
`training/questions_fit.py`. Questions to be answered with yes or no are beyond it, and declined.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenhand.questeval import passages
from evenhand.questeval.cloze import GAP
from evenhand.questeval.matching import Match
from evenhand.questeval.natural import Ask, stretches
from evenhand.questeval.passages import Text
from evenhand.questeval.roles import role
from evenhand.questeval.wanted import Wanted, lead_word, wanted
from evenhand.records import UNANSWERABLE
from evenhand.verify.reading import Reader, Reading
from evenhand.verify.stems import words_of

READ_BY_NETWORK = 6
_MOST_QUESTION = 2_000
_LONGEST_ANSWER = 200
_OTHERS = 0.4
"""What is left of a number's fit where something else than it counts does what the question says."""
_REASON = re.compile(r"\b(?:because(?:\sof)?|due to|owing to|thanks to|as a result of|in order to|so that)\s")
_REASON_CHINESE = re.compile("因为|由于|因")
_WHY = re.compile(r"\bwhy\b|为什么|为何", re.IGNORECASE)
_YEAR = re.compile(r"(?:1\d|20)\d\d(?!\d)|\d{4}年")
_END = ".。;；!！?？"


@dataclass(frozen=True, slots=True)
class Found:
    """An answer with its place in the text, and how sure it is, from 0 to 1. No place where there is no answer."""

    answer: str
    span: tuple[int, int] | None
    confidence: float


class Clues(NamedTuple):
    """What speaks for a candidate, each from 0 to 1 unless it says otherwise."""

    cover: float
    """How much of what the question says besides names its sentence says, sentences before helping out."""
    near: float
    """How close to the candidate it says so, and on the side the gap has it."""
    fit: float
    """Whether it is of the kind that is asked for."""
    lacking: float
    """The share of the question's names and figures that are not spoken of there."""
    beside: float
    """Whether it stands next to the same word as the gap does, or to the noun of `which` and `what`."""
    led: float
    """Whether it follows the same small word as the gap does (in, by), or one of place or time where that is asked."""
    role: float
    """1 where it does what the question's verb says, or has it done to it, as is asked; -1 where another does."""
    supported: float = 0.0
    contradicted: float = 0.0


class Weights(NamedTuple):
    """A weight for each clue, and the bias, which is where unanswerable begins."""

    bias: float
    cover: float
    near: float
    fit: float
    lacking: float
    beside: float
    led: float
    role: float
    supported: float = 0.0
    contradicted: float = 0.0


ALONE = Weights(bias=-6.2, cover=2.6, near=3.1, fit=3.9, lacking=-4.8, beside=1.8, led=1.4, role=0.9)
WITH_NETWORK = Weights(
    bias=-6.1,
    cover=1.9,
    near=2.5,
    fit=3.8,
    lacking=-4.9,
    beside=1.6,
    led=1.2,
    role=1.2,
    supported=1.5,
    contradicted=0.0,
)

_STOP = re.compile(r"[.!?](?=\s|$)|[。！？]")
_SAME_WORDS = 0.99
_SAME_AT_LEAST = 3
_SIDE = 60
_LONGEST_FILLING = 120


class Candidate(NamedTuple):
    start: int
    end: int
    place: int
    clues: Clues


class Answerer:
    """Answers questions from texts. A network, where there is one, reads English candidates in their place."""

    def __init__(self, network: Reader | None) -> None:
        self._network = network

    def answer(self, question: str, text: str, language: str = "en") -> Found:
        """What a text answers to a question or a cloze (a sentence with a gap of underscores)."""
        if filled := _filled(question[:_MOST_QUESTION], text):
            return Found(text[slice(*filled)], filled, _SAME_WORDS)
        asked = wanted(question[:_MOST_QUESTION], language)
        read = passages.read(text, language)
        weights = WITH_NETWORK if self._network and read.english else ALONE
        ranked = self.candidates(asked, read)
        if not ranked:
            return Found(UNANSWERABLE, None, 1.0)
        best = max(ranked, key=lambda candidate: probability(candidate.clues, weights))
        sure = probability(best.clues, weights)
        if sure < 0.5:
            return Found(UNANSWERABLE, None, 1 - sure)
        return Found(text[best.start : best.end], (best.start, best.end), sure)

    def candidates(self, asked: Wanted, read: Text) -> list[Candidate]:
        """The candidates, best first; the first few with what the network makes of them. Yes or no has none."""
        if not asked.kinds:
            return []
        found = [
            candidate
            for place in read.near({word.stem for word in asked.words})
            for candidate in _in(place, asked, read)
        ]
        found.sort(key=lambda candidate: (-probability(candidate.clues, ALONE), candidate.start))
        if self._network is None or not read.english:
            return found
        head = found[:READ_BY_NETWORK]
        readings = self._network.read([_pair(candidate, asked, read) for candidate in head])
        return [_with_reading(candidate, reading) for candidate, reading in zip(head, readings, strict=True)]


def _filled(question: str, text: str) -> tuple[int, int] | None:
    """What stands in the place of a cloze's gap, where the text has the cloze's own words on both sides of it."""
    before, gap, after = question.rpartition(GAP)
    if not gap or GAP in before:
        return None
    before, after = before.lstrip()[-_SIDE:], after.rstrip(" .。")[:_SIDE]
    if len(words_of(before)) < _SAME_AT_LEAST:
        return None
    start = text.find(before) + len(before)
    if start < len(before):
        return None
    ending = re.compile(re.escape(after)) if after else _STOP
    found = ending.search(text, start)
    filling = text[start : found.start()].strip() if found and found.start() - start <= _LONGEST_FILLING else ""
    if not filling or _STOP.search(filling):
        return None
    first = text.index(filling, start)
    return first, first + len(filling)


def probability(clues: Clues, weights: Weights) -> float:
    """How likely a candidate answers."""
    total = weights.bias + sum(weight * clue for weight, clue in zip(weights[1:], clues, strict=True))
    return 1 / (1 + math.exp(-total))


def _pair(candidate: Candidate, asked: Wanted, read: Text) -> tuple[str, str]:
    return read.window(candidate.place), asked.stated(read.text[candidate.start : candidate.end])


def _with_reading(candidate: Candidate, reading: Reading) -> Candidate:
    clues = candidate.clues._replace(supported=reading.supported, contradicted=reading.contradicted)
    return candidate._replace(clues=clues)


def _in(place: int, asked: Wanted, read: Text) -> list[Candidate]:
    """The candidates of one sentence, without those that the question itself gives."""
    matched = Match(place, asked, read)
    given = {word.stem for word in asked.words}
    candidates: list[Candidate] = []
    for start, end, fit, led, done in _weighed(place, asked, read):
        inside = [word.stem for word in read.sentences[place].words if start <= word.start < end]
        if inside and given.issuperset(inside):
            continue
        start, end = _as_short_as_asked(start, end, asked, read.text)
        clues = Clues(
            cover=matched.cover,
            near=matched.near(start, end),
            fit=fit,
            lacking=matched.lacking(start, end),
            beside=matched.beside(start, end),
            led=led,
            role=done,
        )
        candidates.append(Candidate(start, end, place, clues))
    return candidates


def _weighed(place: int, asked: Wanted, read: Text) -> Iterator[tuple[int, int, float, float, float]]:
    """What may answer, with how well its sort fits, and whether what leads to it and what it does fit."""
    if _WHY.search(asked.question):
        yield from ((start, end, 1.0, 0.0, 0.0) for start, end in _reason(place, read))
    elif asked.gap is not None or not read.english:
        for start, end, kind in read.mentions(place):
            fit, led = asked.fits(kind, read.text[start:end]), asked.led_by(lead_word(read.text, start))
            yield start, end, fit, float(led), 0.0
    else:
        ask = Ask(asked)
        for start, end, fit in stretches(ask, place, read):
            led = float(asked.led_by(lead_word(read.text, start)))
            done = role(ask, start, end, place, read)
            yield start, end, fit * (_OTHERS if done < 0 and ask.sort == "count" else 1), led, done


def _reason(place: int, read: Text) -> Sequence[tuple[int, int]]:
    sentence = read.sentences[place]
    pattern = _REASON_CHINESE if read.chinese else _REASON
    reason = pattern.search(read.text, sentence.start, sentence.end)
    if reason is None:
        return ()
    end = sentence.end
    while end > reason.end() and read.text[end - 1] in _END:
        end -= 1
    return [(reason.end(), end)]


def _as_short_as_asked(start: int, end: int, asked: Wanted, text: str) -> tuple[int, int]:
    """Only the year where a year is asked for; without what the cloze itself has right before or behind its gap."""
    if asked.year_only and (year := _YEAR.search(text, start, end)):
        return year.span()
    if asked.gap is None:
        return start, end
    before, after = asked.question[: asked.gap[0]].rstrip().lower(), asked.question[asked.gap[1] :].lstrip(" -").lower()
    said = text[start:end].lower()
    lead = max((place for place in _edges(said) if before.endswith(said[:place].rstrip())), default=0)
    tail = min(
        (place for place in _edges(said) if place > lead and after.startswith(said[place:].lstrip(" -"))),
        default=len(said),
    )
    while lead < tail and said[lead].isspace():
        lead += 1
    while tail > lead and said[tail - 1] in " -":
        tail -= 1
    return (start + lead, start + tail) if lead < tail else (start, end)


def _edges(said: str) -> list[int]:
    """Where a candidate can be cut: between words, and in Chinese between any two characters."""
    inner = range(1, min(len(said), _LONGEST_ANSWER))
    return [place for place in inner if not (said[place - 1].isalnum() and said[place].isalnum()) or not said.isascii()]
