"""What belongs to what: whether a claim's number, date or name is the one that stands with the claim's other words.

"It admitted women in 1897, and a school of medicine was added in 1912." Both years are there; the words of the claim
stand nearer to one of them. Nearness counts words, and clauses and sentences count for several.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from itertools import accumulate
from math import exp

from evenhand.verify.mentions import Mention, Spot
from evenhand.verify.opposites import is_verb
from evenhand.verify.scene import MOST_SHOWN, Finding, Scene, worded
from evenhand.verify.stems import STOP, stem
from evenhand.verify.tokens import Token, at

_MILD, _CLAUSE, _SENTENCE = 1.0, 4.0, 7.0
_FADES = 7.0
_CLAUSES = frozenset(",;:()—–")
_JOINTS = frozenset(("and", "but", "while", "whereas", "although", "though", "before", "after", "until"))
_ENDS = frozenset(".!?")
_FACTS = frozenset(("numbers", "dates", "names"))
_MOST_BEFORE = 40
_SURE = 0.15
_DETERMINERS = frozenset(("the", "a", "an", "its", "his", "her", "their"))
_HELPERS = frozenset("is are was were be been has have had can could will would may might must does did do".split())


class Binding:
    """The words of a claim and of its passage with their distances."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        shown = scene.shown.row[: 60 * MOST_SHOWN]
        self._far = list(accumulate(map(_steps, shown), initial=0.0))
        named = scene.claimed.named
        verb = _verb(scene.claimed.row, named)
        self._lesser = {word for place, word in scene.claim_words if place in named or place < verb}
        self._theirs: dict[str, list[float]] = {}
        wanted = {word for _, word in scene.claim_words}
        for place, word in worded(shown):
            if word in wanted:
                self._theirs.setdefault(word, []).append(self._far[place])

    def held(self, kind: str, mentions: Sequence[Mention]) -> Finding:
        """How much nearer the claim's words stand to what it says than to another, for the mention that fits least.

        1 where all of them stand by the one and none by the other; nothing where there is nothing to compare. What the
        passage does not have at all is for other checks.
        """
        worst, notes = None, tuple[str, ...]()
        # What a claim is about tells the places of its facts apart badly, and those of its verbs well.
        lesser = self._lesser if kind in _FACTS else frozenset[str]()
        for mention in mentions:
            if not mention.is_open:
                continue
            context = self._scene.context(mention.first, mention.last, lesser)
            near = [(self._nearness(context, spot), spot) for spot in mention.spots]
            own = max(one for one, spot in near if spot.same)
            other, rival = max(((one, spot) for one, spot in near if not spot.same), key=lambda each: each[0])
            if worst is None or own - other < worst:
                worst = own - other
                notes = (self._note(mention, rival),) if worst <= -_SURE and kind in _FACTS else ()
        return Finding(min(1.0, max(0.0, worst or 0.0)), min(1.0, max(0.0, -(worst or 0.0))), notes=notes)

    def _note(self, mention: Mention, rival: Spot) -> str:
        said = _text(self._scene.claim, self._scene.claimed.row, mention.first, mention.last)
        there = _text(self._scene.window, self._scene.shown.row, rival.first, rival.last)
        return f"in the evidence this is said with {there}, not with {said}"

    def _nearness(self, context: Mapping[str, float], spot: Spot) -> float:
        if spot.last >= len(self._far):
            return 0.0
        here, there = self._far[spot.first], self._far[spot.last]
        total = 0.0
        for word, share in context.items():
            places = self._theirs.get(word)
            if places:
                total += share * exp(-_distance(places, here, there) / _FADES)
        return total


def _text(text: str, row: Sequence[Token], first: int, last: int) -> str:
    return text[row[first].start : row[last - 1].end]


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
    for place, token in enumerate(row[:_MOST_BEFORE]):
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
