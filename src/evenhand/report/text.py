"""The report for a terminal: its figures in plain text, without the texts of units, confusion tables, distributions and
majority votes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evenhand.analysis.agreement import Agreement, Pair
from evenhand.analysis.figures import PEOPLE, Figure
from evenhand.analysis.overlap_scores import OverlapScore
from evenhand.analysis.tables import ALL
from evenhand.analysis.targets import TargetResult
from evenhand.analysis.trust import Trust
from evenhand.records import Status
from evenhand.report.build import GENERATOR, Provenance, RaterRow, Report
from evenhand.report.numbers import pairs_left_out
from evenhand.report.trust_sentences import in_words
from evenhand.statistics import Estimate
from evenhand.text import counted, line, listed

MOST_PAIRS = 40
MOST_TARGETS = 20


def report_text(report: Report) -> str:
    """Everything, one part after the other."""
    source = report.source
    protocol = source.protocol
    head = [
        line(f"{source.location}: {protocol.title}"),
        line(f"protocol {protocol.name} {protocol.version}, digest {protocol.digest}"),
        f"{counted(source.n_items, 'item')}, {counted(source.n_units, 'unit')} ({protocol.unit}); "
        f"{GENERATOR} {source.version}, made {source.made:%Y-%m-%d %H:%M}, "
        f"{source.replicates:,} bootstrap replicates, seed {source.seed}",
    ]
    raters = [*_raters(report.raters), *_own_output(source), *_left_out(source)]
    agreements = [_criterion(one, report.titles) for one in report.agreements.values()]
    parts = [head, raters, source.groups, _targets(report.targets), _measures(report.measures), *agreements]
    return _paragraphs([*parts, *_scores(report.scores), *map(_trust, report.trust.values())]) + "\n"


def agreement_text(report: Report) -> str:
    """What `evenhand agree` prints."""
    left_out = ([words] for words in _left_out(report.source))
    agreements = [_criterion(one, report.titles) for one in (*report.agreements.values(), *report.by_stratum)]
    parts = [*agreements, *_scores(report.scores), _combined(report), _targets(report.targets)]
    return _paragraphs([*parts, report.source.groups, *left_out])


def measures_text(report: Report) -> str:
    """What `evenhand measures` prints."""
    groups = report.source.groups if report.measures else ()
    parts = [_measures(report.measures), groups, _combined(report), _earlier(report.source)]
    return _paragraphs(parts) or f"{report.source.protocol.name} defines no measures."


def trust_text(report: Report) -> str:
    """What a `TrustResult` prints."""
    return _paragraphs(map(_trust, report.trust.values()))


def shown(estimate: Estimate | None) -> str:
    """A figure with its interval, or the reason why there is none."""
    if estimate is None:
        return "–"
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    if estimate.low is None or estimate.high is None:
        why = (estimate.note or "").removeprefix("no interval").removeprefix(": ")
        return f"{estimate.value:z.3f} (no interval{f': {why}' if why else ''})"
    # As many places as the value has, which would otherwise seem to lie outside now and then.
    return f"{estimate.value:z.3f} [{estimate.low:z.3f}, {estimate.high:z.3f}]"


def _paragraphs(parts: Iterable[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _raters(raters: Sequence[RaterRow]) -> list[str]:
    rows = [
        [rater.id, str(rater.kind), *(f"{rater.statuses.get(status, 0):,}" for status in Status)] for rater in raters
    ]
    failures = [
        line(f"  {rater.id} failed {'once' if count == 1 else f'{count:,} times'}: {reason}")
        for rater in raters
        for reason, count in rater.failures.items()
    ]
    return ["Raters", *_table(rows, ["", "", *(status.replace("_", " ") for status in Status)]), *failures]


def _own_output(source: Provenance) -> list[str]:
    return [
        line(f"  {rater} rated its own output in {counted(count, 'unit')}: models tend to favour what they wrote.")
        for rater, count in source.own_output.items()
    ]


def _left_out(source: Provenance) -> list[str]:
    """Whose ratings no agreement counts, and which ratings no figure counts."""
    if not source.adjudicators:
        return _earlier(source)
    names = listed(list(map(line, source.adjudicators)))
    are = "is" if len(source.adjudicators) == 1 else "are"
    return [f"{names} {are} left out of agreement: adjudicators have seen the others' ratings.", *_earlier(source)]


def _earlier(source: Provenance) -> list[str]:
    return [
        f"{counted(count, 'rating')} under another version of the protocol (digest {digest[:12]}) "
        f"{'is' if count == 1 else 'are'} left out."
        for digest, count in source.left_out.items()
    ]


def _targets(targets: Sequence[TargetResult]) -> list[str]:
    rows: list[list[str]] = []
    for target in targets[:MOST_TARGETS]:
        sides = " – ".join(side for side in (target.a, target.b) if side)
        label = "" if target.label is None else str(target.label)
        settled = f"; {counted(target.more_items, 'more item')} would settle it" if target.more_items else ""
        figure = [f"goal {target.goal:g}", shown(target.estimate), f"{target.verdict}{settled}"]
        rows.append([target.measure, target.criterion or "", sides, label, *figure])
    more = len(targets) - len(rows)
    rest = [f"  … and {counted(more, 'more target')}; the JSON output has all"] if more else []
    return ["Targets", *_table(rows), *rest] if rows else []


def _measures(measures: Sequence[Figure]) -> list[str]:
    """Single figures, over everything first, then stratum by stratum; tables are left to `agree` and the report."""
    by_stratum: dict[str, list[list[str]]] = {}
    for measure in measures:
        if measure.estimate.value is not None or measure.detail is None:
            stratum = _stratum(measure.stratum)
            row = [
                measure.statistic,
                measure.criterion or "",
                " – ".join(name for name in (measure.against, measure.rater) if name),
                "" if measure.label is None else str(measure.label),
                f"n {measure.estimate.n:,}",
                shown(measure.estimate),
                f"left out: {_counts(measure.left_out)}" if measure.left_out else "",
            ]
            by_stratum.setdefault(line(stratum), []).append(row)
    lines: list[str] = []
    for stratum, rows in by_stratum.items():
        lines += ["", f"Measures, {stratum}"] if stratum else ["Measures"]
        lines += _table(rows)
    return lines


def _stratum(stratum: Mapping[str, str] | None) -> str:
    return ", ".join(f"{field} {value}" for field, value in (stratum or {}).items())


def _combined(report: Report) -> list[str]:
    """How raters were combined, one line for each."""
    return [line(f"{name} is the {one.describe()}.") for name, one in report.combined.items()]


def _counts(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in left_out.items())


def _criterion(found: Agreement, titles: Mapping[str, str]) -> list[str]:
    overall = [
        ["percent agreement", shown(found.percent), "among people", shown(found.ceiling)],
        [f"α ({found.level})", shown(found.alpha), "among people", shown(found.ceiling_alpha)],
        ["AC1" if found.level == "nominal" else "AC2 (quadratic)", shown(found.ac), "Fleiss κ", shown(found.fleiss)],
        *([["ICC(2,1)", shown(found.icc), "", ""]] if found.icc else []),
    ]
    stratum = f", {of}" if (of := _stratum(found.stratum)) else ""
    units = f"{counted(found.n_units, 'unit')} rated by two or more"
    units += ", a unit counted once for each criterion" if found.criterion == ALL else ""
    title = titles.get(found.criterion, found.criterion)
    lines = [line(f"{title} ({found.level}){stratum}: {units}"), *_table(overall)]
    if found.values:
        lines.append(f"  ratings: {', '.join(f'{name} {value:,.4g}' for name, value in found.values.items())}")
    elif found.spread is not None:
        shares = [f"{label} {share:.0%}" for label, share in zip(found.labels, found.spread.shares, strict=True)]
        rare = f"; agreement on the rare ones: {shown(found.rare)}" if found.spread.skewed else ""
        lines.append(line(f"  shares: {', '.join(shares)}{rare}"))
    lines += [line(f"  {warning}") for warning in found.warnings]
    lines += _pairs(found.pairs)
    lines += [f"  {words}" for words in pairs_left_out(found)]
    left_out = {str(status): count for status, count in found.statuses.items() if count and status is not Status.RATED}
    return [*lines, f"  left out: {_counts(left_out)}"] if left_out else lines


def _pairs(pairs: Sequence[Pair]) -> list[str]:
    """All pairs; of very many, those with a model, then those that share most units."""
    if not pairs:
        return []
    ranked = sorted(pairs, key=lambda pair: (pair.of_people, -pair.n))
    kept = pairs if len(pairs) <= MOST_PAIRS else ranked[:MOST_PAIRS]
    columns = {"percent agreement": "percent", **({"κ": "kappa"} if pairs[0].labels else {})}
    ordered = {"quadratic κ": "kappa_quadratic", "within one": "within_one"}
    columns |= {"macro-F1": "macro_f1"} if pairs[0].kappa_quadratic is None else ordered
    head = ["", "", "", "n", *columns]
    rows = [
        [pair.a, pair.b, pair.kind, f"{pair.n:,}", *(shown(getattr(pair, name)) for name in columns.values())]
        for pair in kept
    ]
    more = len(pairs) - len(kept)
    rest = [f"  … and {counted(more, 'more pair')}, in the JSON output"]
    return [*_table(rows, head), *(rest if more else [])]


def _scores(scores: Sequence[OverlapScore]) -> Iterator[list[str]]:
    """The means of overlap scores, and their correlation with people."""
    several = len({found.rater for found in scores}) > 1
    names = [f"{found.score} by {found.rater}" if several else found.score for found in scores]
    means: list[list[str]] = []
    ranks: list[list[str]] = []
    for name, found in zip(names, scores, strict=True):
        for one in found.means:
            left_out = f"left out: {_counts(one.left_out)}" if one.left_out else ""
            means.append([name, _stratum(one.stratum), f"n {one.estimate.n:,}", shown(one.estimate), left_out])
        for one in found.correlations:
            if one.against == PEOPLE:
                figures = [f"{one.spearman.n:,}", shown(one.spearman), shown(one.kendall)]
                ranks.append([name, one.criterion, "" if one.label is None else str(one.label), *figures])
    if means:
        yield ["Overlap scores: mean over items", *_table(means)]
    if ranks:
        head = ["", "", "", "n", "Spearman ρ", "Kendall τ-b"]
        yield ["Overlap scores: rank correlation with people", *_table(ranks, head)]


def _trust(found: Trust) -> list[str]:
    return [f"Trust: {found.criterion}", *(line(f"  {sentence}") for sentence in in_words(found))]


def _table(rows: Iterable[Sequence[str]], head: Sequence[str] | None = None) -> list[str]:
    """Rows as indented columns; an empty column takes no room."""
    table = [[line(cell) for cell in row] for row in [*([head] if head else []), *rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width).rstrip()
        for row in table
    ]
