"""How far the raters agree: coefficients, matrices of all pairs, confusion matrices, and the use of each scale."""

from collections.abc import Mapping, Sequence
from typing import cast

from markupsafe import Markup

from evenhand.analysis.agreement import Agreement, Majority, Pair
from evenhand.analysis.figures import Figure
from evenhand.records import Status
from evenhand.report.build import Distribution
from evenhand.report.html.elements import Section, aside, bullets, element, figure, folded, join, note, table, warning
from evenhand.report.html.plots import HeatCell, Row, colour_step, estimate_cell, forest, heat_map, stack, steps_for
from evenhand.report.html.view import MOST_PAIRS, View, anchor, words
from evenhand.report.numbers import Style, described, interval, number, pairs_left_out
from evenhand.statistics import Estimate
from evenhand.text import counted

FEW_LABELS = 12
"""More different answers than this make neither a matrix nor a list that anyone reads."""

_LEVELS = {"nominal": "labels without an order", "ordinal": "ordered levels", "interval": "numbers"}
_OUTLINES = {"person-person": "pp", "person-model": "pm", "model-model": "mm"}
_STATISTICS: Mapping[str, tuple[str, Style]] = {
    "percent": ("percent agreement", "share"),
    "within_one": ("within one", "share"),
    "kappa": ("κ", "coefficient"),
    "kappa_linear": ("κ linear", "coefficient"),
    "kappa_quadratic": ("κ quadratic", "coefficient"),
    "ac": ("AC", "coefficient"),
    "macro_f1": ("macro-F1", "coefficient"),
    "spearman": ("Spearman", "coefficient"),
}


def agreement_section(view: View) -> Section:
    found = view.report.agreements
    parts: list[Markup] = []
    if len(found) > 1:
        named = [(view.criterion(name), one) for name, one in found.items()]
        rows = [Row(title, title, one.alpha, group="Krippendorff's α, all raters") for title, one in named]
        rows += [Row(title, title, one.ceiling_alpha, group="α among people alone") for title, one in named]
        caption = "Agreement beyond chance on each criterion. 1 is perfect, 0 is what chance would give."
        parts.append(forest(caption, rows))
    if any(one.pairs and not _omitted(one, view) for one in found.values()):
        parts.append(
            note(
                "In the matrices of all pairs, a thick outline means two people, a thin one a person and a model, a "
                "dashed one two models. Below each value is the number of units that both rated; hover over a cell to "
                "see the interval. The separate column shows what people reach among themselves (α next to κ); the "
                "separate row, what a rater would reach who always gives the people's most common answer."
            )
        )
    parts += [_criterion(one, view) for one in [*found.values(), *view.report.by_stratum]]
    entries = [(anchor("agreement", name), view.criterion(name)) for name in found]
    return Section("agreement", "How far the raters agree", join(parts), entries)


def _criterion(found: Agreement, view: View) -> Markup:
    criterion = view.protocol.by_id.get(found.criterion)
    stratum = [f"{field} {value}" for field, value in (found.stratum or {}).items()]
    title = ", ".join([view.criterion(found.criterion), *stratum])
    parts = [element("h3", title, id=anchor("agreement", found.criterion, *stratum))]
    parts.append(note(criterion.question if criterion else "A unit counts once for each criterion."))
    if criterion and criterion.scale.type == "text":
        parts.append(note("Free-text answers are compared only by whether there is one."))
    parts += [warning(text) for text in found.warnings]
    parts.append(_lead(found))
    if found.pairs:
        parts += [_matrices(found, view), _coefficients(found), _labels(found, view)]
        parts += [_majority(found.majority, view), _pairs(found, view)]
    return element("article", parts, class_="criterion")


def _lead(found: Agreement) -> Markup:
    if not found.pairs:
        raters = "No two raters rated the same unit" if found.majority.plain else "Only one rater rated this"
        raters = raters if found.statuses.get(Status.RATED) else "No rater has rated this criterion"
        return element("p", f"{raters}: there is nothing to compare.", class_="why")
    level = _LEVELS.get(found.level, found.level)
    text = f"{counted(found.n_units, 'unit')} rated by two or more raters; scale: {level}. "
    if found.percent.value is not None:
        between = interval(found.percent, "share")
        text += f"Two ratings of the same unit are equal in {number(found.percent.value, 'share')} of cases"
        text += f" (95% interval {between}). " if between else ". "
    if found.alpha.value is None:
        text += f"Agreement beyond chance is {described(found.alpha)}."
    else:
        between = interval(found.alpha)
        text += f"Corrected for chance, agreement (α) is {number(found.alpha.value)}"
        text += f" ({between})." if between else "."
    return element("p", text, class_="lead")


