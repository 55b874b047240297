"""The protocol's own measures: the summary, with targets and warnings, and the breakdowns by stratum."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from markupsafe import Markup

from evenhand.analysis.figures import PEOPLE, Figure
from evenhand.analysis.targets import SHARES, TargetResult
from evenhand.protocol.guideline import measure_in_words
from evenhand.protocol.model import MeanMeasure
from evenhand.report.html.elements import Section, aside, element, folded, join, note, table, warning
from evenhand.report.html.plots import Guide, Row, Shape, axis, estimate_cell, forest, track
from evenhand.report.html.view import View, grouped, words
from evenhand.report.numbers import Style, apart, described, interval, number
from evenhand.scales import Numeric, Ordinal
from evenhand.text import listed, sentence

_SCORES = ("mean", "sd")
_FOLDED = ("sd", "majority", "per_label")
"""Long measures that few readers want first."""
_VOTES = {"full": "all agree", "majority": "more than half agree", "none": "no majority"}
_SIGNS = {"met": "✓ met", "missed": "✗ missed", "undefined": "– undefined"}
_VERDICTS = {
    "met": "Even the lower end of the interval reaches the goal.",
    "missed": "Even the upper end of the interval falls short of the goal.",
    "met at the point estimate": "Met at the point estimate, but the interval reaches below the goal.",
    "missed at the point estimate": "Missed at the point estimate, but the interval reaches the goal.",
    "undefined": "There is no value to compare with the goal.",
}


def headline_section(view: View) -> Section:
    warnings = [
        warning(element("b", view.criterion(found.criterion)), f": {text}")
        for found in view.report.agreements.values()
        for text in found.warnings
    ]
    return Section("headline", "Summary", join([*_targets(view), *warnings, *_overall(view)]))


def _targets(view: View) -> list[Markup]:
    results = view.full.targets
    if not results:
        return [note("The protocol sets no targets.")]
    times = Counter(one.verdict for one in results)
    at_point, undefined = times["met at the point estimate"], times["undefined"]
    undecided = f"{at_point + times['missed at the point estimate']} undecided"
    undecided += f" ({at_point} of them met at the point estimate)" if at_point else ""
    counts = f"{times['met']} met, {times['missed']} missed, {undecided}"
    counts += f", {undefined} without a value" if undefined else ""
    rule = ". A target is met only if the whole interval reaches it."
    cards = [_card(result, view) for result in view.report.targets]
    lead = element("p", "Targets: ", element("strong", counts), rule, class_="lead")
    return [lead, element("div", cards, class_="cards")]


def _card(result: TargetResult, view: View) -> Markup:
    found, name = result.estimate, words(result.measure)
    settled = result.verdict in ("met", "missed")
    verdict = element("span", _SIGNS.get(result.verdict, "? undecided"), class_="verdict")
    style = apart(_style(view.measures[result.measure].kind), result.goal, found)
    sides = join([view.rater(side) for side in (result.b, result.a) if side], " with ")
    where = [sides, view.criterion(result.criterion) if result.criterion else ""]
    if result.label is not None:
        where.append(view.value(result.criterion, result.label) if result.criterion else str(result.label))
    drawn = axis([found], style, 0.0, 1.0, result.goal)
    at_least = number(result.goal, style)
    value, picture = "no value", []
    if found.value is not None:
        value, title = number(found.value, style), f"{name}: {described(found, style)}; goal {at_least}"
        picture = [track(found, drawn, "plain", title, [Guide("goal", result.goal, "goal")]), drawn.ruler()]
    return element(
        "article",
        element("h3", f"{name} at least {at_least}"),
        note(join([part for part in where if part], ", ")),
        element("p", element("span", value, class_="big"), verdict, class_="score"),
        note(f"95% interval {interval(found, style) or found.note or 'unknown'}, n {found.n:,}"),
        element("div", picture, class_="picture", style=drawn.grid),
        note(f"{_VERDICTS[result.verdict]} {_more(result)}"),
        class_=f"card {result.verdict if settled else 'undecided'}",
    )


def _more(result: TargetResult) -> str:
    if result.estimate.value is None:
        return f"It is {described(result.estimate)}."
    if result.verdict in ("met", "missed"):
        return ""
    if result.more_items is None:
        return "It is not known how many more items would settle it."
    return f"About {result.more_items:,} more items would settle it if the value stays the same."


def _overall(view: View) -> list[Markup]:
    """Each measure over all units."""
    found = grouped((one for one in view.single_figures if one.stratum is None), lambda one: one.statistic)
    if not found:
        return [] if view.protocol.measures else [note("The protocol defines no measures of its own.")]
    intro = note(
        "Each mark is a value, and the bar through it the 95% interval; n is the number of units. Hover over a mark to "
        "read it."
    )
    parts = [element("h3", "The protocol's own measures"), intro]
    for name, figures in found.items():
        drawn = _plot(name, figures, view)
        summary = f"{words(name)}: {_about(name, view)}"
        parts.append(folded(summary, drawn) if figures[0].kind in _FOLDED else drawn)
    return parts


def _plot(name: str, figures: Sequence[Figure], view: View) -> Markup:
    """One measure over all units, with a group for each criterion."""
    figures = [one for some in grouped(figures, lambda one: one.criterion).values() for one in some]
    titles = [view.criterion(one.criterion) if one.criterion else "" for one in figures]
    several = len(set(titles)) > 1
    single = several and len(set(titles)) == len(titles)
    rows = [
        _row(one, view, lead=title) if single else _row(one, view, group=title if several else "")
        for one, title in zip(figures, titles, strict=True)
    ]
    return _forest(words(name), name, rows, view)


def _forest(caption: str, name: str, rows: Sequence[Row], view: View) -> Markup:
    """The axis shows all of the scale that a mean lies on; that of a deviation begins at 0."""
    spec, low, high = view.measures[name], None, None
    if spec.kind == "sd":
        low = 0.0
    elif isinstance(spec, MeanMeasure):
        scales = [view.protocol.criterion(criterion).scale for criterion in spec.criteria]
        ends = [float(end) for scale in scales if isinstance(scale, Ordinal | Numeric) for end in scale.ends]
        low, high = min(ends), max(ends)
    return forest(join([caption, aside(_about(name, view))]), rows, _style(spec.kind), low=low, high=high)


def _style(kind: str) -> Style:
    return "share" if kind in SHARES else "score" if kind in _SCORES else "coefficient"


def _about(name: str, view: View) -> str:
    """What a measure is, in the protocol's words."""
    return sentence(measure_in_words(view.protocol, view.measures[name]))


