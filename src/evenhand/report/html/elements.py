"""HTML and SVG from Python values, and the pieces that every section is made of.

Text is escaped when it enters an element; only `Markup` goes in as it is.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import markupsafe
from markupsafe import Markup

from evenhand.text import visible

_VOID = {"br", "meta", "hr", "col"}

Attribute = str | float | bool | None
Content = str | Iterable[str | None] | None


def escape(text: str) -> Markup:
    """Text as HTML that shows exactly that text, control characters included; `Markup` stays as it is."""
    return text if isinstance(text, Markup) else markupsafe.escape(visible(text))


def join(parts: Iterable[str | None], between: str = "") -> Markup:
    """Parts one after the other; None adds nothing."""
    return escape(between).join(escape(part) for part in parts if part is not None)


def element(tag: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """An element. `class_` gives `class`, `aria_label` gives `aria-label`; None and False leave an attribute out."""
    opening = tag + "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{opening}>")
    inner = join(join([part] if part is None or isinstance(part, str) else part) for part in content)
    return Markup(f"<{opening}>{inner}</{tag}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    written = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{escape(written)}"'


class Section(NamedTuple):
    """A part of the page; `entries` are its own lines in the table of contents, as ids and titles."""

    id: str
    title: str
    body: Markup
    entries: Sequence[tuple[str, str]] = ()

    def html(self) -> Markup:
        heading = element("h2", self.title, id=f"{self.id}-title")
        return element("section", heading, self.body, id=self.id, aria_labelledby=f"{self.id}-title")


def note(*content: Content) -> Markup:
    return element("p", *content, class_="note")


def warning(*content: Content) -> Markup:
    mark = element("span", "!", class_="sign", aria_hidden="true")
    return element("p", mark, element("span", element("strong", "Caution: "), *content), class_="warning")


def aside(*content: Content) -> Markup:
    """Secondary text after a name or a caption."""
    return element("span", *content, class_="aside")


def figure(caption: Content, *content: Content) -> Markup:
    """A figure that scrolls within its own frame if it is wider than the screen."""
    inside = element("div", *content, class_="scroll", tabindex=0)
    return element("figure", element("figcaption", caption), inside)


def folded(summary: Content, *content: Content) -> Markup:
    return element("details", element("summary", summary), *content)


def bullets(lines: Sequence[str]) -> Markup:
    return element("ul", [element("li", line) for line in lines])


def facts(entries: Iterable[tuple[str, Content]], class_: str = "facts") -> Markup:
    """Names and values as a description list."""
    listed = [element("div", element("dt", name), element("dd", value)) for name, value in entries]
    return element("dl", listed, class_=class_)


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], class_: str | None = None) -> Markup:
    """A table whose first column names its rows."""
    top = element("tr", [element("th", head, scope="col") for head in heads])
    body = [
        element("tr", element("th", row[0], scope="row"), [element("td", cell) for cell in row[1:]]) for row in rows
    ]
    inside = element("table", element("caption", caption), element("thead", top), element("tbody", body), class_=class_)
    return element("div", inside, class_="scroll", tabindex=0)
