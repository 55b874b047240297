"""What can be said about a claim and its evidence besides the network's readings, as named numbers.

`calibration` weighs them.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import fsum, log

from evenhand.nlp.mentions import mentions
from evenhand.nlp.values import Value, agree, values
from evenhand.nlp.words import stem, stems_of, words_of
from evenhand.verify.network import Reading
from evenhand.verify.retrieval import Article

_SUREST = 1e-3  # what a reading can be trusted to tell apart
_RIVAL = 0.2  # conflict of a value that is nowhere with another one of its kind that has little else in common
_MOST_VALUES = 100  # of a claim: each is compared with all values of the article
_SAID = {True: 1.0, False: -1.5, None: 0.0}  # a sentence with another number is the surer sign
_FEW = 4  # words that carry meaning, in a short claim
_CLEAR = 0.3  # share of the claim's weight that a sentence must have for its other value to be a conflict


class ClaimComparison:
    """A claim, the readings of its views (the passage first, then single sentences), and its article."""

    def __init__(self, claim: str, passage: Sequence[int], article: Article, readings: Sequence[Reading]) -> None:
        self.claim = claim
        self.passage = passage
        self.article = article
        self.readings = readings
        self.stems = set(stems_of(claim))
        self.is_short = 1 < len(self.stems) <= _FEW

    def features(self) -> dict[str, float]:
        """What the calibration weighs, by name."""
        passage, single = self.readings[0], self.readings[1:] or self.readings
        said = self.article.says(self.claim)
        return {
            "passage_supports": _log_odds(passage.supported),
            "passage_contradicts": _log_odds(passage.contradicted),
            "sentence_supports": max(_log_odds(one.supported) for one in single),
            "sentence_contradicts": max(_log_odds(one.contradicted) for one in single),
            "overlap_with_passage": self._overlap_with_passage(),
            "numbers_conflict": self._worst_conflict(dates=False),
            "dates_conflict": self._worst_conflict(dates=True),
            "names_missing": max(self.names.values(), default=0.0),
            "names_conflict": self.replaced_name[2] if self.replaced_name else 0.0,
            "unsaid": float(said is None and self._is_unsaid()),
            "values_missing": float(any(match.missing for match in self.values)),
            "only_a_name_missing": float(self._is_only_a_name_missing()),
            "said": _SAID[said],
        }

    @cached_property
    def shares(self) -> dict[int, float]:
        """The share of the claim's weight that each sentence has."""
        return self.article.shares(self.stems)

    @cached_property
    def best(self) -> int | None:
        """The sentence that shares the most with the claim."""
        return max(self.shares, key=lambda place: (self.shares[place], -place), default=None)

    @cached_property
    def values(self) -> list["ComparedValue"]:
        """Each number and date of the claim, with what the article has in its place."""
        found = values(self.claim)[:_MOST_VALUES]
        named = {stem(word) for value in found for word in words_of(self.claim[value.start : value.end])}
        # Without the values themselves: where the rest of the claim is said decides what a value belongs to.
        rest = self.article.shares(self.stems - named) if found else {}
        return [ComparedValue(value, self, rest) for value in found]

    @cached_property
    def names(self) -> dict[str, float]:
        """Each name of the claim, with the share of its words that the article lacks."""
        found = {name: [self.article.has(word) for word in stems_of(name)] for name in _names(self.claim)}
        return {name: 1 - sum(words) / len(words) for name, words in found.items() if words}

    @cached_property
    def replaced_name(self) -> tuple[str, str, float] | None:
        """A name of the claim that the best sentence lacks, a name that it has instead, and how alike the rest is."""
        if self.best is None or not self.names:
            return None
        stems = self.article.stems[self.best]
        lacking = [name for name in self.names if stems.isdisjoint(stems_of(name))]
        instead = [name for name in _names(self.article.sentence(self.best)) if self.stems.isdisjoint(stems_of(name))]
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
            elif match.nowhere:
                yield f"“{said}” is nowhere in the evidence"
        if self.replaced_name and self.replaced_name[2] > _CLEAR:
            yield f"the claim says {self.replaced_name[0]}, the evidence {self.replaced_name[1]}"
        yield from (f"“{name}” is nowhere in the evidence" for name, missing in self.names.items() if missing == 1)

    def _overlap_with_passage(self) -> float:
        """The share of the claim's weight that the passage has."""
        shown = frozenset[str]().union(*(self.article.stems[place] for place in self.passage))
        weights = {word: self.article.weight(word) for word in self.stems}
        return fsum(weight for word, weight in weights.items() if word in shown) / (fsum(weights.values()) or 1.0)

    def _worst_conflict(self, *, dates: bool) -> float:
        """The most that speaks against any date or number of the claim: one wrong detail makes it false."""
        return max((match.conflict for match in self.values if match.value.is_date is dates), default=0.0)

    def _is_unsaid(self) -> bool:
        """Whether the article has at most one of the words of a short claim, and no other number or date instead."""
        conflict = any(match.conflict for match in self.values)
        return self.is_short and not conflict and sum(map(self.article.has, self.stems)) <= 1

    def _is_only_a_name_missing(self) -> bool:
        """Whether one sentence has every word of a short claim but a name, which is nowhere in the article."""
        missing = {word for name, share in self.names.items() if share == 1 for word in stems_of(name)}
        rest = self.stems - missing
        if not (self.is_short and missing and rest) or self.best is None:
            return False
        return rest <= self.article.stems[self.best]


class ComparedValue:
    """A value of the claim compared with those of the article.

    `agrees`: how much of the rest of the claim the best sentence with the same value has. `conflict`: how much more of
    it a sentence has that has another value of the kind instead, and `other` is that value as it is written there.
    `nowhere`: the article does not have it. `missing`: nor has the passage another value of its kind.
    """

    def __init__(self, value: Value, comparison: ClaimComparison, rest: dict[int, float]) -> None:
        self.value = value
        self.agrees, against, self.other = 0.0, 0.0, ""
        self.nowhere, rival = True, False
        for place, shown in enumerate(comparison.article.values):
            verdicts = [(agree(value, one), one) for one in shown]
            share = rest.get(place, 0.0)
            if any(verdict for verdict, _ in verdicts):
                self.nowhere = False
                self.agrees = max(self.agrees, share)
            elif share > against and (others := [one for verdict, one in verdicts if verdict is False]):
                against = share
                self.other = comparison.article.sentence(place)[others[0].start : others[0].end].strip()
            rival = rival or (place in comparison.passage and any(verdict is False for verdict, _ in verdicts))
        self.conflict = max(against - self.agrees, _RIVAL if self.nowhere and rival else 0.0)
        self.missing = self.nowhere and not rival


def _names(sentence: str) -> list[str]:
    return [sentence[one.start : one.end] for one in mentions(sentence, [(0, len(sentence))])[0] if one.kind == "name"]


def _log_odds(share: float) -> float:
    share = min(max(share, _SUREST), 1 - _SUREST)
    return log(share / (1 - share))
