"""Whether a stretch stands to the question's verb as the answer should: as what does it, or what it is done to.

Told by what lies between the two: `by`, a form of `be`, a comma that sets a name beside the noun for what it does.
"""

import re

from evenhand.questeval.likeness import likeness
from evenhand.questeval.natural import Ask
from evenhand.questeval.passages import Text, Word
from evenhand.verify.stems import stem

_ENOUGH = 0.6
_LIGHT = frozenset(stem(word) for word in ("take", "took", "make", "made", "have", "get", "go", "went"))
_SMALL = (
    r"(?:(?:has|have|had|will|would|can|could|may|also|now|first|once|then|later|today|never|to|took|takes|[a-z]+ly)\s)"
)
_TO_ACTIVE = re.compile(rf"(?:,[^,]{{1,80}},|,?\s(?:who|which|that))?\s{_SMALL}{{0,3}}\Z")
_PASSIVE = re.compile(rf"\b(?:is|are|was|were|be|been|being|gets?|got)\s{_SMALL}{{0,2}}\Z")
_TO_PASSIVE = re.compile(rf"(?:,[^,]{{1,80}},|,?\s(?:who|which|that))?\s{_SMALL}{{0,3}}(?:is|are|was|were|be|been)\s")
_BY = re.compile(r"(?:[^,;.]{0,60}\s)?by(?:\s(?:the|a|an|its|his|her|their)|\s[a-z-]+){0,4}\s\Z")
_APPOSED = re.compile(r"(?:\s(?:of|at|in|for)\s[^,;.]{1,50})?(?:,|\s(?:is|was|are|were))?\s(?:(?:the|a|an)\s)?\Z")
_WORK_OF = re.compile(r"\s(?:of|by)\s(?:(?:the|a|an|[a-z-]+)\s){0,3}\Z")
_HERS = re.compile(r"\b(?:her|his|their|its)\s(?:\w+\s){0,2}\Z", re.IGNORECASE)
_TO_OBJECT = re.compile(
    r"(?:\s(?:up|off|out|down|in|on|over|to|from|with|of|for|as|back|away|into|at|by|about|the|a|an|its|his|her|their"
    r"|some|almost|more|than|[a-z]+ly))*\s\Z"
)
_FULL, _HALF = 1.0, 0.6


def role(ask: Ask, start: int, end: int, place: int, read: Text) -> float:
    """1 where a stretch does, or undergoes, what the question's verb says, as it asks; -1 where another does."""
    verbs = ask.verbs - _LIGHT
    met = [word for word in read.sentences[place].words if any(likeness(verb, word.stem) >= _ENOUGH for verb in verbs)]
    doing = ask.of_subject or ask.sort == "person"
    found = _doing if doing else _undergoing
    if ask.sort == "count":
        end = _over_noun(ask.noun, end, place, read)
    fits = max((found(word, start, end, read.text) for word in met if not start <= word.start < end), default=0.0)
    return fits if fits or not doing else -float(bool(met))


def _over_noun(noun: str, end: int, place: int, read: Text) -> int:
    """Where what a number counts ends."""
    near = [word for word in read.sentences[place].words if end <= word.start <= end + 30]
    return next((word.end for word in near[:3] if likeness(stem(noun), word.stem) >= _ENOUGH), end)


def _passive(word: Word, text: str) -> bool:
    return _PASSIVE.search(text[max(0, word.start - 40) : word.start]) is not None


def _doing(word: Word, start: int, end: int, text: str) -> float:
    if end <= word.start:
        if _TO_ACTIVE.fullmatch(text, end, word.start):
            return _FULL
        return _HALF if _APPOSED.fullmatch(text, end, word.start) and not _passive(word, text) else 0.0
    between = text[word.end : start]
    if _BY.fullmatch(between) or _WORK_OF.fullmatch(between):
        return _FULL
    if _HERS.search(text[max(0, word.start - 30) : word.start]) and between.count(",") <= 1 and between[-2:] == ", ":
        return _FULL
    return _FULL if _APPOSED.fullmatch(between) and not text[word.start : word.end].endswith("ed") else 0.0


def _undergoing(word: Word, start: int, end: int, text: str) -> float:
    if end <= word.start:
        return _FULL if _TO_PASSIVE.match(text, end, word.start) and _passive(word, text) else 0.0
    return _FULL if _TO_OBJECT.fullmatch(text, word.end, start) else 0.0
