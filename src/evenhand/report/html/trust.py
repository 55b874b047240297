"""How far each rater can be trusted: a part for each criterion."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from evenhand.analysis.trust import MEAN, Confidence, ModelTrust, Severity, Standing, Trust
from evenhand.report.html.elements import Section, aside, bullets, element, facts, figure, folded, join, note, table
from evenhand.report.html.plots import Guide, Row, calibration_plot, estimate_cell, forest
from evenhand.report.html.view import View, anchor
from evenhand.report.numbers import Style, number
from evenhand.report.trust_sentences import in_words
from evenhand.statistics import AltTest, Estimate
from evenhand.statistics.models.alt_test import Duel

_FEW = 20
"""Calibration plots from fewer ratings than this are folded."""
_SEVERITY: Mapping[str, Callable[[Severity], Estimate]] = {
    "leniency: how much higher the rater rates": lambda one: one.leniency,
    "drift: how much more lenient the rater became over time": lambda one: one.drift,
}
_ZERO = Guide("no difference", 0.0, "baseline")
_NOT_TESTED = "not tested"


def trust_section(view: View) -> Section:
    parts = [_criterion(found, view) for found in view.report.trust.values()]
    if not parts:
        parts = [note("No criterion has values to compare: free-text answers can only be read.")]
    entries = [(anchor("trust", name), view.criterion(name)) for name in view.report.trust]
    return Section("trust", "How far each rater can be trusted", join(parts), entries)


def _criterion(found: Trust, view: View) -> Markup:
    name = found.criterion
    parts: list[Markup | None] = [
        element("h3", view.criterion(name), id=anchor("trust", name)),
        bullets(in_words(view.full.trust[name])),
        _standings(found, view),
    ]
    for model in found.models:
        parts += [_powered(model, view), _stand_in(model, view)]
    parts += [_compared(found, view), _calibrations(found.confidences, view), _severities(found.severities, view)]
    return element("article", parts, class_="criterion")


def _standings(found: Trust, view: View) -> Markup:
    """Models and people separately: their shares refer to different majorities and cannot be compared."""

    def drawn(caption: str, standings: Sequence[Standing], below: Markup | None = None) -> Markup | None:
        rows = [Row(view.rater(one.rater), one.rater, one.match, view.shape(one.rater)) for one in standings]
        return forest(caption, rows, "share", below=below) if rows else None

    models = [model.standing for model in found.models]
    caveat = note(
        "Do not compare these with the models' shares: a person is compared with the majority of all other people, so "
        "an equally good rater gets a lower share. “Models next to people” below compares both with the same people."
    )
    below = caveat if models else None
    by_person = drawn("How often each person agrees with the majority of the other people", found.people, below)
    return join([drawn("How often each model agrees with the people's majority", models), by_person])


def _powered(model: ModelTrust, view: View) -> Markup | None:
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
            Row("model alone", f"{group}, model alone", one.model_only, view.shape(model.rater), group),
        ]
    style: Style = "score" if MEAN in found.estimates else "share"
    reasons = dict.fromkeys(one.note for one in found.estimates.values() if one.note)
    weights = ", ".join(f"{of} {one.weight:.2f}" for of, one in found.estimates.items())
    below = note(
        f"The {found.labelled:,} units that both rated serve to correct the model's ratings of {found.further:,} more. "
        "The interval for the model alone ignores the model's bias. "
        f"Weight of the model: {'; '.join([weights, *reasons])}."
    )
    caption = join(["What people would have answered on every unit, estimated with ", view.rater(model.rater)])
    return forest(caption, rows, style, below=below)


def _stand_in(model: ModelTrust, view: View) -> Markup | None:
    found = model.stand_in
    if found.model is None or found.beside is None or found.model.passed is None:
        return None
    heads = ["rater", "outcome", "wins against", "mean share of units on which it is at least as close to the others"]
    rows = [
        [view.rater(model.rater), *_test(found.model)],
        [f"a rater who always answers {found.constant}", *_test(found.beside)],
    ]
    caption = "Could it replace one of the people? Alternative-annotator test, "
    caption += f"ε {found.epsilon:g}, {found.n_units:,} units"
    duels = [[view.rater(found.people[duel.rater]), f"{duel.n:,}", *_duel(duel)] for duel in found.model.duels]
    each = table("Against each person", ["person", "units", "share", "p", "outcome"], duels, "numbers")
    return element("div", table(caption, heads, rows, "numbers"), folded("Person by person", each), class_="figure")


def _test(found: AltTest) -> Sequence[str]:
    if found.passed is None or found.advantage is None:
        return [f"{_NOT_TESTED}: {found.why}", _NOT_TESTED, _NOT_TESTED]
    tested, won = sum(duel.p is not None for duel in found.duels), sum(duel.won for duel in found.duels)
    outcome = "✓ passes" if found.passed else "✗ does not pass"
    return [outcome, f"{won} of {tested} people", number(found.advantage, "share")]


def _duel(duel: Duel) -> Sequence[str]:
    if duel.advantage is None or duel.p is None:
        return [f"{_NOT_TESTED}: {duel.why}", _NOT_TESTED, _NOT_TESTED]
    p = "< 0.001" if duel.p < 0.001 else f"{duel.p:.3f}"
    return [number(duel.advantage, "share"), p, "won" if duel.won else "not won"]


def _compared(found: Trust, view: View) -> Markup | None:
    """Each model and each person, compared with the same other people: by distance if the values are scores."""
    rows: list[Row] = []
    what = ""
    for one in [*(one for model in found.models for one in model.against), *found.rivals]:
        measured = one.distance or one.match
        if measured is None:
            continue
        what = "match with the people's majority: right of 0, the first is closer"
        if one.distance is not None:
            what = "distance from the people's mean, in points: left of 0, the first is closer"
        name = join([view.rater(one.first), " minus ", view.rater(one.second)])
        rows.append(Row(name, f"{one.first} minus {one.second}", measured.difference, "pair"))
    caption = f"Two raters compared with the same other people; {what}"
    drawn = forest(caption, rows, "points", guides=[_ZERO])
    return folded("Models next to people, pair by pair", drawn) if rows else None


def _calibrations(found: Sequence[Confidence], view: View) -> Markup | None:
    known_for = {one.rater: one.calibration for one in found if one.calibration is not None}
    drawn: list[Markup] = []
    for rater, known in known_for.items():
        label = f"Calibration of {rater}: stated confidence against the share that was right, {known.n} ratings"
        scores: Mapping[str, tuple[Estimate, Style]] = {
            "overconfident by": (known.overconfidence, "points"),
            "Brier score": (known.brier, "coefficient"),
            "calibration error": (known.error, "coefficient"),
            "separates right from wrong": (known.discrimination, "coefficient"),
        }
        listed = facts([(name, estimate_cell(*score)) for name, score in scores.items()], "small-facts")
        plot = calibration_plot(known.bins, label, view.shape(rater))
        drawn.append(figure(join([view.rater(rater), aside(f"n {known.n:,}")]), plot, listed))
    if not drawn:
        return None
    legend = note(
        "On the dashed line, confidence is justified; below it, the rater is overconfident. Larger dots stand for more "
        "ratings."
    )
    inside = join([legend, element("div", drawn, class_="side-by-side")])
    if max(known.n for known in known_for.values()) < _FEW:
        return folded(f"Stated confidence and accuracy (all from fewer than {_FEW} ratings)", inside)
    return element("div", element("h4", "Stated confidence and accuracy"), inside)


def _severities(found: Sequence[Severity], view: View) -> Markup | None:
    if not found:
        return None
    beside = {one.beside: f"compared with the other {one.beside}" for one in found}

    def name(one: Severity) -> Markup:
        return join([view.rater(one.rater), aside(beside[one.beside]) if len(beside) > 1 else None])

    rows = [
        Row(name(one), f"{one.rater}, {group}", pick(one), view.shape(one.rater), group)
        for group, pick in _SEVERITY.items()
        for one in found
    ]
    with_whom = f", {next(iter(beside.values()))}" if len(beside) == 1 else ""
    return forest(f"Severity and drift in points of the scale{with_whom}", rows, "points", guides=[_ZERO])