def _omitted(found: Agreement, view: View) -> int:
    """The number of all pairs, if the page does not show them all, or 0."""
    pairs = len(view.full.agreements[found.criterion].pairs) if found.stratum is None else 0
    return pairs + found.omitted if pairs > len(found.pairs) else 0


def _matrices(found: Agreement, view: View) -> Markup:
    """κ and percent agreement of every pair, side by side, since neither should be read alone."""
    if pairs := _omitted(found, view):
        return note(
            f"{counted(pairs, 'pair')} of raters share a unit: too many for matrices. Below are {MOST_PAIRS}, those "
            "with a model and those that share the most units. The section on trust compares each model with the "
            "people's majority, and the JSON report has more pairs."
        )
    kappa = "κ with quadratic weights" if found.pairs[0].kappa_quadratic is not None else "Cohen's κ"
    both = [
        _matrix(found, view, f"{kappa}: agreement beyond chance", "coefficient"),
        _matrix(found, view, "Percent agreement", "share"),
    ]
    reasons = [
        join([view.pair(pair.a, pair.b), f", {what}: {estimate.why}"])
        for pair in found.pairs
        for what, estimate in (("κ", pair.kappa_quadratic or pair.kappa), ("percent agreement", pair.percent))
        if estimate.value is None
    ]
    why = element("div", note("Undefined, and why:"), bullets(reasons), class_="reasons") if reasons else None
    return join([element("div", both, class_="side-by-side"), why])


def _matrix(found: Agreement, view: View, caption: str, style: Style) -> Markup:
    """Percent agreement as shares, κ as coefficients."""
    shares = style == "share"
    raters = view.people_first(dict.fromkeys(rater for pair in found.pairs for rater in (pair.a, pair.b)))
    place = {rater: n for n, rater in enumerate(raters)}
    cells: dict[tuple[int, int], HeatCell] = {}
    for pair in found.pairs:
        estimate = pair.percent if shares else pair.kappa_quadratic or pair.kappa
        cell = _heat_cell(f"{pair.a} × {pair.b} ({pair.kind})", estimate, style, _OUTLINES[pair.kind], pair.n)
        cells[place[pair.a], place[pair.b]] = cells[place[pair.b], place[pair.a]] = cell
    rows = [view.rater(rater) for rater in raters]
    columns = list(rows)
    models = [place[rater] for rater in raters if not view.is_person(rater)]
    people = len(raters) - len(models)
    if models and people > 1:
        columns.append(element("span", "people among themselves", class_="apart"))
        ceiling = found.ceiling if shares else found.ceiling_alpha
        cells |= {(row, len(raters)): _heat_cell("people among themselves", ceiling, style, "apart") for row in models}
    if models and people and found.baseline is not None:
        always = f"always {found.labels[found.baseline.commonest]}"
        baseline = Estimate(value=0.0, n=0, note="κ of a rater who always gives one label is 0")
        if shares:
            baseline = Estimate(value=found.baseline.baseline, n=found.baseline.n, note="share of it")
        rows.append(element("span", always, class_="apart"))
        cells |= {(len(raters), column): _heat_cell(always, baseline, style, "apart") for column in models}
    return figure(caption, heat_map("rater", rows, columns, cells, f"{caption}, {view.criterion(found.criterion)}"))


def _heat_cell(name: str, estimate: Estimate, style: Style, outline: str, n: int | None = None) -> HeatCell:
    title = f"{name}: {described(estimate, style)}"
    small = "" if n is None else f"n {n:,}"
    if estimate.value is None:
        return HeatCell("undefined", title, None, small, f"undefined {outline}")
    return HeatCell(number(estimate.value, style), title, colour_step(estimate.value), small, outline)


def _coefficients(found: Agreement) -> Markup:
    weights = "identity weights" if found.level == "nominal" else "quadratic weights"
    beyond, people = "beyond chance, all raters", "among people: the ceiling for a model"
    rows = [
        Row("Krippendorff's α", "Krippendorff's alpha", found.alpha, group=beyond),
        Row("Fleiss' κ", "Fleiss' kappa", found.fleiss, group=beyond),
        Row(f"Gwet's AC, {weights}", "Gwet's AC", found.ac, group=beyond),
        *([Row("ICC(2,1)", "ICC(2,1)", found.icc, group=beyond)] if found.icc else []),
        Row("α, people alone", "alpha among people", found.ceiling_alpha, group=people),
        Row("percent agreement, people alone", "percent agreement of people", found.ceiling, group=people),
    ]
    percent, said = "percent agreement, all raters", "percent agreement of all raters"
    rows.append(Row(percent, said, found.percent, group="not corrected for chance"))
    return forest("All raters together: each coefficient answers a different question", rows)


