"""Words that turn, weaken or measure out what is said: negations, hedges and quantifiers."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.verify.tokens import Token, at, following, meaning

_NEGATIONS = frozenset(
    """not no never none nobody nothing nowhere neither nor without cannot hardly scarcely barely fails failed fail
    failing lacks lacked lack lacking refused refuses refuse declined declines denies denied deny prevented
    prevents absence unable incapable inability except""".split()
)
_NOT_NEGATIONS = frozenset(
    (("not", "only"), ("not", "just"), ("not", "merely"), ("no", "doubt"), ("no", "more"), ("no", "less"),
     ("not", "all"), ("not", "every"), ("not", "always"), ("not", "everyone"), ("not", "many"), ("not", "most"),
     ("no", "fewer"), ("no", "later"), ("no", "earlier"), ("nothing", "but"))
)  # fmt: skip
_ENDS = frozenset(".;:!?()")
_CLAUSES = frozenset(
    ("but", "although", "though", "while", "whereas", "because", "however", "and", "which", "who", "until")
)
_REACH = 4
_NEXT = 2
_PREPOSITIONS = frozenset("in on at by for from with to of during since into over under after before until as".split())
_FILLING = frozenset(("longer", "yet", "ever", "even", "really", "actually", "fully", "directly", "either"))

_HEDGES = frozenset(
    """may might could possibly perhaps probably likely allegedly reportedly potentially suggests suggested suggest
    suspected believed rumoured rumored expected plans planned planning proposed hopes hoped intends intended
    considering seems appears appeared estimated thought unclear uncertain unconfirmed hypothesized""".split()
)
_CERTAIN = frozenset(
    ("proved", "proven", "proves", "certainly", "definitely", "confirmed", "always", "guarantees", "undoubtedly")
)

ALL, MOST, MANY, SOME, FEW, NONE = "all", "most", "many", "some", "few", "none"
_QUANTIFIERS = {
    "all": ALL, "every": ALL, "each": ALL, "both": ALL, "entire": ALL, "whole": ALL, "always": ALL, "everyone": ALL,
    "everybody": ALL, "everything": ALL, "entirely": ALL, "completely": ALL, "universally": ALL, "unanimously": ALL,
    "exclusively": ALL, "most": MOST, "majority": MOST, "mostly": MOST, "mainly": MOST, "largely": MOST,
    "usually": MOST, "primarily": MOST, "many": MANY, "often": MANY, "numerous": MANY, "several": SOME, "some": SOME,
    "sometimes": SOME, "partly": SOME, "partially": SOME, "occasionally": SOME, "few": FEW, "rarely": FEW,
    "seldom": FEW, "minority": FEW, "none": NONE, "never": NONE, "nobody": NONE, "neither": NONE, "nothing": NONE,
    "no": NONE,
}  # fmt: skip
_STRENGTH = {NONE: 0, FEW: 1, SOME: 2, MANY: 3, MOST: 4, ALL: 5}


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How much (`all` to `none`) of what: the stems that follow it."""

    word: str
    amount: str
    of: tuple[str, ...]
    place: int


def is_negation(row: Sequence[Token], place: int) -> bool:
    low = row[place].low
    if (low, at(row, place + 1).low) in _NOT_NEGATIONS:
        return False
    if low in ("lost", "lose", "loses"):
        return any(token.low in ("ability", "right") for token in row[place + 1 : place + 4])
    return low in _NEGATIONS or low.endswith("n't")


def negated(row: Sequence[Token]) -> tuple[int, frozenset[str]]:
    """How many negations a text has, and the stems they stand before, as far as the clause goes."""
    count, stems = 0, set[str]()
    for place in range(len(row)):
        if not is_negation(row, place):
            continue
        count += 1
        reached = 0
        for token in row[place + 1 : place + 12]:
            if token.text in _ENDS or token.low in _CLAUSES or reached == _REACH:
                break
            word = meaning(token)
            if word is not None:
                stems.add(word)
                reached += 1
    return count, frozenset(stems)


def denied(row: Sequence[Token]) -> frozenset[int]:
    """The places of the words that are denied themselves: `damaged`, and not `fire`, in "not damaged in the fire"."""
    places = set[int]()
    for place in range(len(row)):
        if is_negation(row, place):
            places |= _next_words(row, place + 1)
    return frozenset(places)


def _next_words(row: Sequence[Token], begin: int) -> set[int]:
    """The first words from a place on, as far as their phrase goes."""
    found = set[int]()
    for place in range(begin, min(len(row), begin + 8)):
        token = row[place]
        ends = token.text in _ENDS or token.low in _CLAUSES or (found and token.low in _PREPOSITIONS)
        if ends or len(found) == _NEXT:
            break
        if meaning(token) is not None and token.low not in _FILLING:
            found.add(place)
    return found


def hedges(row: Sequence[Token]) -> int:
    return sum(token.text in _HEDGES for token in row)


def certainties(row: Sequence[Token]) -> int:
    return sum(token.low in _CERTAIN for token in row)


def quantifiers(row: Sequence[Token]) -> list[Quantifier]:
    """The quantifiers of a text, a negated one turned (`not all` is `some`)."""
    found: list[Quantifier] = []
    for place, token in enumerate(row):
        amount = _QUANTIFIERS.get(token.low)
        if amount is None or (token.low == "most" and _is_superlative(row, place)):
            continue
        if at(row, place - 1).low == "not" and amount in (ALL, MANY, MOST):
            amount = SOME if amount == ALL else FEW
        if token.low == "few" and at(row, place - 1).low == "a":
            amount = SOME
        found.append(Quantifier(token.text, amount, tuple(following(row, place + 1, 3)), place))
    return found


def clash(claimed: str, shown: str) -> float:
    """How far two amounts exclude one another, 0 to 1; a claim of more than was shown weighs more than one of less."""
    distance = _STRENGTH[claimed] - _STRENGTH[shown]
    if NONE in (claimed, shown) and claimed != shown:
        return 1.0
    return min(1.0, distance / 3) if distance > 0 else min(1.0, -distance / 5)


def excludes(claimed: str, shown: str) -> bool:
    """Whether what was shown rules a claimed amount out: all or none of it, or two steps and more between them."""
    if NONE in (claimed, shown):
        return claimed != shown
    distance = _STRENGTH[claimed] - _STRENGTH[shown]
    return distance >= (1 if claimed == ALL else 2) or (distance <= -2 and FEW in (claimed, shown))


def _is_superlative(row: Sequence[Token], place: int) -> bool:
    """`the most`, `at most`, `most popular of`."""
    return at(row, place - 1).low in ("the", "at", "second", "its", "his", "her", "their", "'s", "one")
