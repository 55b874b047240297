"""What belongs to what: whether a claim's number, date or name is the one that stands with the claim's other words.

"It admitted women in 1897, and a school of medicine was added in 1912." Both years are there; the words of the claim
stand nearer to one of them. Nearness counts words, and clauses and sentences count for several.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence, Set
from itertools import accumulate
from math import exp
from typing import TypeVar

from evenhand.verify.names import same
from evenhand.verify.opposites import is_verb
from evenhand.verify.quantities import date_holds, number_holds
from evenhand.verify.scene import MOST_CLAIMED, MOST_SHOWN, Finding, Placed, Scene
from evenhand.verify.stems import STOP, stem
from evenhand.verify.tokens import Token, at, meaning

_MILD, _CLAUSE, _SENTENCE = 1.0, 4.0, 7.0
_FADES = 7.0
_FADES_IN_CLAIM = 5.0
_CLAUSES = frozenset(",;:()—–")
_JOINTS = frozenset(("and", "but", "while", "whereas", "although", "though", "before", "after", "until"))
_ENDS = frozenset(".!?")
_MOST_FACTS = 40
_LEAST = 0.3
_SURE = 0.15
_SUBJECT = 0.15
_DETERMINERS = frozenset(("the", "a", "an", "its", "his", "her", "their"))
_HELPERS = frozenset("is are was were be been has have had can could will would may might must does did do".split())


F = TypeVar("F", bound=Placed)


class Binding:
    """The words of a claim and of its passage with their distances."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._far = list(accumulate(map(_steps, scene.shown.row[: 60 * MOST_SHOWN]), initial=0.0))
        self._ours = _words(scene.claimed.row[: 20 * MOST_CLAIMED])
        named = scene.claimed.named
        self._lesser = {word for place, word in self._ours if place in named}
        verb = _verb(scene.claimed.row, named)
        self._lesser |= {word for place, word in self._ours if place < verb}
        self._theirs: dict[str, list[float]] = {}
        wanted = {word for _, word in self._ours}
        for place, word in _words(scene.shown.row[: 60 * MOST_SHOWN]):
            if word in wanted:
                self._theirs.setdefault(word, []).append(self._far[place])

    def numbers(self) -> Finding:
        return self._worst(self._scene.claimed.numbers, self._scene.shown.numbers, number_holds)

    def dates(self) -> Finding:
        return self._worst(self._scene.claimed.dates, self._scene.shown.dates, date_holds)

    def names(self) -> Finding:
        """A name that the claim has too stands in nobody's place."""
        ours, theirs = self._scene.claimed.names[:MOST_CLAIMED], self._scene.shown.names[:_MOST_FACTS]
        rivals = [name for name in theirs if not any(same(name.words, one.words) for one in ours)]
        return self._worst(
            ours,
            theirs,
            lambda name, other: True if same(name.words, other.words) else (False if other in rivals else None),
        )

    def _worst(self, ours: Sequence[F], theirs: Sequence[F], holds: Callable[[F, F], bool | None]) -> Finding:
        """How much nearer the claim's words stand to its own facts than to others, for the fact that fits least.

        1 where all of them stand by the one and none by the other; nothing where there is nothing to compare. What the
        passage does not have at all is for other checks.
        """
        worst, notes = None, tuple[str, ...]()
        for fact in ours[:MOST_CLAIMED]:
            context = self._context(fact)
            own, other, rival = None, None, fact
            for one in theirs[:_MOST_FACTS]:
                verdict = holds(fact, one)
                if verdict is None:
                    continue
                near = self._nearness(context, one)
                if verdict:
                    own = max(own or 0.0, near)
                elif other is None or near > other:
                    other, rival = near, one
            if own is None or other is None:
                continue
            if worst is None or own - other < worst:
                worst = own - other
                notes = (self._note(fact, rival),) if worst <= -_SURE else ()
        return Finding(max(0.0, worst or 0.0), max(0.0, -(worst or 0.0)), notes=notes)

    def _note(self, fact: Placed, rival: Placed) -> str:
        said = self._scene.claim[fact.start : fact.end]
        return f"in the evidence this is said with {self._scene.window[rival.start : rival.end]}, not with {said}"

    def _context(self, fact: Placed) -> list[tuple[str, float]]:
        """The claim's other words, each with its share: rare words and those next to the fact have more of it."""
        weighed: dict[str, float] = {}
        for place, word in self._ours:
            if fact.first <= place < fact.last:
                continue
            away = fact.first - place if place < fact.first else place - fact.last + 1
            share = self._scene.article.weight(word) * (_LEAST + exp(-away / _FADES_IN_CLAIM))
            if word in self._lesser:
                share *= _SUBJECT
            weighed[word] = max(weighed.get(word, 0.0), share)
        whole = sum(weighed.values())
        return [(word, share / whole) for word, share in weighed.items()] if whole else []

    def _nearness(self, context: Sequence[tuple[str, float]], fact: Placed) -> float:
        if fact.last >= len(self._far):
            return 0.0
        here, there = self._far[fact.first], self._far[fact.last]
        total = 0.0
        for word, share in context:
            places = self._theirs.get(word)
            if places:
                total += share * exp(-_distance(places, here, there) / _FADES)
        return total


def _distance(places: Sequence[float], here: float, there: float) -> float:
    """From the nearest of the places to what stands from here to there."""
    at = bisect_left(places, here)
    return min(
        abs(here - places[at - 1]) if at else float("inf"),
        max(0.0, places[at] - there) if at < len(places) else float("inf"),
    )


def _verb(row: Sequence[Token], named: Set[int]) -> int:
    """Where the claim's first verb stands: what is before it names what the claim is about, and tells no places apart.

    A verb is known by its form, by a name before it ("Aurelia sails"), or by what it has behind it ("sent its").
    """
    for place, token in enumerate(row[:_MOST_FACTS]):
        low = token.low
        if not place or not token.text.islower():
            continue
        if low in _HELPERS or low.endswith("ed") or is_verb(stem(low)):
            return place
        begins = at(row, place + 1).low in _DETERMINERS and at(row, place - 1).low not in _DETERMINERS
        if low not in STOP and (place - 1 in named or begins):
            return place
    return 0


def _steps(token: Token) -> float:
    """How far it is over a token."""
    if token.text in _ENDS:
        return _SENTENCE
    return _CLAUSE if token.text in _CLAUSES or token.low in _JOINTS else _MILD


def _words(row: Sequence[Token]) -> list[tuple[int, str]]:
    found = ((place, meaning(token)) for place, token in enumerate(row))
    return [(place, word) for place, word in found if word is not None]
