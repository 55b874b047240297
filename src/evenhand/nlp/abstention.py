"""Answers that decline to answer, by the phrases that they use."""

from collections.abc import Collection

from evenhand.nlp.words import is_chinese

PHRASES = (
    "cannot answer", "cannot be answered", "insufficient evidence", "no information", "not enough information",
    "unable to answer", "cannot determine", "cannot provide", "no answer", "not available",
)  # fmt: skip
"""The phrases by which the HALO-RAG project recognises an abstention."""

CHINESE_PHRASES = ("无法回答", "无法推断", "不能回答", "无法确定", "信息不足", "没有足够的信息", "没有相关信息")


def abstains(text: str, language: str = "en", phrases: Collection[str] = (), *, built_in: bool = True) -> bool:
    """Whether a text has a phrase that declines to answer, in any case. An empty text has none.

    `phrases` are further ones; without `built_in` they are the only ones. The Chinese ones count in Chinese texts.
    """
    known = [*PHRASES, *(CHINESE_PHRASES if is_chinese(text, language) else ())] if built_in else []
    lower = text.lower()
    return any(phrase.lower() in lower for phrase in (*known, *phrases))
