"""`evenhand new`: a study from a protocol and a file of items."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import click
from click._termui_impl import ProgressBar

from evenhand.cli.paths import FILE
from evenhand.cli.program import program
from evenhand.errors import UserError, counted, some_of
from evenhand.formats.columns import parse_map
from evenhand.formats.items import Items, read_items
from evenhand.formats.questions import read_questions
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.questeval.key_info import extractor
from evenhand.records import Item
from evenhand.sampling import Draw
from evenhand.study import Progress, Study, origin, sample

STEP = 5_000


@click.command("new")
@click.argument("study", metavar="STUDY")
@click.option("--protocol", "protocol_name", required=True, metavar="NAME|FILE", help="A protocol's name or file.")
@click.option("--items", "items_file", required=True, type=FILE, help="A table of items: .csv, "
              ".tsv, .jsonl, .json, .xlsx or .parquet.")  # fmt: skip
@click.option("--map", "mappings", multiple=True, metavar="FIELD=COLUMN", help="Which column is which field.")
@click.option("--id", "id_column", metavar="COLUMN", help="The column with the ids; made from the content otherwise.")
@click.option("--sample", "size", type=click.IntRange(min=1), help="Take only so many items.")
@click.option("--by", metavar="FIELD,…", help="With --sample: in proportion to these fields.")
@click.option("--seed", type=int, show_default="0", help="With --sample: another seed, another sample.")
@click.option("--questions", "questions_file", type=FILE, help="Questions by item id, as JSON; where the protocol "
              "asks questions and none are given, they are made from the references.")  # fmt: skip
def command(
    study: str,
    protocol_name: str,
    items_file: Path,
    mappings: Sequence[str],
    id_column: str | None,
    size: int | None,
    by: str | None,
    seed: int | None,
    questions_file: Path | None,
) -> None:
    """Make STUDY from a protocol and a file of items."""
    for option, given in (("--by", by), ("--seed", seed)):
        if given is not None and size is None:
            raise UserError(f"{option} goes with --sample: say how many items to take with --sample N")
    protocol = load_protocol(protocol_name)
    items = read_items(items_file, protocol, mapping=parse_map(mappings), id_column=id_column)
    questions = read_questions(questions_file) if questions_file else None
    drawn = None
    fields = [name.strip() for name in by.split(",") if name.strip()] if by else []
    if size is not None:
        items, drawn = sample(items, protocol, size, fields, seed or 0)
        if questions is not None:
            questions = questions.only({item.id for item in items})
    made = Study.create(
        study, protocol, items, questions=questions, source=origin(protocol_name), progress=_progress(items_file)
    )
    with made:
        _report(made, protocol, items)
        if protocol.rule.of == "question":
            _report_questions(made, made_here=questions is None)
    if drawn is not None and size is not None:
        _report_draw(drawn, fields, size, seed or 0)


def _progress(path: Path) -> Progress | None:
    """A progress bar on stderr where somebody watches. Line ends stand for rows: close enough to see how far it is."""

    def shown(items: Iterable[Item]) -> Iterator[Item]:
        lines = _line_count(path) if path.suffix.lower() in (".csv", ".tsv", ".jsonl", ".ndjson") else None
        bar: ProgressBar[Item] = click.progressbar(
            length=lines, label="items", file=sys.stderr, show_pos=True, update_min_steps=STEP
        )
        with bar:
            for item in items:
                yield item
                bar.update(1)

    return shown if sys.stderr.isatty() else None


def _line_count(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))


def _report(made: Study, protocol: Protocol, items: Items) -> None:
    count, units = made.store.count_items(), made.store.count_units()
    click.echo(
        f"{made.store.location}: {counted(count, 'item')}, {counted(units, 'unit')} ({protocol.unit}), "
        f"{protocol.name} {protocol.version}"
    )
    renamed = [f"{name} ← {column}" for name, column in items.columns.items() if name != column]
    if renamed:
        click.echo(f"  columns: {', '.join(renamed)}")
    if "id" not in items.columns:
        click.echo("  ids: made from the content, as no column holds any")
    if items.unused:
        click.echo(f"  columns left out: {some_of(items.unused)}")


def _report_questions(made: Study, *, made_here: bool) -> None:
    units, location = made.store.count_units(), made.store.location
    if made_here:
        source = f"{made.protocol.rule.field} ({extractor(made.protocol.language)})"
        click.echo(f"  questions: {units:,} made from {source}; look at them, and change them, with")
        click.echo(f"    {program()} questions export {location} -o questions.json")
        click.echo(f"    {program()} questions import {location} questions.json")
    without = made.store.count_items() - sum(1 for _ in groupby(made.units(), key=lambda unit: unit.item))
    if without:
        has = "has no question and therefore no unit" if without == 1 else "have no question and therefore no unit"
        click.echo(f"  {counted(without, 'item')} {has}: nobody is asked about {'it' if without == 1 else 'them'}")


def _report_draw(drawn: Draw, fields: Sequence[str], size: int, seed: int) -> None:
    took = sum(took for took, _ in drawn.strata.values())
    total = sum(total for _, total in drawn.strata.values())
    click.echo(f"  sample: {took:,} of {counted(total, 'item')}, seed {seed}")
    if size > total:
        click.echo(f"    {size:,} were asked for, which is larger than the file: all of it was taken")
    for stratum, (took, total) in drawn.strata.items():
        if fields:
            name = ", ".join(f"{field} {value or '(none)'}" for field, value in zip(fields, stratum, strict=True))
            click.echo(f"    {name}: {took:,} of {total:,}")
