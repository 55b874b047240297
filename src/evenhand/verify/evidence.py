"""An evidence text, cut into sentences and searched for those that matter to a claim.

Building an article is linear in its length; a claim then looks only at sentences that share a word with it, so an
article of a hundred pages is no harder to read than its relevant sentences are many.
"""

import math
import re
from collections import defaultdict
from collections.abc import Sequence

from evenhand.nlp.sentences import sentences
from evenhand.verify.stems import stems_of

PASSAGE_WORDS = 140
_LONGEST_PIECE = 60
_AGAIN = 0.25
_LEANS = re.compile(r"\W*(?:he|she|it|they|this|these|those|his|her|its|their|such|the (?:former|latter))\b", re.I)
_RUN = re.compile(r"\S+")


class Article:
    """One evidence text. `pieces` are its sentences as character ranges, very long ones cut at 60 words."""

    def __init__(self, text: str, language: str = "en") -> None:
        self.text = text
        self.pieces = [piece for span in sentences(text, language) for piece in _cut(text, *span)]
        self.lengths = [len(text[start:end].split()) for start, end in self.pieces]
        self.words = sum(self.lengths)
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, (start, end) in enumerate(self.pieces):
            for stem in set(stems_of(text[start:end])):
                self._places[stem].append(place)

    def __len__(self) -> int:
        return len(self.pieces)

    def piece(self, place: int) -> str:
        start, end = self.pieces[place]
        return self.text[start:end]

    def has(self, stem: str) -> bool:
        """Whether any sentence has this stem."""
        return stem in self._places

    def weight(self, stem: str) -> float:
        """How much a stem tells: the rarer among the sentences, the more. A stem that no sentence has weighs most."""
        return math.log(1 + (len(self.pieces) + 1) / (len(self._places.get(stem, ())) + 0.5))

    def ranked(self, claim: str, most: int) -> list[tuple[int, float]]:
        """The sentences that share the most of a claim's weight, best first, each with its share of it (0 to 1)."""
        shares = self._shares(claim)
        best = sorted(shares, key=lambda place: (-shares[place], place))[:most]
        return [(place, shares[place]) for place in best]

    def passage(self, claim: str, words: int = PASSAGE_WORDS) -> tuple[int, ...]:
        """The sentences to read a claim against, in the article's order: those that together cover its words.

        The whole article where it is short enough. A sentence that leans on the one before ("It was …") brings it too.
        """
        if self.words <= words:
            return tuple(range(len(self.pieces)))
        stems = set(stems_of(claim))
        left = dict(self.ranked(claim, 24))
        chosen, covered, room = set[int](), set[str](), words
        while left and room > 0:
            place = max(left, key=lambda place: (self._gain(place, stems, covered), left[place], -place))
            del left[place]
            for one in self._with_support(place):
                if one not in chosen and (self.lengths[one] <= room or not chosen):
                    chosen.add(one)
                    room -= self.lengths[one]
            covered |= stems & set(stems_of(self.piece(place)))
        return tuple(sorted(chosen or range(min(3, len(self.pieces)))))

    def joined(self, places: Sequence[int]) -> str:
        return " ".join(self.piece(place) for place in places)

    def _shares(self, claim: str) -> dict[int, float]:
        stems = set(stems_of(claim))
        whole = sum(self.weight(stem) for stem in stems) or 1.0
        shares: dict[int, float] = defaultdict(float)
        for stem in stems:
            weight = self.weight(stem) / whole
            for place in self._places.get(stem, ()):
                shares[place] += weight
        return shares

    def _gain(self, place: int, stems: set[str], covered: set[str]) -> float:
        """What a sentence adds: words not yet covered count in full, the others a quarter; long sentences pay."""
        found = stems & set(stems_of(self.piece(place)))
        gain = sum(self.weight(stem) * (_AGAIN if stem in covered else 1.0) for stem in found)
        return gain / (20 + self.lengths[place])

    def _with_support(self, place: int) -> tuple[int, ...]:
        return (place, place - 1) if place and _LEANS.match(self.piece(place)) else (place,)


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence whole, or in pieces of at most 60 words."""
    runs = [run.span() for run in _RUN.finditer(text, start, end)]
    parts = [runs[at : at + _LONGEST_PIECE] for at in range(0, len(runs), _LONGEST_PIECE)]
    return [(part[0][0], part[-1][1]) for part in parts]
