"""Whole noun phrases of an English sentence: with what `of` adds to them, and with what `and` joins to them.

There is no grammar behind it: words that bind, and words that look like verbs where they stand, end a phrase.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from evenhand.questeval import words
from evenhand.questeval.roots import PAST_FORMS

_WORD = re.compile(r"[£$€¥]?\d+(?:[.,]\d+)*%?|[^\W_]+(?:['’&.-][^\W_]+)*")
_ARTICLE = r"(?:(?:the|a|an|its|his|her|their|this|these|some)\s)?"
_OF = re.compile(rf"\sof\s{_ARTICLE}")
_COMMA = re.compile(rf",\s{_ARTICLE}")
_LAST = re.compile(rf",?\s(?:and|or)\s{_ARTICLE}")
_LONGEST = 6
_POINTING = frozenset("next last this today yesterday tomorrow".split())
_OPENING = (words.OPENERS - words.NUMBER_WORDS) - frozenset("first second third last next former new old half".split())


class Phrase(NamedTuple):
    """A phrase; `head` is its last word before any `of`, in lower case."""

    start: int
    end: int
    head: str
    joined: bool = False


class _Word(NamedTuple):
    start: int
    end: int
    text: str


def phrases(text: str, start: int, end: int, is_verb: Callable[[str], bool], *, lists: bool = True) -> list[Phrase]:
    """The whole phrases of a sentence, in order, lists as one where wanted. `is_verb`: is it the question's verb?"""
    tokens = [_Word(*found.span(), found[0]) for found in _WORD.finditer(text, start, end)]
    found = _with_of(text, list(_cores(text, tokens, is_verb)))
    return _joined(text, found, tokens) if lists else found


def _cores(text: str, tokens: Sequence[_Word], is_verb: Callable[[str], bool]) -> Iterator[Phrase]:
    place = 0
    while place < len(tokens):
        run: list[_Word] = []
        while place < len(tokens) and len(run) < _LONGEST and _goes_on(text, tokens, place, run, is_verb):
            run.append(tokens[place])
            place += 1
        place += not run
        while run and run[-1].text[0].islower() and run[-1].text.endswith(("ed", "ly", "first", "second", "third")):
            run.pop()
        if run:
            last = re.sub(r"['’]s?\Z", "", run[-1].text)
            yield Phrase(run[0].start, run[-1].start + len(last), last.lower())


def _goes_on(
    text: str, tokens: Sequence[_Word], place: int, run: Sequence[_Word], is_verb: Callable[[str], bool]
) -> bool:
    token = tokens[place]
    low = token.text.lower()
    if run and text[run[-1].end : token.start] != " ":
        return False
    if token.text[0].islower() and _done(low, run) and is_verb(low):
        return False
    if run and low in _POINTING:
        return False
    if token.text[0].isdigit() or token.text[0] in "£$€¥" or low in words.NUMBER_WORDS:
        return not run or run[-1].text[0].isupper()
    capital = token.text[0].isupper() and place > 0
    if not capital and (low in words.BREAKS or low in words.LEADS or low in _OPENING or low.endswith("ly")):
        return False
    return capital or not _looks_verbal(low, run, tokens[place + 1].text if place + 1 < len(tokens) else "")


def _done(low: str, run: Sequence[_Word]) -> bool:
    """Whether the question's verb is a verb here too, by its form, or after a plural."""
    return low.endswith(("s", "ed", "ing")) or low in PAST_FORMS or (bool(run) and run[-1].text.endswith("s"))


def _looks_verbal(low: str, run: Sequence[_Word], following: str) -> bool:
    if low in PAST_FORMS:
        return True
    after = following.lower()
    bound = not after or after in words.LEADS or after in words.BREAKS or after[0].isdigit()
    if low.endswith(("ed", "ing")) and (run or low.endswith("ed")):
        return bound or (bool(run) and following[:1].isupper())
    if not run:
        return False
    before = run[-1].text
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return after in words.DETERMINERS or (before[0].isupper() and bound) or after in words.NUMBER_WORDS
    return before.endswith("s") and not before.endswith(("ss", "'s", "’s")) and after in words.DETERMINERS


def _with_of(text: str, cores: Sequence[Phrase]) -> list[Phrase]:
    merged: list[Phrase] = []
    for core in cores:
        if merged and _OF.fullmatch(text, merged[-1].end, core.start):
            merged[-1] = merged[-1]._replace(end=core.end)
        else:
            merged.append(core)
    return merged


def _joined(text: str, found: Sequence[Phrase], tokens: Sequence[_Word]) -> list[Phrase]:
    """The phrases, lists of them taken as one: `a, b and c`, `a and b`."""
    following = {one.end: other.text.lower() for one, other in pairwise(tokens)}
    whole: list[Phrase] = []
    place = 0
    while place < len(found):
        last = _list_end(text, found, place)
        alike = len({text[one.start].isupper() for one in found[place : last + 1]}) == 1
        clause = last == place + 1 and following.get(found[last].end, "") in words.AUXILIARIES
        if last == place or not alike or clause:
            last = place
        joined = last > place
        whole.append(Phrase(found[place].start, found[last].end, found[last].head, joined))
        place = last + 1
    return whole


def _list_end(text: str, found: Sequence[Phrase], place: int) -> int:
    """The last phrase of the list that begins here. A comma before `and` joins clauses, unless it ends a list."""
    last = place
    while last + 1 < len(found):
        between = text[found[last].end : found[last + 1].start]
        if _LAST.fullmatch(between):
            return last + 1 if last > place or not between.startswith(",") else place
        if not _COMMA.fullmatch(between):
            return place
        last += 1
    return place
