"""`evenhand models`, `judge`, `prompts`, `replies`, `runs`, `calibrate`, `questions`: models and built-in raters."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click

from evenhand.cli.support import (
    FILE,
    check_finite,
    cost_options,
    emit,
    emit_run,
    json_option,
    open_study,
    overwrite_option,
    program,
    show_result,
    study_argument,
    with_options,
)
from evenhand.errors import UserError
from evenhand.raters.verifier.model_catalogue import MODELS
from evenhand.report.json import plain
from evenhand.run.progress import cost_text
from evenhand.store.work import Run
from evenhand.study import Study
from evenhand.text import counted, money, setting_text

prompt_options = with_options(
    click.option("--shots", type=click.IntRange(min=0), help="Worked examples in the prompt; all by default."),
    click.option("--one-by-one", is_flag=True, help="Ask about each sentence separately, not about all together."),
    click.option("--max-tokens", type=click.IntRange(min=16), help="Maximum length of a reply, in tokens."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="0 by default, or 1 with several samples."),
    click.option("--seed", type=int, help="For servers that accept one."),
)


@click.command()
@json_option
def models(as_json: bool) -> None:
    """List models that the verifier can use instead of the built-in network, as in --rater 'verifier(onnx:NAME)'."""
    lines = list[str]()
    for one in MODELS.values():
        lines.append(f"{one.name}  {one.megabytes:,} MB, {one.licence}, {one.languages}")
        lines.append(f"  {one.repository}{'' if one.onnx else ' (no ONNX weights seen there: convert it)'}")
        lines.append(f"  outputs: {', '.join(one.labels)}")
        lines += [f"  published: {one.published} ({one.source or one.repository})"] if one.published else []
    example = f"{program()} judge STUDY --rater 'verifier(onnx:{next(iter(MODELS))})'"
    found = [{**plain(one), "source": one.source or one.repository} for one in MODELS.values()]
    show_result(found, [*lines, "", f"{example} fetches one and rates with it."], as_json)


@click.command()
@study_argument
@click.option("--rater", "specs", multiple=True, required=True, metavar="[NAME=]SPEC",
              help="openai:MODEL, gemini:MODEL, anthropic:MODEL, http://HOST:PORT/v1#MODEL, hf:FOLDER-OR-ID, "
              "jury(SPEC, SPEC, …), verifier, verifier(onnx:NAME), verifier(SPEC), quest-eval, quest-eval(SPEC), "
              "ai-detection(SPEC), overlap or overlap(SCORE, …); repeat it for several raters.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1),
              help="Rate at most this many units; sentences that are rated together stay together.")  # fmt: skip
@cost_options
@click.option("--dry-run", is_flag=True, help="Send nothing; print an estimate and the first prompt.")
@click.option("--samples", type=click.IntRange(1, 100), default=1, show_default=True,
              help="Ask this many times; the most frequent answer counts, and the share of each is kept.")  # fmt: skip
@click.option("--logprobs", is_flag=True, help="Keep the probability of each answer, if the server reports it.")
@click.option("--reasons", is_flag=True, help="Ask for a rationale before each answer, quoted evidence and a "
              "confidence, even if the protocol does not ask people for them.")  # fmt: skip
@click.option("--retry-failed", is_flag=True, help="Also retry units whose ratings failed.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, show_default=True,
              help="Seconds for one attempt of a call.")  # fmt: skip
@click.option("--tries", type=click.IntRange(1, 100), default=6, show_default=True,
              help="Attempts per call if the server or the network fails.")  # fmt: skip
@click.option("--log", type=FILE, help="Append the events of the run to this file.")
@click.option("--device", default="auto", show_default=True, help="For hf: raters: auto, cpu, cuda, mps.")
@click.option("--dtype", default="auto", show_default=True, help="For hf: raters: auto, float32, bfloat16, float16.")
@click.option("--batch-size", type=click.IntRange(1, 1024), default=8, show_default=True,
              help="For hf: raters: prompts per batch.")  # fmt: skip
@prompt_options
def judge(study: str, specs: Sequence[str], dry_run: bool, log: Path | None, **options: Any) -> int:
    """Let models rate the units of STUDY that they have not rated yet.

    Every reply is stored as it arrives. If a run stops for any reason, the same command continues it, and nothing is
    paid for twice. A reply that cannot be used is recorded as a failure with its reason, never as a score.
    """
    check_finite(options)
    with open_study(study) as opened:
        if dry_run:
            emit(opened.estimate(*specs, **options))
            return 0
        result = opened.judge(*specs, log=log, **options)
        agree = f"{program()} agree {opened.store.location}"
        return emit_run(result, f"  to see how far it agrees with people: {agree}")


@click.command()
@study_argument
@click.option("-o", "--output", required=True, type=FILE, help="Output file: .jsonl, .csv, .tsv, .xlsx or .parquet.")
@click.option("--batch", type=click.Choice(["openai"]), help="Write a batch file in this service's format (.jsonl).")
@click.option("--model", help="With --batch: the model to ask.")
@click.option("--limit", type=click.IntRange(min=1), help="Include at most this many units.")
@overwrite_option
@prompt_options
def prompts(study: str, output: Path, batch: str | None, model: str | None, **options: Any) -> None:
    """Write the prompts for the units of STUDY, to be answered elsewhere.

    Without --batch the file is a table with a column `reply` to fill in, from a chat window for instance. `evenhand
    replies` imports the replies.
    """
    if (batch is None) != (model is None):
        raise UserError("--batch and --model go together, as in --batch openai --model M")
    with open_study(study) as opened:
        count = opened.export_prompts(output, model=model, **options)
    click.echo(f"{output}: {counted(count, 'prompt')}")
    filled = "its output file" if batch else "with the column reply filled in"
    click.echo(f"  import the replies, {filled}: {program()} replies {study} FILE --rater NAME")


@click.command()
@study_argument
@click.argument("file", type=FILE)
@click.option("--rater", required=True, metavar="ID", help="Rater id under which the ratings are stored.")
def replies(study: str, file: Path, rater: str) -> int:
    """Import the replies in FILE into STUDY as ratings by a model.

    FILE is what `evenhand prompts` wrote, with the replies filled in, or the output of a batch. If a row belongs to no
    prompt of the study, nothing is imported. A reply that cannot be parsed is recorded as a failure with its reason.
    """
    with open_study(study) as opened:
        return emit_run(opened.import_replies(file, rater))


@click.command()
@study_argument
@json_option
@click.option("--stop", metavar="RUN", help="Stop this run, on whatever machine it is; open calls are finished.")
def runs(study: str, as_json: bool, stop: str | None) -> None:
    """List the runs of models in STUDY with their settings, processes, results and cost."""
    with open_study(study) as opened:
        if stop is not None:
            opened.stop_run(stop)
        found = opened.store.work.runs()
    lines = [line for run in found for line in _run_lines(run)] or ["no model has rated this study yet"]
    show_result([_run_document(run) for run in found], lines, as_json)


def _run_document(run: Run) -> dict[str, object]:
    found = plain(run)
    dollars = {"max_cost": run.cap, "spent": run.spent, "reserved": run.reserved}
    workers = [
        {"host": one["host"], "process": one["pid"], **{name: one[name] for name in ("started", "alive", "leases")}}
        for one in found["workers"]
    ]
    return {
        **{name: found[name] for name in ("id", "rater", "started", "ended", "state", "settings", "counts")},
        **{name: None if amount is None else amount / 1e6 for name, amount in dollars.items()},
        "workers": workers,
    }


def _run_lines(run: Run) -> Iterator[str]:
    seconds = f", {(run.ended - run.started).total_seconds():,.0f} s" if run.ended else ""
    yield f"{run.started:%Y-%m-%d %H:%M:%S} {run.rater}: {run.state}{seconds} (run {run.id})"
    yield f"  {', '.join(f'{name} {setting_text(value)}' for name, value in run.settings.items() if value is not None)}"
    for one in run.workers:
        if one.alive and run.state == "running":
            yield f"  process {one.pid} on {one.host}: {counted(one.leases, 'item')} leased"
    if run.cap is not None:
        reserved = f", {money(run.reserved / 1e6)} reserved" if run.reserved else ""
        yield f"  cost limit {money(run.cap / 1e6)}: {money(run.spent / 1e6)} spent{reserved}"
    counts = cast("dict[str, Any]", dict(run.counts))
    if "units" not in counts:
        return
    parts = [f"{counted(counts['units'], 'unit')}, {counts['failed_units']:,} failed"]
    if counts["calls"] or counts["reused"]:
        reused = counted(counts["reused"], "stored reply", "stored replies")
        parts.append(f"{counted(counts['calls'], 'call')}, {reused} reused")
    if counts["calls"]:
        parts.append(f"{counts['input_tokens']:,} tokens read, {counts['output_tokens']:,} written")
        parts.append(cost_text(counts.get("cost"), counts.get("assumed_cost", 0.0)))
    yield f"  {'; '.join(parts)}"
    for name, number in counts.get("models", {}).items():
        yield f"    model as reported by the server: {name} ({counted(number, 'reply', 'replies')})"
    for part in counts.get("dropped", []):
        yield f"    not accepted by the server, and left out: {part}"
    for reason, number in counts["failures"].items():
        yield f"    failed {number:,}: {reason}"


@click.command()
@study_argument
@click.option("--rater", required=True, metavar="ID", help="Rater whose stored probabilities are adjusted.")
@click.option("--name", metavar="ID", help="Rater id of the variant; ID-calibrated by default.")
@click.option("--labels", metavar="ID", help="Person whose labels count; the people's majority by default.")
@click.option("--criterion", metavar="ID", help="The first one that the rater rated with probabilities by default.")
@json_option
def calibrate(study: str, as_json: bool, **options: Any) -> None:
    """Adjust the probabilities of a rater of STUDY to people's labels, and store them as another rater if that helps.

    Takes 50 or more units with a label by people. A temperature and an offset for each label are fitted by
    cross-validation and measured on items left out. Unless the result is better there, nothing is stored. The
    variant's rating of a unit with a label comes from the fit without that item.
    """
    with open_study(study) as opened:
        emit(opened.calibrate(**options), as_json)


def _unit_commands(noun: str, make_text: str, content: str) -> click.Group:
    """The commands for the units that can be exchanged: questions, or claims."""
    nouns = f"{noun}s"
    group = click.Group(nouns, help=f"Make, export or import the {nouns} of a study.")
    make_them = {"question": Study.make_questions, "claim": Study.make_claims}[noun]
    export_them = {"question": Study.export_questions, "claim": Study.export_claims}[noun]
    import_them = {"question": Study.import_questions, "claim": Study.import_claims}[noun]

    @group.command(
        help=f"""{make_text}

    Items with a rated {noun} keep their {nouns}. Every reply is stored as it arrives. If the run stops, the same
    command continues it, and nothing is paid for twice.
    """
    )
    @study_argument
    @click.option("--rater", metavar="SPEC", help="Model that makes them: openai:MODEL, gemini:MODEL, anthropic:MODEL, "
                  "http://HOST:PORT/v1#MODEL or hf:FOLDER-OR-ID; none by default.")  # fmt: skip
    @cost_options
    def make(study: str, rater: str | None, **options: Any) -> int:
        check_finite(options)
        with open_study(study) as opened:
            return emit_run(make_them(opened, rater, **options))

    @group.command(help=f"Write {content} of STUDY to a JSON file, by item id.")
    @study_argument
    @click.option("-o", "--output", required=True, type=FILE, help="JSON file to write.")
    @overwrite_option
    def export(study: str, output: Path, overwrite: bool) -> None:
        with open_study(study) as opened:
            items, count = export_them(opened, output, overwrite=overwrite)
        click.echo(f"{output}: {counted(count, noun)} for {counted(items, 'item')}")

    @group.command(
        "import",
        help=f"""Replace the {nouns} of the items in FILE: all of them or, if anything is wrong, none.

    Items that are not in the file keep their {nouns}. A {noun} with a rating must be in it, unchanged.
    """,
    )
    @study_argument
    @click.argument("file", type=FILE)
    def import_(study: str, file: Path) -> None:
        with open_study(study) as opened:
            done = import_them(opened, file)
            changes = {"changed": done.changed, "added": done.added, "removed": done.removed}
            parts = [f"{done.kept:,} unchanged", *(f"{number:,} {name}" for name, number in changes.items() if number)]
            click.echo(f"{file}: {nouns}: {', '.join(parts)}")
            click.echo(f"{opened.store.location}: {counted(opened.store.items.count_units(), noun)} now")

    _ = make, export, import_
    return group


questions = _unit_commands(
    "question",
    "Make the questions of STUDY again from its references, with the references' own answers.",
    "the questions and the references' answers",
)
claims = _unit_commands(
    "claim",
    "Extract the claims of STUDY again from its texts, by sentence and clause or with a model.",
    "the claims of each text",
)
