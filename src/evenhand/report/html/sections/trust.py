"""How far each rater can be trusted: a part for each criterion."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from evenhand.analysis.trust import Confidence, ModelTrust, Severity, Trust, in_words
from evenhand.analysis.trust.powered import MEAN
from evenhand.report.data import Report
from evenhand.report.html.elements import (
    Section,
    aside,
    bullets,
    element,
    estimate_cell,
    facts,
    figure,
    folded,
    join,
    note,
    table,
)
from evenhand.report.html.names import MOST_RATERS, Names, anchor, rest
from evenhand.report.numbers import Style, number
from evenhand.report.plots.calibration import calibration_plot
from evenhand.report.plots.forest import Row, forest
from evenhand.report.plots.track import Guide
from evenhand.statistics import AltTest, Estimate

_FEW = 20
"""Calibration plots from fewer ratings than this are folded."""
_MOST_CALIBRATED = 5
"""Raters whose calibration is drawn if there are many."""
_SEVERITY: Mapping[str, Callable[[Severity], Estimate]] = {
    "leniency: how much higher the rater rates": lambda one: one.leniency,
    "drift: how much more lenient the rater became over time": lambda one: one.drift,
}
_ZERO = Guide("no difference", Estimate(value=0.0), "baseline")


def trust_section(report: Report, names: Names) -> Section:
    parts = [_criterion(found, names) for found in report.trust.values()]
    if not parts:
        parts = [note("Free-text answers can only be read: no criterion here can be compared by its values.")]
    entries = [(anchor("trust", name), names.criterion(name)) for name in report.trust]
    return Section("trust", "How far each rater can be trusted", join(parts), entries)


def _criterion(found: Trust, names: Names) -> Markup:
    parts: list[Markup | None] = [
        element("h3", names.criterion(found.criterion), id=anchor("trust", found.criterion)),
        bullets(in_words(found)),
    ]
    parts.append(_standings(found, names))
    for model in found.models:
        parts += [_powered(model, names), _stand_in(model, names)]
    parts += [_compared(found, names), _calibrations(found.confidences, names), _severities(found, names)]
    return element("article", parts, class_="criterion")


def _standings(found: Trust, names: Names) -> Markup | None:
    """Models and people separately: their shares refer to different majorities and cannot be compared."""
    shown = names.raters(found.people, lambda one: one.rater, lambda one: one.match.n)
    models, people = (
        [Row(names.rater(one.rater), one.rater, one.match, names.shape(one.rater)) for one in standings]
        for standings in ([model.standing for model in found.models], shown)
    )
    caveat = note(
        "Do not compare these with the models' shares: a person is compared with the majority of all other people, "
        "which gives a lower share to a rater who is just as good. “Models next to people” below compares both with "
        "the same people."
    )
    drawn: list[Markup] = []
    if models:
        drawn.append(forest("How often each model agrees with the people's majority", models, "share"))
    if people:
        caption = "How often each person agrees with the majority of the other people"
        below = join([caveat if models else None, rest(len(people), len(found.people))])
        drawn.append(forest(caption, people, "share", below=below))
    return join(drawn) if drawn else None


def _powered(model: ModelTrust, names: Names) -> Markup | None:
    """The three estimates, if the model rated more units than the people did."""
    found = model.powered
    if found.labelled == 0 or found.further == 0:
        return None
    rows: list[Row] = []
    for of, one in found.estimates.items():
        group = "mean score" if of == MEAN else of
        rows += [
            Row("both together, corrected", f"{group}, prediction-powered", one.combined, "plain", group),
            Row("people alone", f"{group}, people alone", one.human_only, "people", group),
            Row("model alone", f"{group}, model alone", one.model_only, names.shape(model.rater), group),
        ]
    style: Style = "score" if MEAN in found.estimates else "share"
    reasons = list(dict.fromkeys(one.note for one in found.estimates.values() if one.note))
    weights = ", ".join(f"{of} {one.weight:.2f}" for of, one in found.estimates.items())
    below = note(
        f"{found.labelled:,} units with both ratings serve to correct the model's ratings of {found.further:,} more. "
        f"The model-only interval ignores the model's own bias. Weight of the model: {'; '.join([weights, *reasons])}."
    )
    caption = join(["What people would have answered on every unit, estimated with ", names.rater(model.rater)])
    return forest(caption, rows, style, below=below)


def _stand_in(model: ModelTrust, names: Names) -> Markup | None:
    found = model.stand_in
    if found.model is None or found.beside is None or found.model.passed is None:
        return None
    heads = ["rater", "outcome", "wins against", "at least as close to the others, mean share of units"]
    rows = [
        [names.rater(model.rater), *_test(found.model)],
        [f"a rater who always answers {found.constant}", *_test(found.beside)],
    ]
    units = f"ε {found.epsilon:g}, {found.n_units:,} units"
    caption = f"Could it replace one of the people? Alternative-annotator test, {units}"
    duels = [
        [names.rater(found.people[duel.rater]), f"{duel.n:,}", *_duel(duel.advantage, duel.p, duel.won, duel.why)]
        for duel in found.model.duels
    ]
    each = table("Against each person", ["person", "units", "share", "p", "outcome"], duels, "numbers")
    return element("div", table(caption, heads, rows, "numbers"), folded("Person by person", each), class_="figure")


def _test(found: AltTest) -> Sequence[str]:
    if found.passed is None or found.winning_rate is None or found.advantage is None:
        return [f"not tested: {found.why}", "not tested", "not tested"]
    tested = sum(duel.p is not None for duel in found.duels)
    won = sum(duel.won for duel in found.duels)
    return [
        "✓ passes" if found.passed else "✗ does not pass",
        f"{won} of {tested} people",
        number(found.advantage, "share"),
    ]


def _duel(advantage: float | None, p: float | None, won: bool, why: str | None) -> Sequence[str]:
    if advantage is None or p is None:
        return [f"not tested: {why}", "not tested", "not tested"]
    return [number(advantage, "share"), "< 0.001" if p < 0.001 else f"{p:.3f}", "won" if won else "not won"]


def _compared(found: Trust, names: Names) -> Markup | None:
    """Each model and each person, compared with the same other people: by distance if the values are scores."""
    rows: list[Row] = []
    by_distance = False
    for one in [*(one for model in found.models for one in model.against), *found.rivals]:
        measured = one.distance or one.match
        if measured is None:
            continue
        by_distance = one.distance is not None
        name = join([names.rater(one.first), " minus ", names.rater(one.second)])
        rows.append(Row(name, f"{one.first} minus {one.second}", measured.difference, "pair"))
    if not rows:
        return None
    what = "distance from the people's mean, in points: left of 0 the first is closer"
    if not by_distance:
        what = "match with the people's majority: right of 0 the first is closer"
    caption = f"Two raters compared with the same other people; {what}"
    shown = names.select(rows, lambda row: row.estimate.n, most=MOST_RATERS)
    below = rest(len(shown), len(rows))
    return folded("Models next to people, pair by pair", forest(caption, shown, "points", guides=[_ZERO], below=below))


def _calibrations(found: Sequence[Confidence], names: Names) -> Markup | None:
    known_for = {one.rater: one.calibration for one in found if one.calibration is not None}
    shown = names.select(list(known_for), lambda rater: known_for[rater].n, most=_MOST_CALIBRATED, last=names.is_person)
    drawn: list[Markup] = []
    for rater in shown:
        known = known_for[rater]
        label = f"Calibration of {rater}: stated confidence against the share that was right, {known.n} ratings"
        scores: Sequence[tuple[str, Estimate, Style]] = [
            ("more confident than right by", known.overconfidence, "points"),
            ("Brier score", known.brier, "coefficient"),
            ("calibration error", known.error, "coefficient"),
            ("separates right from wrong", known.discrimination, "coefficient"),
        ]
        listed = facts([(name, estimate_cell(one, style)) for name, one, style in scores], "small-facts")
        plot = calibration_plot(known.bins, label, names.shape(rater))
        drawn.append(figure(join([names.rater(rater), aside(f"n {known.n:,}")]), plot, listed))
    if not drawn:
        return None
    legend = note(
        "On the dashed line, confidence is justified; below it, a rater is more confident than right. Larger dots mean "
        "more ratings."
    )
    inside = join([legend, rest(len(drawn), len(known_for)), element("div", drawn, class_="side-by-side")])
    if max(known_for[rater].n for rater in shown) < _FEW:
        return folded(f"Stated confidence and accuracy (all from fewer than {_FEW} ratings)", inside)
    return element("div", element("h4", "Stated confidence and accuracy"), inside)


def _severities(found: Trust, names: Names) -> Markup | None:
    if not found.severities:
        return None
    shown = names.raters(found.severities, lambda one: one.rater, lambda one: one.leniency.n)
    compared = {one.beside for one in shown}

    def name(one: Severity) -> Markup:
        others = aside(f"compared with the other {one.beside}") if len(compared) > 1 else None
        return join([names.rater(one.rater), others])

    rows = [
        Row(name(one), f"{one.rater}, {group}", pick(one), names.shape(one.rater), group)
        for group, pick in _SEVERITY.items()
        for one in shown
    ]
    with_whom = f", compared with the other {compared.pop()}" if len(compared) == 1 else ""
    below = rest(len(shown), len(found.severities))
    return forest(f"Severity and drift in points of the scale{with_whom}", rows, "points", guides=[_ZERO], below=below)
