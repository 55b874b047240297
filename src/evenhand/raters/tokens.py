"""How many tokens a text has, without the model's own tokenizer: an estimate, and a bound."""

import re

_IDEOGRAPH = re.compile(
    "[\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile("[\u0250-\u2e7f\ua000-\ua95f\ua980-\uabff\ufb00-\ufe2f\ufe50-\ufeff\U00010000-\U0001ffff]")


def estimated_tokens(text: str) -> int:
    """About how many tokens: 1 for 4 Latin characters, 1 for 2 of other alphabets, 1 for a Chinese, Japanese or Korean
    character. Tokenizers differ, by a third either way on ordinary prose and more on code or tables.
    """
    if text.isascii():
        return -(-len(text) // 4)
    ideographs = len(_IDEOGRAPH.findall(text))
    others = len(_OTHER.findall(text))
    quarters = 4 * ideographs + 2 * others + (len(text) - ideographs - others)
    return -(-quarters // 4)


def most_tokens(text: str) -> int:
    """No tokenizer that works on bytes makes more tokens of the text: each covers one byte of UTF-8 or more.

    What a chat template adds around a message is not in it.
    """
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
