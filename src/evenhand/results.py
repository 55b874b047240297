"""What `Study` returns. Every result prints as the command line does, displays in a notebook as the report does, and
converts to plain values and to data frames of one row per figure."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from evenhand.analysis.agreement import Agreement, Pair
from evenhand.analysis.comparison import Compared
from evenhand.analysis.figures import PEOPLES_MAJORITY, Figure
from evenhand.analysis.targets import TargetResult
from evenhand.analysis.trust import Trust
from evenhand.formats.ratings.ratings_reader import ImportSummary
from evenhand.formats.tables.table import data_frame
from evenhand.report.build import Report
from evenhand.report.html.agreement import agreement_section
from evenhand.report.html.elements import Section, table
from evenhand.report.html.measures import headline_section
from evenhand.report.html.overlap import overlap_section
from evenhand.report.html.page import fragment, report_fragment
from evenhand.report.html.trust import trust_section
from evenhand.report.html.view import View
from evenhand.report.json import agree_json, measures_json, plain, report_json
from evenhand.report.text import agreement_text, measures_text, shown, trust_text
from evenhand.statistics import Estimate
from evenhand.statistics.models.recalibration import Recalibration
from evenhand.store.ratings import Added
from evenhand.text import counted, line, listed

if TYPE_CHECKING:
    import pandas
    import polars

Row = Mapping[str, object]


class Result(ABC):
    """Anything that `Study` returns to be looked at. A notebook shows its rows, unless it has more to show."""

    _title: ClassVar[str] = ""
    _heads: ClassVar[Sequence[str]] = ()

    @abstractmethod
    def __str__(self) -> str:
        """What the command line prints."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command line prints them with `--json`."""

    @abstractmethod
    def _rows(self) -> Sequence[Row]:
        """The rows of a data frame."""

    @abstractmethod
    def _summary(self) -> str:
        """The content of the `repr`, in a few words."""

    def to_pandas(self) -> "pandas.DataFrame":
        """A pandas data frame. Raises UserError if pandas is not installed."""
        return data_frame("pandas", self._columns())

    def to_polars(self) -> "polars.DataFrame":
        """A Polars data frame. Raises UserError if Polars is not installed."""
        return data_frame("polars", self._columns())

    def _columns(self) -> dict[str, list[object]]:
        rows = self._rows()
        return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}

    def _repr_html_(self) -> str:
        rows = [[_cell(value) for value in row.values()] for row in self._rows()]
        return fragment([Section("result", self._title, table(self._summary(), self._heads, rows, "numbers"))])

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


class FiguresResult(Result):
    """A result that consists of figures."""

    @abstractmethod
    def figures(self) -> Sequence[Figure]:
        """Every number of this result as a flat record."""

    def _rows(self) -> Sequence[Row]:
        rows: list[Row] = []
        for figure in self.figures():
            row = {name: getattr(figure, name) for name in ("statistic", "criterion", "rater", "against")}
            stratum = figure.stratum
            row["stratum"] = None if stratum is None else ", ".join(f"{name}={of}" for name, of in stratum.items())
            row["label"] = None if figure.label is None else str(figure.label)
            rows.append(row | {name: getattr(figure.estimate, name) for name in ("value", "low", "high", "n", "why")})
        return rows


@dataclass(frozen=True, repr=False)
class ReportResult(FiguresResult):
    """The whole report, or one part of it; `path` is the file it was written to, if it was."""

    report: Report
    path: Path | None = None
    _sections: ClassVar[Sequence[Callable[[View], Section]]] = (headline_section, agreement_section, trust_section)
    _text: ClassVar[Callable[[Report], str] | None] = None
    _json: ClassVar[Callable[[Report], dict[str, Any]]] = staticmethod(report_json)

    def __str__(self) -> str:
        if self._text is not None:
            return self._text(self.report)
        where = self.path or self.report.source.location
        units, raters = self.report.source.n_units, len(self.report.raters)
        return f"{where}: {counted(units, 'unit')}, {counted(raters, 'rater')}"

    def to_dict(self) -> dict[str, Any]:
        return self._json(self.report)

    def figures(self) -> Sequence[Figure]:
        agreements = [*self.report.agreements.values(), *self.report.by_stratum]
        trust = self.report.trust.values()
        found = [*self.report.measures, *(one for part in (*agreements, *self.report.scores) for one in part.figures())]
        return found + [one for trusted in trust for one in _trust_figures(trusted)]

    def _repr_html_(self) -> str:
        return report_fragment(self.report, self._sections)

    def _summary(self) -> str:
        return str(self)


