"""How far the raters agree: a part for each criterion."""

from collections.abc import Iterator, Sequence

from evenhand.agreement.result import Estimate
from evenhand.matrix import Agreement, Majority, Pair
from evenhand.report.data import Report
from evenhand.report.figures import Style, count, interval, number
from evenhand.report.html.blocks import Section, cell, folded, note, paragraph, table, warning
from evenhand.report.html.forest import Row, forest
from evenhand.report.html.matrices import FEW_LABELS, legend, pair_matrices, told_pairs, too_many
from evenhand.report.html.names import Names, anchor
from evenhand.report.markup import Markup, element, join
from evenhand.report.plots.track import stack

_LEVELS = {"nominal": "labels without an order", "ordinal": "ordered levels", "interval": "numbers"}


def agreeing(report: Report, names: Names) -> Section:
    parts = [_at_a_glance(report, names)] if len(report.agreements) > 1 else []
    parts += [legend()] if any(found.pairs for found in report.agreements.values()) else []
    parts += [_criterion(found, report, names) for found in report.agreements.values()]
    entries = [(anchor("agreement", name), names.criterion(name)) for name in report.agreements]
    return Section("agreement", "How far the raters agree", join(parts), entries)


def _at_a_glance(report: Report, names: Names) -> Markup:
    rows = [
        Row(names.criterion(found.criterion), names.criterion(found.criterion), estimate, group=group)
        for group, pick in (("Krippendorff's α, all raters", _alpha), ("α among people alone", _ceiling_alpha))
        for found in report.agreements.values()
        for estimate in (pick(found),)
    ]
    return forest("Agreement beyond chance on each criterion. 1 is perfect, 0 is what chance would give.", rows)


def _alpha(found: Agreement) -> Estimate:
    return found.alpha


def _ceiling_alpha(found: Agreement) -> Estimate:
    return found.ceiling_alpha


def _criterion(found: Agreement, report: Report, names: Names) -> Markup:
    criterion = report.source.protocol.criterion(found.criterion)
    parts = [element("h3", criterion.title, id=anchor("agreement", found.criterion)), note(criterion.question)]
    if criterion.scale.type == "text":
        parts.append(note("Free answers are compared on whether there is one at all."))
    parts += [warning(said) for said in found.warnings]
    parts.append(_lead(found))
    if not found.pairs:
        return element("article", parts, class_="criterion")
    parts += [
        too_many(found, names) or pair_matrices(found, names),
        _coefficients(found),
        _labels(found, names),
        _majority(found.majority, names),
        _pairs(found, names),
    ]
    return element("article", parts, class_="criterion")


def _lead(found: Agreement) -> Markup:
    if not found.pairs:
        if not _rated(found):
            raters = "Nobody rated this criterion"
        else:
            raters = "No two raters rated the same unit" if found.majority.plain else "Only one rater rated this"
        return paragraph(f"{raters}: there is nothing to compare.", class_="why")
    level = _LEVELS.get(found.level, found.level)
    said = f"{count(found.n_units, 'unit')} rated by two or more, on {level}. "
    if found.percent.value is not None:
        between = interval(found.percent, "share")
        said += f"Two ratings of a unit are the same in {number(found.percent.value, 'share')} of cases"
        said += f" (95% interval {between}). " if between else ". "
    if found.alpha.value is None:
        said += f"Agreement beyond chance is undefined: {found.alpha.why}."
    else:
        between = interval(found.alpha)
        said += f"Beyond chance, α is {number(found.alpha.value)}" + (f" ({between})." if between else ".")
    return paragraph(said, class_="lead")


def _rated(found: Agreement) -> int:
    return next((n for status, n in found.statuses.items() if status == "rated"), 0)


def _coefficients(found: Agreement) -> Markup:
    weights = "identity weights" if found.level == "nominal" else "quadratic weights"
    rows = [
        Row("Krippendorff's α", "Krippendorff's alpha", found.alpha, group="beyond chance, all raters"),
        Row("Fleiss' κ", "Fleiss' kappa", found.fleiss, group="beyond chance, all raters"),
        Row(f"Gwet's AC, {weights}", "Gwet's AC", found.ac, group="beyond chance, all raters"),
    ]
    if found.icc is not None:
        rows.append(Row("ICC(2,1)", "ICC(2,1)", found.icc, group="beyond chance, all raters"))
    rows += [
        Row("α, people alone", "alpha among people", found.ceiling_alpha, group="the people's own ceiling"),
        Row(
            "plain agreement, people alone",
            "plain agreement of people",
            found.ceiling,
            group="the people's own ceiling",
        ),
        Row(
            "plain agreement, all raters",
            "plain agreement of all raters",
            found.percent,
            group="not corrected for chance",
        ),
    ]
    return forest("All raters together: each coefficient answers another question", rows)


