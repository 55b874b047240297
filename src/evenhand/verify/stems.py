"""English words as they are compared: lower case, without the endings that inflection adds."""

import re
from functools import lru_cache

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[^\W_]+")
_REMEMBERED = 100_000

STOP = frozenset(
    """a an and are as at be been being but by can could did do does for from had has have he her hers him his how i if
    in into is it its itself may me might more most my no nor not of on one or our ours out over own shall she should
    so some such than that the their theirs them then there these they this those to too under up us very was we were
    what when where which while who whom whose why will with would you your yours also about after all any because
    before between both during each few further here just only other same through until again against
    never cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't couldn't wouldn't
    shouldn't""".split()
)


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in order, lower case."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def stems_of(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in words_of(text) if word not in STOP]


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """A word without its inflection: rough, and the same for both texts that are compared."""
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) <= 3 or not word.isalpha():
        return word.replace(",", "") if word[:1].isdigit() else word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        body = word.removesuffix(ending)
        if body != word and len(body) > 2 and any(letter in "aeiouy" for letter in body):
            return _whole(body)
    if word.endswith("es") and len(word) > 4 and word[-3] in "sxzh":
        return word[:-2]
    if word.endswith("s") and word[-2] not in "su":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _whole(body: str) -> str:
    """`planned` and `planning` lose the letter they doubled; `filed` and `filing` meet `file` without its e."""
    if len(body) > 3 and body[-1] == body[-2] and body[-1] not in "lsz":
        return body[:-1]
    if body.endswith("y") or not body.endswith("i"):
        return body
    return body[:-1] + "y"