def _trust_figures(found: Trust) -> Iterator[Figure]:
    name = found.criterion
    for one in [*found.people, *(model.standing for model in found.models)]:
        yield Figure("match", "match", one.match, name, one.rater, PEOPLES_MAJORITY)
    for model in found.models:
        for label, powered in model.powered.estimates.items():
            by_source = {"powered": powered.combined, "people": powered.human_only, "model": powered.model_only}
            for source, estimate in by_source.items():
                yield Figure(f"{source}_estimate", "estimate", estimate, name, model.rater, label=label)
    for severity in found.severities:
        yield Figure("leniency", "leniency", severity.leniency, name, severity.rater)
        yield Figure("drift", "drift", severity.drift, name, severity.rater)


class AgreementResult(ReportResult):
    """Agreement of all raters and of each pair, by criterion, and the protocol's targets."""

    _sections = (agreement_section, overlap_section)
    _text, _json = staticmethod(agreement_text), staticmethod(agree_json)

    @property
    def criteria(self) -> Mapping[str, Agreement]:
        """Everything about the agreement on each criterion."""
        return self.report.agreements

    @property
    def targets(self) -> Sequence[TargetResult]:
        """The figures for which the protocol has a goal."""
        return self.report.targets

    @property
    def alpha(self) -> Mapping[str, Estimate]:
        """Krippendorff's α of each criterion."""
        return {name: found.alpha for name, found in self.criteria.items()}

    @property
    def pairs(self) -> Mapping[str, Sequence[Pair]]:
        """The pairs of raters of each criterion."""
        return {name: found.pairs for name, found in self.criteria.items()}

    def _summary(self) -> str:
        pairs = sum(map(len, self.pairs.values()))
        return f"{', '.join(self.criteria) or 'no criterion'}; {counted(pairs, 'pair')} of raters"


class MeasuresResult(ReportResult):
    """The protocol's own figures, overall and by stratum."""

    _sections, _text, _json = (headline_section,), staticmethod(measures_text), staticmethod(measures_json)

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.report.measures)

    def __len__(self) -> int:
        return len(self.report.measures)

    def _summary(self) -> str:
        return f"{self.report.source.protocol.name}; {counted(len(self), 'figure')}"


class TrustResult(ReportResult):
    """How far each rater can be trusted on one criterion."""

    _sections, _text = (trust_section,), staticmethod(trust_text)

    @property
    def trust(self) -> Trust:
        """The figures as plain data."""
        return next(iter(self.report.trust.values()))

    def to_dict(self) -> dict[str, Any]:
        return plain(self.trust)

    def _summary(self) -> str:
        return f"{self.trust.criterion}; {counted(len(self.trust.models), 'model')}"


@dataclass(frozen=True, repr=False)
class ComparisonResult(FiguresResult):
    """Two groups of items, two systems for instance, compared on one criterion."""

    comparison: Compared

    def __str__(self) -> str:
        found = self.comparison
        whose = found.rater or "people"
        sides = f"{found.field} {found.a} (n {found.n_a:,}) less {found.b} (n {found.n_b:,})"
        head = f"{found.criterion} by {whose}: {sides}"
        if found.why is not None:
            return line(f"{head}: undefined: {found.why}")
        lines = [f"  {name}: {self._difference(name)}" for name in found.differences]
        return "\n".join(map(line, [head, *lines]))

    def _difference(self, name: str) -> str:
        one = self.comparison.differences[name]
        p = "" if one.p is None else f", p {one.p:.3f}" if one.p >= 0.001 else ", p < 0.001"
        return f"{shown(one.difference)}{p}"

    def to_dict(self) -> dict[str, Any]:
        return plain(self.comparison)

    def figures(self) -> Sequence[Figure]:
        found = self.comparison
        return [
            Figure("difference", "difference", one.difference, found.criterion, found.rater, label=name)
            for name, one in found.differences.items()
        ]

    def _rows(self) -> Sequence[Row]:
        found = self.comparison.differences.values()
        return [
            {**row, "a": one.first, "b": one.second, "p": one.p}
            for row, one in zip(super()._rows(), found, strict=True)
        ]

    def _repr_html_(self) -> str:
        found = self.comparison
        caption = f"{found.criterion}: {found.field} {found.a} less {found.b}"
        rows = [[name, self._difference(name)] for name in found.differences] or [[found.why or "", ""]]
        return fragment([Section("result", "Comparison", table(caption, ["", "difference"], rows))])

    def _summary(self) -> str:
        return f"{self.comparison.criterion}, {self.comparison.a} less {self.comparison.b}"


