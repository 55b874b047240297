"""`evenhand runs`: what models did in a study, run by run."""

import json
from typing import Any, cast

import click

from evenhand.cli.judging import money
from evenhand.cli.opening import open_study
from evenhand.store.base import Run


@click.command("runs")
@click.argument("study", metavar="STUDY")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(study: str, as_json: bool) -> None:
    """List the runs of models in STUDY: when, with which settings, what came of them and what they cost."""
    with open_study(study) as opened:
        runs = opened.store.runs()
    if as_json:
        click.echo(json.dumps([_document(run) for run in runs], ensure_ascii=False, indent=2))
        return
    for run in runs:
        _show(run)
    if not runs:
        click.echo("no model has rated here yet")


def _document(run: Run) -> dict[str, object]:
    return {
        "id": run.id,
        "rater": run.rater,
        "started": run.started.isoformat(),
        "ended": run.ended.isoformat() if run.ended else None,
        "state": run.state,
        "settings": dict(run.settings),
        "counts": dict(run.counts),
    }


def _show(run: Run) -> None:
    # A run that was killed never said that it ended.
    state = "running, or was killed" if run.state == "running" else run.state
    seconds = f", {(run.ended - run.started).total_seconds():,.0f} s" if run.ended else ""
    click.echo(f"{run.started:%Y-%m-%d %H:%M:%S} {run.rater}: {state}{seconds}")
    settings = ", ".join(f"{name} {value}" for name, value in run.settings.items() if value is not None)
    click.echo(f"  {settings}")
    counts = cast("dict[str, Any]", dict(run.counts))
    if "units" not in counts:
        return
    cost = money(counts["cost"]) if counts.get("cost") is not None else "price not known"
    click.echo(
        f"  {counts['units']:,} units, {counts['failed_units']:,} failed; {counts['calls']:,} calls, "
        f"{counts['reused']:,} stored replies used again; {counts['input_tokens']:,} tokens read, "
        f"{counts['output_tokens']:,} written; {cost}"
    )
    for name, number in counts.get("models", {}).items():
        click.echo(f"    model as the server names it: {name} ({number:,} replies)")
    for part in counts.get("dropped", []):
        click.echo(f"    the server does not take {part}: asked without it")
    for reason, number in counts["failures"].items():
        click.echo(f"    failed {number:,}: {reason}")
