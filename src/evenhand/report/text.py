"""The report for a terminal: the same figures in plain text."""

from collections.abc import Iterable, Mapping, Sequence

from evenhand.agreement.result import Estimate
from evenhand.matrix import Agreement
from evenhand.measures import Measure, TargetResult
from evenhand.records import Status
from evenhand.report.data import RaterRow, Report
from evenhand.table import Tables
from evenhand.trust import in_words


def shown(estimate: Estimate | None) -> str:
    """A figure with its interval, or the reason why there is none."""
    if estimate is None:
        return "–"
    if estimate.value is None:
        return f"undefined: {estimate.why}"
    interval = "" if estimate.low is None or estimate.high is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    return f"{estimate.value:.3f}{interval}"


def report_text(report: Report) -> str:
    """Everything, one part after the other."""
    source = report.source
    protocol = source.protocol
    head = [
        f"{source.location}: {protocol.title}",
        f"protocol {protocol.name} {protocol.version}, digest {protocol.digest}",
        f"{source.n_items:,} items, {source.n_units:,} units ({protocol.unit}); made {source.made:%Y-%m-%d %H:%M} by "
        f"Evenhand {source.version}, {source.replicates:,} bootstrap replicates, seed {source.seed}",
    ]
    parts = [
        "\n".join(head),
        _raters(report.raters, source.left_out),
        _targets(report.targets),
        _measures(report.measures),
        *(_criterion(found) for found in report.agreements.values()),
        *(_trust(name, in_words(found)) for name, found in report.trust.items()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def agreement_text(tables: Tables, agreements: Mapping[str, Agreement], targets: Sequence[TargetResult]) -> str:
    """What `evenhand agree` prints."""
    parts = [*(_criterion(found) for found in agreements.values()), _targets(targets), _earlier(tables.left_out)]
    return "\n\n".join(part for part in parts if part)


def measures_text(tables: Tables, measures: Sequence[Measure]) -> str:
    """What `evenhand measures` prints."""
    parts = [_measures(measures), _earlier(tables.left_out)]
    return "\n\n".join(part for part in parts if part) or f"{tables.protocol.name} names no measures."


def _raters(raters: Sequence[RaterRow], left_out: Mapping[str, int]) -> str:
    rows = [
        [rater.id, str(rater.kind), *(f"{rater.statuses.get(status, 0):,}" for status in Status)] for rater in raters
    ]
    lines = ["Raters", *_table(["", "", *(str(status).replace("_", " ") for status in Status)], rows)]
    lines += [
        f"  {rater.id} failed {count:,} times: {reason}" for rater in raters for reason, count in rater.failures.items()
    ]
    return "\n".join([*lines, *([_earlier(left_out)] if left_out else [])])


def _earlier(left_out: Mapping[str, int]) -> str:
    return "\n".join(
        f"{count:,} ratings under another version of the protocol (digest {digest[:12]}) are left out."
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
            target.verdict + (f"; {target.more_items:,} more items would settle it" if target.more_items else ""),
        ]
        for target in targets
    ]
    return "\n".join(["Targets", *_table(None, rows)]) if rows else ""


def _measures(measures: Sequence[Measure]) -> str:
    """Single figures, over everything first, then stratum by stratum; tables are left to `agree` and the report."""
    single = [measure for measure in measures if measure.estimate.value is not None or measure.detail is None]
    strata = dict.fromkeys(tuple((measure.stratum or {}).items()) for measure in single)
    lines: list[str] = []
    for stratum in strata:
        name = ", ".join(f"{field} {value}" for field, value in stratum)
        lines += ["", f"Measures, {name}"] if stratum else ["Measures"]
        lines += _table(
            None, [_row(measure) for measure in single if tuple((measure.stratum or {}).items()) == stratum]
        )
    return "\n".join(lines)


def _row(measure: Measure) -> list[str]:
    return [
        measure.name,
        measure.criterion or "",
        " – ".join(name for name in (measure.against, measure.rater) if name),
        "" if measure.label is None else str(measure.label),
        f"n {measure.estimate.n:,}",
        shown(measure.estimate),
    ]


def _criterion(found: Agreement) -> str:
    ordered = found.level != "nominal"
    lines = [
        f"{found.criterion} ({found.level}): {found.n_units:,} units rated by two or more",
        *_table(
            None,
            [
                ["same answer", shown(found.percent), "among people", shown(found.ceiling)],
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
        lines.append(f"  shares: {shares}; agreement on the rare ones: {shown(found.rare)}")
    lines += [f"  {warning}" for warning in found.warnings]
    if found.pairs:
        head = ["", "", "", "n", "same answer", "κ", *(["quadratic κ", "within one"] if ordered else ["macro-F1"])]
        lines += _table(head, [_pair_row(found, place, ordered) for place in range(len(found.pairs))])
    left_out = {status: count for status, count in found.statuses.items() if count and status is not Status.RATED}
    if left_out:
        lines.append("  left out: " + ", ".join(f"{count:,} {status}" for status, count in left_out.items()))
    return "\n".join(lines)


def _pair_row(found: Agreement, place: int, ordered: bool) -> list[str]:
    pair = found.pairs[place]
    extra = [pair.kappa_quadratic, pair.within_one] if ordered else [pair.macro_f1]
    return [pair.a, pair.b, pair.kind, f"{pair.n:,}", *map(shown, (pair.percent, pair.kappa, *extra))]


def _trust(name: str, sentences: Sequence[str]) -> str:
    return "\n".join([f"Trust: {name}", *(f"  {sentence}" for sentence in sentences)]) if sentences else ""


def _table(head: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as indented columns; an empty column takes no room."""
    table = [list(row) for row in ([head] if head else [])] + [list(row) for row in rows]
    widths = [max((len(row[place]) for row in table), default=0) for place in range(len(table[0]) if table else 0)]
    used = [place for place, width in enumerate(widths) if width]
    return ["  " + "  ".join(row[place].ljust(widths[place]) for place in used).rstrip() for row in table]
