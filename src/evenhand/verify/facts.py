"""What a text says that can be held against another text: its numbers, dates, names, negations and amounts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from evenhand.nlp.sentences import sentences
from evenhand.verify.dates import Date, dates
from evenhand.verify.names import Name, alone, names, plain
from evenhand.verify.numbers import Number, numbers
from evenhand.verify.polarity import Quantifier, certainties, hedges, negated, quantifiers
from evenhand.verify.tokens import Token, meaning, tokens

_REMEMBERED = 512


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its tokens' range, its telling stems in order, and what turns or weakens it."""

    first: int
    last: int
    stems: tuple[str, ...]
    negations: int
    negated: frozenset[str]
    hedges: int
    certainties: int


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one text. Places are characters of the text, or numbers of its tokens."""

    row: tuple[Token, ...]
    sentences: tuple[Sentence, ...]
    numbers: tuple[Number, ...]
    dates: tuple[Date, ...]
    names: tuple[Name, ...]
    quantifiers: tuple[Quantifier, ...]

    @property
    def named(self) -> frozenset[int]:
        """The tokens that belong to a name."""
        return frozenset(place for name in self.names for place in range(name.first, name.last))


@lru_cache(maxsize=_REMEMBERED)
def facts_of(text: str) -> Facts:
    """The facts of a claim or of a passage, remembered for the next claim that is held against the same passage."""
    row = tokens(text)
    ranges = _sentence_ranges(text, row)
    found = dates(row)
    taken = [(date.first, date.last) for date in found]
    counts = numbers(row, taken)
    counted = [(number.first, number.last) for number in counts]
    opening = [place for first, last in ranges for place in _opening(row, first, last)]
    return Facts(
        tuple(row),
        tuple(_sentence(row, first, last) for first, last in ranges),
        tuple(counts),
        tuple(found),
        tuple(names(row, opening, [*taken, *counted])),
        tuple(quantifiers(row)),
    )


def knowing(facts: Facts, others: Iterable[Name]) -> Facts:
    """The facts with the names that another text knows: "Rovers" opens a sentence here and is a name there."""
    known = {name.words[0] for name in others if len(name.words) == 1 and name.sure}
    named = facts.named
    new = [
        alone(facts.row, sentence.first)
        for sentence in facts.sentences
        if sentence.first not in named and plain(facts.row[sentence.first]) in known
    ]
    if not new:
        return facts
    return replace(facts, names=tuple(sorted((*facts.names, *new), key=lambda name: name.first)))


@lru_cache(maxsize=4)
def counts_of(text: str) -> tuple[tuple[Number, ...], tuple[Date, ...]]:
    """The different numbers and dates of a whole article: a claim's are missing where they are not among them."""
    row = tokens(text)
    found = dates(row)
    counts = numbers(row, ((date.first, date.last) for date in found))
    # One of each: a long article says the same number many times.
    told = {(one.value, one.high, one.unit, one.also, one.figures, one.bound): one for one in counts}
    dated = {(one.years, one.month, one.day, one.weekday, one.placed): one for one in found}
    return tuple(told.values()), tuple(dated.values())


def _sentence_ranges(text: str, row: list[Token]) -> list[tuple[int, int]]:
    """The sentences of a text as ranges of its tokens."""
    ranges: list[tuple[int, int]] = []
    place = 0
    for _, end in sentences(text, "en"):
        first = place
        while place < len(row) and row[place].start < end:
            place += 1
        if place > first:
            ranges.append((first, place))
    return ranges


def _opening(row: list[Token], first: int, last: int) -> list[int]:
    """The first word of a sentence, and words behind a quotation mark or colon, which may be capitalised for that."""
    after = [place + 1 for place in range(first, last - 1) if row[place].text in '"“:‘']
    return [next((place for place in range(first, last) if row[place].text[0].isalnum()), first), *after]


def _sentence(row: list[Token], first: int, last: int) -> Sentence:
    part = row[first:last]
    count, stems = negated(part)
    words = tuple(word for word in map(meaning, part) if word is not None)
    return Sentence(first, last, words, count, stems, hedges(part), certainties(part))
