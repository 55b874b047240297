"""What things are called on the page: raters with the mark of their kind, criteria and values with their titles.

Also what a page shows of very many raters: `Names.select` decides it for every section.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from markupsafe import Markup

from evenhand.analysis.agreement import MANY, Agreement, Pair
from evenhand.analysis.figures import PEOPLE
from evenhand.records import Kind, Status, Value
from evenhand.report.data import Report
from evenhand.report.html.elements import element, note
from evenhand.report.plots.track import Shape, glyph
from evenhand.scales import Ordinal

T = TypeVar("T")

STATUSES = {
    Status.RATED: "rated",
    Status.NOT_ASKED: "not asked",
    Status.SKIPPED: "skipped",
    Status.CANNOT_ASSESS: "cannot assess",
    Status.FAILED: "failed",
}
MOST_PAIRS = 30
"""Pairs and targets that a page shows if there are many raters."""
MOST_RATERS = 15
"""Raters whose figures of one kind a page shows if there are many."""

_SHAPES: dict[Kind, Shape] = {Kind.PERSON: "person", Kind.MODEL: "model", Kind.RULE: "rule"}
_SHORT = {"f1": "F1", "sd": "standard deviation", "kg": "KG"}


class Names:
    """Names for one report."""

    def __init__(self, report: Report) -> None:
        self._protocol = report.source.protocol
        self._kinds = {rater.id: rater.kind for rater in report.raters}
        self._order = {rater.id: place for place, rater in enumerate(report.raters)}
        self._many = len(report.raters) > MANY

    def select(
        self, things: Sequence[T], size: Callable[[T], int], *, most: int, last: Callable[[T], bool] | None = None
    ) -> Sequence[T]:
        """The things to show, in their order: all, or if there are many raters the `most` largest.

        Those for which `last` is true give way to the others.
        """
        if not self._many or len(things) <= most:
            return things
        ranked = sorted(range(len(things)), key=lambda n: (last is not None and last(things[n]), -size(things[n])))
        return [things[n] for n in sorted(ranked[:most])]

    def pairs(self, found: Agreement) -> Sequence[Pair]:
        return self.select(found.pairs, lambda pair: pair.n, most=MOST_PAIRS)

    def raters(self, things: Sequence[T], rater: Callable[[T], str], size: Callable[[T], int]) -> Sequence[T]:
        """Things that belong to one rater each; models and rules come before people."""
        return self.select(things, size, most=MOST_RATERS, last=lambda thing: self.is_person(rater(thing)))

    def known(self, rater: str) -> bool:
        """Whether a name is a rater's, not that of a group or a majority."""
        return rater in self._kinds

    def shape(self, rater: str) -> Shape:
        if rater in self._kinds:
            return _SHAPES[self._kinds[rater]]
        return "people" if rater == PEOPLE else "plain"

    def is_person(self, rater: str) -> bool:
        return self._kinds.get(rater) is Kind.PERSON

    def rater(self, rater: str) -> Markup:
        """A rater's id after the mark of its kind, which screen readers get in words."""
        kind = self._kinds.get(rater)
        if kind is None and rater == PEOPLE:
            return element("span", glyph("people"), "all people", class_="rater")
        spoken = element("span", f"{kind} ", class_="unseen") if kind else None
        return element("span", glyph(self.shape(rater)), spoken, element("bdi", rater), class_="rater")

    def pair(self, a: str, b: str) -> Markup:
        return element("span", self.rater(a), " × ", self.rater(b), class_="pair")

    def people_first(self, raters: Sequence[str]) -> Sequence[str]:
        return sorted(raters, key=lambda rater: (not self.is_person(rater), self._order.get(rater, 0)))

    def criterion(self, criterion: str) -> str:
        return self._protocol.criterion(criterion).title

    def value(self, criterion: str, value: Value) -> str:
        """A value with its level's label if it has one: `4 Good`."""
        scale = self._protocol.criterion(criterion).scale
        if isinstance(scale, Ordinal) and isinstance(value, int) and value in scale.levels:
            return f"{value} {scale.levels[value].label}"
        return f"{value:g}" if isinstance(value, float) else str(value)


def rest(shown: int, total: int) -> Markup | None:
    """A sentence on what a page leaves out."""
    return note(f"{total - shown:,} more, with fewer units, are in the JSON report.") if shown < total else None


def words(name: str) -> str:
    """An id as words: `percent_match` is `Percent match`."""
    spaced = " ".join(_SHORT.get(part, part) for part in name.split("_"))
    return spaced[:1].upper() + spaced[1:]


def anchor(*parts: str) -> str:
    """An id for a place on the page."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
