"""What can be said about a claim and its evidence besides the network's readings, as named numbers.

Each feature is a function of a `Comparison`, registered under its name by `feature`. `calibration` weighs them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import log1p

from evenhand.nlp.mentions import mentions
from evenhand.nlp.values import Value, agree, values
from evenhand.nlp.words import stem, stems_of, words_of
from evenhand.verify.network import Reading
from evenhand.verify.retrieval import Article

FEATURES: dict[str, Callable[["Comparison"], float]] = {}
_RUN = 12  # words: a copied run of this length counts as 1
_MOST_WORDS = 600
_SUREST = 1e-3  # what a reading can be trusted to tell apart
_CLEAR = 0.3  # share of the claim's weight that a sentence must have for its other value to be a conflict
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hardly|unable|fail(?:s|ed)?|\w+n['’]t)\b", re.I
)


def feature(compute: Callable[["Comparison"], float]) -> Callable[["Comparison"], float]:
    """Register a feature under its function's name."""
    FEATURES[compute.__name__] = compute
    return compute


class Comparison:
    """A claim, the readings of its views (the passage first, then single sentences), and its article."""

    def __init__(self, claim: str, passage: Sequence[int], article: Article, readings: Sequence[Reading]) -> None:
        self.claim = claim
        self.passage = passage
        self.article = article
        self.readings = readings
        self.stems = set(stems_of(claim))

    def features(self) -> list[float]:
        """The value of each feature, in the order of `FEATURES`."""
        return [compute(self) for compute in FEATURES.values()]

    @cached_property
    def shares(self) -> dict[int, float]:
        """The share of the claim's weight that each sentence has."""
        return self.article.shares(self.stems)

    @cached_property
    def best(self) -> int | None:
        """The sentence that shares the most with the claim."""
        return max(self.shares, key=lambda place: (self.shares[place], -place), default=None)

    @cached_property
    def values(self) -> list["Match"]:
        """Each number and date of the claim, with what the article has in its place."""
        found = values(self.claim)
        named = {stem(word) for value in found for word in words_of(self.claim[value.start : value.end])}
        # Without the values themselves: where the rest of the claim is said decides what a value belongs to.
        rest = self.article.shares(self.stems - named) if found else {}
        return [Match(value, self, rest) for value in found]

    @cached_property
    def names(self) -> list[tuple[str, float, float]]:
        """Each name of the claim, with the share of its words that passage and article have."""
        found: list[tuple[str, float, float]] = []
        passage = frozenset[str]().union(*(self.article.stems[place] for place in self.passage))
        for name in _names(self.claim):
            if words := stems_of(name):
                inside, anywhere = sum(word in passage for word in words), sum(map(self.article.has, words))
                found.append((name, inside / len(words), anywhere / len(words)))
        return found

    @cached_property
    def replaced_name(self) -> tuple[str, str, float] | None:
        """A name of the claim that the best sentence lacks, a name that it has instead, and how alike the rest is."""
        if self.best is None or not self.names:
            return None
        sentence = self.article.sentence(self.best)
        stems = self.article.stems[self.best]
        lacking = [name for name, *_ in self.names if stems.isdisjoint(stems_of(name))]
        instead = [name for name in _names(sentence) if self.stems.isdisjoint(stems_of(name))]
        if not lacking or not instead:
            return None
        rest = self.stems - {word for name in lacking for word in stems_of(name)}
        theirs = stems - {word for name in instead for word in stems_of(name)}
        return lacking[0], instead[0], len(rest & theirs) / (len(rest | theirs) or 1)

    def notes(self) -> Iterator[str]:
        """What speaks against the claim, in words."""
        for match in self.values:
            said = self.claim[match.value.start : match.value.end].strip()
            if match.other and match.conflict > _CLEAR:
                yield f"the claim says {said}, the evidence {match.other}"
            elif match.missing:
                yield f"“{said}” is nowhere in the evidence"
        if self.replaced_name and self.replaced_name[2] > _CLEAR:
            yield f"the claim says {self.replaced_name[0]}, the evidence {self.replaced_name[1]}"
        yield from (f"“{name}” is nowhere in the evidence" for name, _, anywhere in self.names if not anywhere)

    def worst(self, against: Callable[["Match"], float], *, dates: bool) -> float:
        """The most that speaks against any date or number of the claim: one wrong detail makes it false."""
        return max((against(match) for match in self.values if match.value.is_date is dates), default=0.0)


