"""Sections, tables, figures and notes: what every part of the page is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.agreement.result import Estimate
from evenhand.report.figures import Style, interval, number, why
from evenhand.report.markup import Content, Markup, element, join


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page; `entries` are its own lines in the table of contents, as ids and titles."""

    id: str
    title: str
    body: Markup
    entries: Sequence[tuple[str, str]] = ()

    def html(self) -> Markup:
        heading = element("h2", self.title, id=f"{self.id}-title")
        return element("section", heading, self.body, id=self.id, aria_labelledby=f"{self.id}-title")


def paragraph(*content: Content, class_: str | None = None) -> Markup:
    return element("p", *content, class_=class_)


def note(*content: Content) -> Markup:
    return paragraph(*content, class_="note")


def warning(*content: Content) -> Markup:
    mark = element("span", "!", class_="sign", aria_hidden="true")
    return element("p", mark, element("span", element("strong", "Take care. "), *content), class_="warning")


def figure(caption: Content, *content: Content, class_: str | None = None) -> Markup:
    """Something wider than a phone scrolls within its own frame."""
    inside = element("div", *content, class_="scroll", tabindex=0)
    return element("figure", element("figcaption", caption), inside, class_=class_)


def folded(summary: Content, *content: Content) -> Markup:
    return element("details", element("summary", summary), *content)


def items(lines: Sequence[str]) -> Markup:
    return element("ul", [element("li", line) for line in lines])


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], class_: str | None = None) -> Markup:
    """A table whose first column names its rows."""
    top = element("tr", [element("th", head, scope="col") for head in heads])
    body = [
        element("tr", element("th", row[0], scope="row"), [element("td", cell) for cell in row[1:]]) for row in rows
    ]
    inside = element("table", element("caption", caption), element("thead", top), element("tbody", body), class_=class_)
    return element("div", inside, class_="scroll", tabindex=0)


def cell(estimate: Estimate | None, style: Style = "coefficient") -> Markup:
    """An estimate in a table: its value with the interval below, or why there is none."""
    if estimate is None:
        return element("span", "does not fit this scale", class_="why")
    if estimate.value is None:
        return element("span", why(estimate), class_="why")
    between = interval(estimate, style) or estimate.note or "no interval"
    return join([element("b", number(estimate.value, style)), element("span", between, class_="between")])
