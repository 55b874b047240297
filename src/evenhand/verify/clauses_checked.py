"""A claim held against the one clause of a passage that speaks of the same.

A passage has other numbers, dates and names beside the one that matters: "It admitted women in 1897, and a school of
medicine was added in 1912." A claim that women came in 1912 finds all its words there. What decides is what stands in
the claim's place in the clause that has the rest of it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.verify.facts import Facts
from evenhand.verify.mentions import Mention
from evenhand.verify.polarity import is_negation
from evenhand.verify.scene import MOST_SHOWN, Finding, Scene, worded
from evenhand.verify.tokens import at

_PARTS = frozenset(",;:()—–")
_JOINTS = frozenset(("and", "but", "while", "whereas", "although", "though"))
_TO_THE_POINT = 0.3
_AT_ALL = 0.1
_SHORTEST = 2
_BESIDE = 0.5


@dataclass(frozen=True, slots=True)
class _Clause:
    """Tokens from first to last, and the stems among them."""

    first: int
    last: int
    stems: frozenset[str]
    sentence: frozenset[str]
    """The stems of the whole sentence."""

    def has(self, place: int) -> bool:
        return self.first <= place < self.last


class Clauses:
    """The clauses of a passage, and what a claim's mentions find in those that are closest to it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._clauses = list(_clauses(scene.shown))[:MOST_SHOWN]
        self._starts = [clause.first for clause in self._clauses]
        self._best, self.closeness = _closest(scene, self._clauses)

    def held(self, mentions: Sequence[Mention]) -> Finding:
        """Whether the clause that has the rest of the claim has what the claim says, or another in its place.

        `missing` is the latter for what the passage does not have at all.
        """
        agrees = conflicts = missing = 0.0
        for mention in mentions:
            if not mention.spots:
                continue
            context = self._scene.context(mention.first, mention.last)
            own, other = self._closeness_of(mention, context)
            if own >= other:
                agrees = max(agrees, own if own >= _TO_THE_POINT else 0.0)
            elif other >= _AT_ALL:
                conflicts = max(conflicts, min(1.0, other / _TO_THE_POINT) * (other - own) / other)
                missing = max(missing, 0.0 if any(spot.same for spot in mention.spots) else other)
        return Finding(min(1.0, agrees), min(1.0, conflicts), min(1.0, missing))

    def _closeness_of(self, mention: Mention, context: Mapping[str, float]) -> tuple[float, float]:
        """Of the closest clause that has what the claim says, and of the closest that has only another."""
        told: dict[int, bool] = {}
        for spot in mention.spots:
            at = bisect_right(self._starts, spot.first) - 1
            if at >= 0 and self._clauses[at].has(spot.first):
                told[at] = told.get(at, False) or spot.same
        own = max((self._share(context, at) for at, same in told.items() if same), default=0.0)
        return own, max((self._share(context, at) for at, same in told.items() if not same), default=0.0)

    def _share(self, context: Mapping[str, float], at: int) -> float:
        """How much of a mention's surroundings a clause has; what the rest of its sentence has counts in part."""
        clause = self._clauses[at]
        return sum(
            share * (1.0 if word in clause.stems else _BESIDE if word in clause.sentence else 0.0)
            for word, share in context.items()
        )

    def negation(self) -> Finding:
        """Whether claim and closest clause both deny or both do not; an even number of negations denies nothing."""
        if self._best is None or self.closeness < _TO_THE_POINT:
            return Finding()
        ours, theirs = self._scene.claimed.row, self._scene.shown.row
        claimed = sum(is_negation(ours, place) for place in range(len(ours)))
        shown = sum(is_negation(theirs, place) for place in range(self._best.first, self._best.last))
        if claimed % 2 == shown % 2:
            return Finding(agrees=self.closeness if claimed else 0.0)
        return Finding(conflicts=self.closeness)


def _closest(scene: Scene, clauses: Sequence[_Clause]) -> tuple[_Clause | None, float]:
    """The clause that has most of the claim's stems by weight, and the share of it."""
    wanted = frozenset(word for _, word in scene.claim_words)
    best, most = None, 0.0
    for clause in clauses:
        share = scene.share(wanted, clause.stems)
        if share > most:
            best, most = clause, share
    return best, most


def _clauses(facts: Facts) -> Iterator[_Clause]:
    """A passage's sentences, parted where a clause ends and the next has two telling words of its own."""
    for sentence in facts.sentences:
        first, whole = sentence.first, frozenset(sentence.stems)
        for place in range(sentence.first, sentence.last):
            if _parts(facts, place) and _tells(facts, first, place) and _tells(facts, place + 1, sentence.last):
                yield _Clause(first, place, _stems(facts, first, place), whole)
                first = place + 1
        yield _Clause(first, sentence.last, _stems(facts, first, sentence.last), whole)


def _parts(facts: Facts, place: int) -> bool:
    """A comma or the like, or an "and" that does not merely join two numbers or two names."""
    token, before, after = facts.row[place], at(facts.row, place - 1), at(facts.row, place + 1)
    if token.text in _PARTS:
        return True
    alike = (before.text[:1].isdigit() and after.text[:1].isdigit()) or (
        before.text[:1].isupper() and after.text[:1].isupper()
    )
    return token.low in _JOINTS and not alike


def _tells(facts: Facts, first: int, last: int) -> bool:
    return len(_stems(facts, first, last)) >= _SHORTEST


def _stems(facts: Facts, first: int, last: int) -> frozenset[str]:
    return frozenset(word for _, word in worded(facts.row[first:last]))
