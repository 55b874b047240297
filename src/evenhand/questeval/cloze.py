"""A question made from a sentence by leaving something out of it."""

import re

from evenhand.nlp.sentences import sentences
from evenhand.questeval.key_info import KeyInfo

GAP = "____"
_MOST_WORDS = 60
_MOST_CHARACTERS = 400
_SPACE = re.compile(r"\s+")
_MARKER = re.compile(r"(?:[-*+•>#]{1,6}|\(?\d{1,3}[.)]|[①-⑳])\s+")
_LEANS = re.compile(
    r"[\"“'(]?(?:he|she|it|they|this|these|those|his|her|hers|its|their|theirs|such|both|another|"
    r"the (?:former|latter|same|two))\b",
    re.IGNORECASE,
)
_LEANS_CHINESE = re.compile(
    "[“（]?(?:他|她|它|该|其|这|那|此|两者|二者|前者|后者|上述|本次|同时|同年|同日|当时|当年|当日)"
)


def cloze(text: str, info: KeyInfo) -> str:
    """The sentence of a key information with a gap in its place, on one line.

    A sentence that leans on the one before ("It was …", "他…") brings that along. A very long sentence is cut down to
    what stands around the gap.
    """
    start, end = info.sentence
    gapped = _gapped(text, info)
    around = _one_line(_around_gap(gapped))
    return around if not leans(text[start:end]) else f"{_before(text, info)}{around}"


def leans(sentence: str) -> bool:
    """Whether a sentence opens with a word that points back."""
    opening = _MARKER.sub("", sentence.lstrip(), count=1)
    return (_LEANS.match(opening) or _LEANS_CHINESE.match(opening)) is not None


def _gapped(text: str, info: KeyInfo) -> str:
    """The sentence with the gap. Where the same words stand in it again they go too: they would give the answer."""
    start, end = info.sentence
    edge = r"(?<!\w)", r"(?!\w)"
    again = re.compile(re.escape(info.text) if not info.text.isascii() else re.escape(info.text).join(edge))
    before, after = text[start : info.start], text[info.end : end]
    return f"{again.sub(GAP, before)}{GAP}{again.sub(GAP, after)}"


def _around_gap(sentence: str) -> str:
    """A sentence of reasonable length whole; otherwise some thirty words on either side of its first gap."""
    before, _, after = sentence.partition(GAP)
    left, right = _last(before), _first(after)
    return f"{'… ' if len(left) < len(before) else ''}{left}{GAP}{right}{' …' if len(right) < len(after) else ''}"


def _last(text: str) -> str:
    cut = text[-_MOST_CHARACTERS // 2 :] if len(text) > _MOST_CHARACTERS else text
    runs = list(re.finditer(r"\S+", cut))
    return cut[runs[-_MOST_WORDS // 2].start() :] if len(runs) > _MOST_WORDS // 2 else cut


def _first(text: str) -> str:
    cut = text[: _MOST_CHARACTERS // 2] if len(text) > _MOST_CHARACTERS else text
    runs = list(re.finditer(r"\S+", cut))
    return cut[: runs[_MOST_WORDS // 2 - 1].end()] if len(runs) > _MOST_WORDS // 2 else cut


def _before(text: str, info: KeyInfo) -> str:
    """The sentence before, with a space where the script has spaces; nothing where the text begins here."""
    start = info.sentence[0]
    earlier = sentences(text[max(0, start - 2 * _MOST_CHARACTERS) : start])
    if not earlier:
        return ""
    offset = max(0, start - 2 * _MOST_CHARACTERS)
    first, last = earlier[-1]
    line = _one_line(_last(text[offset + first : offset + last]))
    return line if line[-1] in "。！？；" else f"{line} "


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", _MARKER.sub("", text.strip(), count=1)).strip()