@dataclass(frozen=True, repr=False)
class CalibrationResult(Result):
    """How much better a rater is with probabilities adjusted to people's labels, on labels left out of the fit.

    `settings` are the variant's; `name` is the rater that it was stored as, None if it is not better.
    """

    settings: Mapping[str, Any]
    found: Recalibration
    name: str | None
    added: Added | None
    _title = "Calibration"
    _heads = ("", "before", "after", "gain", "low", "high")

    def __str__(self) -> str:
        made, added = self.settings, self.added
        on = f"{made['labels']:,} held-out labels ({made['labels_by']})"
        lines = [f"{made['criterion']}: {made['source']}, evaluated on {on}"]
        for name, one in self.found.held_out.items():
            lines.append(f"  {name}: {_cell(one.second)} → {_cell(one.first)}, gain {shown(one.difference)}")
        offsets = ", ".join(f"{label} {offset:+.2f}" for label, offset in made["offsets"].items())
        lines.append(f"  fitted on all labels: temperature {made['temperature']:.2f}, offsets {offsets}")
        if added is None:
            lines.append(
                "No better: neither kappa nor log_loss clearly gains, or one of them clearly loses. Nothing was stored."
            )
        else:
            lines.append(
                f"Improves {listed(self.found.better)}. Stored as {self.name}; each labelled unit is rated by the fit "
                "that left its item out."
            )
            lines.append(f"  {added.new:,} new ratings, {added.superseding:,} replaced, {added.known:,} as before")
        return "\n".join(map(line, lines))

    def to_dict(self) -> dict[str, Any]:
        gains = {
            name: {"before": one.second, "after": one.first, "gain": one.difference.to_dict()}
            for name, one in self.found.held_out.items()
        }
        stored = None if self.added is None else {"rater": self.name, **plain(self.added)}
        return {**self.settings, "held_out": gains, "better": self.found.better, "stored": stored}

    def _rows(self) -> Sequence[Row]:
        return [
            {"statistic": name, "before": one.second, "after": one.first, "gain": one.difference.value}
            | {"low": one.difference.low, "high": one.difference.high}
            for name, one in self.found.held_out.items()
        ]

    def _summary(self) -> str:
        better = f"better, stored as {self.name}" if self.name else "no better"
        return f"{self.settings['source']} on {self.settings['criterion']}: {better}"


@dataclass(frozen=True, repr=False)
class ImportResult(Result):
    """What an import read and what was new. `similar`: new ids like others; `absent`: units without a row in it."""

    source: str
    summary: ImportSummary
    added: Added
    similar: Mapping[str, Sequence[str]]
    absent: int = 0
    _title = "Imported ratings"
    _heads = ("rater", "ratings")

    def __str__(self) -> str:
        read, added = self.summary, self.added
        raters = ", ".join(f"{rater} {count:,}" for rater, count in read.ratings.items()) or "none"
        not_asked = f"; not asked, because the condition is false: {read.not_asked:,}" if read.not_asked else ""
        stored = [f"{added.new:,} new"]
        stored += [f"{added.superseding:,} replacing an earlier rating"] if added.superseding else []
        stored += [f"{added.known:,} already in the study"] if added.known else []
        notes = [
            (read.blanks, f"{counted(read.blanks, 'blank cell')}, counted as not rated"),
            (self.absent, f"not in the file: {counted(self.absent, 'unit')} of the study"),
            (read.left_out, f"rationales, confidences or notes without a rating, ignored: {read.left_out:,}"),
            (read.without_rationale, f"{counted(read.without_rationale, 'rating')} without a required rationale"),
            (read.without_confidence, f"{counted(read.without_confidence, 'unit')} without a required confidence"),
            (read.without_column, f"no column for: {', '.join(read.without_column)}"),
            *((ids, f"new rater {rater}: the study also has {listed(ids)}") for rater, ids in self.similar.items()),
        ]
        head = f"{self.source}: {counted(read.rows, 'row')}; ratings by rater: {raters}{not_asked}"
        return "\n  ".join([head, f"stored: {', '.join(stored)}", *(note for given, note in notes if given)])

    def to_dict(self) -> dict[str, Any]:
        return {"source": self.source, **plain(self.summary), **plain(self.added)}

    def _rows(self) -> Sequence[Row]:
        return [{"rater": rater, "ratings": count} for rater, count in self.summary.ratings.items()]

    def _summary(self) -> str:
        return f"{self.source}; {self.added.new:,} new, {self.added.superseding:,} replaced, {self.added.known:,} known"


