"""HTML and SVG from Python values. Text is escaped when it enters; only `Markup` made here goes in as it is."""

import re
from collections.abc import Iterable
from html import escape

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
"""Controls, bidirectional overrides, halves of surrogate pairs: what hides in a text, reorders it or breaks a file."""

_VOID = {"br", "meta", "hr", "col"}

Attribute = str | float | bool | None


class Markup(str):
    """Finished HTML or SVG. Joining it to a plain `str` gives a `str` again, which is escaped like any other."""

    __slots__ = ()


Content = str | Iterable[str | None] | None


def visible(text: str) -> str:
    """The text with what cannot be seen made visible: a control as its picture, anything else as its code point."""
    return _UNSEEN.sub(lambda found: _picture(ord(found[0])), text.replace("\r\n", "\n").replace("\r", "\n"))


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def text(value: str) -> Markup:
    """Text as HTML that shows just that text; `Markup` stays what it is."""
    return value if isinstance(value, Markup) else Markup(escape(visible(value), quote=True))


def join(parts: Iterable[str | None], between: str = "") -> Markup:
    """Parts one after the other; None leaves nothing."""
    return Markup(str(text(between)).join(str(text(part)) for part in parts if part is not None))


def element(tag: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """An element. `class_` gives `class`, `aria_label` gives `aria-label`; None and False leave an attribute out."""
    opening = tag + "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{opening}>")
    inner = "".join(_inner(part) for part in content)
    return Markup(f"<{opening}>{inner}</{tag}>")


def _inner(part: Content) -> str:
    if part is None:
        return ""
    return str(text(part)) if isinstance(part, str) else str(join(part))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    written = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{text(written)}"'
