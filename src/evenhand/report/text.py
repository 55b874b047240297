"""The report for a terminal: its figures in plain text, without the texts of units, confusion tables, distributions and
majority votes."""

from collections.abc import Iterable, Mapping, Sequence

from evenhand.analysis.agreement import Agreement, Pair
from evenhand.analysis.figures import Figure
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import TargetResult
from evenhand.analysis.trust import in_words
from evenhand.records import Status
from evenhand.report.data import GENERATOR, RaterRow, Report, Source
from evenhand.statistics import Estimate
from evenhand.text import counted, visible

MOST_PAIRS = 40
MOST_TARGETS = 20


def line(text: str) -> str:
    """A text on one line, with nothing in it that a terminal would obey."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


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
    parts = [
        "\n".join(head),
        _raters(report.raters, source),
        _targets(report.targets),
        _measures(report.measures),
        *(_criterion(found) for found in report.agreements.values()),
        *(_trust(name, in_words(found)) for name, found in report.trust.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def agreement_text(tables: Tables, agreements: Mapping[str, Agreement], targets: Sequence[TargetResult]) -> str:
    """What `evenhand agree` prints."""
    left_out = (adjudicators_in_words(tables.ruled()), _earlier(tables.left_out))
    parts = [*(_criterion(found) for found in agreements.values()), _targets(targets), *left_out]
    return "\n\n".join(part for part in parts if part)


def measures_text(tables: Tables, measures: Sequence[Figure]) -> str:
    """What `evenhand measures` prints."""
    parts = [_measures(measures), _earlier(tables.left_out)]
    return "\n\n".join(part for part in parts if part) or f"{tables.protocol.name} names no measures."


def adjudicators_in_words(adjudicators: Sequence[str]) -> str:
    """Whose ratings no agreement counts, and why; nothing where there is nobody."""
    if not adjudicators:
        return ""
    *first, last = map(line, adjudicators)
    names, are = (f"{', '.join(first)} and {last}", "are") if first else (last, "is")
    return f"{names} {are} left out of agreement: adjudicators have seen what the others said."


def _raters(raters: Sequence[RaterRow], source: Source) -> str:
    rows = [
        [rater.id, str(rater.kind), *(f"{rater.statuses.get(status, 0):,}" for status in Status)] for rater in raters
    ]
    lines = ["Raters", *_table(["", "", *(_words(status) for status in Status)], rows)]
    lines += [
        line(f"  {rater.id} failed {'once' if count == 1 else f'{count:,} times'}: {reason}")
        for rater in raters
        for reason, count in rater.failures.items()
    ]
    told = (adjudicators_in_words(source.adjudicators), _earlier(source.left_out))
    return "\n".join([*lines, *(words for words in told if words)])


def _earlier(left_out: Mapping[str, int]) -> str:
    return "\n".join(
        f"{counted(count, 'rating')} under another version of the protocol (digest {digest[:12]}) "
        f"{'is' if count == 1 else 'are'} left out."
        for digest, count in left_out.items()
    )


def _targets(targets: Sequence[TargetResult]) -> str:
    rows = [
        [
            target.measure,
            target.criterion or "",
            f"{target.a} – {target.b}" if target.a and target.b else target.a or "",
            f"goal {target.goal:g}",
            shown(target.estimate),
            target.verdict
            + (f"; {counted(target.more_items, 'more item')} would settle it" if target.more_items else ""),
        ]
        for target in targets[:MOST_TARGETS]
    ]
    more = len(targets) - len(rows)
    told = [f"  … and {counted(more, 'more target')}; JSON has all"] if more else []
    return "\n".join(["Targets", *_table(None, rows), *told]) if rows else ""


def _measures(measures: Sequence[Figure]) -> str:
    """Single figures, over everything first, then stratum by stratum; tables are left to `agree` and the report."""
    single = [measure for measure in measures if measure.estimate.value is not None or measure.detail is None]
    strata = dict.fromkeys(tuple((measure.stratum or {}).items()) for measure in single)
    lines: list[str] = []
    for stratum in strata:
        name = line(", ".join(f"{field} {value}" for field, value in stratum))
        lines += ["", f"Measures, {name}"] if stratum else ["Measures"]
        lines += _table(
            None, [_row(measure) for measure in single if tuple((measure.stratum or {}).items()) == stratum]
        )
    return "\n".join(lines)


def _row(measure: Figure) -> list[str]:
    return [
        measure.statistic,
        measure.criterion or "",
        " – ".join(name for name in (measure.against, measure.rater) if name),
        "" if measure.label is None else str(measure.label),
        f"n {measure.estimate.n:,}",
        shown(measure.estimate),
        f"left out: {_counts(measure.left_out)}" if measure.left_out else "",
    ]


def _counts(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {_words(why)}" for why, count in left_out.items())


def _words(name: str) -> str:
    return name.replace("_", " ")


def _criterion(found: Agreement) -> str:
    ordered = found.level != "nominal"
    lines = [
        f"{found.criterion} ({found.level}): {counted(found.n_units, 'unit')} rated by two or more",
        *_table(
            None,
            [
                ["percent agreement", shown(found.percent), "among people", shown(found.ceiling)],
                [f"α ({found.level})", shown(found.alpha), "among people", shown(found.ceiling_alpha)],
                ["AC2 (quadratic)" if ordered else "AC1", shown(found.ac), "Fleiss κ", shown(found.fleiss)],
                *([["ICC(2,1)", shown(found.icc), "", ""]] if found.icc else []),
            ],
        ),
    ]
    if found.spread is not None:
        shares = ", ".join(
            f"{label} {share:.0%}" for label, share in zip(found.labels, found.spread.shares, strict=True)
        )
        rare = f"; agreement on the rare ones: {shown(found.rare)}" if found.spread.skewed else ""
        lines.append(line(f"  shares: {shares}{rare}"))
    lines += [line(f"  {warning}") for warning in found.warnings]
    lines += _pairs(found.pairs, ordered)
    left_out = {str(status): count for status, count in found.statuses.items() if count and status is not Status.RATED}
    if left_out:
        lines.append(f"  left out: {_counts(left_out)}")
    return "\n".join(lines)


def _pairs(pairs: Sequence[Pair], ordered: bool) -> list[str]:
    """All pairs; of very many, those that share most units."""
    if not pairs:
        return []
    told = pairs if len(pairs) <= MOST_PAIRS else sorted(pairs, key=lambda pair: -pair.n)[:MOST_PAIRS]
    head = ["", "", "", "n", "percent agreement", "κ", *(["quadratic κ", "within one"] if ordered else ["macro-F1"])]
    lines = _table(head, [_pair_row(pair, ordered) for pair in told])
    more = len(pairs) - len(told)
    return (
        [*lines, f"  … and {counted(more, 'more pair')} with as many shared units or fewer; JSON has all"]
        if more
        else lines
    )


def _pair_row(pair: Pair, ordered: bool) -> list[str]:
    extra = [pair.kappa_quadratic, pair.within_one] if ordered else [pair.macro_f1]
    return [pair.a, pair.b, pair.kind, f"{pair.n:,}", *map(shown, (pair.percent, pair.kappa, *extra))]


def _trust(name: str, sentences: Sequence[str]) -> str:
    return "\n".join([f"Trust: {name}", *(line(f"  {sentence}") for sentence in sentences)]) if sentences else ""


def _table(head: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as indented columns; an empty column takes no room."""
    table = [list(map(line, row)) for row in [*([head] if head else []), *rows]]
    widths = [max((len(row[place]) for row in table), default=0) for place in range(len(table[0]) if table else 0)]
    used = [place for place, width in enumerate(widths) if width]
    return ["  " + "  ".join(row[place].ljust(widths[place]) for place in used).rstrip() for row in table]
