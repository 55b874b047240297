"""What things are called: raters with the mark of their kind, criteria and values with their titles."""

import re
from collections.abc import Mapping, Sequence

from evenhand.matrix import MANY
from evenhand.measures.record import PEOPLE
from evenhand.records import Kind, Status, Value
from evenhand.report.data import Report
from evenhand.report.markup import Markup, element
from evenhand.report.plots.track import Shape, glyph
from evenhand.scales import Ordinal

_SHAPES: dict[Kind, Shape] = {Kind.PERSON: "person", Kind.MODEL: "model", Kind.RULE: "rule"}

STATUSES = {
    Status.RATED: "rated",
    Status.NOT_ASKED: "not asked",
    Status.SKIPPED: "skipped",
    Status.CANNOT_ASSESS: "cannot assess",
    Status.FAILED: "failed",
}


_SHORT = {"f1": "F1", "sd": "standard deviation", "kg": "KG"}


MOST = 30
"""Pairs that a page shows of many raters."""
MOST_RATERS = 15
"""Raters whose figures of one kind a page shows of many."""


class Names:
    """Names for one report. With `many` raters a page shows some of the pairs and says so."""

    def __init__(self, report: Report) -> None:
        self._protocol = report.source.protocol
        self._kinds = {rater.id: rater.kind for rater in report.raters}
        self.many = len(report.raters) > MANY
        self._order = {rater.id: place for place, rater in enumerate(report.raters)}

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
        """A rater's id after the mark of its kind, which is also said for those who cannot see it."""
        kind = self._kinds.get(rater)
        if kind is None and rater == PEOPLE:
            return element("span", glyph("people"), "people together", class_="rater")
        said = element("span", f"{kind} ", class_="unseen") if kind else None
        return element("span", glyph(self.shape(rater)), said, element("bdi", rater), class_="rater")

    def pair(self, a: str, b: str) -> Markup:
        return element("span", self.rater(a), " × ", self.rater(b), class_="pair")

    def people_first(self, raters: Sequence[str]) -> Sequence[str]:
        return sorted(raters, key=lambda rater: (not self.is_person(rater), self._order.get(rater, 0)))

    def told(self, raters: Mapping[str, int]) -> Sequence[str]:
        """Raters to show, given how much each rated: all, or of many those who are no people, then the busiest."""
        if not self.many:
            return list(raters)
        ranked = sorted(raters, key=lambda rater: (self.is_person(rater), -raters[rater]))[:MOST_RATERS]
        return [rater for rater in raters if rater in ranked]

    def rest(self, shown: int, all_: int) -> Markup | None:
        """A sentence on those that a page leaves out."""
        if shown == all_:
            return None
        return element("p", f"{all_ - shown:,} more, who rated less, are in a report in JSON.", class_="note")

    def criterion(self, criterion: str) -> str:
        return self._protocol.criterion(criterion).title

    def value(self, criterion: str, value: Value) -> str:
        """A value with its level's label where it has one: `4 Good`."""
        scale = self._protocol.criterion(criterion).scale
        if isinstance(scale, Ordinal) and isinstance(value, int) and value in scale.levels:
            return f"{value} {scale.levels[value].label}"
        return f"{value:g}" if isinstance(value, float) else str(value)


def words(name: str) -> str:
    """An id as words: `percent_match` is `Percent match`."""
    spaced = " ".join(_SHORT.get(part, part) for part in name.split("_"))
    return spaced[:1].upper() + spaced[1:]


def anchor(*parts: str) -> str:
    """An id for a place on the page."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