Stop = Literal["cost", "interrupted", "stopped", "error"]


@dataclass(frozen=True, repr=False)
class RunResult(Result):
    """What models did in one run. `raters` has the counts of each; `stopped` is why the run ended early, or None."""

    text: str
    raters: Mapping[str, Mapping[str, Any]]
    stopped: Stop | None = None
    reason: str | None = None
    _title = "Run"
    _heads = ("rater", "units", "failed", "calls", "stored replies", "tokens read", "tokens written", "cost ($)")

    @property
    def units(self) -> int:
        """Units done in this run, failed ones included."""
        return sum(counts["units"] for counts in self.raters.values())

    @property
    def failed_units(self) -> int:
        """Units of this run with at least one failed rating."""
        return sum(counts["failed_units"] for counts in self.raters.values())

    @property
    def cost(self) -> float | None:
        """Dollars spent, as far as prices are known."""
        known = [counts["cost"] for counts in self.raters.values() if counts["cost"] is not None]
        return sum(known) if known else None

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        raters = {rater: dict(counts) for rater, counts in self.raters.items()}
        return {"raters": raters, "stopped": self.stopped, "reason": self.reason}

    def _rows(self) -> Sequence[Row]:
        kept = ("units", "failed_units", "calls", "reused", "input_tokens", "output_tokens", "cost")
        return [{"rater": rater, **{name: counts[name] for name in kept}} for rater, counts in self.raters.items()]

    def _summary(self) -> str:
        ended = f"; stopped: {self.stopped}" if self.stopped else ""
        return f"{counted(self.units, 'unit')} done, {self.failed_units:,} failed{ended}"


@dataclass(frozen=True, repr=False)
class RunEstimate(Result):
    """What a run would take: units to rate by rater, and what each rater would ask of each model."""

    text: str
    units: Mapping[str, int]
    models: Sequence[Any]
    _title = "Estimate of a run"
    _heads = ("rater", "model", "calls", "stored", "tokens to read", "tokens to write", "cost ($)", "at most ($)")

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return {"units": dict(self.units), "models": plain(self.models)}

    def _rows(self) -> Sequence[Row]:
        return plain(self.models)

    def _summary(self) -> str:
        return f"{counted(sum(self.units.values()), 'unit')} to rate"


@dataclass(frozen=True, repr=False)
class GenerationResult(RunResult):
    """What a model wrote in one run, and all that the work file holds by now.

    `counts` are those of this model so far: cells, outputs, and by reason what was declined, failed, rejected (and
    requested again) and dropped. `rows` are the outputs of all models, each a row of an items file.
    """

    counts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rows: Sequence[Row] = ()

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "counts": dict(self.counts)}

    def _rows(self) -> Sequence[Row]:
        return self.rows

    def _repr_html_(self) -> str:
        return fragment([Section("result", "Generation", table(self._summary(), ("",), [[self.text]]))])

    def _summary(self) -> str:
        ended = f"; stopped: {self.stopped}" if self.stopped else ""
        return f"{counted(len(self.rows), 'output')}, {sum(self.counts['failed'].values()):,} failed{ended}"
