"""`evenhand protocol`: show, check, schema, adopt, versions."""

import json

import click

from evenhand.errors import UserError, counted, masked
from evenhand.protocol.guideline import guideline
from evenhand.protocol.load import load_protocol, protocol_schema, protocol_text
from evenhand.protocol.model import Protocol
from evenhand.store.open import may_be_study
from evenhand.study import Study


@click.group("protocol")
def command() -> None:
    """Show, check or adopt a protocol, or print the schema of its file."""


@command.command()
@click.argument("name", metavar="NAME|FILE|STUDY")
@click.option("--json", "as_json", is_flag=True, help="The protocol's content as one JSON document.")
@click.option("--yaml", "as_yaml", is_flag=True, help="The protocol file as it is, to start one's own from.")
def show(name: str, as_json: bool, as_yaml: bool) -> None:
    """Print a protocol, or the one in force in a study, as a guideline a rater can work from."""
    if as_json and as_yaml:
        raise UserError("give --json or --yaml, not both")
    protocol, text = _shown(name)
    if as_yaml:
        click.echo(text, nl=not text.endswith("\n"))
    elif as_json:
        content = {**protocol.model_dump(mode="json"), "digest": protocol.digest}
        click.echo(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        click.echo(guideline(protocol))


def _shown(name: str) -> tuple[Protocol, str]:
    """A protocol and its file's text. A study keeps the content only, which as JSON is YAML, too."""
    if may_be_study(name):
        with Study.open(name, check_source=False) as study:
            return study.protocol, study.protocol.canonical(indent=2)
    return load_protocol(name), protocol_text(name)[0]


@command.command()
@click.argument("file")
def check(file: str) -> None:
    """Check a protocol FILE and report everything that is wrong with it, each with its line."""
    protocol = load_protocol(file)
    criteria = "1 criterion" if len(protocol.criteria) == 1 else f"{len(protocol.criteria)} criteria"
    fields, measures = counted(len(protocol.item.fields), "field"), counted(len(protocol.measures), "measure")
    click.echo(f"{file}: valid. {protocol.name} {protocol.version}, digest {protocol.digest[:12]}")
    click.echo(f"  {fields}, unit: {protocol.unit}, {criteria}, {measures}")


@command.command()
def schema() -> None:
    """Print the JSON Schema of a protocol file, for editors."""
    click.echo(json.dumps(protocol_schema(), ensure_ascii=False, indent=2))


@command.command()
@click.argument("study", metavar="STUDY")
@click.argument("name", metavar="NAME|FILE|DIGEST")
def adopt(study: str, name: str) -> None:
    """Put a changed protocol in force in STUDY, or an earlier one again, by the beginning of its digest.

    Ratings made so far stay in the study under the protocol they were made with; from now on they are left out of
    exports and statistics, which say so.
    """
    with Study.open(study, check_source=False) as opened:
        before = opened.protocol
        earlier = opened.count_ratings()
        opened.adopt(name)
        after = opened.protocol
    if after.digest == before.digest:
        click.echo(f"{masked(study)} already uses this content of {after.name} (digest {after.digest[:12]}).")
        return
    click.echo(
        f"{masked(study)} now uses {after.name} {after.version} (digest {after.digest[:12]}) instead of "
        f"{before.name} {before.version} (digest {before.digest[:12]})."
    )
    are = "is" if earlier == 1 else "are"
    click.echo(f"{counted(earlier, 'rating')} made under that one {are} kept, and left out from now on.")


@command.command()
@click.argument("study", metavar="STUDY")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def versions(study: str, as_json: bool) -> None:
    """List every version of the protocol that STUDY was rated under, with its ratings; the last is in force."""
    with Study.open(study, check_source=False) as opened:
        counts = opened.store.count_ratings()
        rows = [
            {
                "digest": version.protocol.digest,
                "name": version.protocol.name,
                "version": version.protocol.version,
                "source": version.source or None,
                "adopted": version.adopted.isoformat(timespec="seconds"),
                "ratings": sum(counts.get(version.protocol.digest, {}).values()),
                "in_force": version.protocol.digest == opened.protocol.digest,
            }
            for version in opened.versions()
        ]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for row in rows:
        in_force = "; in force" if row["in_force"] else ""
        click.echo(
            f"{str(row['digest'])[:12]}  {row['name']} {row['version']}, adopted {row['adopted']}: "
            f"{counted(int(row['ratings'] or 0), 'rating')}{in_force}"
        )
    if len(rows) > 1:
        click.echo(
            f"\nevenhand ratings export {masked(study)} --digest PREFIX -o FILE writes the ratings of one version."
        )
