"""Study: one protocol, its items, units and ratings. Every command and every notebook call goes through it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, get_args
from uuid import uuid4

from evenhand.analysis.comparison import compare
from evenhand.analysis.tables import Tables
from evenhand.errors import DuplicateItemError, InputError, Problems, UserError
from evenhand.files import replacing
from evenhand.formats.derived_units import DerivedUnits, read_claims, read_questions, write_units
from evenhand.formats.items import ItemSource, items_of
from evenhand.formats.ratings.blind_sheet import filled_fields, write_blind
from evenhand.formats.ratings.ratings_reader import RatingsFile, named_rater
from evenhand.formats.ratings.ratings_writer import diagnosis_sheet, long_sheet, wide_sheet, without_scorers
from evenhand.formats.tables.table import Sheet, data_frame
from evenhand.formats.tables.table_files import TableSource, table_of, write_table
from evenhand.llm.endpoints import model_name
from evenhand.protocol.load import available, changed_source, load_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.options import (
    JudgeOptions,
    MakeOptions,
    PromptOptions,
    RunOptions,
    check_names,
    check_option,
    judge_options,
    rater_options,
)
from evenhand.raters.registry import RaterSource
from evenhand.records import Item, Kind, RaterRef, Rating, Unit
from evenhand.report.build import (
    GENERATOR,
    Report,
    agreement_report,
    build,
    figure_options,
    measures_report,
    trust_report,
)
from evenhand.report.html.page import render
from evenhand.report.json import report_json_text
from evenhand.report.text import report_text
from evenhand.results import (
    AgreementResult,
    CalibrationResult,
    ComparisonResult,
    ImportResult,
    MeasuresResult,
    ReportResult,
    RunEstimate,
    RunResult,
    TrustResult,
)
from evenhand.run.batch_files import read_replies, write_batch, write_prompts
from evenhand.run.derivation import check_derived, derive, derive_offline, derived_units, replace_derived
from evenhand.run.estimate import estimate
from evenhand.run.judge import check_idle, judge
from evenhand.run.recalibration import calibrate
from evenhand.statistics import DEFAULT, Resampling
from evenhand.store.items import ItemUnits, Replaced
from evenhand.store.protocols import ProtocolVersion
from evenhand.store.store import Store, create_store, open_store
from evenhand.text import counted, some_of
from evenhand.units import DERIVED, Claim, Derived, Question, check_unit, split

if TYPE_CHECKING:
    import pandas
    import polars

Shape = Literal["long", "wide", "blind", "diagnosis"]

Progress = Callable[[Iterable[Item]], Iterable[Item]]
"""Wraps the items on their way into a study, to show progress."""


@dataclass(frozen=True, slots=True)
class Change:
    """The study's protocol file, or the built-in protocol, has changed; the study continues with its own copy."""

    location: str
    source: str
    before: Protocol
    after: Protocol

    def __str__(self) -> str:
        before, after = self.before, self.after
        versions = f"{before.version} → {after.version}, " if before.version != after.version else ""
        return (
            f"the protocol {self.source} has changed since {self.location} adopted it ({versions}digest "
            f"{before.digest[:12]} → {after.digest[:12]}). The study continues with its own copy. "
            f"To rate under the new version from now on: evenhand protocol adopt {self.location} {self.source}"
        )


