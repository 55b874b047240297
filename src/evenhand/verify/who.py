"""A claim's names held against those of the passage: who is there, who is not, and who stands in whose place."""

from collections.abc import Sequence

from evenhand.verify.facts import Facts, Sentence
from evenhand.verify.meanings import is_passive
from evenhand.verify.names import Name, same
from evenhand.verify.opposites import converses, is_verb, opposites, verb
from evenhand.verify.scene import MOST_CLAIMED, MOST_SHOWN, Finding, Scene
from evenhand.verify.stems import STOP, stem
from evenhand.verify.tokens import Token, at

_REACH = 4
_SURE = 0.45
_LEAST = 0.2
_MOST_NAMES = 8
_NOUNS_FOLLOW = frozenset(
    ("the", "a", "an", "'s", "of", "its", "his", "her", "their", "in", "on", "at", "from", "for", "to")
)


def names_checked(scene: Scene) -> Finding:
    """Each name of the claim: in the passage, another name in its place, or not in the article at all."""
    claimed = scene.claimed.names[:MOST_CLAIMED]
    if not claimed:
        return Finding()
    words = {token.low.removesuffix("'s") for token in scene.shown.row}
    agrees = conflicts = missing = 0.0
    notes: list[str] = []
    for name in claimed:
        share = _shown_share(scene, name, words)
        agrees += share
        if share >= 0.5:
            continue
        other, shown = _in_its_place(scene, name)
        conflicts = max(conflicts, other)
        if shown and name.sure and other >= _SURE:
            notes.append(f"the claim says {name.text}, the evidence {shown.text}")
        if any(scene.article.has(stem(word)) for word in name.words):
            continue
        missing += 1 if name.sure else 0.5
        if name.sure:
            notes.append(f"{name.text} is nowhere in the evidence")
    return Finding(agrees / len(claimed), conflicts, missing / len(claimed), tuple(notes[:3]))


def _shown_share(scene: Scene, name: Name, words: set[str]) -> float:
    if any(same(name.words, one.words) for one in scene.shown.names[:MOST_SHOWN]):
        return 1.0
    return sum(word in words for word in name.words) / len(name.words)


def _in_its_place(scene: Scene, name: Name) -> tuple[float, Name | None]:
    """Another name of the passage, one that the claim lacks, with the same words around it."""
    best, found = 0.0, None
    for one in scene.shown.names[:MOST_SHOWN]:
        if any(same(one.words, ours.words) for ours in scene.claimed.names[:MOST_CLAIMED]):
            continue
        near = scene.kin((name.first, name.last), (one.first, one.last), _REACH)
        if near > best:
            best, found = near, one
    return best, found


def swap_checked(scene: Scene) -> Finding:
    """Whether two names, or the two sides of a comparison, have changed places around a word both texts share."""
    agrees = conflicts = 0.0
    for part, _, _ in scene.matches:
        for sentence in scene.shown.sentences[:MOST_SHOWN]:
            share = scene.shared(part, sentence)
            if share < _LEAST:
                continue
            for verdict in (_around_verbs(scene, part, sentence), _around_than(scene, part, sentence)):
                if verdict is True:
                    agrees = max(agrees, share)
                elif verdict is False:
                    conflicts = max(conflicts, share)
    if conflicts > agrees:
        return Finding(0.0, conflicts, 0.0, ("who stands to whom is the other way round in the evidence",))
    return Finding(agrees)


def _around_verbs(scene: Scene, part: Sentence, sentence: Sentence) -> bool | None:
    """True where the names stand on the same sides of a shared verb, False where they changed them, None if unsure."""
    ours, theirs = scene.claimed, scene.shown
    names = [name for name in ours.names if part.first <= name.first < part.last][:_MOST_NAMES]
    there = [name for name in theirs.names if sentence.first <= name.first < sentence.last][:_MOST_NAMES]
    if len(names) < 2 or len(there) < 2:
        return None
    for place, pivot, turned in _pivots(ours.row, part, theirs.row, sentence):
        left, right = _sides(names, place)
        before, after = _sides(there, pivot)
        straight = _meet(left, before) and _meet(right, after)
        crossed = _meet(left, after) and _meet(right, before)
        if straight != crossed:
            flips = turned != (is_passive(ours.row, place) != is_passive(theirs.row, pivot))
            return crossed if flips else straight
    return None


def _sides(names: Sequence[Name], place: int) -> tuple[list[Name], list[Name]]:
    """The names before a place and behind it."""
    return [name for name in names if name.last <= place], [name for name in names if name.first > place]


def _meet(some: Sequence[Name], others: Sequence[Name]) -> bool:
    return any(same(one.words, two.words) for one in some for two in others)


def _pivots(
    ours: Sequence[Token], part: Sentence, theirs: Sequence[Token], best: Sentence
) -> list[tuple[int, int, bool]]:
    """Verbs that both sentences have, or one has and the other its converse (`beat`, `lost to`: turned)."""
    there: dict[str, int] = {}
    for place in range(best.first, best.last):
        if _is_pivot(theirs, place):
            there.setdefault(verb(stem(theirs[place].low)), place)
    found: list[tuple[int, int, bool]] = []
    for place in range(part.first, part.last):
        if not _is_pivot(ours, place):
            continue
        word = verb(stem(ours[place].low))
        if word in there:
            found.append((place, there[word], False))
        found.extend(
            (place, there[other], True) for other in map(verb, converses(stem(ours[place].low))) if other in there
        )
    return found


def _is_pivot(row: Sequence[Token], place: int) -> bool:
    token = row[place]
    if not token.text.islower() or not token.text.isalpha() or token.low in STOP:
        return False
    if at(row, place - 1).low == "to":
        # “To pay Calder” is a verb, “to town” is not.
        return at(row, place + 1).text[:1].isupper() or at(row, place + 1).low in ("the", "a", "an")
    if not token.low.endswith("ed") and not is_verb(stem(token.low)):
        return False
    return at(row, place - 1).low not in _NOUNS_FOLLOW and at(row, place + 1).low != "of"


def _around_than(scene: Scene, part: Sentence, best: Sentence) -> bool | None:
    """The same for `A is larger than B`, whatever A and B are."""
    ours, theirs = _compared(scene.claimed, part), _compared(scene.shown, best)
    if ours is None or theirs is None:
        return None
    left, word, right = ours
    before, other, after = theirs
    straight = len(left & before) + len(right & after)
    crossed = len(left & after) + len(right & before)
    if straight == crossed or not min(len(left), len(right), len(before), len(after)):
        return None
    if word == other:
        return straight > crossed
    return crossed > straight if other in opposites(word) else None


def _compared(facts: Facts, part: Sentence) -> tuple[set[str], str, set[str]] | None:
    """The stems before a comparison, its word (`larger`), and those behind `than`."""
    row = facts.row[part.first : part.last]
    than = next((place for place, token in enumerate(row) if token.low == "than"), 0)
    word = next((place for place in range(than - 1, max(-1, than - 5), -1) if _is_comparative(row[place].low)), None)
    if not than or word is None or (than + 1 < len(row) and row[than + 1].text[:1].isdecimal()):
        return None
    sides = (row[:word], row[than + 1 :])
    left, right = (
        {stem(token.low) for token in side if token.text[0].isalpha() and token.low not in STOP} for side in sides
    )
    shared = left & right
    return left - shared, stem(row[word].low), right - shared


def _is_comparative(low: str) -> bool:
    return low in ("more", "less", "fewer", "worse", "rather", "better") or (low.endswith("er") and len(low) > 4)
