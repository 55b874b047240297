"""How far a claim's words are those of the passage: shares, copied runs, order, and words put in others' places."""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import log1p

from evenhand.verify.scene import Scene
from evenhand.verify.stems import STOP, stem, words_of
from evenhand.verify.tokens import meaning

_MOST_WORDS = 600
_MOST_ORDERED = 30
_RUN = 12
_LOG_LONG = 7.0


def shares(scene: Scene) -> tuple[float, float, float]:
    """The claim's stems, by weight, in the passage, in its best sentence, and in the whole article."""
    stems = scene.claim_stems
    parts = [(len(part.stems), share) for part, _, share in scene.matches]
    words = sum(length for length, _ in parts)
    best = sum(length * share for length, share in parts) / words if words else 0.0
    everywhere = {word for word in stems if scene.article.has(word)}
    return scene.share(stems, scene.window_stems), best, scene.share(stems, everywhere)


def length(scene: Scene) -> float:
    """How much evidence there is: words in common tell the less, the more of it there is. A thousand words are 1."""
    return min(1.0, log1p(scene.article.words) / _LOG_LONG)


def plain(scene: Scene) -> tuple[float, float]:
    """The share of the claim's stems that are no names and stand in the passage, and how many do not: three are 1.

    Names are often all there, whatever is said of them.
    """
    row = scene.claimed.row
    named = scene.claimed.named
    words = {meaning(token) for place, token in enumerate(row) if place not in named} - {None}
    missing = sum(word not in scene.window_stems for word in words)
    return 1 - missing / len(words) if words else 1.0, min(1.0, missing / 3)


def copied(scene: Scene) -> tuple[float, float]:
    """The longest run of the claim's words that the passage has too (12 words or the whole claim is 1), and the share
    of its word pairs that it has."""
    claim = [stem(word) for word in words_of(scene.claim)][:_MOST_WORDS]
    window = [stem(word) for word in words_of(scene.window)][:_MOST_WORDS]
    if len(claim) < 2:
        return float(bool(claim) and claim[0] in window), float(bool(claim) and claim[0] in window)
    pairs, shown = set(pairwise(claim)), set(pairwise(window))
    return min(1.0, _longest_run(claim, window) / min(_RUN, len(claim))), len(pairs & shown) / len(pairs)


def _longest_run(one: Sequence[str], two: Sequence[str]) -> int:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(two):
        places.setdefault(word, []).append(place)
    longest, ending = 0, dict[int, int]()
    for word in one:
        ending = {place: ending.get(place - 1, 0) + 1 for place in places.get(word, ())}
        longest = max(longest, *ending.values(), 0)
    return longest


def disorder(scene: Scene) -> float:
    """The share of the words' pairs that stand the other way round in the best sentence."""
    turned = counted = 0
    for part, best, _ in scene.matches:
        if best is None:
            continue
        where = {word: place for place, word in reversed(list(enumerate(best.stems)))}
        places = [where[word] for word in dict.fromkeys(part.stems) if word in where][:_MOST_ORDERED]
        turned += sum(one > two for one, two in combinations(places, 2))
        counted += len(places) * (len(places) - 1) // 2
    return turned / counted if counted else 0.0


def replaced(scene: Scene) -> tuple[float, float]:
    """Words of the claim that the passage lacks: in the place of other words, and put between its words.

    A word is in another's place where the words on both its sides stand in one sentence of the passage with something
    else between them, and put between where they stand side by side there. Three and more count as three.
    """
    instead = between = 0.0
    for part in scene.claimed.sentences:
        for left, words, right in _gaps(part.stems, scene.window_stems):
            distance = _distance(scene, left, right)
            if distance == 1:
                between += 1
            elif 2 <= distance <= 1 + len(words) + 1:
                instead += 1 if left and right else 0.5
    return min(1.0, instead / 3), min(1.0, between / 3)


def _gaps(stems: Sequence[str], shown: frozenset[str]) -> list[tuple[str, list[str], str]]:
    """Runs of words that the passage lacks, with the words on both sides (empty at the sentence's ends)."""
    gaps: list[tuple[str, list[str], str]] = []
    left, run = "", list[str]()
    for word in stems:
        if word not in shown:
            run.append(word)
            continue
        if run:
            gaps.append((left, run, word))
        left, run = word, []
    if run:
        gaps.append((left, run, ""))
    return [gap for gap in gaps if len(gap[1]) <= 3 and (gap[0] or gap[2])]


def _distance(scene: Scene, left: str, right: str) -> int:
    """How far apart two words stand in a sentence of the passage, at the nearest; 0 where they do not meet.

    At a claim's end, where one of the two is missing, a word of the passage that the claim lacks counts as 2.
    """
    nearest = 0
    for sentence in scene.shown.sentences:
        for place, word in enumerate(sentence.stems):
            if left and word == left:
                after = sentence.stems[place + 1 : place + 6]
                if not right:
                    nearest = nearest or (2 if after and after[0] not in scene.claim_stems else 0)
                elif right in after:
                    nearest = min(nearest or 9, after.index(right) + 1)
            elif not left and word == right and place and sentence.stems[place - 1] not in scene.claim_stems:
                nearest = nearest or 2
    return nearest


def novel(scene: Scene) -> float:
    """How many of the claim's telling words the article lacks altogether, five and more as 1."""
    missing = sum(not scene.article.has(word) for word in scene.claim_stems if word not in STOP and len(word) > 2)
    return min(1.0, missing / 5)
