"""`evenhand new`, `ratings` and `backup`: items and ratings in, ratings out."""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import click
from tqdm import tqdm

from evenhand.cli.support import FILE, FilePath, emit, open_study, overwrite_option, program, study_argument
from evenhand.errors import UserError
from evenhand.formats.derived_units import read_claims, read_questions
from evenhand.formats.items import ItemSource, read_items, sample
from evenhand.formats.tables.columns import parse_map
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind
from evenhand.run.derivation import derivation
from evenhand.sampling import Draw
from evenhand.study import Shape, Study, origin
from evenhand.text import counted, listed
from evenhand.units import DERIVED

_TEXT_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")


@click.command()
@study_argument
@click.option("--protocol", "protocol_name", required=True, metavar="NAME|FILE", help="Name or file of the protocol.")
@click.option("--items", "items_file", required=True, type=FILE,
              help="Table of items: .csv, .tsv, .jsonl, .json, .xlsx or .parquet.")  # fmt: skip
@click.option("--map", "mappings", multiple=True, metavar="FIELD=COLUMN", help="Read a field from this column.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column with the ids; by default made from the content.")
@click.option("--sample", "size", type=click.IntRange(min=1), help="Draw a sample of this many items.")
@click.option("--by", metavar="FIELD,…", help="With --sample: stratify by these fields.")
@click.option("--seed", type=int, show_default="0", help="With --sample: seed of the sample.")
@click.option("--questions", "questions_file", type=FILE,
              help="JSON file with questions by item id; by default, if the protocol needs questions, they are made "
              "from the references.")  # fmt: skip
@click.option("--claims", "claims_file", type=FILE,
              help="JSON file with claims by item id; by default, if the protocol needs claims, they are the texts' "
              "sentences and clauses.")  # fmt: skip
def new(
    study: str, protocol_name: str, items_file: Path, mappings: Sequence[str], id_column: str | None,
    size: int | None, by: str | None, seed: int | None, questions_file: Path | None, claims_file: Path | None,
) -> None:  # fmt: skip
    """Create STUDY from a protocol and a file of items."""
    for option, given in (("--by", by), ("--seed", seed)):
        if given is not None and size is None:
            raise UserError(f"{option} goes with --sample N")
    protocol = load_protocol(protocol_name)
    items = read_items(items_file, protocol, mapping=parse_map(mappings), id_column=id_column)
    questions = read_questions(questions_file) if questions_file else None
    claims = read_claims(claims_file, protocol) if claims_file else None
    fields = [name.strip() for name in by.split(",") if name.strip()] if by else []
    drawn = None
    if size is not None:
        items, drawn = sample(items, protocol, size, fields, seed or 0)
        drawn_ids = {item.id for item in items}
        questions = questions.only(drawn_ids) if questions else None
        claims = claims.only(drawn_ids) if claims else None
    progress = partial(_with_progress, items_file)
    source = origin(protocol_name)
    with Study.create(study, protocol, items, questions=questions, claims=claims, source=source,
                      progress=progress) as made:  # fmt: skip
        _print_study(made, items)
        if protocol.rule.of in DERIVED:
            _print_derived(made, made_here=questions is None and claims is None)
    if drawn is not None and size is not None:
        _print_sample(drawn, fields, size, seed or 0)


def _with_progress(path: Path, items: Iterable[Item]) -> Iterable[Item]:
    """A progress bar if stderr is a terminal. Line ends stand for rows: close enough."""
    if not sys.stderr.isatty():
        return items
    lines = None
    if path.suffix.lower() in _TEXT_TABLES:
        with path.open("rb") as file:
            lines = sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))
    return tqdm(items, total=lines, unit=" items", leave=False)


def _print_study(made: Study, items: ItemSource) -> None:
    count, units, protocol = made.store.items.count(), made.store.items.count_units(), made.protocol
    click.echo(
        f"{made.store.location}: {counted(count, 'item')}, {counted(units, 'unit')} ({protocol.unit}), "
        f"{protocol.name} {protocol.version}"
    )
    for remark in items.remarks():
        click.echo(f"  {remark}")


