"""A claim held against the one clause of a passage that speaks of the same.

A passage has other numbers, dates and names beside the one that matters: "It admitted women in 1897, and a school of
medicine was added in 1912." A claim that women came in 1912 finds all its words there. What decides is what stands in
the claim's place in the clause that has the rest of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evenhand.verify.facts import Facts
from evenhand.verify.names import Name, same
from evenhand.verify.opposites import is_listed, opposites
from evenhand.verify.polarity import is_negation
from evenhand.verify.quantities import date_holds, number_holds
from evenhand.verify.scene import MOST_CLAIMED, MOST_SHOWN, Finding, Placed, Scene
from evenhand.verify.stems import stem
from evenhand.verify.tokens import at, meaning

_PARTS = frozenset(",;:()—–")
_JOINTS = frozenset(("and", "but", "while", "whereas", "although", "though"))
_TO_THE_POINT = 0.3
_SHORTEST = 2


F = TypeVar("F", bound=Placed)


@dataclass(frozen=True, slots=True)
class _Clause:
    """Tokens from first to last, and the stems among them."""

    first: int
    last: int
    stems: frozenset[str]

    def has(self, place: int) -> bool:
        return self.first <= place < self.last


@dataclass(frozen=True, slots=True)
class InClause:
    """What each kind of check found in the clause that is closest, and how close that clause is."""

    closeness: float
    numbers: Finding
    dates: Finding
    names: Finding
    words: Finding
    negation: Finding


def clauses_checked(scene: Scene) -> InClause:
    """The claim's numbers, dates, names, opposites and negation, each against the clause that has the rest of it."""
    clauses = list(_clauses(scene.shown))[:MOST_SHOWN]
    claimed, shown = scene.claimed, scene.shown
    best, closeness = _closest(scene, _stems(claimed, 0, len(claimed.row), ()), clauses)
    return InClause(
        closeness,
        _facts(scene, clauses, claimed.numbers, shown.numbers, number_holds),
        _facts(scene, clauses, claimed.dates, shown.dates, date_holds),
        _names(scene, clauses),
        _words(scene, clauses),
        _negation(scene, best, closeness),
    )


def _facts(
    scene: Scene,
    clauses: Sequence[_Clause],
    ours: Sequence[F],
    theirs: Sequence[F],
    holds: Callable[[F, F], bool | None],
) -> Finding:
    agrees = conflicts = 0.0
    for fact in ours[:MOST_CLAIMED]:
        rest = _stems(scene.claimed, 0, len(scene.claimed.row), range(fact.first, fact.last))
        told = [clause for clause in clauses if any(clause.has(other.first) for other in theirs)]
        clause, close = _closest(scene, rest, told)
        if clause is None or close < _TO_THE_POINT:
            continue
        answers = [holds(fact, other) for other in theirs if clause.has(other.first)]
        if True in answers:
            agrees = max(agrees, close)
        elif False in answers:
            conflicts = max(conflicts, close)
    return Finding(agrees, conflicts)


def _names(scene: Scene, clauses: Sequence[_Clause]) -> Finding:
    """A name in the clause that the claim does not have stands in the place of one that the clause does not have."""
    agrees = conflicts = 0.0
    ours, theirs = scene.claimed.names[:MOST_CLAIMED], scene.shown.names
    for name in ours:
        rest = _stems(scene.claimed, 0, len(scene.claimed.row), range(name.first, name.last))
        clause, close = _closest(scene, rest, clauses)
        if clause is None or close < _TO_THE_POINT:
            continue
        there = [other for other in theirs if clause.has(other.first)]
        if any(same(name.words, other.words) for other in there):
            agrees = max(agrees, close)
        elif any(not _among(other, ours) for other in there):
            conflicts = max(conflicts, close)
    return Finding(agrees, conflicts)


def _among(name: Name, names: Sequence[Name]) -> bool:
    return any(same(name.words, other.words) for other in names)


def _words(scene: Scene, clauses: Sequence[_Clause]) -> Finding:
    """Words whose opposite stands in the clause that has the rest of the claim, and they do not."""
    agrees = conflicts = 0.0
    for place, token in list(enumerate(scene.claimed.row))[: 20 * MOST_CLAIMED]:
        word = stem(token.low) if token.text[:1].isalpha() else ""
        if not word or not is_listed(word):
            continue
        rest = _stems(scene.claimed, 0, len(scene.claimed.row), (place,))
        clause, close = _closest(scene, rest, clauses)
        if clause is None or close < _TO_THE_POINT:
            continue
        there = {stem(one.low) for one in scene.shown.row[clause.first : clause.last]}
        if word in there:
            agrees = max(agrees, close)
        elif opposites(word) & there:
            conflicts = max(conflicts, close)
    return Finding(agrees, conflicts)


def _negation(scene: Scene, clause: _Clause | None, close: float) -> Finding:
    """Whether claim and clause both deny or both do not; an even number of negations denies nothing."""
    if clause is None or close < _TO_THE_POINT:
        return Finding()
    ours = sum(is_negation(scene.claimed.row, place) for place in range(len(scene.claimed.row)))
    theirs = sum(is_negation(scene.shown.row, place) for place in range(clause.first, clause.last))
    if ours % 2 == theirs % 2:
        return Finding(agrees=close if ours else 0.0)
    return Finding(conflicts=close)


def _closest(scene: Scene, wanted: frozenset[str], clauses: Sequence[_Clause]) -> tuple[_Clause | None, float]:
    """The clause that has most of the wanted stems' weight, and the share of it."""
    best, most = None, 0.0
    for clause in clauses:
        share = scene.share(wanted, clause.stems)
        if share > most:
            best, most = clause, share
    return best, most


def _clauses(facts: Facts) -> Iterator[_Clause]:
    """A passage's sentences, parted where a clause ends and the next has two telling words of its own."""
    for sentence in facts.sentences:
        first = sentence.first
        for place in range(sentence.first, sentence.last):
            if _parts(facts, place) and _tells(facts, first, place) and _tells(facts, place + 1, sentence.last):
                yield _Clause(first, place, _stems(facts, first, place, ()))
                first = place + 1
        yield _Clause(first, sentence.last, _stems(facts, first, sentence.last, ()))


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
    return len(_stems(facts, first, last, ())) >= _SHORTEST


def _stems(facts: Facts, first: int, last: int, without: Sequence[int] | range) -> frozenset[str]:
    found = (meaning(facts.row[place]) for place in range(first, last) if place not in without)
    return frozenset(word for word in found if word is not None)
