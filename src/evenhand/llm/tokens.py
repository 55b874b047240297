"""How many tokens a text has, without the model's tokenizer: about, at most, and at least."""

import re
from functools import lru_cache

from evenhand.llm.base import CallError, Reply, Request

_IDEOGRAPH = re.compile(
    "[\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile("[\u0250-\u2e7f\ua000-\ua95f\ua980-\uabff\ufb00-\ufe2f\ufe50-\ufeff\U00010000-\U0001ffff]")

PROMPT_CUT = (
    "the server cut the prompt to fit its context; give the model a longer one (OLLAMA_CONTEXT_LENGTH with Ollama, "
    "--ctx-size with llama.cpp), or use shorter texts or fewer examples"
)
SMALLEST_CONTEXT = 256
"""Tokens. A server that reports fewer for a long prompt does not count what it read, or not what it had read before."""

_TOLERANCE = 0.9


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: 1 for 4 Latin characters, 1 for 2 of other alphabets, 1 for a Chinese, Japanese
    or Korean character. Tokenizers differ by a third either way on ordinary prose, and more on code or tables.
    """
    if text.isascii():
        return -(-len(text) // 4)
    ideographs = len(_IDEOGRAPH.findall(text))
    others = len(_OTHER.findall(text))
    quarters = 4 * ideographs + 2 * others + (len(text) - ideographs - others)
    return -(-quarters // 4)


def most_tokens(text: str) -> int:
    """An upper bound on the tokens of a text: a token covers one byte of UTF-8 or more."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def least_tokens(text: str) -> int:
    """A lower bound on the tokens of a text: no token covers two words, or more than four ideographs."""
    return len(text.split()) + (0 if text.isascii() else len(_IDEOGRAPH.findall(text)) // 4)


_known_least = lru_cache(maxsize=16)(least_tokens)


def check_whole(request: Request, reply: Reply) -> Reply:
    """The reply. Raises CallError if the server left out a part of the prompt, judging by the tokens that it reports.

    Some servers drop what does not fit into their context without an error, and the model rates what is left.
    """
    if reply.usage is None or reply.usage.input < SMALLEST_CONTEXT:
        return reply
    # Thousands of requests begin with the same long message, whose words are counted only once.
    least = sum((_known_least if one.role == "system" else least_tokens)(one.content) for one in request.messages)
    if reply.usage.input < _TOLERANCE * least:
        raise CallError(PROMPT_CUT, raw=reply.text)
    return reply
