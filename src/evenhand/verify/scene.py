"""A claim set before a passage of its article: what every check looks at."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from math import exp
from typing import Protocol

from evenhand.verify.evidence import Article
from evenhand.verify.facts import Facts, Sentence, facts_of, knowing
from evenhand.verify.tokens import Token, meaning, neighbours

# More facts than any sentence has; a claim or a passage beyond them is compared by its first ones.
MOST_CLAIMED, MOST_SHOWN = 60, 300
_FADES = 5.0
_LEAST = 0.3
_LESSER = 0.15


class Placed(Protocol):
    """Anything with a place in its text: characters from start to end, tokens from first to last."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: how far, from 0 to 1, and in words where it speaks against the claim."""

    agrees: float = 0.0
    conflicts: float = 0.0
    missing: float = 0.0
    notes: tuple[str, ...] = ()


class Scene:
    """The facts of both texts, and the sentence of the passage that says most of the claim."""

    def __init__(self, claim: str, window: str, article: Article) -> None:
        self.claim, self.window, self.article = claim, window, article
        claimed, shown = facts_of(claim), facts_of(window)
        self.claimed: Facts = knowing(claimed, shown.names)
        self.shown: Facts = knowing(shown, claimed.names)
        self.claim_words = worded(self.claimed.row[: 20 * MOST_CLAIMED])
        self.claim_stems = frozenset(word for part in self.claimed.sentences for word in part.stems)
        self.window_stems = frozenset(word for part in self.shown.sentences for word in part.stems)
        self._shares: dict[tuple[int, int], float] = {}
        self.matches = [(part, *self._best(part)) for part in self.claimed.sentences[:MOST_CLAIMED]]

    def share(self, wanted: Iterable[str], found: frozenset[str] | set[str]) -> float:
        """The share of the wanted stems' weight that was found; 0 where nothing is wanted."""
        weights = {word: self.article.weight(word) for word in wanted}
        whole = sum(weights.values())
        return sum(weight for word, weight in weights.items() if word in found) / whole if whole else 0.0

    def context(self, first: int, last: int, lesser: Set[str] = frozenset()) -> dict[str, float]:
        """The claim's words but those from first to last, each with its share: rare words have more of it, and those
        next to the place; the lesser ones a part."""
        weighed: dict[str, float] = {}
        for place, word in self.claim_words:
            if first <= place < last:
                continue
            away = first - place if place < first else place - last + 1
            share = self.article.weight(word) * (_LEAST + exp(-away / _FADES)) * (_LESSER if word in lesser else 1.0)
            weighed[word] = max(weighed.get(word, 0.0), share)
        whole = sum(weighed.values())
        return {word: share / whole for word, share in weighed.items()} if whole else {}

    def kin(self, ours: tuple[int, int], theirs: tuple[int, int], reach: int) -> float:
        """How surely a place of the claim and one of the passage speak of the same: half by the words around them, half
        by their whole sentences. Places are ranges of tokens."""
        mine = neighbours(self.claimed.row, *ours, reach)
        near = self.share(mine, neighbours(self.shown.row, *theirs, reach + 1))
        return 0.5 * near + 0.5 * self.shared(_around(self.claimed, ours[0]), _around(self.shown, theirs[0]))

    def shared(self, part: Sentence | None, sentence: Sentence | None) -> float:
        """How much of a claim's sentence a sentence of the passage has."""
        if part is None or sentence is None:
            return 0.0
        key = part.first, sentence.first
        if key not in self._shares:
            self._shares[key] = self.share(part.stems, set(sentence.stems))
        return self._shares[key]

    def _best(self, part: Sentence) -> tuple[Sentence | None, float]:
        """The sentence of the passage that has most of a claim's sentence, and how much of it."""
        best, most = None, 0.0
        for sentence in self.shown.sentences[:MOST_SHOWN]:
            share = self.shared(part, sentence)
            if share > most:
                best, most = sentence, share
        return best, most


def worded(row: Sequence[Token]) -> list[tuple[int, str]]:
    """The stems that carry meaning, with their places."""
    found = ((place, meaning(token)) for place, token in enumerate(row))
    return [(place, word) for place, word in found if word is not None]


def _around(facts: Facts, place: int) -> Sentence | None:
    """The sentence that a token is in."""
    found = bisect_right(facts.sentences, place, key=lambda sentence: sentence.first)
    return facts.sentences[found - 1] if found else None
