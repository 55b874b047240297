"""`evenhand protocols` and `evenhand protocol`: show, check, schema, adopt, versions."""

import click

from evenhand.cli.support import json_option, show_result, study_argument
from evenhand.errors import UserError
from evenhand.protocol.guideline import guideline
from evenhand.protocol.load import available, load_protocol, protocol_schema, protocol_text
from evenhand.report.json import json_text
from evenhand.store.store import may_be_study
from evenhand.study import Study
from evenhand.text import counted, masked


@click.command()
@json_option
def protocols(as_json: bool) -> None:
    """List the installed protocols."""
    found = [load_protocol(name) for name in available()]
    width = max((len(one.name) for one in found), default=0)
    lines: list[str] = []
    entries: list[dict[str, object]] = []
    for one in found:
        criteria = [criterion.id for criterion in one.criteria]
        about = {name: getattr(one, name) for name in ("name", "version", "digest", "title", "unit")}
        entries.append({**about, "fields": list(one.item.fields), "criteria": criteria})
        lines.append(f"{one.name:<{width}}  {one.title}")
        lines.append(f"{'':<{width}}  unit: {one.unit}; criteria: {', '.join(criteria)}")
    lines += ["", "evenhand protocol show NAME prints one as a guideline for raters."]
    show_result(entries, lines, as_json)


@click.group()
def protocol() -> None:
    """Show, check or adopt a protocol, or print the schema of protocol files."""


@protocol.command()
@click.argument("name", metavar="NAME|FILE|STUDY")
@click.option("--json", "as_json", is_flag=True, help="Print the protocol's content as one JSON document.")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the protocol file itself, as a template for your own.")
def show(name: str, as_json: bool, as_yaml: bool) -> None:
    """Print a protocol, or the current one of a study, as a guideline for raters."""
    if as_json and as_yaml:
        raise UserError("give --json or --yaml, not both")
    if may_be_study(name):
        with Study.open(name, check_source=False) as study:
            # A study keeps only the content of the protocol's file; as JSON, that is YAML, too.
            found, text = study.protocol, study.protocol.canonical(indent=2)
    else:
        found, text = load_protocol(name), protocol_text(name)[0]
    if as_yaml:
        click.echo(text, nl=not text.endswith("\n"))
    elif as_json:
        click.echo(json_text({**found.model_dump(mode="json"), "digest": found.digest}))
    else:
        click.echo(guideline(found))


@protocol.command()
@click.argument("file")
def check(file: str) -> None:
    """Check a protocol FILE and report every problem with its line."""
    found = load_protocol(file)
    criteria = "1 criterion" if len(found.criteria) == 1 else f"{len(found.criteria)} criteria"
    fields, measures = counted(len(found.item.fields), "field"), counted(len(found.measures), "measure")
    click.echo(f"{file}: valid. {found.name} {found.version}, digest {found.digest[:12]}")
    click.echo(f"  {fields}, unit: {found.unit}, {criteria}, {measures}")


@protocol.command()
def schema() -> None:
    """Print the JSON Schema of protocol files, for editors."""
    click.echo(json_text(protocol_schema()))


@protocol.command()
@study_argument
@click.argument("name", metavar="NAME|FILE|DIGEST")
def adopt(study: str, name: str) -> None:
    """Switch STUDY to a changed protocol, or back to an earlier one, given by the beginning of its digest.

    Earlier ratings stay in the study, under the protocol they were made with. Exports and statistics leave them out and
    report how many there are.
    """
    with Study.open(study, check_source=False) as opened:
        before, earlier = opened.protocol, opened.count_ratings()
        opened.adopt(name)
        after = opened.protocol
    if after.digest == before.digest:
        click.echo(f"{masked(study)} already uses this version of {after.name} (digest {after.digest[:12]}).")
        return
    click.echo(
        f"{masked(study)} now uses {after.name} {after.version} (digest {after.digest[:12]}) instead of "
        f"{before.name} {before.version} (digest {before.digest[:12]})."
    )
    click.echo(f"{counted(earlier, 'rating')} under the earlier one: kept, but left out from now on.")


@protocol.command()
@study_argument
@json_option
def versions(study: str, as_json: bool) -> None:
    """List the versions of the protocol that STUDY was rated under, with their ratings; the last is the current one."""
    with Study.open(study, check_source=False) as opened:
        counts, current, found = opened.store.ratings.count(), opened.protocol.digest, opened.versions()
    rows: list[dict[str, object]] = []
    lines: list[str] = []
    for one in found:
        protocol, adopted = one.protocol, one.adopted.isoformat(timespec="seconds")
        ratings, in_force = sum(counts.get(protocol.digest, {}).values()), protocol.digest == current
        row = {"digest": protocol.digest, "name": protocol.name, "version": protocol.version}
        more = {"source": one.source or None, "adopted": adopted, "ratings": ratings, "in_force": in_force}
        rows.append({**row, **more})
        lines.append(
            f"{protocol.digest[:12]}  {protocol.name} {protocol.version}, adopted {adopted}: "
            f"{counted(ratings, 'rating')}{'; current' if in_force else ''}"
        )
    if len(found) > 1:
        lines += ["", f"evenhand ratings export {masked(study)} --digest PREFIX -o FILE exports one version."]
    show_result(rows, lines, as_json)
