"""What comes first: targets, warnings, and the protocol's own figures."""

from collections.abc import Sequence

from evenhand.agreement.result import Estimate
from evenhand.measures import TargetResult
from evenhand.report.data import Report
from evenhand.report.figures import described, interval, number, why
from evenhand.report.html.blocks import Section, folded, note, paragraph, warning
from evenhand.report.html.measured import TABLES, about, by_name, plot, style_of
from evenhand.report.html.names import MOST, Names, words
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.axis import axis, grid, ruler
from evenhand.report.plots.track import Guide, track

_FOLDED = ("sd", "majority", "per_label")
_VERDICTS = {
    "met": ("✓ met", "met", "Even the lower end of the interval reaches the goal."),
    "missed": ("✗ missed", "missed", "Even the upper end of the interval stays below the goal."),
    "met at the point estimate": (
        "? undecided",
        "undecided",
        "Met at the point estimate, but the interval reaches below the goal.",
    ),
    "missed at the point estimate": (
        "? undecided",
        "undecided",
        "Missed at the point estimate, but the interval reaches the goal.",
    ),
    "undefined": ("– undefined", "undecided", "There is no value to hold against the goal."),
}


def headline(report: Report, names: Names) -> Section:
    parts = [_targets(report, names), *_warnings(report, names), *_figures(report, names)]
    return Section("headline", "In short", join(parts))


def _targets(report: Report, names: Names) -> Markup:
    results = report.targets
    if not results:
        return note("The protocol sets no targets, so nothing here is met or missed.")
    drawn = sorted(results, key=lambda one: -one.estimate.n)[:MOST] if names.many else results
    cards = element("div", [_card(result, report, names) for result in drawn], class_="cards")
    more = len(results) - len(drawn)
    said = note(f"{more:,} more, of fewer units, are in a report in JSON.") if more else None
    return join([paragraph(_tally(results), class_="lead"), cards, said])


def _tally(results: Sequence[TargetResult]) -> Markup:
    met = sum(one.verdict == "met" for one in results)
    missed = sum(one.verdict == "missed" for one in results)
    point = sum(one.verdict == "met at the point estimate" for one in results)
    without = sum(one.verdict == "undefined" for one in results)
    rest = len(results) - met - missed - without
    undecided = f"{rest} undecided" + (f" ({point} of them met at the point estimate)" if point else "")
    counted = f"{met} met, {missed} missed, {undecided}" + (f", {without} without a value" if without else "")
    return join(
        ["Targets: ", element("strong", counted), ". A target counts as met only if the whole interval clears it."]
    )


def _card(result: TargetResult, report: Report, names: Names) -> Markup:
    verdict, class_, meaning = _VERDICTS[result.verdict]
    meaning = f"{meaning} It is {why(result.estimate)}." if result.estimate.value is None else meaning
    kind = next((one.kind for one in report.measures if one.name == result.measure), "")
    style = style_of(kind)
    sides = [names.rater(side) for side in (result.b, result.a) if side]
    where = [join(sides, " with ") if sides else None, names.criterion(result.criterion) if result.criterion else None]
    goal = Guide("goal", Estimate(value=result.goal), "goal")
    found = result.estimate
    drawn = axis([found, goal.estimate], style, 0.0, 1.0)
    title = f"{words(result.measure)}: {described(found, style)}; goal {number(result.goal, style)}"
    picture = [track(found, drawn, "plain", title, [goal]), ruler(drawn)] if found.value is not None else []
    value = number(found.value, style) if found.value is not None else "no value"
    return element(
        "article",
        element("h3", f"{words(result.measure)} at least {number(result.goal, style)}"),
        paragraph(join([part for part in where if part], ", "), class_="note"),
        element("p", element("span", value, class_="big"), element("span", verdict, class_="verdict"), class_="score"),
        note(f"95% interval {interval(found, style) or found.note or 'not known'}, n {found.n:,}"),
        element("div", picture, class_="picture", style=grid(drawn)),
        note(f"{meaning} {_more(result)}"),
        class_=f"card {class_}",
    )


def _more(result: TargetResult) -> str:
    if result.verdict in ("met", "missed"):
        return ""
    if result.more_items is None:
        return "No number of further items is known to settle it."
    return f"About {result.more_items:,} more items would settle it, if the value stays what it is."


def _warnings(report: Report, names: Names) -> list[Markup]:
    return [
        warning(element("b", names.criterion(found.criterion)), f": {said}")
        for found in report.agreements.values()
        for said in found.warnings
    ]


def _figures(report: Report, names: Names) -> list[Markup]:
    """Each measure over all units; what is long and seldom read first is folded."""
    protocol = report.source.protocol
    overall = [one for one in report.measures if one.stratum is None and one.kind not in TABLES]
    found = by_name(overall)
    if not found:
        return [note("The protocol defines no figures of its own.")] if not protocol.measures else []
    title = element("h3", "The protocol's own figures")
    intro = note(
        "A mark is the value, the bar through it its 95% interval; n counts units. Point at a mark to read it."
    )
    parts = [title, intro]
    for name, figures in found.items():
        drawn = plot(name, figures, protocol, names)
        parts.append(folded(f"{words(name)}: {about(protocol, name)}", drawn) if figures[0].kind in _FOLDED else drawn)
    return parts
