"""Words for messages: counts, lists, near misses, and texts with their passwords masked."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

NAMES = 20
"""Names in a list before the rest is only counted."""

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
"""Controls, bidirectional overrides, lone surrogates: what hides in a text, reorders it or breaks a file."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`, `1,000 rows`; `plural` is for nouns that do not take an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def some_of(names: Sequence[object], most: int = NAMES) -> str:
    """Names with commas between them; a very long list is cut, with the number of the rest, and so is a long name."""
    more = f" … and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shortened(str(name), 100) for name in names[:most]) + more


def listed(names: Sequence[object], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    words = [str(name) for name in names]
    return f" {last} ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def kind_of(value: object) -> str:
    """What kind of value this is, in the words of JSON."""
    named = {"str": "a text", "list": "a list", "dict": "an object", "bool": "a truth value", "NoneType": "null"}
    name = type(value).__name__
    return named.get(name, {"int": "a number", "float": "a number", "bytes": "binary data"}.get(name, name))


def quoted(value: object) -> str:
    """A value as messages quote it."""
    return repr(shortened(str(value), 60))


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}…"


def masked(text: str) -> str:
    """A text without the passwords of the URLs in it."""
    return re.sub(r"(password=)[^&\s]*", r"\1***", re.sub(r"\S+", _masked_word, text))


def _masked_word(word: re.Match[str]) -> str:
    """A word in which the password of a URL, up to the last @, is masked; one slash is what a path makes of two."""
    before, at, rest = word[0].rpartition("@")
    return re.sub(r"(:/{1,2}[^:@/]*):.*", r"\1:***", before, count=1, flags=re.DOTALL) + at + rest


def did_you_mean(word: str, valid: Iterable[str]) -> str:
    """A hint at the valid word most like this one, such as ` (did you mean 'accuracy'?)`; empty if none is similar."""
    known = [name for name in islice(valid, 200) if len(name) < 100]
    close = difflib.get_close_matches(word, known, n=1) if len(word) < 100 else []
    return f" (did you mean {close[0]!r}?)" if close else ""


def unknown(what: str, name: object, valid: Collection[str]) -> str:
    """`there is no field 'x' (did you mean 'y'?); there are: y, z`."""
    hint = did_you_mean(str(name), valid)
    return f"there is no {what} {quoted(name)}{hint}; there are: {some_of(list(valid)) or 'none'}"


def setting_text(value: object) -> str:
    """A rater's setting in words: the parts of a list or mapping in parentheses."""
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return f"({', '.join(f'{name} {setting_text(one)}' for name, one in named.items())})"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(setting_text, cast('Sequence[Any]', value)))})"
    return "none" if value is None else str(value)


def sentence(text: str) -> str:
    """A phrase as a sentence of its own; nothing stays nothing."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def visible(text: str) -> str:
    """The text with what cannot be seen made visible: a control as its picture, anything else as its code point."""
    return _INVISIBLE.sub(lambda found: _picture(ord(found[0])), text.replace("\r\n", "\n").replace("\r", "\n"))


def line(text: str) -> str:
    """A text on one line, with nothing in it that a terminal would obey."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def money(dollars: float) -> str:
    """An amount in dollars, with four decimals below one dollar."""
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"
