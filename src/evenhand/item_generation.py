"""`generate`: let a model write what a generator defines, as a file of items or as a study."""

import json
import re
from collections.abc import Generator as Yields
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from evenhand.errors import InputError, Problems, StudyError, UserError
from evenhand.files import replacing
from evenhand.formats.derived_units import question_lists
from evenhand.formats.items import ItemSource, items_of
from evenhand.formats.tables.cells import text_of
from evenhand.formats.tables.table import Sheet
from evenhand.formats.tables.table_files import TableSource, check_writable, open_table, write_table
from evenhand.generation.embedding import embedding_model
from evenhand.generation.filters import tf_idf
from evenhand.generation.load import load_generator
from evenhand.generation.model import Generator
from evenhand.generation.ontology import load_ontology
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.raters.options import RunOptions, check_names, check_option
from evenhand.raters.registry import split_spec
from evenhand.records import Item
from evenhand.results import GenerationResult, RunEstimate
from evenhand.run.estimate import estimate
from evenhand.run.generation import (
    GenerationCounts,
    GenerationPlan,
    Row,
    blank_rows,
    generated_rows,
    open_work,
    row_columns,
    writing_model,
)
from evenhand.run.judge import judge
from evenhand.store.store import Store
from evenhand.study import Study
from evenhand.text import counted
from evenhand.units import Question


class GenerateOptions(TypedDict, total=False):
    """Options of `generate`, the same as those of `evenhand generate`: see `RunOptions`."""

    limit: int | None
    max_cost: float | None
    prices: Sequence[str]
    retry_failed: bool
    concurrency: int
    timeout: float
    tries: int
    device: str
    dtype: str
    batch_size: int


