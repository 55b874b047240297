"""One report as a page shows it: how much of it if there are very many raters, and what things are called."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from markupsafe import Markup

from evenhand.analysis.figures import ABSENT_FIELDS, PEOPLE, Figure
from evenhand.analysis.targets import TABLES
from evenhand.analysis.trust import Trust
from evenhand.records import Kind, Value
from evenhand.report.build import Distribution, Report
from evenhand.report.html.elements import element, note
from evenhand.report.html.plots import Shape, glyph
from evenhand.scales import Ordinal

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)

MANY = 15
"""Raters beyond which a page does not show everything."""
MOST_PAIRS = 30
"""Pairs and targets that a page shows if there are many raters."""
MOST_RATERS = 15
"""Raters whose figures of one kind a page shows if there are many."""
MOST_CALIBRATED = 5
"""Raters whose calibration a page shows if there are many."""

_SHAPES: dict[Kind, Shape] = {Kind.PERSON: "person", Kind.MODEL: "model", Kind.RULE: "rule"}
_TITLES = {
    "percent_match": "Percentage of matches",
    "kappa_raters": "Kappa between raters",
    "human_model_match": "Match between people and models",
    "human_model_kappa": "Kappa between people and models",
}
"""Measures of the built-in protocols whose ids do not read as titles."""
_SHORT = {"f1": "F1", "sd": "standard deviation", "kg": "KG"}


class View:
    """A report with the names of what is in it. `report` is what the page shows, `full` has everything."""

    def __init__(self, report: Report) -> None:
        self.full = report
        self.protocol = report.source.protocol
        self.measures = {spec.name: spec for spec in self.protocol.measures}
        self._kinds = {rater.id: rater.kind for rater in report.raters}
        models = {rater for rater, kind in self._kinds.items() if kind is not Kind.PERSON} | {"models"}
        for name, one in report.combined.items():
            self._kinds[name] = Kind.MODEL if models.intersection(one.of) else Kind.PERSON
        self._order = {rater.id: place for place, rater in enumerate(report.raters)}
        self.report = self._condensed(report) if len(report.raters) > MANY else report

    @property
    def single_figures(self) -> Sequence[Figure]:
        """The protocol's measures that are a number each, not a table, of what the items have."""
        numbers = [one for one in self.report.measures if one.kind not in TABLES]
        return [one for one in numbers if ABSENT_FIELDS not in (one.detail or ())]

    def known(self, rater: str) -> bool:
        """Whether a name is a rater's, not that of a group or a majority."""
        return rater in self._kinds

    def is_person(self, rater: str) -> bool:
        return self._kinds.get(rater) is Kind.PERSON

    def shape(self, rater: str) -> Shape:
        return _SHAPES[self._kinds[rater]] if rater in self._kinds else "people" if rater == PEOPLE else "plain"

    def rater(self, rater: str) -> Markup:
        """A rater's id after the mark of its kind, which screen readers get in words."""
        kind = self._kinds.get(rater)
        if kind is None and rater == PEOPLE:
            return element("span", glyph("people"), "all people", class_="rater")
        spoken = element("span", f"{kind} ", class_="unseen") if kind else None
        return element("span", glyph(self.shape(rater)), spoken, element("bdi", rater), class_="rater")

    def pair(self, a: str, b: str) -> Markup:
        return element("span", self.rater(a), " × ", self.rater(b), class_="pair")

    def people_first(self, raters: Iterable[str]) -> Sequence[str]:
        return sorted(raters, key=lambda rater: (not self.is_person(rater), self._order.get(rater, 0)))

    def criterion(self, criterion: str) -> str:
        known = self.protocol.by_id.get(criterion)
        return known.title if known else self.full.titles.get(criterion, criterion).capitalize()

    def value(self, criterion: str, value: Value) -> str:
        """A value with its level's label if it has one: `4 Good`."""
        known = self.protocol.by_id.get(criterion, self.protocol.criteria[0])
        scale = known.scale
        if isinstance(scale, Ordinal) and isinstance(value, int) and value in scale.levels:
            return f"{value} {scale.levels[value].label}"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def fields(self, names: Iterable[str]) -> str:
        """The titles of item fields: `“Question type” and “Shot type”`."""
        return " and ".join(f"“{self.protocol.titles.get(name, name)}”" for name in names)

    def is_individual(self, figure: Figure) -> bool:
        """Whether a figure is about one person by name, not about all people or about a model."""
        return any(side is not None and self.is_person(side) for side in (figure.rater, figure.against))

    def omissions(self) -> Markup | None:
        """A sentence on what the page leaves out."""
        if self.report is self.full:
            return None
        return note(
            f"{len(self.full.raters):,} raters are too many to show. Each figure has up to {MOST_RATERS} raters or "
            f"{MOST_PAIRS} pairs or targets, those with the most units and models before people. The JSON report has "
            "more of them."
        )

    def _condensed(self, report: Report) -> Report:
        agreements = {
            name: replace(found, pairs=_largest(found.pairs, MOST_PAIRS, lambda one: one.n, lambda one: one.of_people))
            for name, found in report.agreements.items()
        }
        alike = grouped(
            report.measures,
            lambda one: (one.statistic, one.criterion, str(one.stratum), None if one.rater else one.label),
        )
        measures = [
            one
            for some in alike.values()
            for one in _largest(some, MOST_RATERS, lambda one: one.estimate.n, self.is_individual)
        ]
        return replace(
            report,
            measures=measures,
            targets=_largest(report.targets, MOST_PAIRS, lambda one: one.estimate.n),
            agreements=agreements,
            distributions=[self._distribution(found) for found in report.distributions],
            trust={name: self._trust(found) for name, found in report.trust.items()},
        )

    def _distribution(self, found: Distribution) -> Distribution:
        raters = _largest(list(found.by_rater), MOST_RATERS, lambda one: sum(found.by_rater[one]), self.is_person)
        return replace(found, by_rater={rater: found.by_rater[rater] for rater in raters})

    def _trust(self, found: Trust) -> Trust:
        stated = {one.rater: one.calibration.n for one in found.confidences if one.calibration}
        calibrated = _largest(list(stated), MOST_CALIBRATED, lambda rater: stated[rater], self.is_person)
        models = [
            replace(model, against=_largest(model.against, MOST_RATERS, lambda one: one.n)) for model in found.models
        ]
        return replace(
            found,
            people=_largest(found.people, MOST_RATERS, lambda one: one.match.n),
            models=models,
            rivals=_largest(found.rivals, MOST_RATERS, lambda one: one.n),
            confidences=[one for one in found.confidences if one.rater in calibrated],
            severities=_largest(
                found.severities, MOST_RATERS, lambda one: one.leniency.n, lambda one: self.is_person(one.rater)
            ),
        )


def _largest(
    things: Sequence[T], most: int, size: Callable[[T], int], last: Callable[[T], bool] = lambda _: False
) -> Sequence[T]:
    """The `most` largest things in their order; those for which `last` is true give way to the others."""
    ranked = sorted(range(len(things)), key=lambda n: (last(things[n]), -size(things[n])))
    return [things[n] for n in sorted(ranked[:most])]


def grouped(things: Iterable[T], key: Callable[[T], Key]) -> Mapping[Key, list[T]]:
    """Things by their key, in order of appearance."""
    found: dict[Key, list[T]] = {}
    for one in things:
        found.setdefault(key(one), []).append(one)
    return found


def words(name: str) -> str:
    """An id as words: `percent_match` is `Percent match`."""
    if name in _TITLES:
        return _TITLES[name]
    spaced = " ".join(_SHORT.get(part, part) for part in name.split("_"))
    return spaced[:1].upper() + spaced[1:]


def anchor(*parts: str) -> str:
    """An id for a place on the page."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
