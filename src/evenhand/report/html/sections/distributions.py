"""How each rater uses each scale."""

from markupsafe import Markup

from evenhand.report.data import Distribution, Report
from evenhand.report.html.elements import Section, element, join, note
from evenhand.report.html.names import Names, rest
from evenhand.report.plots.track import stack, steps_for


def distributions_section(report: Report, names: Names) -> Section:
    parts = [_criterion(found, report, names) for found in report.distributions]
    if not parts:
        parts = [note("No criterion has a fixed set of values, so there is nothing to count.")]
    intro = note("Each bar shows all ratings of one rater; the numbers in it are percentages.")
    return Section("distributions", "How each rater uses the scale", join([intro, *parts]))


def _criterion(found: Distribution, report: Report, names: Names) -> Markup:
    title = element("h3", names.criterion(found.criterion))
    if not found.by_rater:
        return element("div", title, note("No rater has rated this criterion."))
    labels = [names.value(found.criterion, value) for value in found.values]
    steps = steps_for(len(labels))
    legend = [
        element("li", element("span", class_=f"swatch h{step}"), label)
        for label, step in zip(labels, steps, strict=True)
    ]
    ordered = report.source.protocol.criterion(found.criterion).scale.level != "nominal"
    shades = note("The shade follows the order of the scale.") if ordered else None
    shown = names.raters(list(found.by_rater), lambda rater: rater, lambda rater: sum(found.by_rater[rater]))
    rows: list[Markup] = []
    for rater in names.people_first(shown):
        counts = found.by_rater[rater]
        described = ", ".join(f"{label} {times}" for label, times in zip(labels, counts, strict=True) if times)
        bar = stack(counts, labels, steps, f"{rater}: {described}")
        cells = [element("td", bar, class_="plot"), element("td", f"{sum(counts):,}", class_="n")]
        rows.append(element("tr", element("th", names.rater(rater), scope="row"), cells))
    heads = element("tr", [element("th", head, scope="col") for head in ("rater", "share of ratings", "n")])
    caption = element("caption", f"{names.criterion(found.criterion)}: ratings by value", class_="unseen")
    inside = element("table", caption, element("thead", heads), element("tbody", rows), class_="forest spread")
    more = rest(len(shown), len(found.by_rater))
    return element("div", title, element("ul", legend, class_="legend"), shades, inside, more, class_="figure")
