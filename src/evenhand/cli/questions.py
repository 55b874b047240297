"""`evenhand questions`: the questions of a study, made, written out and brought back in."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.cli.judging import money
from evenhand.cli.opening import open_study
from evenhand.cli.paths import FILE
from evenhand.cli.progress import ProgressLine
from evenhand.errors import UserError, counted, masked, some_of
from evenhand.llm.base import RunError
from evenhand.questeval.key_info import extractor
from evenhand.raters.options import Calling
from evenhand.raters.registry import Workshop, judge_of
from evenhand.run.budget import CapReached
from evenhand.run.happenings import Happenings
from evenhand.run.order import Order
from evenhand.run.prices import parse_prices, prices_of
from evenhand.run.questions import Making, make_clozes, make_questions
from evenhand.run.settled import check_idle
from evenhand.settings import Settings
from evenhand.store.base import Replaced
from evenhand.study import Study

REASONS = 10


@click.group("questions")
def command() -> None:
    """Make the questions of a study, write them out to be edited, or bring them back in."""


@command.command("make")
@click.argument("study", metavar="STUDY")
@click.option("--rater", "spec", metavar="SPEC", help="The model that makes them: openai:MODEL, gemini:MODEL, "
              "anthropic:MODEL, http://HOST:PORT/v1#MODEL or hf:FOLDER-OR-ID; none if not said.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1, 1024), default=16, show_default=True,
              help="Calls under way at once; fewer while the server cannot keep up.")  # fmt: skip
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Spend no more than so many dollars.")
@click.option("--price", "prices", multiple=True, metavar="[SPEC=]IN/OUT",
              help="Dollars for a million tokens read and written, if the published price is not yours.")  # fmt: skip
def make(study: str, spec: str | None, concurrency: int, max_cost: float | None, prices: Sequence[str]) -> int:
    """Make the questions of STUDY anew from its references, with the references' own answers.

    Items with a question that has a rating keep theirs. Every reply of a model is stored as it comes: a run that stops
    goes on where it was when the same command is given again, and pays for nothing twice.
    """
    if max_cost is not None and not math.isfinite(max_cost):
        raise UserError(f"--max-cost: {max_cost} is not a number that can be kept to; give one such as 5")
    said = parse_prices(prices)
    with open_study(study) as opened:
        if spec is None:
            if max_cost is not None or said:
                raise UserError("--max-cost and --price go with --rater: without a model nothing is to be paid")
            making = make_clozes(opened)
            maker = f"without a model ({extractor(opened.protocol.language)})"
            return _report_making(opened, making, maker)
        opened.check_asks()
        happenings, progress = Happenings(), ProgressLine()
        workshop = Workshop(Settings.from_environment(os.environ), calling=Calling(concurrency), heard=happenings.heard)
        judge = judge_of(spec, opened.protocol, workshop)
        order = Order(max_cost=max_cost, prices=prices_of(judge.chats, said))
        making = make_questions(opened, judge, order, happenings=happenings, watch=progress.show)
        progress.end()
        return _report_making(opened, making, f"by {judge.ref.id}")


def _report_making(study: Study, making: Making, maker: str) -> int:
    asked = making.items or making.failed
    if isinstance(making.why, RunError) and not asked:
        raise UserError(f"{making.why.reason}. No question was made")
    what = f"{counted(making.questions, 'question')} for {counted(making.items, 'item')}"
    click.echo(f"{study.store.location}: {what}, made {maker}")
    if making.passed_over:
        whose = "item keeps its questions" if making.passed_over == 1 else "items keep their questions"
        click.echo(f"  {making.passed_over:,} {whose}, which have ratings")
    for reason, number in making.tally.failures.most_common(REASONS):
        click.echo(f"  failed {number:,}, as they were before: {reason}")
    if making.failed:
        click.echo(f"    items: {some_of(list(making.failed))}; the same command asks about them again")
    tally = making.tally
    if tally.calls or tally.reused:
        facts = [f"{tally.calls:,} calls"]
        facts += [f"{tally.reused:,} stored replies used again"] if tally.reused else []
        facts.append(f"{tally.input_tokens:,} tokens read, {tally.output_tokens:,} written")
        facts += [money(tally.cost)] if tally.cost is not None else ["price not known"]
        click.echo(f"  {'; '.join(facts)}")
    return _ending(making)


def _ending(making: Making) -> int:
    if making.why is None:
        return 1 if making.failed else 0
    if isinstance(making.why, RunError):
        why = f"error: {masked(making.why.reason)}"
    else:
        why = "the cap on cost is reached" if isinstance(making.why, CapReached) else "interrupted"
    click.echo(f"{why}; the same command goes on from here and pays for nothing twice", err=True)
    return 130 if isinstance(making.why, KeyboardInterrupt) else 1


@command.command("export")
@click.argument("study", metavar="STUDY")
@click.option("-o", "--output", required=True, type=FILE, help="The JSON file to write.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
def export(study: str, output: Path, overwrite: bool) -> None:
    """Write the questions of STUDY and the references' answers to a JSON file, by item id."""
    with open_study(study) as opened:
        items, questions = opened.export_questions(output, overwrite=overwrite)
    click.echo(f"{output}: {counted(questions, 'question')} for {counted(items, 'item')}")


@command.command("import")
@click.argument("study", metavar="STUDY")
@click.argument("file", type=FILE)
def import_(study: str, file: Path) -> None:
    """Give the items in FILE the questions it has for them: all of it, or, where something is wrong, nothing.

    Items that are not in the file keep theirs. A question that has a rating must be in it as it was.
    """
    with open_study(study) as opened:
        opened.check_asks()
        check_idle(opened.store)
        replaced = opened.import_questions(file)
        click.echo(f"{file}: {_told(replaced)}")
        click.echo(f"{opened.store.location}: {counted(opened.store.count_units(), 'question')} now")


def _told(replaced: Replaced) -> str:
    parts = [f"{replaced.kept:,} as before"]
    parts += [f"{replaced.changed:,} changed"] if replaced.changed else []
    parts += [f"{replaced.added:,} added"] if replaced.added else []
    parts += [f"{replaced.removed:,} removed"] if replaced.removed else []
    return f"questions: {', '.join(parts)}"
