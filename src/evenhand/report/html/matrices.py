"""Heat maps of all pairs."""

from collections.abc import Callable, Sequence

from evenhand.agreement.result import Estimate, undefined
from evenhand.matrix import Agreement, Pair
from evenhand.report.figures import Style, count, described, number
from evenhand.report.html.blocks import figure, items, note
from evenhand.report.html.names import MOST, Names
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.heatmap import Cell, Head, heat_map, step_of

FEW_LABELS = 12
"""More different answers than this make neither a matrix nor a list that anyone reads."""

_OUTLINES = {"person-person": "pp", "person-model": "pm", "model-model": "mm"}


def pair_matrices(found: Agreement, names: Names) -> Markup:
    """κ and plain agreement of every pair, side by side: neither is to be read alone."""
    weighted = found.pairs[0].kappa_quadratic is not None
    kappa = "κ with quadratic weights" if weighted else "Cohen's κ"
    constant = Estimate(value=0.0, n=0, note="κ of a rater who always gives one label is 0")
    share = found.baseline.baseline if found.baseline else None
    nothing = undefined("no person rated this criterion")
    base = Estimate(value=share, n=found.baseline.n, note="share of it") if found.baseline else nothing
    both = [
        _matrix(
            found, names, f"{kappa}: agreement beyond chance", _kappa, "coefficient", found.ceiling_alpha, constant
        ),
        _matrix(found, names, "Plain agreement: the same answer", _percent, "share", found.ceiling, base),
    ]
    return join([element("div", both, class_="side-by-side"), _reasons(found, names)])


def told_pairs(found: Agreement, names: Names) -> Sequence[Pair]:
    """The pairs that a page shows: all, or with many raters those that share most units."""
    if not names.many or len(found.pairs) <= MOST:
        return found.pairs
    return sorted(found.pairs, key=lambda pair: -pair.n)[:MOST]


def too_many(found: Agreement, names: Names) -> Markup | None:
    """What stands in the place of matrices that nobody could read."""
    if len(told_pairs(found, names)) == len(found.pairs):
        return None
    return note(
        f"{count(len(found.pairs), 'pair')} of raters share a unit, too many for matrices. Below are the {MOST} that "
        "share most units; how far each model is with the people's majority stands under trust, and a report in JSON "
        "has every pair."
    )


def legend() -> Markup:
    """How to read `pair_matrices`."""
    return note(
        "In the matrices of all pairs a thick outline is two people, a thin one a person and a model, a dashed one two "
        "models. Below each value, how many units both rated; pointing at a cell shows the interval. The column apart "
        "is what people reach among themselves (α beside κ), the row apart what a rater would reach who always gives "
        "the people's commonest answer."
    )


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
    place = {rater: number for number, rater in enumerate(raters)}
    cells: dict[tuple[int, int], Cell] = {}
    for pair in found.pairs:
        drawn = _pair_cell(pair, pick(pair), style)
        cells[place[pair.a], place[pair.b]] = cells[place[pair.b], place[pair.a]] = drawn
    rows = [Head(rater, names.shape(rater)) for rater in raters]
    heads = list(rows)
    models = [place[rater] for rater in raters if not names.is_person(rater)]
    people = len(raters) - len(models)
    if models and people > 1:
        heads.append(Head("people's own ceiling", apart=True))
        for row in models:
            cells[row, len(raters)] = _beside("people among themselves", ceiling, style)
    if models and people and found.baseline is not None:
        label = found.labels[found.baseline.commonest]
        rows.append(Head(f"always {label}", apart=True))
        for column in models:
            cells[len(raters), column] = _beside(f"always {label}", baseline, style)
    return figure(caption, heat_map(rows, heads, cells, f"{caption}, {names.criterion(found.criterion)}"))


def _pair_cell(pair: Pair, estimate: Estimate, style: Style) -> Cell:
    title = f"{pair.a} × {pair.b} ({pair.kind}): {described(estimate, style)}"
    outline = _OUTLINES[pair.kind]
    if estimate.value is None:
        return Cell("undefined", title, None, f"n {pair.n:,}", f"{outline} undefined")
    return Cell(number(estimate.value, style), title, step_of(estimate.value), f"n {pair.n:,}", outline)


def _beside(name: str, estimate: Estimate, style: Style) -> Cell:
    title = f"{name}: {described(estimate, style)}"
    if estimate.value is None:
        return Cell("undefined", title, None, outline="undefined apart")
    return Cell(number(estimate.value, style), title, step_of(estimate.value), outline="apart")


def _reasons(found: Agreement, names: Names) -> Markup | None:
    lines = [
        join([names.pair(pair.a, pair.b), f", {what}: {estimate.why}"])
        for pair in found.pairs
        for what, estimate in (("κ", _kappa(pair)), ("plain agreement", _percent(pair)))
        if estimate.value is None
    ]
    return element("div", note("Undefined, and why:"), items(lines), class_="reasons") if lines else None
