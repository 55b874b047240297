"""How each rater uses each scale."""

from evenhand.report.data import Distribution, Report
from evenhand.report.html.blocks import Section, note
from evenhand.report.html.names import Names
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.track import stack, steps_for


def spreads(report: Report, names: Names) -> Section:
    parts = [_criterion(found, report, names) for found in report.distributions]
    if not parts:
        parts = [note("No criterion has a fixed set of values: there is nothing to count.")]
    intro = note("Each bar is all ratings of one rater; the numbers in it are percentages.")
    return Section("distributions", "How each rater uses the scale", join([intro, *parts]))


def _criterion(found: Distribution, report: Report, names: Names) -> Markup:
    labels = [names.value(found.criterion, value) for value in found.values]
    steps = steps_for(len(labels))
    title = element("h3", names.criterion(found.criterion))
    if not found.by_rater:
        return element("div", title, note("Nobody rated this criterion."))
    legend = [
        element("li", element("span", class_=f"swatch h{step}"), label)
        for label, step in zip(labels, steps, strict=True)
    ]
    ordered = report.source.protocol.criterion(found.criterion).scale.level != "nominal"
    shades = note("The shade follows the order of the scale.") if ordered else None
    rows: list[Markup] = []
    told = names.told({rater: sum(counts) for rater, counts in found.by_rater.items()})
    for rater in names.people_first(told):
        counts = found.by_rater[rater]
        said = ", ".join(f"{label} {times}" for label, times in zip(labels, counts, strict=True) if times)
        bar = stack(counts, labels, steps, f"{rater}: {said}")
        rows.append(
            element(
                "tr",
                element("th", names.rater(rater), scope="row"),
                element("td", bar, class_="plot"),
                element("td", f"{sum(counts):,}", class_="n"),
            )
        )
    rest = names.rest(len(told), len(found.by_rater))
    heads = element("tr", [element("th", head, scope="col") for head in ("rater", "share of ratings", "n")])
    caption = element("caption", f"{names.criterion(found.criterion)}: ratings by value", class_="unseen")
    inside = element("table", caption, element("thead", heads), element("tbody", rows), class_="forest spread")
    return element("div", title, element("ul", legend, class_="legend"), shades, inside, rest, class_="figure")
