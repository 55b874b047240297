"""An evidence text as sentences, searched for those that matter to a claim.

Building an article is linear in its length. A claim then looks only at sentences that share a word with it.
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from evenhand.nlp.sentences import sentences
from evenhand.nlp.values import Value, same, values
from evenhand.nlp.words import stems_of, words_of

PASSAGE_WORDS = 140
_LONGEST_SENTENCE = 60  # words: what is longer is cut, so that it can be read at once
_REPEATED = 0.25  # weight of a word that the passage already has
_REFERS_BACK = re.compile(r"\W*(?:he|she|it|they|this|these|those|his|her|its|their|such)\b", re.I)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_ORDINALS = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split())
_RUN = re.compile(r"\S+")


class Article:
    """One evidence text. `spans` are its sentences as character ranges."""

    def __init__(self, text: str, language: str = "en") -> None:
        self.text = text
        self.spans = [part for span in sentences(text, language) for part in _cut(text, *span)]
        self.lengths = [len(text[start:end].split()) for start, end in self.spans]
        self.words = sum(self.lengths)
        self.stems = [frozenset(stems_of(text[start:end])) for start, end in self.spans]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, stems in enumerate(self.stems):
            for stem in stems:
                self._places[stem].append(place)

    def __len__(self) -> int:
        return len(self.spans)

    @cached_property
    def values(self) -> list[list[Value]]:
        """The numbers and dates of each sentence."""
        return [values(self.sentence(place)) for place in range(len(self))]

    @cached_property
    def _frames(self) -> dict[tuple[str, ...], list[tuple[list[Value], list[str]]]]:
        """The numbers of its sentences, by their other words."""
        found = defaultdict[tuple[str, ...], list[tuple[list[Value], list[str]]]](list)
        for place, its_values in enumerate(self.values):
            words, given, others = _frame(self.sentence(place), its_values)
            found[words].append((given, others))
        return found

    def says(self, claim: str) -> bool | None:
        """Whether a claim is a sentence of it, but for how numbers and dates are written; False if it differs in
        nothing but these; None if neither, or if there are several such sentences that differ."""
        words, claimed, others = _frame(claim, values(claim))
        said = set[bool | None]()
        for given, beside in self._frames.get(words, ()):
            if len(given) == len(claimed):
                verdicts = [others == beside, *map(same, claimed, given)]
                said.add(False if False in verdicts else None if None in verdicts else True)
        return said.pop() if len(said) == 1 else None

    def sentence(self, place: int) -> str:
        start, end = self.spans[place]
        return self.text[start:end]

    def joined(self, places: Sequence[int]) -> str:
        return " ".join(self.sentence(place) for place in places)

    def has(self, stem: str) -> bool:
        """Whether any sentence has this stem."""
        return stem in self._places

    def weight(self, stem: str) -> float:
        """How much a stem tells: the rarer among the sentences, the more; most if no sentence has it."""
        return math.log(1 + (len(self) + 1) / (len(self._places.get(stem, ())) + 0.5))

    def shares(self, stems: set[str]) -> dict[int, float]:
        """Sentences that have any of these stems, each with the share of the stems' weight that it has."""
        # Sums that do not depend on the order of a set, so that rounding does not decide between equal sentences.
        whole = math.fsum(map(self.weight, stems)) or 1.0
        shares: dict[int, float] = defaultdict(float)
        for stem in sorted(stems):
            for place in self._places.get(stem, ()):
                shares[place] += self.weight(stem) / whole
        return shares

    def ranked(self, claim: str, most: int) -> list[tuple[int, float]]:
        """The sentences that share the most of a claim's weight, best first, each with its share (0 to 1)."""
        shares = self.shares(set(stems_of(claim)))
        return sorted(shares.items(), key=lambda one: (-one[1], one[0]))[:most]

    def passage(self, claim: str, words: int = PASSAGE_WORDS) -> tuple[int, ...]:
        """The sentences to read a claim with, in the article's order: those that together cover its words.

        The whole article if it is short enough. A sentence that refers back ("It was …") brings the one before it.
        """
        if self.words <= words:
            return tuple(range(len(self)))
        stems = set(stems_of(claim))
        left = dict(self.ranked(claim, 24))
        chosen, covered, room = set[int](), set[str](), words
        while left and room > 0:
            place = max(left, key=lambda place: (self._gain(place, stems, covered), left[place], -place))
            del left[place]
            before = (place - 1,) if place and _REFERS_BACK.match(self.sentence(place)) else ()
            for one in (place, *before):
                if one not in chosen and (self.lengths[one] <= room or not chosen):
                    chosen.add(one)
                    room -= self.lengths[one]
            covered |= stems & self.stems[place]
        return tuple(sorted(chosen or range(min(3, len(self)))))

    def _gain(self, place: int, stems: set[str], covered: set[str]) -> float:
        """What a sentence adds to a passage for its length."""
        found = stems & self.stems[place]
        weight = math.fsum(self.weight(stem) * (_REPEATED if stem in covered else 1.0) for stem in found)
        return weight / (20 + self.lengths[place])


def _frame(sentence: str, shown: Sequence[Value]) -> tuple[tuple[str, ...], list[Value], list[str]]:
    """The words of a sentence with 0 for each number or date; those that can be read as values, and the others."""
    found = [one for one in shown if one.is_date or len(_FIGURE.findall(sentence, one.start, one.end)) < 2]
    for value in reversed(found):
        sentence = f"{sentence[: value.start]} 0 {sentence[value.end :]}"
    words = words_of(sentence)
    others = [word for word in words if (word[0].isdigit() and word != "0") or word in _ORDINALS]
    return tuple("0" if word in others else word for word in words), found, others


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence whole, or in parts of at most 60 words."""
    runs = [run.span() for run in _RUN.finditer(text, start, end)]
    parts = [runs[at : at + _LONGEST_SENTENCE] for at in range(0, len(runs), _LONGEST_SENTENCE)]
    return [(part[0][0], part[-1][1]) for part in parts]
