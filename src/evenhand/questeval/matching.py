"""How a sentence, with those before it, meets the words of a question."""

import re
from collections.abc import Sequence
from functools import cached_property

from evenhand.questeval.likeness import likeness
from evenhand.questeval.passages import Sentence, Text, Word
from evenhand.questeval.roots import root
from evenhand.questeval.wanted import BREAK, JOINT, NAME, Wanted

BEFORE = 0.5
LEANING = 0.9
RIVAL = 0.3
"""What a name of a sentence before counts where this one opens with another name."""
_BACK = 6
_RELATIVE = re.compile(r",?\s(?:who|which|whose|where|that)\s")
_FADES, _FADES_CHINESE = 30.0, 12.0
_OTHER_SIDE = 0.4
_CONTAINED = 0.7


class Match:
    """One sentence, held against a question."""

    def __init__(self, place: int, asked: Wanted, text: Text) -> None:
        self._asked, self._text, self._place = asked, text, place
        self._sentence = text.sentences[place]
        self._met = [self._meets(word, self._sentence) for word in asked.words]
        self._carried = [
            max(like, self._from_before(word)) for word, (like, _) in zip(asked.words, self._met, strict=True)
        ]
        self._breaks = [found.start() for found in BREAK.finditer(text.text, self._sentence.start, self._sentence.end)]

    @cached_property
    def cover(self) -> float:
        """How much of what the question says besides names is said here, sentences before helping out."""
        return self._share(self._carried, names=False, none=0.5)

    def lacking(self, start: int, end: int) -> float:
        """The share of the question's names and figures that this sentence, or its part around a stretch, lacks."""
        met = zip(self._carried, self._met, strict=True)
        carried = [credit * (RIVAL if self._of_another(places, start, end) else 1) for credit, (_, places) in met]
        return 1 - self._share(carried, names=True, none=1.0)

    def _of_another(self, places: Sequence[Word], start: int, end: int) -> bool:
        """Whether a word of a natural question comes in a later part than the stretch, which has its own verb."""
        if self._asked.gap is not None or self._text.chinese or not places:
            return False
        breaks = [self._sentence.start, *self._breaks, self._sentence.end]
        first = max(place for place in breaks if place <= start)
        last = min((place for place in breaks if place >= end), default=self._sentence.end)
        if any(place.start < last for place in places):
            return False
        opening = self._sentence.words[0].start if self._sentence.words else 0
        return any(first <= verb.start < last and verb.start > opening for verb in self._said)

    @cached_property
    def _said(self) -> list[Word]:
        """Where the question's words that are no names are met."""
        pairs = zip(self._asked.words, self._met, strict=True)
        return [place for word, (_, places) in pairs if word.stem not in self._asked.names for place in places]

    def _share(self, carried: Sequence[float], names: bool, none: float) -> float:
        words = zip(self._asked.words, self._asked.weights, carried, strict=True)
        chosen = [(weight, credit) for word, weight, credit in words if (word.stem in self._asked.names) == names]
        whole = sum(weight for weight, _ in chosen)
        return sum(weight * credit for weight, credit in chosen) / whole if whole else none

    def near(self, start: int, end: int) -> float:
        """How close to a stretch the question's words are met; in a cloze, on the side where they stand by the gap."""
        total = 0.0
        for word, weight, (like, places) in zip(self._asked.words, self._asked.weights, self._met, strict=True):
            outside = [self._closeness(word, other, start, end) for other in places if not start <= other.start < end]
            total += weight * like * max(outside, default=0.0)
        whole = sum(self._asked.weights)
        return total / whole if whole else 0.0

    def beside(self, start: int, end: int) -> float:
        """Whether the word that the answer should stand next to is next to this stretch, or in it."""
        word = self._asked.beside
        if word is None:
            return 0.0
        text, gap = self._text.text, self._asked.gap
        after_gap = gap is not None and word.start >= gap[1]
        likes = [
            self._likeness(word, other)
            for other in self._sentence.words
            if (gap is None and start <= other.start < end)
            or (not after_gap and other.end <= start and JOINT.fullmatch(text, other.end, start))
            or ((after_gap or gap is None) and 0 <= other.start - end <= 1)
        ]
        return max(likes, default=0.0)

    def _closeness(self, word: Word, other: Word, start: int, end: int) -> float:
        before = other.end <= start
        first, last = (other.end, start) if before else (end, other.start)
        breaks = sum(first <= place < last for place in self._breaks)
        if not before and _RELATIVE.match(self._text.text, end):
            breaks = max(0, breaks - 2)
        fades = _FADES_CHINESE if self._text.chinese else _FADES
        close = 1 / (1 + (last - first) / fades + breaks)
        if self._asked.gap is None:
            return close
        return close if before == (word.end <= self._asked.gap[0]) else close * _OTHER_SIDE

    def _meets(self, word: Word, sentence: Sentence) -> tuple[float, list[Word]]:
        """How well a sentence meets a word, and where it does so best."""
        best, places = 0.0, list[Word]()
        for other in sentence.words:
            like = self._likeness(word, other)
            if like > best:
                best, places = like, [other]
            elif like and like == best:
                places.append(other)
        return best, places

    def _likeness(self, word: Word, other: Word) -> float:
        if self._text.chinese:
            return 1.0 if word.stem == other.stem else _CONTAINED if _contained(word.stem, other.stem) else 0.0
        if word.stem not in self._asked.names:
            return likeness(word.stem, other.stem)
        common = self._asked.gap is None and self._asked.question[word.start].islower()
        return float(word.stem == other.stem or (common and root(word.stem) == root(other.stem)))

    def _from_before(self, word: Word) -> float:
        """What the sentences before add. A name is carried on until a sentence opens with another one."""
        name = word.stem in self._asked.names
        credit = (
            LEANING if self._sentence.leans or (name and not self._is_rivalled(word)) else RIVAL if name else BEFORE
        )
        for back in range(1, min(_BACK, self._place) + 1):
            if word.stem in self._text.sentences[self._place - back].stems:
                return credit
            credit *= LEANING if name else BEFORE
        return 0.0

    def _is_rivalled(self, word: Word) -> bool:
        """Whether this sentence is about another name; a person who is asked for is no rival of a thing."""
        thing = self._asked.gap is None and self._asked.question[word.start].islower()
        return self._has_rival and not (thing and self._asked.kinds is NAME)

    @cached_property
    def _has_rival(self) -> bool:
        """Whether the sentence opens with a name that the question does not have."""
        opening = next((mention for mention in self._text.mentions(self._place) if mention.kind == "name"), None)
        if opening is None or opening.start - self._sentence.start > (2 if self._text.chinese else 8):
            return False
        inside = {word.stem for word in self._sentence.words if opening.start <= word.start < opening.end}
        return inside.isdisjoint(self._asked.names)


def _contained(one: str, other: str) -> bool:
    return min(len(one), len(other)) > 1 and (one in other or other in one)