def _labels(found: Agreement, view: View) -> Markup:
    if found.values:
        return note("The ratings: ", ", ".join(f"{name} {value:,.4g}" for name, value in found.values.items()), ".")
    if len(found.labels) > FEW_LABELS:
        return note(f"{len(found.labels)} different answers: too many to compare one by one.")
    shares = found.spread.shares if found.spread else None
    rows: list[Row] = []
    for place, label in enumerate(found.labels):
        name = view.value(found.criterion, label)
        share = f"{number(shares[place], 'share')} of ratings" if shares else "no ratings"
        rows.append(Row(join([name, aside(share)]), name, found.specific[str(label)], group="each label"))
    other = "any label but the most common"
    skewed = found.spread is not None and found.spread.skewed
    rows.append(Row(other, other, found.rare, group="the rare labels" if skewed else "taken together"))
    caption = "When one rater gave a value, how often another rater of the same unit gave it too"
    return forest(caption, rows, "share")


def _majority(majority: Majority, view: View) -> Markup:
    if not majority.by_count:
        return note("No unit has two votes, so there is no majority to count.")
    bars: list[Markup] = []
    labels = ("all agree", "more than half agree", "no majority")
    for size, votes in majority.by_count.items():
        counts = (votes.full, votes.majority, votes.none)
        units = f"{counted(votes.n, 'unit')} with {size} votes: "
        units += ", ".join(f"{label}: {n}" for label, n in zip(labels, counts, strict=True))
        bars += [element("div", stack(counts, labels, (9, 5, 1), units), class_="bar"), note(f"{units}.")]
    favourable = "with the majority of all, including the rater's own vote (too favourable)"
    groups = {"with the majority of the other raters": majority.others, favourable: majority.plain}
    rows = [
        Row(view.rater(rater), rater, estimate, view.shape(rater), group)
        for group, found in groups.items()
        for rater, estimate in found.items()
    ]
    plot = forest("How often each rater sides with the majority", rows, "share") if rows else None
    return element("div", element("h4", "Majority vote"), bars, plot)


def _pairs(found: Agreement, view: View) -> Markup:
    """Every coefficient of every pair, folded: for those who want one particular number."""
    shown = {name: _STATISTICS[name] for name in sorted(found.pairs[0].statistics, key=list(_STATISTICS).index)}
    names = [view.pair(pair.a, pair.b) for pair in found.pairs]
    rows: list[list[str]] = []
    for name, pair in zip(names, found.pairs, strict=True):
        cells = [estimate_cell(pair.statistics[one], style) for one, (_, style) in shown.items()]
        rows.append([name, pair.kind, f"{pair.n:,}", *cells])
    heads = ["pair", "kind", "n", *(title for title, _ in shown.values())]
    which = counted(len(found.pairs), "pair") if _omitted(found, view) else "Every pair"
    each = None if found.values else note("Too many different answers to list them label by label.")
    if len(found.pairs[0].labels) in range(1, FEW_LABELS + 1):
        labels = [view.value(found.criterion, label) for label in found.labels]
        shares = [
            [name, *(estimate_cell(pair.per_label[str(label)], "share") for label in found.labels)]
            for name, pair in zip(names, found.pairs, strict=True)
        ]
        caption = "Of the units that either rater gave the label, the share that both did"
        each = table(caption, ["pair", *labels], shares, "numbers")
    parts = [table(f"{which}, every coefficient, with 95% intervals", heads, rows, "numbers"), each]
    parts += map(note, pairs_left_out(found))
    return folded(f"All coefficients of {counted(len(found.pairs), 'pair')}", parts)


def distributions_section(view: View) -> Section:
    parts = [_distribution(found, view) for found in view.report.distributions]
    if not parts:
        parts = [note("No criterion has a fixed set of values, so there is nothing to count.")]
    intro = note("Each bar shows all ratings of one rater; the numbers in it are percentages.")
    return Section("distributions", "How each rater uses the scale", join([intro, *parts]))


