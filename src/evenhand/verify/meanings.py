"""A claim's negations, opposites, amounts and hedges held against those of the passage."""

from collections.abc import Sequence

from evenhand.verify.facts import Facts, Sentence
from evenhand.verify.opposites import is_listed, opposites
from evenhand.verify.polarity import clash, denied
from evenhand.verify.scene import MOST_CLAIMED, MOST_SHOWN, Finding, Scene, worded
from evenhand.verify.stems import stem
from evenhand.verify.tokens import Token, at, meaning

_REACH = 5
_SURE = 0.4
_NEARLY = 0.7
_DENIED = 0.4
_MOVES = frozenset(("go", "goes", "went", "gone", "is", "are", "was", "were", "been", "moved", "came", ","))
_DENIES = "the claim has a negation that the nearest sentence of the evidence lacks"
_STATES = "the evidence has a negation that the claim lacks"


def negations_checked(scene: Scene) -> Finding:
    """Whether the claim denies what a sentence of the passage states of the same words, or the reverse.

    `missing` is the share of the claim's sentences that deny something.
    """
    agrees = differs = denying = 0.0
    notes: list[str] = []
    for part, best, share in scene.matches:
        if best is None:
            continue
        others = _denying(scene, part)
        denied = max((scene.shared(part, one) for one in others), default=0.0)
        if part.negations % 2:
            denying += 1
            agrees = max(agrees, denied)
            # Words that both have, and that only the claim denies, weigh more than a denial of something else.
            against = 0.0 if others or best.negations % 2 else share * (1.0 if part.negated & set(best.stems) else 0.6)
        else:
            against = denied if _is_to_the_point(part, best, others, denied >= _NEARLY * share) else 0.0
        differs = max(differs, against)
        if against >= _SURE:
            notes.append(_DENIES if part.negations % 2 else _STATES)
    return Finding(agrees, differs, denying / max(1, len(scene.matches)), tuple(notes[:1]))


def _is_to_the_point(part: Sentence, best: Sentence, denying: Sequence[Sentence], strong: bool) -> bool:
    """Whether a denial elsewhere in the passage is of this claim: its sentence says nearly as much of the claim as the
    best one, or denies words of the claim that the best one lacks."""
    return strong or any(one.negated & set(part.stems) - set(best.stems) for one in denying)


def _denying(scene: Scene, part: Sentence) -> list[Sentence]:
    """The sentences of the passage that deny something which the claim's sentence names."""
    stems = set(part.stems)
    return [one for one in scene.shown.sentences[:MOST_SHOWN] if one.negations % 2 and one.negated & stems]


def polarity_checked(scene: Scene) -> Finding:
    """Word by word: what the claim denies and the passage states, and the reverse; names are neither.

    A word that the passage states in one sentence and denies in another decides nothing.
    """
    named = {meaning(scene.claimed.row[place]) for place in scene.claimed.named}
    stated, against = _sides(scene.shown)
    ours, denying = (side - named for side in _sides(scene.claimed))
    met = denying & (stated | against)
    turned = (ours - denying) & (against - stated)
    states = max((_where_denied(scene, word) for word in turned), default=0.0)
    return Finding(scene.share(met, against - stated), max(scene.share(met, stated - against), states))


def _where_denied(scene: Scene, word: str) -> float:
    """How much of the rest of the claim is said where the passage denies a word of it."""
    rest = scene.claim_stems - {word}
    there = (set(one.stems) for one in scene.shown.sentences[:MOST_SHOWN] if word in one.stems)
    return _DENIED + (1 - _DENIED) * max((scene.share(rest, stems) for stems in there), default=0.0)


