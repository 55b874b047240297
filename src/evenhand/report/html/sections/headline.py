"""The summary: targets, warnings, and the protocol's own measures."""

from collections.abc import Sequence

from markupsafe import Markup

from evenhand.analysis.targets import TargetResult
from evenhand.report.data import Report
from evenhand.report.html.elements import Section, element, folded, join, note, paragraph, warning
from evenhand.report.html.names import MOST_PAIRS, Names, rest, words
from evenhand.report.html.sections.measures import TABLES, about, by_name, plot, style_of
from evenhand.report.numbers import described, interval, number, why
from evenhand.report.plots.axis import axis, grid, ruler
from evenhand.report.plots.track import Guide, track
from evenhand.statistics import Estimate

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
    "undefined": ("– undefined", "undecided", "There is no value to compare with the goal."),
}


def headline_section(report: Report, names: Names) -> Section:
    parts = [_targets(report, names), *_warnings(report, names), *_figures(report, names)]
    return Section("headline", "Summary", join(parts))


def _targets(report: Report, names: Names) -> Markup:
    results = report.targets
    if not results:
        return note("The protocol sets no targets, so nothing here is met or missed.")
    drawn = names.select(results, lambda one: one.estimate.n, most=MOST_PAIRS)
    cards = element("div", [_card(result, report, names) for result in drawn], class_="cards")
    return join([paragraph(_tally(results), class_="lead"), cards, rest(len(drawn), len(results))])


def _tally(results: Sequence[TargetResult]) -> Markup:
    met = sum(one.verdict == "met" for one in results)
    missed = sum(one.verdict == "missed" for one in results)
    point = sum(one.verdict == "met at the point estimate" for one in results)
    without = sum(one.verdict == "undefined" for one in results)
    rest = len(results) - met - missed - without
    undecided = f"{rest} undecided" + (f" ({point} of them met at the point estimate)" if point else "")
    counts = f"{met} met, {missed} missed, {undecided}" + (f", {without} without a value" if without else "")
    return join(["Targets: ", element("strong", counts), ". A target is met only if the whole interval clears it."])


def _card(result: TargetResult, report: Report, names: Names) -> Markup:
    verdict, class_, meaning = _VERDICTS[result.verdict]
    meaning = f"{meaning} It is {why(result.estimate)}." if result.estimate.value is None else meaning
    kind = next((one.kind for one in report.measures if one.statistic == result.measure), "")
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
        note(f"95% interval {interval(found, style) or found.note or 'unknown'}, n {found.n:,}"),
        element("div", picture, class_="picture", style=grid(drawn)),
        note(f"{meaning} {_more(result)}"),
        class_=f"card {class_}",
    )


def _more(result: TargetResult) -> str:
    if result.verdict in ("met", "missed"):
        return ""
    if result.more_items is None:
        return "How many more items would settle it is unknown."
    return f"About {result.more_items:,} more items would settle it if the value stays the same."


def _warnings(report: Report, names: Names) -> list[Markup]:
    return [
        warning(element("b", names.criterion(found.criterion)), f": {text}")
        for found in report.agreements.values()
        for text in found.warnings
    ]


def _figures(report: Report, names: Names) -> list[Markup]:
    """Each measure over all units; long ones that few readers want first are folded."""
    protocol = report.source.protocol
    overall = [one for one in report.measures if one.stratum is None and one.kind not in TABLES]
    found = by_name(overall)
    if not found:
        return [note("The protocol defines no measures of its own.")] if not protocol.measures else []
    title = element("h3", "The protocol's own measures")
    intro = note(
        "A mark is the value, the bar through it the 95% interval; n counts units. Point at a mark to read it."
    )
    parts = [title, intro]
    for name, figures in found.items():
        drawn = plot(name, figures, protocol, names)
        parts.append(folded(f"{words(name)}: {about(protocol, name)}", drawn) if figures[0].kind in _FOLDED else drawn)
    return parts