def _labels(found: Agreement, names: Names) -> Markup:
    if len(found.labels) > FEW_LABELS:
        return note(f"{len(found.labels)} different answers: too many to compare one by one.")
    shares = found.spread.shares if found.spread else None
    rows: list[Row] = []
    for place, label in enumerate(found.labels):
        name = names.value(found.criterion, label) if found.level != "text" else str(label)
        share = f"{number(shares[place], 'share')} of ratings" if shares else "no ratings"
        title = join([name, element("span", share, class_="aside")])
        rows.append(Row(title, name, found.specific[str(label)], group="each by itself"))
    other = "any but the commonest label"
    skewed = found.spread is not None and found.spread.skewed
    rows.append(Row(other, other, found.rare, group="the rare side" if skewed else "taken as one"))
    caption = "Where one rater gave a value, how often another rater of the same unit gave it too"
    return forest(caption, rows, "share")


def _majority(majority: Majority, names: Names) -> Markup:
    votes = majority.votes
    if votes.n == 0:
        return note("No unit was rated by every rater, so there is no vote to count.")
    counts = (votes.full, votes.majority, votes.none)
    labels = ("all agree", "more than half agree", "no majority")
    title = ", ".join(f"{label}: {n}" for label, n in zip(labels, counts, strict=True))
    bar = element("div", stack(counts, labels, (9, 5, 1), f"{count(votes.n, 'unit')}: {title}"), class_="bar")
    said = note(f"{count(votes.n, 'unit')} that every rater rated: ", title, ".")
    rows = [
        Row(names.rater(rater), rater, estimate, names.shape(rater), group)
        for group, found in (
            ("with the majority of the other raters", majority.others),
            ("with the majority of all, the rater's own vote included (flatters)", majority.plain),
        )
        for rater, estimate in found.items()
    ]
    plot = forest("How often each rater is with the majority", rows, "share") if rows else None
    return element("div", element("h4", "Majority vote"), bar, said, plot)


def _pairs(found: Agreement, names: Names) -> Markup:
    columns: list[tuple[str, Style]] = [
        ("plain agreement", "share"), ("within one", "share"), ("κ", "coefficient"), ("κ linear", "coefficient"),
        ("κ quadratic", "coefficient"), ("AC", "coefficient"), ("macro-F1", "coefficient"), ("Spearman", "coefficient"),
    ]  # fmt: skip
    pairs = told_pairs(found, names)
    values = [list(_coefficients_of(pair)) for pair in pairs]
    kept = [place for place in range(len(columns)) if any(row[place] is not None for row in values)]
    rows = [
        [names.pair(pair.a, pair.b), pair.kind, f"{pair.n:,}", *(cell(row[place], columns[place][1]) for place in kept)]
        for pair, row in zip(pairs, values, strict=True)
    ]
    heads = ["pair", "kind", "n", *(columns[place][0] for place in kept)]
    which = "Every pair" if len(pairs) == len(found.pairs) else f"The {len(pairs)} pairs that share most units"
    caption = f"{which}, every coefficient, with 95% intervals"
    parts = [table(caption, heads, rows, "numbers"), _per_label(found, names)]
    return folded(f"All coefficients of {count(len(pairs), 'pair')}", parts)


def _coefficients_of(pair: Pair) -> Iterator[Estimate | None]:
    yield from (pair.percent, pair.within_one, pair.kappa, pair.kappa_linear)
    yield from (pair.kappa_quadratic, pair.ac, pair.macro_f1, pair.spearman)


def _per_label(found: Agreement, names: Names) -> Markup:
    if len(found.labels) > FEW_LABELS:
        return note("Too many different answers to list them label by label.")
    rows: Sequence[Sequence[str]] = [
        [names.pair(pair.a, pair.b), *(cell(pair.per_label[str(label)], "share") for label in found.labels)]
        for pair in told_pairs(found, names)
    ]
    heads = ["pair", *(names.value(found.criterion, label) for label in found.labels)]
    caption = "Of the units to which either gave the label, the share to which both did"
    return table(caption, heads, rows, "numbers")