class Match:
    """A value of the claim held against those of the article.

    `agrees`: how much of the rest of the claim the best sentence with the same value has. `conflict`: how much more of
    it a sentence has that has another value of the kind instead. `other` is that value as it is written there.
    """

    def __init__(self, value: Value, comparison: Comparison, rest: dict[int, float]) -> None:
        self.value = value
        self.agrees, against, self.other = 0.0, 0.0, ""
        self.missing = True
        for place, shown in enumerate(comparison.article.values):
            verdicts = [(agree(value, one), one) for one in shown]
            share = rest.get(place, 0.0)
            if any(verdict for verdict, _ in verdicts):
                self.missing = False
                self.agrees = max(self.agrees, share)
            elif share > against and (others := [one for verdict, one in verdicts if verdict is False]):
                against = share
                self.other = comparison.article.sentence(place)[others[0].start : others[0].end].strip()
        self.conflict = max(0.0, against - self.agrees)


def _names(sentence: str) -> list[str]:
    return [sentence[one.start : one.end] for one in mentions(sentence, [(0, len(sentence))])[0] if one.kind == "name"]


def _log_odds(share: float) -> float:
    share = min(max(share, _SUREST), 1 - _SUREST)
    return log1p(share / (1 - share) - 1)


@feature
def passage_supports(about: Comparison) -> float:
    return _log_odds(about.readings[0].supported)


@feature
def passage_contradicts(about: Comparison) -> float:
    return _log_odds(about.readings[0].contradicted)


@feature
def sentence_supports(about: Comparison) -> float:
    return max(_log_odds(one.supported) for one in about.readings[1:] or about.readings)


@feature
def sentence_contradicts(about: Comparison) -> float:
    return max(_log_odds(one.contradicted) for one in about.readings[1:] or about.readings)


@feature
def overlap_with_best_sentence(about: Comparison) -> float:
    return about.shares[about.best] if about.best is not None else 0.0


@feature
def overlap_with_passage(about: Comparison) -> float:
    shown = frozenset[str]().union(*(about.article.stems[place] for place in about.passage))
    weights = {word: about.article.weight(word) for word in about.stems}
    return sum(weight for word, weight in weights.items() if word in shown) / (sum(weights.values()) or 1.0)


@feature
def words_nowhere(about: Comparison) -> float:
    """How many of the claim's words the article lacks; five and more count as 1."""
    return min(1.0, sum(not about.article.has(word) for word in about.stems) / 5)


@feature
def copied_run(about: Comparison) -> float:
    """The longest run of words that the passage has too; twelve, or the whole claim, count as 1."""
    ours = [stem(word) for word in words_of(about.claim)][:_MOST_WORDS]
    theirs = [stem(word) for word in words_of(about.article.joined(about.passage))][:_MOST_WORDS]
    places: dict[str, list[int]] = {}
    for place, word in enumerate(theirs):
        places.setdefault(word, []).append(place)
    longest, ending = 0, dict[int, int]()
    for word in ours:
        ending = {place: ending.get(place - 1, 0) + 1 for place in places.get(word, ())}
        longest = max(longest, *ending.values(), 0)
    return min(1.0, longest / min(_RUN, len(ours))) if ours else 0.0


@feature
def evidence_length(about: Comparison) -> float:
    """A thousand words are 1."""
    return log1p(about.article.words) / log1p(1000)


@feature
def claim_length(about: Comparison) -> float:
    """Thirty words are 1."""
    return log1p(len(about.claim.split())) / log1p(30)


@feature
def numbers_agree(about: Comparison) -> float:
    """How well the least certain number of the claim is borne out."""
    return min((match.agrees for match in about.values if not match.value.is_date), default=0.0)


@feature
def numbers_conflict(about: Comparison) -> float:
    return about.worst(lambda match: match.conflict, dates=False)


@feature
def numbers_missing(about: Comparison) -> float:
    return about.worst(lambda match: float(match.missing), dates=False)


@feature
def dates_conflict(about: Comparison) -> float:
    return about.worst(lambda match: match.conflict, dates=True)


@feature
def dates_missing(about: Comparison) -> float:
    return about.worst(lambda match: float(match.missing), dates=True)


@feature
def names_agree(about: Comparison) -> float:
    return sum(inside for _, inside, _ in about.names) / len(about.names) if about.names else 0.0


@feature
def names_missing(about: Comparison) -> float:
    return max((1 - anywhere for *_, anywhere in about.names), default=0.0)


@feature
def names_conflict(about: Comparison) -> float:
    return about.replaced_name[2] if about.replaced_name else 0.0


@feature
def negation_differs(about: Comparison) -> float:
    """Whether only one of claim and best sentence is negated, as far as the two say the same."""
    if about.best is None:
        return 0.0
    ours, theirs = _NEGATION.findall(about.claim), _NEGATION.findall(about.article.sentence(about.best))
    return about.shares[about.best] * (len(ours) % 2 != len(theirs) % 2)