def _print_derived(made: Study, *, made_here: bool) -> None:
    location, rule = made.store.location, made.protocol.rule
    if made_here:
        source = f"{listed(rule.fields)} ({derivation(made.protocol)})"
        click.echo(f"  {rule.of}s: {made.store.items.count_units():,} made from {source}; to read and change them:")
        click.echo(f"    {program()} {rule.of}s export {location} -o {rule.of}s.json")
        click.echo(f"    {program()} {rule.of}s import {location} {rule.of}s.json")
    empty = Counter[str]()
    for item, units in made.store.items.work():
        empty[rule.of] += not units
        given = {unit.field for unit in units}
        empty.update(name for name in rule.fields if rule.of == "claim" and name in item.fields and name not in given)
    if without := empty.pop(rule.of):
        click.echo(f"  {counted(without, 'item')} without a {rule.of}: nothing is asked about them")
    for name, count in empty.items():
        click.echo(f"  {name} without a claim in {counted(count, 'item')}")


def _print_sample(drawn: Draw, fields: Sequence[str], size: int, seed: int) -> None:
    took = sum(took for took, _ in drawn.strata.values())
    total = sum(total for _, total in drawn.strata.values())
    click.echo(f"  sample: {took:,} of {counted(total, 'item')}, seed {seed}")
    if size > total:
        click.echo(f"    {size:,} were requested, but the file has fewer: all were taken")
    for stratum, (took, total) in drawn.strata.items():
        if fields:
            name = ", ".join(f"{field} {value or '(none)'}" for field, value in zip(fields, stratum, strict=True))
            click.echo(f"    {name}: {took:,} of {total:,}")


@click.group()
def ratings() -> None:
    """Import or export ratings."""


@ratings.command("import")
@study_argument
@click.argument("file", type=FILE)
@click.option("--rater", metavar="ID", help="Rater of the ratings for which the file names none.")
@click.option("--kind", type=click.Choice(["person", "model"]), help="Kind of that rater; a person by default.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column with the item ids.")
@click.option("--map", "mappings", multiple=True, metavar="CRITERION=COLUMN", help="Read a criterion from this column.")
def import_(
    study: str, file: Path, rater: str | None, kind: str | None, id_column: str | None, mappings: Sequence[str]
) -> None:
    """Import the ratings in FILE into STUDY: all of them or, if any cell is wrong, none."""
    with open_study(study) as opened:
        kinds = Kind(kind) if kind else None
        mapping = parse_map(mappings)
        emit(opened.import_ratings(file, rater=rater, kind=kinds, id_column=id_column, mapping=mapping))


@ratings.command()
@study_argument
@click.option("-o", "--output", required=True, type=FILE, help="File to write.")
@click.option("--shape", type=click.Choice(["long", "wide", "blind", "diagnosis"]), default="long", show_default=True,
              help="long: one row per rating; wide: one row per unit; blind: a sheet for one rater to fill in; "
              "diagnosis: which ratings were used, and why others were not.")  # fmt: skip
@click.option("--digest", metavar="PREFIX", help="Export ratings under an earlier protocol, long or wide.")
@overwrite_option
def export(study: str, output: Path, shape: Shape, digest: str | None, overwrite: bool) -> None:
    """Write the ratings of STUDY to a file: .csv, .tsv, .jsonl, .xlsx or .parquet."""
    with open_study(study) as opened:
        rows = opened.export_ratings(output, shape, digest=digest, overwrite=overwrite)
        click.echo(f"{output}: {counted(rows, 'row')}")
        earlier = opened.count_ratings(every_digest=True) - opened.count_ratings()
        if earlier and digest is None and shape in ("long", "wide"):
            click.echo(
                f"  {counted(earlier, 'rating')} under earlier versions of the protocol not included; "
                f"evenhand protocol versions {opened.store.location} lists the versions, --digest exports one",
                err=True,
            )


@click.command()
@study_argument
@click.option("-o", "--output", required=True, type=FilePath("a backup is a SQLite file; give a path such as copy.db"),
              help="Path of the copy, which must not exist.")  # fmt: skip
def backup(study: str, output: Path) -> None:
    """Copy STUDY, complete and consistent, into a SQLite file, even while people are rating."""
    with open_study(study) as opened:
        opened.backup(output)
        items, count = opened.store.items.count(), opened.count_ratings(every_digest=True)
    click.echo(f"{output}: {counted(items, 'item')} and {counted(count, 'rating')}.")
