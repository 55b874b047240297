"""Answers that decline to answer, by the phrases that they use."""

import re
from collections.abc import Collection

from evenhand.nlp.words import is_chinese

PHRASES = (
    "cannot answer", "cannot be answered", "insufficient evidence", "no information", "not enough information",
    "unable to answer", "cannot determine", "cannot provide", "no answer", "not available",
)  # fmt: skip
"""The phrases by which the HALO-RAG project recognises an abstention."""

SOURCE = (
    r"(?:the |this |these |your |any )?(?:(?:provided|given|supplied|above|available|retrieved) )?"
    r"(?:context|passage|text|document|article|source|evidence|information|excerpt|paragraph|data)s?"
    r"(?: (?:provided|given|above|available|you (?:gave|provided)))?"
)
"""What an answer calls its evidence, as a pattern."""

_LONGEST = 200  # characters of an answer that does nothing but decline
_DECLINES = re.compile(
    r"(?:(?:unfortunately|regrettably|(?:(?:i'm|i am)\s+)?(?:sorry|afraid))(?:\s*[,.!]\s*|\s+)(?:but\s+)?)?"
    r"(?:(?:(?:i|we)\s+)?(?:(?:cannot|can't|could not|couldn't) find|(?:do not|don't) know)"
    rf"|{SOURCE} (?:does not|doesn't|do not|don't) (?:explicitly )?(?:say|mention|state|specify)"
    r"|it (?:does not|doesn't) say)\b"
    r"(?!.*\b(?:but|however|although|though|except|while|maybe|perhaps|probably|think|believe)\b)[^,:;–—]*"
)
"""One sentence in lower case that only says that the answer was not found or is not known."""

CHINESE_PHRASES = ("无法回答", "无法推断", "不能回答", "无法确定", "信息不足", "没有足够的信息", "没有相关信息")


def abstains(text: str, language: str = "en", phrases: Collection[str] = (), *, built_in: bool = True) -> bool:
    """Whether a text has a phrase that declines to answer, in any case, or is as a whole a short one that the answer
    was not found or is not known. An empty text declines nothing.

    `phrases` are further ones; without `built_in` they are the only ones. The Chinese ones count in Chinese texts.
    """
    known = [*PHRASES, *(CHINESE_PHRASES if is_chinese(text, language) else ())] if built_in else []
    lower = text.lower()
    return any(phrase.lower() in lower for phrase in (*known, *phrases)) or (built_in and _only_declines(lower))


def _only_declines(lower: str) -> bool:
    """Whether every sentence of a short text only says that the answer was not found or is not known."""
    said = " ".join(lower.replace("’", "'").split())
    sentences = [part for part in re.split(r"(?<=[.!?])\s", said) if part] if len(said) <= _LONGEST else []
    return bool(sentences) and all(_DECLINES.fullmatch(part) for part in sentences)
