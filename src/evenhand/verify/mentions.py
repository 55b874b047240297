"""What in a claim may stand in another's place: numbers, dates, names, amounts, words with an opposite, denied words.

For each of them, where the evidence has the same, and where it has another one of its kind. Which of the two belongs to
what the claim says is decided elsewhere, by nearness and by clauses.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from evenhand.verify.facts import Facts
from evenhand.verify.names import Name, same
from evenhand.verify.opposites import is_listed, opposites
from evenhand.verify.polarity import Quantifier, denied, excludes
from evenhand.verify.quantities import date_holds, number_holds
from evenhand.verify.scene import MOST_CLAIMED, MOST_SHOWN, Placed, Scene
from evenhand.verify.stems import stem

KINDS = ("numbers", "dates", "names", "words", "amounts", "denials")
_MOST_FACTS = 40
_SHORT = 4


class Spot(NamedTuple):
    """Tokens from first to last, and whether what stands there is what the claim says."""

    first: int
    last: int
    same: bool


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens of the claim from first to last, and the spots of the evidence that it is held against."""

    first: int
    last: int
    spots: tuple[Spot, ...]

    @property
    def is_open(self) -> bool:
        """Whether the evidence has both: what the claim says, and another."""
        return any(spot.same for spot in self.spots) and not all(spot.same for spot in self.spots)


class _Words(NamedTuple):
    """Where each stem of a text stands, names left out, and the places of the words that are denied."""

    stems: dict[str, list[int]]
    denied: frozenset[int]


F = TypeVar("F", bound=Placed)


def mentions(scene: Scene) -> dict[str, tuple[Mention, ...]]:
    """The mentions of each kind."""
    claimed, shown = scene.claimed, scene.shown
    ours, theirs = _worded(claimed), _worded(shown)
    return {
        "numbers": _facts(claimed.numbers, shown.numbers, number_holds),
        "dates": _facts(claimed.dates, shown.dates, date_holds),
        "names": _names(claimed.names, shown.names),
        "words": tuple(_words(ours, theirs)),
        "amounts": _amounts(claimed.quantifiers, shown.quantifiers),
        "denials": tuple(_denials(ours, theirs)),
    }


def _facts(ours: Sequence[F], theirs: Sequence[F], holds: Callable[[F, F], bool | None]) -> tuple[Mention, ...]:
    return tuple(
        _mention(fact.first, fact.last, ((one, holds(fact, one)) for one in theirs[:_MOST_FACTS]))
        for fact in ours[:MOST_CLAIMED]
    )


def _names(ours: Sequence[Name], theirs: Sequence[Name]) -> tuple[Mention, ...]:
    """A name that the claim has too stands in nobody's place."""
    ours = ours[:MOST_CLAIMED]
    rivals = {one.first for one in theirs[:_MOST_FACTS] if not any(same(one.words, name.words) for name in ours)}
    return _facts(
        ours,
        theirs,
        lambda name, one: True if same(name.words, one.words) else (False if one.first in rivals else None),
    )


def _amounts(ours: Sequence[Quantifier], theirs: Sequence[Quantifier]) -> tuple[Mention, ...]:
    return tuple(
        Mention(
            one.place,
            one.place + 1,
            tuple(
                Spot(other.place, other.place + 1, one.amount == other.amount)
                for other in theirs[:_MOST_FACTS]
                if one.amount == other.amount or excludes(one.amount, other.amount)
            ),
        )
        for one in ours[:MOST_CLAIMED]
    )


def _words(ours: _Words, theirs: _Words) -> Iterator[Mention]:
    """Words of which the evidence has an opposite. An opposite that is denied is the word itself, and the reverse."""
    for word, places in ours.stems.items():
        known = is_listed(word) or len(word) > _SHORT
        others = [other for other in opposites(word) if other in theirs.stems] if known else []
        if not others:
            continue
        for place in places:
            turned = place in ours.denied
            kept = [Spot(at, at + 1, (at in theirs.denied) == turned) for at in theirs.stems.get(word, ())]
            there = [at for other in others for at in theirs.stems[other]]
            yield Mention(
                place, place + 1, (*kept, *(Spot(at, at + 1, (at in theirs.denied) != turned) for at in there))
            )


def _denials(ours: _Words, theirs: _Words) -> Iterator[Mention]:
    """Words that one of the two texts denies."""
    for word, places in ours.stems.items():
        there = theirs.stems.get(word, ())
        for place in places:
            turned = place in ours.denied
            if there and (turned or any(at in theirs.denied for at in there)):
                yield Mention(
                    place, place + 1, tuple(Spot(at, at + 1, (at in theirs.denied) == turned) for at in there)
                )


def _worded(facts: Facts) -> _Words:
    named = facts.named
    places: dict[str, list[int]] = {}
    for place, token in enumerate(facts.row[: 20 * MOST_SHOWN]):
        if token.text[0].isalpha() and place not in named:
            places.setdefault(stem(token.low), []).append(place)
    return _Words(places, denied(facts.row))


def _mention(first: int, last: int, held: Iterable[tuple[Placed, bool | None]]) -> Mention:
    return Mention(first, last, tuple(Spot(one.first, one.last, same) for one, same in held if same is not None))
