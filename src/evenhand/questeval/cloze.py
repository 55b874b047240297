"""A question made from a sentence by leaving something out of it."""

import re

from evenhand.nlp.sentences import sentences
from evenhand.questeval.key_info import KeyInfo

GAP = "____"
_WORDS, _CHARACTERS = 30, 200
"""The most on either side of a gap."""
_MARKER = re.compile(r"(?:[-*+•>#]{1,6}|\(?\d{1,3}[.)]|[①-⑳])\s+")
_REFERS_BACK = re.compile(
    r"[\"“'(（]?(?:(?:he|she|it|they|this|these|those|his|her|hers|its|their|theirs|such|both|another|"
    r"the (?:former|latter|same|two))\b|他|她|它|该|其|这|那|此|[两二前后]者|上述|本次|同[时年日]|当[时年日])",
    re.IGNORECASE,
)


def cloze(text: str, info: KeyInfo) -> str:
    """The sentence of a key information with a gap in its place, on one line.

    If the same words occur in the sentence again they are left out too: they would give the answer. A sentence that
    refers to the one before ("It was …", "他…") brings that along. A very long sentence is cut.
    """
    start, end = info.sentence
    again = re.compile(rf"(?<!\w){re.escape(info.text)}(?!\w)" if info.text.isascii() else re.escape(info.text))
    before, after = again.sub(GAP, text[start : info.start]), again.sub(GAP, text[info.end : end])
    before, _, after = f"{before}{GAP}{after}".partition(GAP)
    left, right = _end(before), _end(after[::-1])[::-1]
    question = f"{'… ' * (left != before)}{left}{GAP}{right}{' …' * (right != after)}"
    refers_back = _REFERS_BACK.match(_MARKER.sub("", text[start:end], count=1))
    return (_earlier(text, start) if refers_back else "") + _one_line(question)


def _end(text: str) -> str:
    """The last thirty words; of a text without spaces, the last characters."""
    words = list(re.finditer(r"\S+", text[-_CHARACTERS:]))
    return text[-_CHARACTERS:][words[-_WORDS].start() :] if len(words) > _WORDS else text[-_CHARACTERS:]


def _earlier(text: str, start: int) -> str:
    """The end of the sentence before, with a space if the script has spaces; nothing at the beginning of a text."""
    earlier = text[max(0, start - 4 * _CHARACTERS) : start]
    places = sentences(earlier)
    line = _one_line(_end(earlier[slice(*places[-1])])) if places else ""
    return line if not line or line[-1] in "。！？；" else f"{line} "


def _one_line(text: str) -> str:
    return " ".join(_MARKER.sub("", text.strip(), count=1).split())
