"""How far the raters agree: a part for each criterion, with a matrix of all pairs."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from evenhand.analysis.agreement import Agreement, Majority, Pair
from evenhand.records import Status
from evenhand.report.data import Report
from evenhand.report.html.elements import (
    Section,
    aside,
    bullets,
    element,
    estimate_cell,
    figure,
    folded,
    join,
    note,
    paragraph,
    table,
    warning,
)
from evenhand.report.html.names import MOST_PAIRS, Names, anchor
from evenhand.report.numbers import Style, count, described, interval, number
from evenhand.report.plots.forest import Row, forest
from evenhand.report.plots.heat_map import HeatCell, colour_step, heat_map
from evenhand.report.plots.track import stack
from evenhand.statistics import Estimate, undefined

FEW_LABELS = 12
"""More different answers than this make neither a matrix nor a list that anyone reads."""

_LEVELS = {"nominal": "labels without an order", "ordinal": "ordered levels", "interval": "numbers"}
_OUTLINES = {"person-person": "pp", "person-model": "pm", "model-model": "mm"}


def agreement_section(report: Report, names: Names) -> Section:
    found = report.agreements.values()
    parts = [_overview(report, names)] if len(found) > 1 else []
    parts += [_legend()] if any(one.pairs for one in found) else []
    parts += [_criterion(one, report, names) for one in found]
    entries = [(anchor("agreement", name), names.criterion(name)) for name in report.agreements]
    return Section("agreement", "How far the raters agree", join(parts), entries)


def _overview(report: Report, names: Names) -> Markup:
    groups: Sequence[tuple[str, Callable[[Agreement], Estimate]]] = [
        ("Krippendorff's α, all raters", lambda found: found.alpha),
        ("α among people alone", lambda found: found.ceiling_alpha),
    ]
    rows = [
        Row(names.criterion(found.criterion), names.criterion(found.criterion), pick(found), group=group)
        for group, pick in groups
        for found in report.agreements.values()
    ]
    return forest("Agreement beyond chance on each criterion. 1 is perfect, 0 is what chance would give.", rows)


def _legend() -> Markup:
    return note(
        "In the matrices of all pairs, a thick outline means two people, a thin one a person and a model, a dashed one "
        "two models. Below each value is the number of units both rated; point at a cell to see the interval. The "
        "separate column shows what people reach among themselves (α next to κ), the separate row what a rater would "
        "reach who always gives the people's most common answer."
    )


def _criterion(found: Agreement, report: Report, names: Names) -> Markup:
    criterion = report.source.protocol.criterion(found.criterion)
    parts = [element("h3", criterion.title, id=anchor("agreement", found.criterion)), note(criterion.question)]
    if criterion.scale.type == "text":
        parts.append(note("Free-text answers are compared only on whether there is one."))
    parts += [warning(text) for text in found.warnings]
    parts.append(_lead(found))
    if found.pairs:
        parts += [
            _matrices(found, names),
            _coefficients(found),
            _labels(found, names),
            _majority(found.majority, names),
            _pairs(found, names),
        ]
    return element("article", parts, class_="criterion")


def _lead(found: Agreement) -> Markup:
    if not found.pairs:
        if not found.statuses.get(Status.RATED):
            raters = "No rater has rated this criterion"
        else:
            raters = "No two raters rated the same unit" if found.majority.plain else "Only one rater rated this"
        return paragraph(f"{raters}: there is nothing to compare.", class_="why")
    level = _LEVELS.get(found.level, found.level)
    text = f"{count(found.n_units, 'unit')} rated by two or more, on {level}. "
    if found.percent.value is not None:
        between = interval(found.percent, "share")
        text += f"Two ratings of a unit are the same in {number(found.percent.value, 'share')} of cases"
        text += f" (95% interval {between}). " if between else ". "
    if found.alpha.value is None:
        text += f"Agreement beyond chance is undefined: {found.alpha.why}."
    else:
        between = interval(found.alpha)
        text += f"Beyond chance, α is {number(found.alpha.value)}" + (f" ({between})." if between else ".")
    return paragraph(text, class_="lead")


def _matrices(found: Agreement, names: Names) -> Markup:
    """κ and percent agreement of every pair, side by side, since neither should be read alone."""
    if len(names.pairs(found)) < len(found.pairs):
        return note(
            f"{count(len(found.pairs), 'pair')} of raters share a unit, too many for matrices. Below are the "
            f"{MOST_PAIRS} that share most units. The section on trust compares each model with the people's majority, "
            "and the JSON report has every pair."
        )
    kappa = "κ with quadratic weights" if found.pairs[0].kappa_quadratic is not None else "Cohen's κ"
    constant = Estimate(value=0.0, n=0, note="κ of a rater who always gives one label is 0")
    share = undefined("no person rated this criterion")
    if found.baseline:
        share = Estimate(value=found.baseline.baseline, n=found.baseline.n, note="share of it")
    both = [
        _matrix(
            found, names, f"{kappa}: agreement beyond chance", _kappa, "coefficient", found.ceiling_alpha, constant
        ),
        _matrix(found, names, "Percent agreement", _percent, "share", found.ceiling, share),
    ]
    return join([element("div", both, class_="side-by-side"), _undefined_pairs(found, names)])


def _kappa(pair: Pair) -> Estimate:
    return pair.kappa_quadratic or pair.kappa


def _percent(pair: Pair) -> Estimate:
    return pair.percent


def _matrix(
    found: Agreement,
    names: Names,
    caption: str,
    pick: Callable[[Pair], Estimate],
    style: Style,
    ceiling: Estimate,
    baseline: Estimate,
) -> Markup:
    raters = names.people_first(list(dict.fromkeys(rater for pair in found.pairs for rater in (pair.a, pair.b))))
    place = {rater: n for n, rater in enumerate(raters)}
    cells: dict[tuple[int, int], HeatCell] = {}
    for pair in found.pairs:
        cell = _heat_cell(f"{pair.a} × {pair.b} ({pair.kind})", pick(pair), style, _OUTLINES[pair.kind], pair.n)
        cells[place[pair.a], place[pair.b]] = cells[place[pair.b], place[pair.a]] = cell
    rows = [names.rater(rater) for rater in raters]
    columns = list(rows)
    models = [place[rater] for rater in raters if not names.is_person(rater)]
    people = len(raters) - len(models)
    if models and people > 1:
        columns.append(element("span", "people among themselves", class_="apart"))
        cells |= {(row, len(raters)): _heat_cell("people among themselves", ceiling, style, "apart") for row in models}
    if models and people and found.baseline is not None:
        always = f"always {found.labels[found.baseline.commonest]}"
        rows.append(element("span", always, class_="apart"))
        cells |= {(len(raters), column): _heat_cell(always, baseline, style, "apart") for column in models}
    return figure(caption, heat_map("rater", rows, columns, cells, f"{caption}, {names.criterion(found.criterion)}"))


def _heat_cell(name: str, estimate: Estimate, style: Style, outline: str, n: int | None = None) -> HeatCell:
    title = f"{name}: {described(estimate, style)}"
    small = "" if n is None else f"n {n:,}"
    if estimate.value is None:
        return HeatCell("undefined", title, None, small, f"undefined {outline}")
    return HeatCell(number(estimate.value, style), title, colour_step(estimate.value), small, outline)


def _undefined_pairs(found: Agreement, names: Names) -> Markup | None:
    lines = [
        join([names.pair(pair.a, pair.b), f", {what}: {estimate.why}"])
        for pair in found.pairs
        for what, estimate in (("κ", _kappa(pair)), ("percent agreement", _percent(pair)))
        if estimate.value is None
    ]
    return element("div", note("Undefined, and why:"), bullets(lines), class_="reasons") if lines else None


def _coefficients(found: Agreement) -> Markup:
    weights = "identity weights" if found.level == "nominal" else "quadratic weights"
    beyond, people = "beyond chance, all raters", "among people: the ceiling for a model"
    rows = [
        Row("Krippendorff's α", "Krippendorff's alpha", found.alpha, group=beyond),
        Row("Fleiss' κ", "Fleiss' kappa", found.fleiss, group=beyond),
        Row(f"Gwet's AC, {weights}", "Gwet's AC", found.ac, group=beyond),
    ]
    if found.icc is not None:
        rows.append(Row("ICC(2,1)", "ICC(2,1)", found.icc, group=beyond))
    rows += [
        Row("α, people alone", "alpha among people", found.ceiling_alpha, group=people),
        Row("percent agreement, people alone", "percent agreement of people", found.ceiling, group=people),
        Row(
            "percent agreement, all raters",
            "percent agreement of all raters",
            found.percent,
            group="not corrected for chance",
        ),
    ]
    return forest("All raters together: each coefficient answers a different question", rows)


def _labels(found: Agreement, names: Names) -> Markup:
    if len(found.labels) > FEW_LABELS:
        return note(f"{len(found.labels)} different answers: too many to compare one by one.")
    shares = found.spread.shares if found.spread else None
    rows: list[Row] = []
    for place, label in enumerate(found.labels):
        name = names.value(found.criterion, label) if found.level != "text" else str(label)
        share = f"{number(shares[place], 'share')} of ratings" if shares else "no ratings"
        rows.append(Row(join([name, aside(share)]), name, found.specific[str(label)], group="each label"))
    other = "any label but the most common"
    skewed = found.spread is not None and found.spread.skewed
    rows.append(Row(other, other, found.rare, group="the rare labels" if skewed else "taken as one"))
    caption = "If one rater gave a value, how often another rater of the same unit gave it too"
    return forest(caption, rows, "share")


def _majority(majority: Majority, names: Names) -> Markup:
    votes = majority.votes
    if votes.n == 0:
        return note("No unit was rated by every rater, so there is no vote to count.")
    counts = (votes.full, votes.majority, votes.none)
    labels = ("all agree", "more than half agree", "no majority")
    title = ", ".join(f"{label}: {n}" for label, n in zip(labels, counts, strict=True))
    bar = element("div", stack(counts, labels, (9, 5, 1), f"{count(votes.n, 'unit')}: {title}"), class_="bar")
    summary = note(f"{count(votes.n, 'unit')} that every rater rated: ", title, ".")
    groups = (
        ("with the majority of the other raters", majority.others),
        ("with the majority of all, the rater's own vote included (too favourable)", majority.plain),
    )
    rows = [
        Row(names.rater(rater), rater, estimate, names.shape(rater), group)
        for group, found in groups
        for rater, estimate in found.items()
    ]
    plot = forest("How often each rater is with the majority", rows, "share") if rows else None
    return element("div", element("h4", "Majority vote"), bar, summary, plot)


def _pairs(found: Agreement, names: Names) -> Markup:
    """Every coefficient of every pair, folded: for those who want one particular number."""
    columns: Sequence[tuple[str, Style, Callable[[Pair], Estimate | None]]] = [
        ("percent agreement", "share", lambda pair: pair.percent),
        ("within one", "share", lambda pair: pair.within_one),
        ("κ", "coefficient", lambda pair: pair.kappa),
        ("κ linear", "coefficient", lambda pair: pair.kappa_linear),
        ("κ quadratic", "coefficient", lambda pair: pair.kappa_quadratic),
        ("AC", "coefficient", lambda pair: pair.ac),
        ("macro-F1", "coefficient", lambda pair: pair.macro_f1),
        ("Spearman", "coefficient", lambda pair: pair.spearman),
    ]
    pairs = names.pairs(found)
    used = [column for column in columns if any(column[2](pair) is not None for pair in pairs)]
    rows = [
        [
            names.pair(pair.a, pair.b),
            pair.kind,
            f"{pair.n:,}",
            *(estimate_cell(pick(pair), style) for _, style, pick in used),
        ]
        for pair in pairs
    ]
    heads = ["pair", "kind", "n", *(name for name, _, _ in used)]
    which = "Every pair" if len(pairs) == len(found.pairs) else f"The {len(pairs)} pairs that share most units"
    caption = f"{which}, every coefficient, with 95% intervals"
    parts = [table(caption, heads, rows, "numbers"), _per_label(found, pairs, names)]
    return folded(f"All coefficients of {count(len(pairs), 'pair')}", parts)


def _per_label(found: Agreement, pairs: Sequence[Pair], names: Names) -> Markup:
    if len(found.labels) > FEW_LABELS:
        return note("Too many different answers to list them label by label.")
    rows = [
        [names.pair(pair.a, pair.b), *(estimate_cell(pair.per_label[str(label)], "share") for label in found.labels)]
        for pair in pairs
    ]
    heads = ["pair", *(names.value(found.criterion, label) for label in found.labels)]
    return table("Of the units to which either gave the label, the share to which both did", heads, rows, "numbers")