def _distribution(found: Distribution, view: View) -> Markup:
    name = view.criterion(found.criterion)
    title = element("h3", name)
    if not found.by_rater:
        return element("div", title, note("No rater has rated this criterion."))
    labels = [view.value(found.criterion, value) for value in found.values]
    steps = steps_for(len(labels))
    legend = [
        element("li", element("span", class_=f"swatch h{step}"), label)
        for label, step in zip(labels, steps, strict=True)
    ]
    ordered = view.protocol.criterion(found.criterion).scale.level != "nominal"
    shades = note("The shade follows the order of the scale.") if ordered else None
    rows: list[Markup] = []
    for rater in view.people_first(found.by_rater):
        counts = found.by_rater[rater]
        spelled = ", ".join(f"{label} {times}" for label, times in zip(labels, counts, strict=True) if times)
        bar = stack(counts, labels, steps, f"{rater}: {spelled}")
        cells = [element("td", bar, class_="plot"), element("td", f"{sum(counts):,}", class_="n")]
        rows.append(element("tr", element("th", view.rater(rater), scope="row"), cells))
    heads = element("tr", [element("th", head, scope="col") for head in ("rater", "share of ratings", "n")])
    caption = element("caption", f"{name}: ratings by value", class_="unseen")
    inside = element("table", caption, element("thead", heads), element("tbody", rows), class_="forest spread")
    return element("div", title, element("ul", legend, class_="legend"), shades, inside, class_="figure")


def confusion_section(view: View) -> Section:
    """A matrix for each pair; those of a person and a model are open, the others folded."""
    report = view.report
    parts = [_of_fields(one) for one in report.measures if one.kind == "confusion_matrix" and one.stratum is None]
    for found in report.agreements.values():
        if found.pairs:
            parts += [element("h3", view.criterion(found.criterion)), *_of_criterion(found, view)]
    intro = note(
        "Rows show one rater's answers (the person's, if only one of the two is a person), columns the other's on the "
        "same units: counts, with the share of the row below. The diagonal is agreement."
    )
    body = join([intro, *(parts or [note("There is no pair of raters to compare.")])])
    return Section("confusion", "Confusion matrices", body)


def _of_criterion(found: Agreement, view: View) -> Sequence[Markup]:
    if found.values or len(found.labels) > FEW_LABELS:
        return [note(f"{len(found.labels)} different answers: no matrix.")]
    if pairs := _omitted(found, view):
        return [note(f"{pairs:,} pairs of raters: too many for matrices. The JSON report has more.")]
    shown = [pair for pair in found.pairs if pair.kind == "person-model"] or found.pairs
    others = [pair for pair in found.pairs if pair not in shown]
    side_by_side = [
        element("div", [_of_pair(found, pair, view) for pair in pairs], class_="side-by-side")
        for pairs in (shown, others)
    ]
    more = f"{len(others)} more: people among themselves, models among themselves"
    return [side_by_side[0], *([folded(more, side_by_side[1])] if others else [])]


def _of_pair(found: Agreement, pair: Pair, view: View) -> Markup:
    titles = [view.value(found.criterion, label) for label in pair.labels]
    heads = [str(label) for label in pair.labels] if found.level == "ordinal" else titles
    label = f"Confusion matrix of {pair.a} (rows) and {pair.b} (columns), {view.criterion(found.criterion)}"
    caption = join([view.pair(pair.a, pair.b), aside(f"n {pair.n:,}")])
    return figure(caption, _confusion(label, heads, titles, pair.confusion, pair.a, pair.b))


def _of_fields(measure: Figure) -> Markup:
    """Truth against prediction, which needs no rater."""
    detail = measure.detail or {}
    labels = cast("Sequence[str]", detail["labels"])
    counts = cast("Sequence[Sequence[int]]", detail["counts"])
    rows, columns = words(str(detail["rows"])), words(str(detail["columns"]))
    caption = f"{rows} × {columns.lower()} of {measure.estimate.n:,} items"
    if not 0 < len(labels) <= FEW_LABELS:
        return note(f"{caption}: no matrix for {len(labels)} labels.")
    label = f"Confusion matrix of {rows} (rows) and {columns} (columns)"
    matrix = _confusion(label, labels, labels, counts, rows, columns)
    return element("div", figure(caption, matrix), class_="side-by-side")


def _confusion(
    label: str, heads: Sequence[str], titles: Sequence[str], counts: Sequence[Sequence[int]], down: str, across: str
) -> Markup:
    cells: dict[tuple[int, int], HeatCell] = {}
    for row, of_row in enumerate(counts):
        total = sum(of_row)
        for column, times in enumerate(of_row):
            share = times / total if total else 0.0
            title = f"{down} {titles[row]}, {across} {titles[column]}: {times:,} of {total:,}"
            step, small = (colour_step(share), number(share, "share")) if times else (None, "")
            cells[row, column] = HeatCell(f"{times:,}", title, step, small, "diagonal" if row == column else "")
    return heat_map(f"{down} ↓ {across} →", heads, heads, cells, label)