def generate(
    generator: Generator | str | Path,
    items: TableSource,
    model: str,
    *,
    output: str | Path | None = None,
    study: str | Path | None = None,
    protocol: str | Path | None = None,
    work: str | Path | None = None,
    cells: Mapping[str, Sequence[str]] | None = None,
    per_cell: int | None = None,
    shots: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    ontology: str | Path | None = None,
    embedding: str | Path | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
    mapping: Mapping[str, str] | None = None,
    id_column: str | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: bool = True,
    **options: Unpack[GenerateOptions],
) -> GenerationResult | RunEstimate:
    """Let a model write the outputs of a generator that it has not written yet.

    Every reply is stored in the work file as it arrives; the same call continues an interrupted run without paying
    twice. Several models may write into one output, one call after the other.

    Args:
        generator: the name of a generator, the path of a generator file, or a generator.
        items: what the model writes from: the path of a table, a data frame or a list of dicts.
        model: a model spec, such as `"openai:MODEL"` or `"NAME=SPEC"`.
        output: the file of items to write; the suffix determines the format.
        study: the study to create, or to add to, instead.
        protocol: the protocol of that study if it is new; by default the first that the generator names.
        work: where the work is kept; by default next to the output or the study, with the name of the generator.
        cells: the values of each dimension to write for; by default all.
        per_cell: outputs for each cell of each item; by default what the generator says.
        shots: the numbers of worked examples to write with.
        labels: the labels that the model may choose from, of those that the generator defines.
        ontology: a file with the classes and relations that triples may use.
        embedding: a folder with a sentence model in ONNX form, to compare texts by; TF-IDF by default.
        temperature: 0 by default, or 1 if a cell has several outputs.
        max_tokens: the longest reply; by default what the generator says.
        seed: for servers that accept one.
        mapping: the columns of fields whose name or alias the table does not have.
        id_column: the column with the ids.
        overwrite: replace an output file that holds other items, or changed ones.
        dry_run: send nothing, and return an estimate.
        progress: whether to show a progress bar on stderr.
        options: see `GenerateOptions`.

    Raises UserError, with nothing written, if an argument is not valid or no call can succeed.
    """
    if output is not None and study is not None:
        raise UserError("give an output file or a study, not both")
    check_names(options, GenerateOptions.__annotations__)
    run_options = RunOptions(**cast("dict[str, Any]", options))
    asked = {"per_cell": per_cell, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    for option, value in asked.items():
        check_option(option, value)
    found = _configured(load_generator(generator) if not isinstance(generator, Generator) else generator, labels, shots)
    if ontology is not None and all(spec.kind != "triples" for spec in found.output.values()):
        raise UserError(f"{found.name} writes no triples; an ontology is for a generator that does")
    plan = GenerationPlan(
        found,
        found.select_cells(cells or {}, shots),
        per_cell or found.per_cell,
        load_ontology(ontology) if ontology is not None else None,
        tf_idf if embedding is None else embedding_model(embedding),
        "tf-idf" if embedding is None else str(embedding),
        temperature,
        max_tokens,
        seed,
    )
    file = None if output is None else _OutputFile(Path(output), found, overwrite)
    if study is None and protocol is not None:
        raise UserError("a protocol goes with a study; a file of items can be used with any protocol that fits it")
    location = str(work) if work is not None else _work_location(output or study, found.name)
    rows = items_of(items, plan.protocol, mapping, id_column)
    fields = list(rows.columns) if isinstance(rows, ItemSource) else list(found.input)
    target = None if study is None else _Target(str(study), found, fields, protocol)
    with _work(":memory:" if dry_run and not Path(location).exists() else location, plan, rows) as store:
        writer = writing_model(store, plan, model)
        if dry_run:
            estimated = estimate(store, [writer], run=run_options)
            text = re.sub(r"unit(s?) to rate", r"cell\1 to write", str(estimated), count=1)
            return RunEstimate(text, estimated.units, estimated.models)
        if file is not None:
            complete = all(run.state != "running" for run in store.work.runs())
            file.check(list(generated_rows(store, plan)), complete=complete)
        outcome = judge(store, [writer], run=run_options, progress=progress)
        (_, raters, stopped, reason), name = outcome.parts("nothing was written"), split_spec(model)[0]
        counts, written = GenerationCounts.of(store, name), list(generated_rows(store, plan))
        lines = [f"{name}: " + "\n".join(counts.lines()), *outcome.total.usage_lines()]
        lines += [f"  {remark}" for remark in rows.remarks()] if isinstance(rows, ItemSource) else []
        if not outcome.total.to_do:
            lines.append("  nothing to do: every cell is written, declined or failed")
        if counts.failed:
            lines.append("  to try what failed again, repeat the command with --retry-failed")
        if file is not None:
            lines.append(file.write(written))
        if target is not None:
            lines.append(target.add(written))
        return GenerationResult("\n".join(lines), raters, stopped, reason, vars(counts), written)


def writing_sheet(
    generator: str | Path,
    items: TableSource,
    author: str,
    output: Path,
    *,
    cells: Mapping[str, Sequence[str]],
    shots: Sequence[int] | None,
    per_cell: int | None,
    mapping: Mapping[str, str],
    id_column: str | None,
    overwrite: bool,
) -> int:
    """Write the table in which a person fills in the outputs of a generator; returns the number of rows.

    The arguments are those of `generate`; `author` is who writes. Raises UserError if one is not valid.
    """
    found = load_generator(generator)
    plan = GenerationPlan(found, found.select_cells(cells, shots), per_cell or found.per_cell)
    rows = list(blank_rows(plan, items_of(items, plan.protocol, mapping, id_column), author))
    return write_table(output, _sheet_of(rows), overwrite=overwrite)


def _sheet_of(rows: Sequence[Row]) -> Sheet:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Sheet(columns, ([row.get(name) for name in columns] for row in rows), for_people=True)


@contextmanager
def _work(location: str, plan: GenerationPlan, items: Iterable[Item]) -> Yields[Store]:
    """The study that the work is kept in. A file made here is removed again if no run left anything in it."""
    is_new = not ("://" in location or location == ":memory:" or Path(location).exists())
    unused = False
    try:
        try:
            opened = open_work(location, plan, items)
        except StudyError:
            if not (is_new and Path(location).exists()):
                raise
            # Another process that shares the work has just created it.
            is_new, opened = False, open_work(location, plan, items)
        with opened as store:
            try:
                yield store
            finally:
                unused = is_new and not store.work.runs()
    finally:
        if unused:
            Path(location).unlink()


def _configured(generator: Generator, labels: Sequence[str] | None, shots: Sequence[int] | None) -> Generator:
    """The generator with other labels, or another number of worked examples if no dimension states it."""
    if labels is not None:
        generator = generator.offering(labels)
    if shots is not None and not generator.shot_counts:
        if len(shots) != 1:
            raise UserError(f"{generator.name} has no cells for several numbers of worked examples; give one")
        generator = generator.model_copy(update={"shots": shots[0]})
    return generator


def _work_location(beside: str | Path | None, name: str) -> str:
    if beside is None:
        return ":memory:"
    if "://" in str(beside):
        raise UserError("with a study in a PostgreSQL database, name the file that the work is kept in: --work FILE")
    return str(Path(beside).with_suffix(f".{name}.db"))


class _OutputFile:
    """The file that outputs are written to. One with items that were changed, by a person perhaps, is not replaced."""

    def __init__(self, path: Path, generator: Generator, overwrite: bool) -> None:
        self._path = path
        self._questions = any(spec.kind == "questions" for spec in generator.output.values())
        self._overwrite = overwrite
        if self._questions and path.suffix.lower() != ".json":
            raise UserError(f"{path}: questions are written as .json, as `evenhand new --questions` reads them")
        if not self._questions:
            check_writable(path)
        if not path.parent.is_dir():
            raise UserError(f"{path}: there is no folder {path.parent}; create it first")

    def check(self, known: Sequence[Row], *, complete: bool) -> None:
        """Raise UserError if the file is there and holds anything but the outputs that are known, unchanged.

        Not `complete`: a run was killed before it wrote the file again, which may lack some of them.
        """
        if not self._path.exists() or self._overwrite:
            return
        if self._questions:
            unchanged = self._path.read_text(encoding="utf-8") == _questions_text(known)
        else:
            table, problems = open_table(self._path), Problems(str(self._path))
            there = [_cells(dict(zip(table.columns, cells, strict=True))) for _, cells in table.rows(problems)]
            wanted = {str(row["id"]): _cells(row) for row in known}
            same = all(wanted.get(row.get("id", "")) == row for row in there)
            unchanged = same and not problems and not (complete and len(there) < len(wanted))
        if not unchanged:
            raise UserError(
                f"{self._path}: the file is there and was not written by this work, or was changed since; choose "
                "another name, or replace it with --overwrite"
            )

    def write(self, rows: Sequence[Row]) -> str:
        """Write the outputs; returns what was done, in words."""
        if self._questions:
            with replacing(self._path, overwrite=True) as temporary:
                temporary.write_text(_questions_text(rows), encoding="utf-8", newline="")
        elif rows:
            write_table(self._path, _sheet_of(rows), overwrite=True)
        else:
            return f"{self._path}: not written, there is no output yet"
        return f"{self._path}: {counted(len(rows), 'row')}"


def _cells(row: Row) -> Mapping[str, str]:
    """What is in a row's cells, as text; an empty cell is the same as none."""
    texts = ((name, text_of(value)) for name, value in row.items())
    return {name: text for name, text in texts if text is not None}


def _questions_text(rows: Sequence[Row]) -> str:
    content = {str(row["input_id"]): question_lists(_questions(row)) for row in rows}
    return f"{json.dumps(content, ensure_ascii=False, indent=2)}\n"


def _questions(row: Row) -> Sequence[Question]:
    entries = cast("list[dict[str, str]]", json.loads(str(row["questions"])))
    return [Question(one["question"], one["answer"], one["key_info"]) for one in entries]


def _check_fit(generator: Generator, fields: Sequence[str], protocol: Protocol) -> None:
    """Raise UserError if outputs from items with these fields lack a field that the protocol requires."""
    try:
        items_of([dict.fromkeys(row_columns(generator, fields))], protocol, None, None)
    except InputError as error:
        raise UserError(
            f"what {generator.name} writes does not fit {protocol.name}: "
            f"{'; '.join(problem.what for problem in error.problems)}. Write a file with -o FILE, and create the study "
            "with: evenhand new STUDY --items FILE --map FIELD=COLUMN"
        ) from error


class _Target:
    """The study that outputs are added to; it is created with the first of them."""

    def __init__(self, location: str, generator: Generator, fields: Sequence[str], protocol: str | Path | None) -> None:
        self._location = location
        self._source = str(protocol) if protocol is not None else next(iter(generator.protocols), None)
        self._exists = "://" in location or Path(location).exists()
        if self._exists:
            with Study.open(location) as there:
                self._protocol = there.protocol
            if protocol is not None and load_protocol(protocol).digest != self._protocol.digest:
                raise UserError(
                    f"{location} has the protocol {self._protocol.name} {self._protocol.version}, not {protocol}; "
                    "omit the protocol, or name another study"
                )
        elif self._source is None:
            raise UserError(
                f"{generator.name} names no protocol for its output; name one with --protocol, or write a file"
            )
        else:
            self._protocol = load_protocol(self._source)
        _check_fit(generator, fields, self._protocol)

    def add(self, rows: Sequence[Row]) -> str:
        """Add the outputs that the study does not have yet; returns what was done, in words."""
        if not rows:
            return f"{self._location}: nothing to add"
        asks = self._protocol.rule.of == "question"
        questions = {str(row["id"]): _questions(row) for row in rows} if asks and "questions" in rows[0] else None
        added = len(rows)
        try:
            if not self._exists:
                Study.create(self._location, self._protocol, rows, questions=questions, source=self._source).close()
        except StudyError:
            # Another process that shares the work may have created it.
            if not Path(self._location).exists():
                raise
            self._exists = True
        if self._exists:
            with Study.open(self._location) as study:
                added = study.add_items(rows, questions=questions)
        return f"{self._location}: {counted(added, 'item')} added, {self._protocol.name} {self._protocol.version}"