def _row(measure: Figure, view: View, *, group: str = "", lead: str = "") -> Row:
    """`lead` takes the first place in the row's name, and whose figure it is goes below it."""
    if measure.label is not None and measure.rater is not None and measure.criterion is not None:
        lead = view.value(measure.criterion, measure.label)
    name = [lead, aside(_owner(measure, view))] if lead else [_owner(measure, view)]
    if measure.left_out:
        left_out = ", ".join(f"{n:,} {words(reason).lower()}" for reason, n in measure.left_out.items())
        name.append(aside(f"left out: {left_out}"))
    if measure.detail and "per_label" in measure.detail:
        values = cast("Mapping[str, float | None]", measure.detail["per_label"])
        each = [f"{label} {'undefined' if value is None else number(value)}" for label, value in values.items()]
        name.append(aside(", ".join(each)))
    return Row(join(name), _spoken(measure), measure.estimate, _shape(measure, view), group)


def _owner(measure: Figure, view: View) -> Markup:
    """Whose figure it is: that of a rater, of all people, of a pair, or of no rater in particular."""
    against = measure.against
    if measure.rater is None:
        default = "all items" if measure.criterion is None else "all raters"
        return join([default if measure.label is None else _VOTES.get(str(measure.label), str(measure.label))])
    if against is None:
        return view.rater(measure.rater)
    other = view.rater(against) if view.known(against) else element("span", f"the {against}")
    return join([view.rater(measure.rater), " with ", other])