class Study:
    """An open study. Use it as a context manager, or close it."""

    def __init__(self, store: Store, change: Change | None = None) -> None:
        self.store = store
        self.change = change

    @classmethod
    def create(
        cls,
        location: str | Path,
        protocol: Protocol | str | Path,
        items: TableSource | ItemSource | Iterable[Item],
        *,
        mapping: Mapping[str, str] | None = None,
        id_column: str | None = None,
        questions: Mapping[str, Sequence[Question]] | None = None,
        claims: Mapping[str, Sequence[Claim]] | None = None,
        source: str | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> "Study":
        """Create a study, completely or not at all.

        Args:
            location: a path, a `postgresql://` URL, or `":memory:"`.
            protocol: the name of a protocol, the path of a protocol file, or a protocol.
            items: the path of a table, a pandas or Polars data frame, a list of dicts, or items.
            mapping: the columns of fields whose name or alias the table does not have.
            id_column: the column with the ids; without ids, they are made from the content.
            questions: questions by item id, if the unit is a question; by default made from the references.
            claims: claims by item id, if the unit is a claim; by default the texts' sentences and clauses.
            source: where a protocol given as an object came from, so that a later change of its file is noticed.
            overwrite: replace an existing study.
            progress: wraps the items as they are read.

        Raises UserError if the location is taken or an input is not valid.
        """
        if isinstance(protocol, str | Path):
            source = source or origin(protocol)
            protocol = load_protocol(protocol)
        derived = _derived(protocol, questions, claims)
        found = items_of(items, protocol, mapping, id_column)
        work = _work(protocol, _at_least_one(progress(found) if progress else found), derived)
        create = _overwrite if overwrite else create_store
        try:
            store = create(str(location), protocol, source or "", work)
        except DuplicateItemError:
            if isinstance(found, ItemSource):
                problems = Problems(found.source)
                problems.extend(found.duplicates())
                problems.raise_if_any()
            raise
        return cls(store)

    @classmethod
    def open(cls, location: str | Path, *, check_source: bool = True) -> "Study":
        """Open a study; `change` is set if its protocol file, or the built-in protocol, has changed since."""
        store = open_store(str(location))
        adopted = store.protocols.known.adopted[-1]
        current = changed_source(adopted.source, adopted.source_digest) if check_source else None
        if current is None or current.digest == store.protocol.digest:
            return cls(store)
        return cls(store, Change(store.location, adopted.source, store.protocol, current))

    @property
    def protocol(self) -> Protocol:
        """The current protocol."""
        return self.store.protocol

    def items(self) -> Iterator[Item]:
        """All items, in the order of the file."""
        return self.store.items.all()

    def item(self, item_id: str) -> Item | None:
        """The item with this id, or None."""
        return self.store.items.find(item_id)

    def units(self) -> Iterator[Unit]:
        """All units, in the order of the items."""
        return self.store.items.units()

    def raters(self) -> Sequence[RaterRef]:
        """All raters, in order of arrival."""
        return self.store.ratings.raters()

    def ratings(self, *, criterion: str | None = None, rater: str | None = None) -> Iterator[Rating]:
        """The current ratings under the current protocol."""
        return self.store.ratings.all(criterion=criterion, rater=rater)

    def versions(self) -> Sequence[ProtocolVersion]:
        """Every protocol this study was rated under, oldest first; the last is the current one."""
        return self.store.protocols.versions()

    def version(self, digest: str) -> Protocol:
        """The protocol of this study whose digest begins with `digest`. Raises UserError unless exactly one does."""
        found = [version.protocol for version in self.versions() if version.protocol.digest.startswith(digest.lower())]
        if len(found) == 1 and digest:
            return found[0]
        known = some_of([version.protocol.digest[:12] for version in self.versions()])
        what = "more than one version" if found else "no version"
        raise UserError(f"{self.store.location}: {what} of the protocol has a digest that begins with {digest!r}; "
                        f"there are: {known}")  # fmt: skip

    def adopt(self, protocol: Protocol | str | Path) -> None:
        """Make a changed protocol the current one. Ratings under the earlier one are kept, and never mixed with others.

        `protocol` is a name, a file, a protocol, or the beginning of the digest of an earlier protocol of this study.
        """
        if isinstance(protocol, str) and _may_be_digest(protocol):
            protocol = self.version(protocol)
        if isinstance(protocol, Protocol):
            # Going back to an earlier version is a decision: without a source, its changed file is not announced.
            self.store.protocols.adopt(protocol, "")
        else:
            self.store.protocols.adopt(load_protocol(protocol), origin(protocol))
        self.change = None

    def import_ratings(
        self,
        source: TableSource,
        *,
        rater: str | None = None,
        kind: Kind | None = None,
        id_column: str | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> ImportResult:
        """Import ratings from a long or wide file, data frame or list of dicts: all of them, or none.

        `rater` applies to ratings that name no rater, and `kind` to raters whose kind the file does not give: people by
        default, so that a model's ratings are not replaced by accident. A rating that the study already has is passed
        over; a different one by the same rater replaces it. Raises InputError with all cells that are not valid.
        """
        table = table_of(source)
        file = RatingsFile(
            table,
            self.protocol,
            rater=rater,
            kind=kind,
            id_column=id_column,
            columns=mapping,
            known=self.store.ratings.raters(),
        )
        ratings = file.ratings(self.store.items.units_of, self.store.items.find_many)
        added = self.store.ratings.add(ratings, raters=file.raters, keep_same=True)
        absent = self.store.items.count_units() - len(file.sheet_units) if file.sheet_units else 0
        return ImportResult(table.source, file.summary, added, file.similar_raters(), absent)

    def export_ratings(
        self, path: str | Path, shape: Shape = "long", *, digest: str | None = None, overwrite: bool = False
    ) -> int:
        """Write ratings to a file and return the number of rows.

        Args:
            path: the file; its suffix determines the format.
            shape: `long` has a row for each rating, as `import_ratings` reads it; `wide` a row for each unit;
                `diagnosis` a row for each unit and criterion with what was used and why not; `blind` is a sheet to
                fill in, without ratings.
            digest: the digest, or its beginning, of an earlier protocol whose ratings are written, long or wide.
            overwrite: replace an existing file, which may hold a rater's work.
        """
        if shape not in get_args(Shape):
            raise UserError(f"there is no shape {shape!r}; valid are {', '.join(get_args(Shape))}")
        if digest is not None and shape not in ("long", "wide"):
            raise UserError(f"a digest goes with the shapes long and wide, not with {shape}")
        if shape == "blind":
            filled = filled_fields(self.protocol, self.items())
            return write_blind(path, self.protocol, self.work(), fields=filled, overwrite=overwrite)
        protocol = self.protocol if digest is None else self.version(digest)
        return write_table(path, self._sheet(shape, protocol), overwrite=overwrite)

    def _sheet(self, shape: Literal["long", "wide", "diagnosis"], protocol: Protocol) -> Sheet:
        store, raters = self.store, self.store.ratings.raters()
        if shape == "long":
            return long_sheet(store.items.units(), store.ratings.all(digest=protocol.digest), raters)
        if shape == "wide":
            ratings = store.ratings.all(digest=protocol.digest)
            rated = store.ratings.rated(protocol.digest)
            return wide_sheet(protocol, store.items.units(), store.items.all(), ratings, raters, rated)
        judges = without_scorers(raters, store.ratings.rated(*(one.protocol.digest for one in self.versions())))
        return diagnosis_sheet(self.protocol, store.items.units(), store.ratings.all(every_digest=True), judges)

    def ratings_frame(
        self, shape: Literal["long", "wide"] = "long", *, library: Literal["pandas", "polars"] = "pandas"
    ) -> "pandas.DataFrame | polars.DataFrame":
        """The current ratings as a data frame, with the columns of `export_ratings`."""
        sheet = self._sheet(shape, self.protocol)
        rows = list(sheet.rows)
        return data_frame(library, {name: [row[place] for row in rows] for place, name in enumerate(sheet.columns)})

    def add_items(
        self,
        items: TableSource | ItemSource | Iterable[Item],
        *,
        mapping: Mapping[str, str] | None = None,
        id_column: str | None = None,
        questions: Mapping[str, Sequence[Question]] | None = None,
        claims: Mapping[str, Sequence[Claim]] | None = None,
    ) -> int:
        """Add items after those that are there, all of them or none; returns how many.

        An item that is there already, with the same fields, is passed over. The arguments are those of `create`.
        Raises UserError if an item has the id of another one.
        """
        derived = _derived(self.protocol, questions, claims)
        found = items_of(items, self.protocol, mapping, id_column)
        return self.store.items.add(_work(self.protocol, found, derived))

    def judge(
        self,
        *raters: RaterSource,
        log: str | Path | None = None,
        progress: bool = True,
        **options: Unpack[JudgeOptions],
    ) -> RunResult:
        """Let models or your own raters rate the units that they have not rated yet.

        Every reply is stored as it arrives. An interrupted run keeps them, and the same call continues it without
        paying twice. Works in a notebook, where an event loop is already running.

        Args:
            raters: rater specs such as `"verifier"`, `"openai:MODEL"` or `"NAME=SPEC"`, or objects with a method
                `rate(item, unit)`.
            log: a file to which the events of the run are added, line by line.
            progress: whether to show a progress bar on stderr.
            options: see `JudgeOptions`.

        Raises UserError, with nothing rated, if a rater or an option is not valid or no call can succeed.
        """
        asking, run = judge_options(options)
        outcome = judge(self.store, raters, asking, run, log=log, progress=progress)
        return RunResult(*outcome.parts("nothing was rated"))

    def estimate(self, *raters: RaterSource, **options: Unpack[JudgeOptions]) -> RunEstimate:
        """What `judge` would take with the same arguments: calls, tokens, cost, the first prompt. Nothing is sent."""
        asking, run = judge_options(options)
        found = estimate(self.store, raters, asking, run)
        return RunEstimate(str(found), found.units, found.models)

    def stop_run(self, run: str) -> None:
        """Stop a run, wherever its processes are; they wait for open calls. `evenhand runs` shows the ids.

        Raises UserError if there is no such run, or it has ended.
        """
        if not self.store.work.stop(run):
            under_way = [one.id for one in self.store.work.runs() if one.state == "running"]
            raise UserError(
                f"{self.store.location}: no run {run!r} is under way; there are: {', '.join(under_way) or 'none'}"
            )

    def export_prompts(
        self,
        path: str | Path,
        *,
        model: str | None = None,
        limit: int | None = None,
        overwrite: bool = False,
        **options: Unpack[PromptOptions],
    ) -> int:
        """Write the prompts for all units, to be answered elsewhere, and return their number.

        Without `model` the file is a table with a column `reply` to fill in; with it, a batch file for OpenAI's queue.
        """
        check_option("limit", limit)
        check_names(options, PromptOptions.__annotations__)
        asking = rater_options(options)
        if model is not None:
            return write_batch(self.store, path, model, asking, limit=limit, overwrite=overwrite)
        for option in ("max_tokens", "temperature", "seed"):
            if getattr(asking, option) is not None:
                raise UserError(
                    f"{option.replace('_', '-')} goes with a batch: a prompt used by hand has no such setting"
                )
        return write_prompts(self.store, path, asking, limit=limit, overwrite=overwrite)

    def import_replies(self, path: str | Path, rater: str) -> RunResult:
        """Import replies collected elsewhere as ratings by the model `rater`: all of them, or none.

        The file is the one that `export_prompts` wrote, with the replies filled in, or the output of a batch.
        """
        tally = read_replies(self.store, path, rater)
        head = f"{path}: replies for {counted(tally.units, 'unit')} by {rater}"
        return RunResult("\n".join([head, *tally.rating_lines()]), {rater: tally.counts()})

    def make_questions(
        self, rater: str | None = None, *, progress: bool = True, **options: Unpack[MakeOptions]
    ) -> RunResult:
        """Make the questions again from the references, with a language model or, by default, without one.

        Items with a question that has a rating keep theirs. Raises UserError if a rater is at work.
        """
        return self._derive("question", rater, progress, options)

    def make_claims(
        self, rater: str | None = None, *, progress: bool = True, **options: Unpack[MakeOptions]
    ) -> RunResult:
        """Extract the claims again from the texts, with a language model or, by default, by sentence and clause.

        Items with a claim that has a rating keep theirs. Raises UserError if a rater is at work.
        """
        return self._derive("claim", rater, progress, options)

    def _derive(self, noun: str, rater: str | None, progress: bool, options: MakeOptions) -> RunResult:
        check_unit(self.protocol, noun, self.store.location)
        check_names(options, MakeOptions.__annotations__)
        run_options = RunOptions(**options)
        if rater is None and (options.get("max_cost") is not None or options.get("prices")):
            raise UserError("a cost limit and prices go with a rater: without a model there is nothing to pay")
        if rater is None:
            made = derive_offline(self.store)
        else:
            made = derive(self.store, rater, run_options, progress=progress)
        text, raters, stopped, reason = made.parts(f"no {noun} was made")
        replaced = made.replaced.changed + made.replaced.removed
        text += f"\n  {counted(replaced, noun)} replaced" if replaced else ""
        return RunResult(text, raters, stopped, reason)

    def export_questions(self, path: str | Path, *, overwrite: bool = False) -> tuple[int, int]:
        """Write all questions with the references' answers as JSON, to be edited and imported with `import_questions`.

        Returns the numbers of items and of questions.
        """
        return self._export("question", path, overwrite)

    def export_claims(self, path: str | Path, *, overwrite: bool = False) -> tuple[int, int]:
        """Write all claims as JSON, by item and field, to be edited and imported with `import_claims`.

        Returns the numbers of items and of claims.
        """
        return self._export("claim", path, overwrite)

    def _export(self, noun: str, path: str | Path, overwrite: bool) -> tuple[int, int]:
        check_unit(self.protocol, noun, self.store.location)
        return write_units(path, self.protocol, self.items(), self.units(), overwrite=overwrite)

    def import_questions(self, path: str | Path) -> Replaced:
        """Replace the questions of the items in a file; see `replace_questions`."""
        check_unit(self.protocol, "question", self.store.location)
        return self._import(read_questions(path, self._check_derived))

    def import_claims(self, path: str | Path) -> Replaced:
        """Replace the claims of the items in a file; see `replace_claims`."""
        check_unit(self.protocol, "claim", self.store.location)
        return self._import(read_claims(path, self.protocol, self._check_derived))

    def _check_derived(self, units: Derived) -> None:
        check_derived(self.protocol, self.store.items.find_many(list(units)), units)

    def _import(self, units: DerivedUnits[Any]) -> Replaced:
        check_idle(self.store)
        return replace_derived(self.store, units)

    def replace_questions(self, questions: Mapping[str, Sequence[Question]]) -> Replaced:
        """Replace the questions of the items named, all of them or none; other items keep theirs.

        A question that has ratings must be among the new ones, unchanged, and keeps its position; the others follow in
        their order. Raises UserError with every rated question that is missing.
        """
        return replace_derived(self.store, questions)

    def replace_claims(self, claims: Mapping[str, Sequence[Claim]]) -> Replaced:
        """Replace the claims of the items named, under the same conditions as `replace_questions`."""
        return replace_derived(self.store, claims)

    def tables(self) -> Tables:
        """The current ratings as NumPy arrays, one table for each criterion: the start of a statistic of your own."""
        return self.store.tables()

    def _tables(self, criterion: str | None) -> Tables:
        tables = self.store.tables()
        if criterion is not None and criterion not in (comparable := tables.compared().tables):
            raise UserError(f"there is no criterion {criterion!r} to compare; valid are {', '.join(comparable)}")
        return tables

    def agreement(
        self,
        criterion: str | None = None,
        *,
        by: Sequence[str] = (),
        combine: Sequence[str] = (),
        together: str | None = None,
        plan: Resampling = DEFAULT,
    ) -> AgreementResult:
        """How far the raters agree, all together and pair by pair, on one criterion or on all.

        Args:
            criterion: by default all on which raters can be compared.
            by: label fields by which agreement is broken down, such as `"domain"`, or `"shot_type,question_type"` for
                the combinations of two.
            combine: raters taken as one and compared with the others, such as `"reference=mean(people, step=0.5)"`: a
                name, a rule, and rater ids, `people` or `models`. Rules are `pool` (all of their ratings), `mean`
                (rounded to `step`), `majority`, and `plurality` (of `ties` the `first`, the `last` or `none`).
            together: criteria with the same scale, such as `"relevance,fluency"`, that are also taken as one; `"all"`
                for all that can be compared.
            plan: seed, replicates and level of the intervals.

        Raises UserError for a name that the study does not have.
        """
        tables = self._tables(criterion)
        options = figure_options(tables, by, combine, together)
        return AgreementResult(agreement_report(tables, self.store.location, plan, criterion, options))

    def measures(
        self,
        *,
        by: Sequence[str] = (),
        combine: Sequence[str] = (),
        together: str | None = None,
        plan: Resampling = DEFAULT,
    ) -> MeasuresResult:
        """The protocol's own figures, overall and by stratum; the options are those of `agreement`.

        `by` takes the place of the protocol's strata. `together` adds the agreement measures on these criteria as one.
        """
        tables = self.tables()
        return MeasuresResult(
            measures_report(tables, self.store.location, plan, figure_options(tables, by, combine, together))
        )

    def trust(self, criterion: str, *, plan: Resampling = DEFAULT) -> TrustResult:
        """How far each rater can be trusted on a criterion."""
        return TrustResult(trust_report(self._tables(criterion), self.store.location, criterion, plan))

    def compare(
        self,
        field: str,
        a: str,
        b: str,
        *,
        criterion: str,
        rater: str | None = None,
        pair: str | None = None,
        plan: Resampling = DEFAULT,
    ) -> ComparisonResult:
        """Compare the items whose label `field` is `a` with those where it is `b`: two systems, for instance.

        Ratings are those of `rater`, or by default of the people together. `pair` names a label field whose value pairs
        the items, such as the question that both systems answered.
        """
        return ComparisonResult(compare(self._tables(criterion).compared(), criterion, field, a, b, rater, pair, plan))

    def calibrate(
        self,
        rater: str,
        *,
        name: str | None = None,
        labels: str | None = None,
        criterion: str | None = None,
        plan: Resampling = DEFAULT,
    ) -> CalibrationResult:
        """Adjust a rater's stored probabilities to people's labels, and store the result as another rater if it helps.

        It is measured on items left out of the fit, and stored only if it is better there. Its rating of a unit with a
        label comes from the fit without that item.

        Args:
            rater: a model or rule whose ratings have probabilities, such as `verifier`.
            name: the variant's rater id, by default the rater's with `-calibrated`. Calling again with the same labels
                adds units that the rater has rated since; other labels need another name.
            labels: the person whose labels count, an adjudicator for instance; by default the people's majority.
            criterion: by default the first one on which the rater stated probabilities.
            plan: its seed also determines how items are divided for cross-validation.

        Raises UserError, with nothing stored, if there are fewer than 50 labels or there is nothing to calibrate.
        """
        variant = named_rater(name, "--name") or f"{rater}-calibrated"
        settings, found, added = calibrate(self.store, rater, variant, labels, criterion, plan)
        return CalibrationResult(settings, found, variant if added else None, added)

    def report(
        self, path: str | Path | None = None, *, overwrite: bool = False, plan: Resampling = DEFAULT
    ) -> ReportResult:
        """The whole report. With a path it is written as `.html`, `.json` or `.txt`.

        An earlier report is replaced; any other existing file only with `overwrite`.
        """
        if path is None:
            return ReportResult(self._report(plan))
        target = Path(path)
        renderers = {".html": render, ".htm": render, ".json": report_json_text, ".txt": report_text}
        renderer = renderers.get(target.suffix.lower())
        if renderer is None:
            raise UserError(f"{target}: a report's name ends in {', '.join(renderers)}, not in {target.suffix!r}")
        with replacing(target, overwrite=overwrite, mark=GENERATOR.encode()) as temporary:
            found = self._report(plan)
            temporary.write_text(renderer(found), encoding="utf-8")
        return ReportResult(found, target)

    def _report(self, plan: Resampling) -> Report:
        tables = self.tables()
        models = {run.rater: set(_models(run.settings)) for run in self.store.work.runs()}
        return build(tables, self.store.location, lambda numbers: self._fetch(tables, numbers), plan, models)

    def _fetch(self, tables: Tables, numbers: Sequence[int]) -> list[tuple[Item, Unit, list[Rating]]]:
        """Units by their numbers with items and ratings, for the few that a person will read."""
        places = [tables.place(number) for number in numbers]
        items = self.store.items.at([item for item, _ in places])
        units = self.store.items.units_of([item.id for item in items])
        found: list[tuple[Item, Unit, list[Rating]]] = []
        for item, (_, position) in zip(items, places, strict=True):
            unit = next(unit for unit in units[item.id] if unit.position == position)
            found.append((item, unit, [one for one in self.store.ratings.all(item=item.id) if one.unit == unit.id]))
        return found

    def work(self) -> Iterator[tuple[Item, Unit]]:
        """Every unit with its item."""
        return ((item, unit) for item, units in self.store.items.work() for unit in units)

    def count_ratings(self, *, every_digest: bool = False) -> int:
        """The number of current ratings, under the current protocol or under all."""
        counts = self.store.ratings.count()
        digests = list(counts) if every_digest else [self.protocol.digest]
        return sum(sum(counts.get(digest, {}).values()) for digest in digests)

    def backup(self, path: str | Path) -> None:
        """Copy the study, complete and consistent, into a new SQLite file, even while people are rating."""
        self.store.backup(Path(path))

    def close(self) -> None:
        """Close the study; one in memory is gone."""
        self.store.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study: {self.store.location}, {self.protocol.name} {self.protocol.version}>"


def origin(protocol: str | Path) -> str:
    """Where a protocol comes from, in a form that can be found from any folder."""
    path = Path(protocol)
    return str(path.resolve()) if path.is_file() else str(protocol)


def _models(settings: object) -> Iterator[str]:
    """The names of the models in a rater's settings, and in those of its members."""
    for name, value in cast("dict[str, object]", settings).items() if isinstance(settings, Mapping) else ():
        if name == "spec" and isinstance(value, str):
            yield model_name(value)
        yield from _models(value)


def _may_be_digest(name: str) -> bool:
    """Whether a name may be the beginning of a digest: hexadecimal, and not the name of a protocol or file."""
    return bool(re.fullmatch(r"[0-9a-fA-F]{4,64}", name)) and name not in available() and not Path(name).is_file()


def _derived(protocol: Protocol, questions: Derived | None, claims: Derived | None) -> Derived | None:
    """The questions or claims that were given, if the protocol's unit is one."""
    for noun, given in (("question", questions), ("claim", claims)):
        if given is not None:
            check_unit(protocol, noun)
    return questions if claims is None else claims


def _at_least_one(items: Iterable[Item]) -> Iterator[Item]:
    """The items; InputError if there is not a single one, as for a table without rows."""
    item = None
    for item in items:
        yield item
    if item is None:
        raise InputError("items", "there are no rows")


def _work(protocol: Protocol, items: Iterable[Item], derived: Derived | None) -> Iterator[ItemUnits]:
    """Each item with its units; questions and claims are made from the texts unless they are given."""
    if protocol.rule.of == "item" and not derived:
        # The unit of a whole item is not stored.
        yield from zip(items, repeat(()))
        return
    made = derived is None and protocol.rule.of in DERIVED
    checked: dict[str, Item] = {}
    for item in items:
        if derived is not None and item.id in derived:
            checked[item.id] = item
        own = {item.id: derived_units(protocol, item)} if made else derived
        yield item, split(protocol, item, own)
    check_derived(protocol, checked, derived or {})


def _overwrite(location: str, protocol: Protocol, source: str, work: Iterable[ItemUnits]) -> Store:
    """Create a study in place of the one at a path, which stays if the new one cannot be created."""
    if "://" in location:
        raise UserError("a study in a PostgreSQL database cannot be overwritten; create another database")
    path = Path(location)
    if not path.exists():
        return create_store(location, protocol, source, work)
    open_store(location).close()  # raises if the file is not a study
    new = path.with_name(f".{path.name}.{uuid4().hex[:8]}.new")
    try:
        create_store(str(new), protocol, source, work).close()
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return open_store(location)
