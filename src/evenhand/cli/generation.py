"""`evenhand chunks`, `qasper`, `generators`, `generator` and `generate`: what models write from, and how they write."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from evenhand.cli.support import (
    FILE,
    check_finite,
    cost_options,
    emit,
    emit_run,
    json_option,
    overwrite_option,
    program,
    show_result,
    with_options,
)
from evenhand.errors import UserError
from evenhand.formats.chunks import chunks_of, distinct_ids, document_ids
from evenhand.formats.qasper import Selection, read_qasper, select_questions
from evenhand.formats.tables.columns import parse_map
from evenhand.formats.tables.table import Sheet
from evenhand.formats.tables.table_files import write_table
from evenhand.generation.load import GENERATORS, available_generators, load_generator
from evenhand.generation.model import Generator, WordsFilter
from evenhand.item_generation import generate as generate_items
from evenhand.item_generation import writing_sheet
from evenhand.report.json import json_text
from evenhand.results import RunEstimate
from evenhand.text import counted, some_of


@click.command()
@json_option
def generators(as_json: bool) -> None:
    """List the installed generators."""
    found = [load_generator(name) for name in available_generators()]
    width = max((len(one.name) for one in found), default=0)
    lines: list[str] = []
    for one in found:
        cells = f"; cells: {' × '.join(one.cells)}" if one.cells else ""
        lines.append(f"{one.name:<{width}}  {one.title}")
        lines.append(f"{'':<{width}}  {', '.join(one.shown)} → {', '.join(one.output)}{cells}")
    lines += ["", "evenhand generator show NAME --yaml prints one as a template for your own."]
    show_result([_about(one) for one in found], lines, as_json)


def _about(one: Generator) -> dict[str, object]:
    about = {name: getattr(one, name) for name in ("name", "version", "digest", "title", "language")}
    lists = {name: list(getattr(one, name)) for name in ("protocols", "input", "output")}
    return {**about, **lists, "cells": {name: list(values) for name, values in one.cells.items()}}


@click.group()
def generator() -> None:
    """Show or check a generator, or print the schema of generator files."""


@generator.command()
@click.argument("name", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print the generator's content as one JSON document.")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the generator file itself, as a template for your own.")
def show(name: str, as_json: bool, as_yaml: bool) -> None:
    """Print what a generator reads, writes and accepts."""
    if as_json and as_yaml:
        raise UserError("give --json or --yaml, not both")
    found = load_generator(name)
    if as_yaml:
        text = GENERATORS.text(name)[0]
        click.echo(text, nl=not text.endswith("\n"))
    elif as_json:
        click.echo(json_text({**found.model_dump(mode="json"), "digest": found.digest}))
    else:
        click.echo("\n".join(_description(found)))


def _description(found: Generator) -> Iterator[str]:
    yield from (f"# {found.title}", "", f"{found.name} {found.version}, digest {found.digest[:12]}", "")
    yield from (found.instructions.strip(), "", "## Input", "")
    for name, spec in found.input.items():
        notes = f"{'' if spec.required else ', optional'}{'' if spec.shown else ', not shown to the model'}"
        yield f"- {name} ({spec.kind}{notes}): {spec.description or ''}"
    yield from ("", "## Output", "")
    for name, output in found.output.items():
        labels = f"; {' or '.join(found.labels_of(name))}" if output.labels else ""
        yield f"- {name} ({output.kind}{labels}): {output.description}"
    for name, values in found.cells.items():
        yield from ("", f"## Cells: {name}", "")
        yield from (f"- {value}: {spec.definition.strip()}" for value, spec in values.items())
    yield from ("", "## Accepted", "")
    for one in found.filters:
        if isinstance(one, WordsFilter):
            yield f"- {one.field}: at least {one.at_least} words"
        else:
            yield f"- {one.field}: cosine similarity to earlier ones on the same item below {one.below:g}"
    yield f"- a rejected output is requested again up to {counted(found.retries, 'time')}"
    if found.protocols:
        yield from ("", f"Rated under: {', '.join(found.protocols)}")


@generator.command()
@click.argument("file")
def check(file: str) -> None:
    """Check a generator FILE and report every problem with its line."""
    found = load_generator(file)
    click.echo(f"{file}: valid. {found.name} {found.version}, digest {found.digest[:12]}")
    counts = [counted(len(found.input), "input field"), counted(len(found.output), "output field")]
    counts += [counted(len(found.all_cells), "cell"), counted(len(found.examples), "worked example")]
    click.echo(f"  {', '.join(counts)}")


@generator.command()
def schema() -> None:
    """Print the JSON Schema of generator files, for editors."""
    click.echo(json_text(GENERATORS.schema()))


_source_options = with_options(
    click.option("--items", "items_file", required=True, type=FILE,
                 help="Table of what is written from: .csv, .tsv, .jsonl, .json, .xlsx or .parquet."),
    click.option("--map", "mappings", multiple=True, metavar="FIELD=COLUMN", help="Read a field from this column."),
    click.option("--id", "id_column", metavar="COLUMN", help="Column with the ids; by default made from the content."),
    click.option("--cells", multiple=True, metavar="DIMENSION=VALUE,…",
                 help="Write only for these values; all by default. Repeat it for other dimensions."),
    click.option("--shots", metavar="N,…", help="Write only with these numbers of worked examples, as in 0,1,3."),
    click.option("--per-cell", type=click.IntRange(1, 1000), help="Outputs per cell of each item."),
)  # fmt: skip


@generator.command()
@click.argument("name", metavar="GENERATOR")
@_source_options
@click.option("-o", "--output", required=True, type=FILE,
              help="Table to fill in: .xlsx, .csv, .tsv, .jsonl or .parquet.")  # fmt: skip
@click.option("--author", required=True, help="Who fills it in: the name goes into `generated_by`.")
@overwrite_option
def sheet(
    name: str, items_file: Path, output: Path, author: str, mappings: Sequence[str], cells: Sequence[str],
    shots: str | None, **options: Any,
) -> None:  # fmt: skip
    """Write a table with a row for each output, in which a person writes what a model would.

    The next step is evenhand new STUDY --items OUTPUT. `evenhand generator show GENERATOR` prints the task.
    """
    count = writing_sheet(name, items_file, author, output, mapping=parse_map(mappings), cells=_cells(cells),
                          shots=_numbers(shots), **options)  # fmt: skip
    click.echo(f"{output}: {counted(count, 'row')} to fill in by {author}")


@click.command()
@click.argument("name", metavar="GENERATOR")
@_source_options
@click.option("-o", "--output", type=FILE, help="File of items to write: .jsonl, .csv, .tsv, .xlsx or .parquet; "
              "questions are written as .json.")  # fmt: skip
@click.option("--study", metavar="STUDY", help="Study to create, or to add the items to, instead of a file.")
@click.option("--protocol", metavar="NAME|FILE", help="With --study: its protocol, if not the generator's own.")
@click.option("--model", required=True, metavar="[NAME=]SPEC",
              help="openai:MODEL, gemini:MODEL, anthropic:MODEL, http://HOST:PORT/v1#MODEL or "
              "hf:FOLDER-OR-ID.")  # fmt: skip
@click.option("--labels", metavar="LABEL,…", help="Labels to choose from, as in Human,AI,Hybrid.")
@click.option("--ontology", type=FILE, help="YAML file with the classes and relations that triples may use.")
@click.option("--embedding", type=FILE, help="Folder of a sentence model in ONNX form, to compare texts by; TF-IDF by "
              "default.")  # fmt: skip
@click.option("--work", type=FILE, help="File in which the work is kept; by default next to the output or study.")
@click.option("--limit", type=click.IntRange(min=1),
              help="Stop after this many cells; an item that was begun is completed.")  # fmt: skip
@cost_options
@click.option("--dry-run", is_flag=True, help="Send nothing; print an estimate and the first prompt.")
@click.option("--retry-failed", is_flag=True, help="Also retry what failed.")
@click.option("--temperature", type=click.FloatRange(0, 2), help="0 by default, or 1 with several outputs per cell.")
@click.option("--max-tokens", type=click.IntRange(min=16), help="Maximum length of a reply, in tokens.")
@click.option("--seed", type=int, help="For servers that accept one.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, show_default=True,
              help="Seconds for one attempt of a call.")  # fmt: skip
@click.option("--tries", type=click.IntRange(1, 100), default=6, show_default=True,
              help="Attempts per call if the server or the network fails.")  # fmt: skip
@overwrite_option
def generate(
    name: str, items_file: Path, output: Path | None, study: str | None, mappings: Sequence[str], cells: Sequence[str],
    shots: str | None, labels: str | None, **options: Any,
) -> int:  # fmt: skip
    """Let a model write what GENERATOR defines from each item: a file of items, or a study.

    Every reply is stored as it arrives, in a file of its own. If the run stops for any reason, the same command
    continues it, and nothing is paid for twice. What a model declined to write, and what was rejected, is counted by
    reason.
    """
    check_finite(options)
    if output is not None and study is not None:
        raise UserError("give -o FILE or --study STUDY, not both")
    if output is None and study is None:
        raise UserError("give the file to write with -o FILE, or a study with --study STUDY")
    result = generate_items(
        name, items_file, output=output, study=study, mapping=parse_map(mappings), cells=_cells(cells),
        shots=_numbers(shots), labels=_listed(labels), **options,
    )  # fmt: skip
    if isinstance(result, RunEstimate):
        emit(result)
        return 0
    code = emit_run(result)
    if study is not None and result.rows:
        click.echo(f"  to let models rate them: {program()} judge {study} --rater SPEC")
    return code


def _cells(given: Sequence[str]) -> dict[str, Sequence[str]]:
    found = dict[str, Sequence[str]]()
    for text in given:
        name, sign, values = text.partition("=")
        if not (sign and _listed(values)):
            raise UserError(f"--cells {text}: write it as DIMENSION=VALUE,VALUE, as in question_type=factual")
        found[name.strip()] = [*found.get(name.strip(), ()), *(_listed(values) or ())]
    return found


def _listed(text: str | None) -> Sequence[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str | None) -> Sequence[int] | None:
    parts = _listed(text)
    if parts is not None and not (parts and all(part.isdecimal() for part in parts)):
        raise UserError(f"--shots {text}: give whole numbers with commas between them, as in 0,1,3")
    return None if parts is None else [int(part) for part in parts]


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="Items to write: .jsonl, .csv, .tsv or .parquet.")
@click.option("--only", type=click.Choice(["all", "without-gold", "answerable"]), default="all", show_default=True,
              help="without-gold: questions without gold answer and evidence that nobody called unanswerable; "
              "answerable: those with both.")  # fmt: skip
@overwrite_option
def qasper(files: Sequence[Path], output: Path, only: Selection, overwrite: bool) -> None:
    """Write the questions of Qasper files as items, each with the full text of its article.

    Reads the JSON files as published and the rows of the Hugging Face version. The next step is to let a model answer:
    evenhand generate answer-with-context --items OUTPUT.
    """
    questions = read_qasper(files)
    chosen, left_out = select_questions(questions, only)
    lines = "\n".join(f"  left out: {counted(count, 'question')} {why}" for why, count in left_out.items())
    if not chosen:
        raise UserError(f"{some_of(files)}: no question is {only}; nothing was written\n{lines}")
    click.echo(lines, nl=bool(lines))
    columns = ("id", "question", "article", "article_id", "gold_answer")
    rows = ([getattr(one, name) for name in columns] for one in chosen)
    write_table(output, Sheet(columns, rows, for_people=True), overwrite=overwrite)
    articles = counted(len({one.article_id for one in chosen}), "article")
    click.echo(f"{output}: {len(chosen):,} of {counted(len(questions), 'question')}, about {articles}")


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="Table to write: .jsonl, .csv, .tsv, .xlsx or .parquet.")
@click.option("--size", type=click.IntRange(min=1), default=200, show_default=True,
              help="Words per chunk, at most; a single longer sentence stays whole.")  # fmt: skip
@click.option("--overlap", type=click.IntRange(min=0), default=0, show_default=True,
              help="Sentences that a chunk shares with the one before.")  # fmt: skip
@click.option("--language", default="en", show_default=True, help="Language of the texts, as in en or zh.")
@overwrite_option
def chunks(files: Sequence[Path], output: Path, size: int, overlap: int, language: str, overwrite: bool) -> None:
    """Split text, Markdown and PDF files into chunks of whole sentences, with ids that stay the same.

    A chunk ends with its section or page. PDF needs an optional package: pip install '.[pdf]'.
    """
    names = document_ids(files)
    found = [chunk for file in files for chunk in chunks_of(file, size, overlap, language, names[file])]
    columns = ("id", "source", "document_id", "section", "start", "end")
    rows = ([getattr(chunk, name) for name in columns] for chunk in distinct_ids(found))
    count = write_table(output, Sheet(columns, rows, for_people=True), overwrite=overwrite)
    click.echo(f"{output}: {counted(count, 'chunk')} from {counted(len(files), 'file')}")
