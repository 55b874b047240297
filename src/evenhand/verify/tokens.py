"""A text as tokens with their places: words, numbers as written, and single signs."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from evenhand.verify.stems import STOP, stem

# Each part ends where the next begins with another sort of character, so that matching is linear.
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]|\w")
_ENDS = frozenset('.!?;:()[]"“”')


class Token(NamedTuple):
    text: str
    low: str
    start: int
    end: int


NOTHING = Token("", "", -1, -1)


def tokens(text: str) -> list[Token]:
    """The tokens of a text, in order. `low` is lower case with plain apostrophes."""
    return [
        Token(found.group(), found.group().lower().replace("’", "'"), found.start(), found.end())
        for found in _TOKEN.finditer(text)
    ]


def at(row: Sequence[Token], place: int) -> Token:
    """The token at a place; an empty one beyond the ends."""
    return row[place] if 0 <= place < len(row) else NOTHING


def glued(row: Sequence[Token], place: int) -> bool:
    """Whether a token follows the one before it without a space."""
    return 0 < place < len(row) and row[place - 1].end == row[place].start


def meaning(token: Token) -> str | None:
    """The stem of a word that carries meaning; None for the others, for signs and for numbers."""
    if not token.text[:1].isalpha() or token.low in STOP:
        return None
    return stem(token.low)


def neighbours(row: Sequence[Token], first: int, last: int, reach: int) -> frozenset[str]:
    """The stems within so many words of the tokens from first to last, as far as the sentence goes."""
    return frozenset(_walk(row, range(first - 1, -1, -1), reach) + _walk(row, range(last, len(row)), reach))


def following(row: Sequence[Token], place: int, most: int) -> list[str]:
    """The first stems from a place on, as far as the phrase goes."""
    return _walk(row, range(place, min(len(row), place + most + 3)), most)


def _walk(row: Sequence[Token], places: range, reach: int) -> list[str]:
    found: list[str] = []
    for place in places:
        if _breaks(row, place) or len(found) >= reach:
            break
        word = meaning(row[place])
        if word is not None:
            found.append(word)
    return found


def _breaks(row: Sequence[Token], place: int) -> bool:
    """Whether a sentence or an aside ends here. A point after an initial or inside an abbreviation does not."""
    if row[place].text not in _ENDS:
        return False
    return row[place].text != "." or (len(at(row, place - 1).text) > 1 and not at(row, place + 1).text[:1].islower())