def _sides(facts: Facts) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a text states and those that it denies."""
    places = denied(facts.row)
    words = worded(facts.row)
    return (
        frozenset(word for place, word in words if place not in places),
        frozenset(word for place, word in words if place in places),
    )


def opposites_checked(scene: Scene) -> Finding:
    """Words of the claim that the passage lacks while their opposite stands there in the same surroundings."""
    shown = _places(scene.shown)
    ours = _places(scene.claimed)
    ours_denied = frozenset[str]().union(*(part.negated for part in scene.claimed.sentences))
    denied_there = frozenset[str]().union(*(part.negated for part in scene.shown.sentences))
    agrees = conflicts = 0.0
    notes: list[str] = []
    for word, places in list(ours.items())[: 20 * MOST_CLAIMED]:
        if word in shown or not (is_listed(word) or len(word) > 4):
            continue
        for other in opposites(word):
            if other in ours or other not in shown:
                continue
            near = _nearest(scene, places[0], shown[other])
            allied = max(
                (_nearest(scene, places[0], shown[one]) for one in opposites(other) if one in shown), default=0.0
            )
            if (word in ours_denied) != (other in denied_there):
                agrees = max(agrees, near)
            elif near > max(conflicts, allied):
                conflicts = near
                said, read = scene.claimed.row[places[0]].text, scene.shown.row[shown[other][0]].text
                notes.append(f"the claim says “{said}”, the evidence “{read}”")
    return Finding(agrees, conflicts, 0.0, tuple(notes[-1:]) if conflicts >= _SURE else ())


def _places(facts: Facts) -> dict[str, list[int]]:
    """Where each stem stands, names left out; `up` and `down` only where they say how something moves."""
    named = facts.named
    places: dict[str, list[int]] = {}
    for place, token in enumerate(facts.row):
        if not token.text[0].isalpha() or place in named:
            continue
        if token.low in ("up", "down") and at(facts.row, place - 1).low not in _MOVES:
            continue
        places.setdefault(stem(token.low), []).append(place)
    return places


def _nearest(scene: Scene, place: int, others: Sequence[int]) -> float:
    """How alike the surroundings of a claim's word are to those of another word, at its best place."""
    ours = (place, place + 1)
    return max(0.2 + 0.8 * scene.kin(ours, (other, other + 1), _REACH) for other in others[:MOST_SHOWN])


def amounts_checked(scene: Scene) -> Finding:
    """`all` against `some`, `most` against `few`, `none` against any, said of the same thing."""
    agrees = conflicts = 0.0
    notes: list[str] = []
    for ours in scene.claimed.quantifiers[:MOST_CLAIMED]:
        for theirs in scene.shown.quantifiers[:MOST_SHOWN]:
            alike = scene.share(ours.of, set(theirs.of))
            alike = max(alike, 0.5 * scene.kin((ours.place, ours.place + 1), (theirs.place, theirs.place + 1), _REACH))
            if ours.amount == theirs.amount:
                agrees = max(agrees, alike)
            elif alike * clash(ours.amount, theirs.amount) > conflicts:
                conflicts = alike * clash(ours.amount, theirs.amount)
                notes.append(f"the claim says “{ours.word}”, the evidence “{theirs.word}”")
    if agrees >= conflicts:
        conflicts = 0.0
    return Finding(agrees, conflicts, 0.0, tuple(notes[-1:]) if conflicts >= _SURE else ())


def hedges_checked(scene: Scene) -> Finding:
    """Whether the claim is surer than its best sentence: a hedge left out, or certainty added."""
    surer = 0.0
    for part, best, share in scene.matches:
        if best is not None and ((best.hedges and not part.hedges) or part.certainties > best.certainties):
            surer = max(surer, share)
    return Finding(0.0, surer, 0.0, ("the claim is surer than the evidence",) if surer >= 0.7 else ())


def is_passive(row: Sequence[Token], place: int) -> bool:
    """Whether the verb here has its doer behind it: `was bought by`, `developed, produced and written by`."""
    for step, token in enumerate(row[place + 1 : place + 9], start=place + 2):
        if token.low == "by":
            return not at(row, step).text[:1].isdecimal()
        if token.text[0].isupper() or token.text[0].isdecimal() or token.text == ".":
            return False
    return False