def _spoken(measure: Figure) -> str:
    """A measure in words, for screen readers and tooltips."""
    sides = [side for side in (measure.rater, measure.against) if side]
    parts = [words(measure.statistic), measure.criterion, " with ".join(sides), measure.label]
    return ", ".join(str(part) for part in parts if part)


def _shape(measure: Figure, view: View) -> Shape:
    if measure.rater is None:
        return "plain"
    return "pair" if measure.against and view.known(measure.against) else view.shape(measure.rater)


def breakdowns_section(view: View) -> Section:
    parts: list[Markup] = []
    found = grouped((one for one in view.single_figures if one.stratum), lambda one: tuple(one.stratum or ()))
    empty: list[str] = []
    for fields in [*((field,) for field in view.protocol.strata), *view.protocol.crossed]:
        if figures := found.get(tuple(fields)):
            title = view.fields(fields)
            parts += [element("h3", f"By {title}"), *_breakdown(title, figures, view)]
        elif len(fields) == 1:
            empty.append(view.fields(fields))
    if empty:
        parts.append(note(f"Not broken down by {listed(empty)}: no item has a value there, or nothing was measured."))
    if not parts:
        parts = [note("The protocol names no fields to break the results down by.")]
    return Section("strata", "Breakdowns", join(parts))


def _breakdown(title: str, figures: Sequence[Figure], view: View) -> Iterator[Markup]:
    by = f"by {title}"
    for name, of_name in grouped(figures, lambda one: one.statistic).items():
        drawn = _drawn(of_name, view)
        if not drawn:
            continue
        several = len({one.criterion for one in drawn}) > 1
        rows: list[Row] = []
        by_stratum = grouped(drawn, lambda one: (one.criterion, str(one.stratum))).values()
        for one in (one for some in by_stratum for one in sorted(some, key=lambda one: one.rater != PEOPLE)):
            value = _stratum(one)
            name_of_row = join([element("bdi", value), element("span", _owner(one, view), class_="aside inline")])
            group = view.criterion(one.criterion) if several and one.criterion else ""
            rows.append(Row(name_of_row, f"{value}, {_spoken(one)}", one.estimate, _shape(one, view), group))
        yield _forest(f"{words(name)} {by}", name, rows, view)
    parts = grouped(figures, lambda one: (one.statistic, one.criterion)).values()
    yield folded(f"Every rater and every measure {by}", [_table(title, part, view) for part in parts])


def _drawn(figures: Sequence[Figure], view: View) -> Sequence[Figure]:
    """All people together and the models, or each rater if there is no figure for all people. Pairs stay in tables."""
    if figures[0].kind in _FOLDED:
        return ()
    pooled = any(one.rater == PEOPLE and not view.known(PEOPLE) for one in figures)
    if pooled or any(one.against for one in figures):
        return [one for one in figures if not view.is_individual(one)]
    return figures


def _stratum(figure: Figure) -> str:
    return " · ".join((figure.stratum or {}).values())


def _table(title: str, figures: Sequence[Figure], view: View) -> Markup:
    """Strata down, raters or pairs across."""
    sides = grouped(figures, lambda one: (one.rater, one.against, str(one.label)))
    values = dict.fromkeys(map(_stratum, figures))
    style = _style(figures[0].kind)

    def cell(value: str, side: Sequence[Figure]) -> str:
        found = next((one for one in side if _stratum(one) == value), None)
        return "not measured" if found is None else estimate_cell(found.estimate, style)

    def head(one: Figure) -> Markup:
        label = None if one.label is None or one.rater is None else f"{one.label} "
        return join([label, _owner(one, view)])

    rows = [[value, *(cell(value, side) for side in sides.values())] for value in values]
    heads = [title, *(head(side[0]) for side in sides.values())]
    criterion = f", {view.criterion(figures[0].criterion)}" if figures[0].criterion else ""
    return table(f"{words(figures[0].statistic)}{criterion}", heads, rows, "numbers")
