"""How far each rater can be trusted: a part for each criterion."""

from collections.abc import Sequence

from evenhand.agreement.alt_test import AltTest
from evenhand.agreement.result import Estimate
from evenhand.report.data import Report
from evenhand.report.figures import Style, number
from evenhand.report.html.blocks import Section, cell, figure, folded, items, note, table
from evenhand.report.html.forest import Row, forest
from evenhand.report.html.names import MOST_RATERS, Names, anchor
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.calibration import calibration_plot
from evenhand.report.plots.track import Guide
from evenhand.trust import Confidence, ModelTrust, Severity, Trust, in_words
from evenhand.trust.powered import MEAN

_FEW = 20
"""Fewer ratings than this make no calibration plot worth a reader's first look."""
_MOST_CALIBRATED = 5
"""Raters whose calibration is drawn where there are many."""
_ZERO = Guide("no difference", Estimate(value=0.0), "baseline")


def trusting(report: Report, names: Names) -> Section:
    parts = [_criterion(found, names) for found in report.trust.values()]
    if not parts:
        parts = [note("Free answers can only be read: no criterion here can be compared by its values.")]
    entries = [(anchor("trust", name), names.criterion(name)) for name in report.trust]
    return Section("trust", "How far each rater can be trusted", join(parts), entries)


def _criterion(found: Trust, names: Names) -> Markup:
    parts: list[Markup | None] = [
        element("h3", names.criterion(found.criterion), id=anchor("trust", found.criterion)),
        items(in_words(found)),
    ]
    parts.append(_standings(found, names))
    for model in found.models:
        parts += [_powered(model, names), _stand_in(model, names)]
    parts += [_compared(found, names), _calibrations(found.confidences, names), _severities(found, names)]
    return element("article", parts, class_="criterion")


def _standings(found: Trust, names: Names) -> Markup | None:
    """Models and people apart: their shares are of different majorities, and not to be set side by side."""
    told = names.told({one.rater: one.match.n for one in found.people})
    models, people = (
        [Row(names.rater(one.rater), one.rater, one.match, names.shape(one.rater)) for one in standings]
        for standings in (
            [model.standing for model in found.models],
            [one for one in found.people if one.rater in told],
        )
    )
    caveat = note(
        "Not to be held against the models' shares: a person's majority is that of all people but one, and comes out "
        "lower for a rater who is just as good. Models beside people, pair by pair, holds both against the same people."
    )
    drawn: list[Markup] = []
    if models:
        drawn.append(forest("How often each model says what the people's majority says", models, "share"))
    if people:
        caption = "How often each person says what the majority of the other people says"
        below = join([caveat if models else None, names.rest(len(people), len(found.people))])
        drawn.append(forest(caption, people, "share", below=below))
    return join(drawn) if drawn else None


def _powered(model: ModelTrust, names: Names) -> Markup | None:
    """The three estimates one below the other, where the model rated more than the people did."""
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
        f"{found.labelled:,} units with both ratings correct the model's on {found.further:,} more. The model-only "
        f"interval knows nothing of the model's own bias. Weight of the model: {'; '.join([weights, *reasons])}."
    )
    caption = join(["What people would have said of every unit, with the help of ", names.rater(model.rater)])
    return forest(caption, rows, style, below=below)


def _stand_in(model: ModelTrust, names: Names) -> Markup | None:
    found = model.stand_in
    if found.model is None or found.beside is None or found.model.passed is None:
        return None
    heads = ["rater", "outcome", "wins against", "at least as close to the others, mean share of units"]
    rows = [
        [names.rater(model.rater), *_test(found.model)],
        [f"a rater who always says {found.constant}", *_test(found.beside)],
    ]
    units = f"ε {found.epsilon:g}, {found.n_units:,} units"
    caption = f"May it stand in for one of the people? Alternative-annotator test, {units}"
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
    """Each model beside each person, against the same other people: by distance where there are scores."""
    rows: list[Row] = []
    by_distance = False
    for one in [*(one for model in found.models for one in model.against), *found.rivals]:
        measured = one.distance or one.match
        if measured is None:
            continue
        by_distance = one.distance is not None
        name = join([names.rater(one.first), " less ", names.rater(one.second)])
        rows.append(Row(name, f"{one.first} less {one.second}", measured.difference, "pair"))
    if not rows:
        return None
    what = "distance from the people's mean, in points: left of 0 the first is closer"
    if not by_distance:
        what = "match with the people's majority: right of 0 the first is closer"
    caption = f"Two raters held against the same other people; {what}"
    told = sorted(rows, key=lambda row: -row.estimate.n)[:MOST_RATERS] if names.many else rows
    below = names.rest(len(told), len(rows))
    return folded("Models beside people, pair by pair", forest(caption, told, "points", guides=[_ZERO], below=below))


def _calibrations(found: Sequence[Confidence], names: Names) -> Markup | None:
    every = sum(one.calibration is not None for one in found)
    if names.many:
        found = sorted(found, key=lambda one: (names.is_person(one.rater), -_checked(one)))[:_MOST_CALIBRATED]
    drawn: list[Markup] = []
    for one in found:
        if one.calibration is None:
            continue
        known = one.calibration
        label = f"Calibration of {one.rater}: stated confidence against the share that was right, {known.n} ratings"
        facts: Sequence[tuple[str, Estimate, Style]] = [
            ("surer than right by", known.overconfidence, "points"),
            ("Brier score", known.brier, "coefficient"),
            ("calibration error", known.error, "coefficient"),
            ("tells right from wrong", known.discrimination, "coefficient"),
        ]
        listed = [element("div", element("dt", name), element("dd", cell(fact, style))) for name, fact, style in facts]
        caption = join([names.rater(one.rater), element("span", f"n {known.n:,}", class_="aside")])
        plot = calibration_plot(known.bins, label, names.shape(one.rater))
        drawn.append(figure(caption, plot, element("dl", listed, class_="small-facts")))
    if not drawn:
        return None
    on = note(
        "On the dashed line confidence is earned; below it a rater is surer than right. Larger dots, more ratings.",
        f" {every - len(drawn)} more raters are in a report in JSON." if every > len(drawn) else None,
    )
    inside = join([on, element("div", drawn, class_="side-by-side")])
    if max(one.calibration.n for one in found if one.calibration) < _FEW:
        return folded(f"Stated confidence against being right (all from fewer than {_FEW} ratings)", inside)
    return element("div", element("h4", "Stated confidence against being right"), inside)


def _checked(one: Confidence) -> int:
    return one.calibration.n if one.calibration else 0


def _severities(found: Trust, names: Names) -> Markup | None:
    if not found.severities:
        return None
    told = names.told({one.rater: one.leniency.n for one in found.severities})
    shown = [one for one in found.severities if one.rater in told]
    beside = {one.beside for one in shown}
    rows = [
        Row(_beside(one, names, len(beside) > 1), f"{one.rater}, {group}", estimate, names.shape(one.rater), group)
        for group, estimates in (
            ("leniency: how much higher the rater rates", [(one, one.leniency) for one in shown]),
            ("drift: more lenient at the end than at the beginning", [(one, one.drift) for one in shown]),
        )
        for one, estimate in estimates
    ]
    whom = f", beside the other {beside.pop()}" if len(beside) == 1 else ""
    below = names.rest(len(shown), len(found.severities))
    return forest(f"Severity and drift in points of the scale{whom}", rows, "points", guides=[_ZERO], below=below)


def _beside(one: Severity, names: Names, differs: bool) -> Markup:
    aside = element("span", f"beside the other {one.beside}", class_="aside") if differs else None
    return join([names.rater(one.rater), aside])
