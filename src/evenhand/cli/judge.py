"""`evenhand judge`: models rate a study."""

import logging
import math
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from evenhand.cli.judging import money, prompt_options
from evenhand.cli.opening import open_study
from evenhand.cli.paths import FILE
from evenhand.cli.program import program
from evenhand.cli.progress import ProgressLine
from evenhand.errors import UserError, counted, masked
from evenhand.llm.base import RunError
from evenhand.raters.base import Judge
from evenhand.raters.options import Asking, Calling
from evenhand.raters.registry import Workshop, judge_of
from evenhand.run.budget import CapReached
from evenhand.run.happenings import LOG, Happenings
from evenhand.run.judge import Outcome, check_priced, judge
from evenhand.run.order import Order
from evenhand.run.plan import Plan, plan
from evenhand.run.prices import parse_prices, prices_of
from evenhand.run.settled import check_settled
from evenhand.run.tally import RaterTally
from evenhand.settings import Settings
from evenhand.study import Study

REASONS = 10


@click.command("judge")
@click.argument("study", metavar="STUDY")
@click.option("--rater", "specs", multiple=True, required=True, metavar="[NAME=]SPEC",
              help="openai:MODEL, gemini:MODEL, anthropic:MODEL, http://HOST:PORT/v1#MODEL, hf:FOLDER-OR-ID, "
              "jury(SPEC, SPEC, …), verifier, verifier(SPEC), quest-eval or quest-eval(SPEC); several times for "
              "several raters.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1),
              help="Rate so many units; sentences that are rated together stay together.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1, 1024), default=16, show_default=True,
              help="Calls under way at once, for each rater; fewer while the server cannot keep up.")  # fmt: skip
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Spend no more than so many dollars.")
@click.option("--price", "prices", multiple=True, metavar="[SPEC=]IN/OUT",
              help="Dollars for a million tokens read and written, if the published price is not yours.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Send nothing: say what it would take, and show the first prompt.")
@click.option("--samples", type=click.IntRange(1, 100), default=1, show_default=True,
              help="Ask so often; the shares of the answers are kept beside the one most given.")  # fmt: skip
@click.option("--logprobs", is_flag=True, help="Keep how probable the model held each answer, where the server tells.")
@click.option("--reasons", is_flag=True, help="Ask for a rationale before each answer, quoted evidence and a "
              "confidence, also where the protocol asks people for none.")  # fmt: skip
@click.option("--retry-failed", is_flag=True, help="Also ask again about the units whose ratings failed.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, show_default=True,
              help="Seconds for one try of one call.")  # fmt: skip
@click.option("--tries", type=click.IntRange(1, 100), default=6, show_default=True,
              help="Tries of one call where the server or the network fails.")  # fmt: skip
@click.option("--log", "log_file", type=FILE, help="Add to this file what happens, line by line.")
@click.option("--device", default="auto", show_default=True, help="For hf: raters: auto, cpu, cuda, mps.")
@click.option("--dtype", default="auto", show_default=True, help="For hf: raters: auto, float32, bfloat16, float16.")
@click.option("--batch-size", type=click.IntRange(1, 1024), default=8, show_default=True,
              help="For hf: raters: prompts at once.")  # fmt: skip
@prompt_options
def command(
    study: str, specs: Sequence[str], limit: int | None, concurrency: int, max_cost: float | None,
    prices: Sequence[str], dry_run: bool, samples: int, logprobs: bool, reasons: bool, retry_failed: bool,
    timeout: float, tries: int,
    log_file: Path | None, device: str, dtype: str, batch_size: int, shots: int | None, one_by_one: bool,
    max_tokens: int | None, temperature: float | None, seed: int | None,
) -> int:  # fmt: skip
    """Have models rate what they have not rated yet in STUDY.

    Every reply is stored as it comes: a run that stops, for whatever reason, goes on where it was when the same command
    is given again, and pays for nothing twice. A reply that cannot be used is a failure with its reason, never a score.
    """
    for option, number in (("--max-cost", max_cost), ("--timeout", timeout)):
        if number is not None and not math.isfinite(number):
            raise UserError(f"{option}: {number} is not a number that can be kept to; give one such as 5")
    if logprobs and samples > 1:
        raise UserError("--logprobs and --samples are two ways to a distribution over the answers: give one of them")
    said = parse_prices(prices)
    asking = Asking(shots, samples, temperature, max_tokens, logprobs, not one_by_one, reasons, seed)
    calling = Calling(concurrency, timeout, tries, device=device, dtype=dtype, batch_size=batch_size)
    progress, happenings = ProgressLine(), Happenings()
    with open_study(study) as opened:
        workshop = Workshop(Settings.from_environment(os.environ), asking, calling, happenings.heard)
        judges = [judge_of(spec, opened.protocol, workshop) for spec in specs]
        chats = [chat for one in judges for chat in one.chats]
        order = Order(limit, retry_failed, max_cost, prices_of(chats, said))
        if dry_run:
            check_settled(opened.store, judges)
            check_priced(judges, order)
            _show_plan(plan(opened.store, judges, order), max_cost)
            return 0
        with _logged_to(log_file):
            outcome = judge(opened, judges, order, happenings=happenings, watch=progress.show)
        progress.end()
        return _report(opened, judges, outcome)


@contextmanager
def _logged_to(path: Path | None) -> Generator[None]:
    """What happens in the run, added to a file for people to read."""
    if path is None:
        yield
        return
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: the log cannot be written: {error.strerror or error}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
    before = LOG.level
    LOG.setLevel(logging.INFO)
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(before)
        handler.close()


def _report(study: Study, judges: Sequence[Judge], outcome: Outcome) -> int:
    for one in judges:
        _report_rater(outcome.tally.raters[one.ref.id])
    left = outcome.tally.to_do - outcome.tally.units
    if isinstance(outcome.why, RunError):
        if not _anything(outcome):
            raise UserError(f"{outcome.why.reason}. Nothing was rated")
        click.echo(f"error: {masked(outcome.why.reason)}. {_kept(outcome, left)}", err=True)
        return 1
    if outcome.why is not None:
        why = "the cap on cost is reached" if isinstance(outcome.why, CapReached) else "interrupted"
        click.echo(f"{why}: {_kept(outcome, left)}", err=True)
        return 130 if isinstance(outcome.why, KeyboardInterrupt) else 1
    if outcome.tally.failed_units:
        click.echo(f"  failures are records with their reasons, never scores; {_what_helps(judges, outcome)}")
    if outcome.tally.units:
        click.echo(f"  how far it agrees with people: {program()} agree {study.store.location}")
    return 1 if outcome.tally.failed_units else 0


def _what_helps(judges: Sequence[Judge], outcome: Outcome) -> str:
    """A model may answer otherwise another time. A rater in the box fails again on what it failed on."""
    if any(one.chats for one in judges if outcome.tally.raters[one.ref.id].failures):
        return "to ask again about those units, repeat the command with --retry-failed"
    return "asked again about the same texts, this rater would say the same"


def _anything(outcome: Outcome) -> bool:
    return bool(outcome.tally.units) or any(rater.replies for rater in outcome.tally.raters.values())


def _kept(outcome: Outcome, left: int) -> str:
    if not _anything(outcome):
        return "Nothing was rated"
    return (
        f"{counted(outcome.tally.units, 'unit')} stored, {outcome.tally.failed_units:,} of them failed, {left:,} left; "
        "the same command goes on from here and pays for nothing twice"
    )


def _report_rater(tally: RaterTally) -> None:
    if not tally.to_do:
        click.echo(f"{tally.rater}: nothing to do, every unit has its rating or failure; --retry-failed asks again")
        return
    click.echo(f"{tally.rater}: {tally.units:,} of {counted(tally.to_do, 'unit')} rated")
    statuses = ", ".join(f"{status} {number:,}" for status, number in tally.statuses.items())
    if statuses:
        click.echo(f"  ratings: {statuses}")
    for reason, number in tally.failures.most_common(REASONS):
        click.echo(f"    failed {number:,}: {reason}")
    if len(tally.failures) > REASONS:
        click.echo(f"    … and {len(tally.failures) - REASONS:,} more reasons")
    if tally.quotes:
        click.echo(f"  quotes as evidence: {tally.quotes:,}, of which {tally.misquoted:,} stand nowhere in the item")
    if tally.calls or tally.reused:
        facts = [f"{tally.calls:,} calls"]
        facts += [f"{tally.reused:,} stored replies used again"] if tally.reused else []
        facts += [f"{sum(tally.retries.values()):,} retries"] if tally.retries else []
        facts.append(f"{tally.input_tokens:,} tokens read, {tally.output_tokens:,} written")
        facts += [f"{tally.uncounted:,} calls without a count of tokens"] if tally.uncounted else []
        facts += [money(tally.cost)] if tally.cost is not None else ["price not known"]
        click.echo(f"  {'; '.join(facts)}")


def _show_plan(planned: Plan, cap: float | None) -> None:
    for rater, units in planned.units.items():
        click.echo(f"{rater}: {counted(units, 'unit')} to rate")
        for model in (model for model in planned.models if model.rater == rater):
            about = "about " if planned.sampled else ""
            stored = f", {model.stored:,.0f} more have their reply in the study" if model.stored else ""
            click.echo(f"  {model.model}: {about}{model.calls:,.0f} calls{stored}")
            click.echo(f"    about {model.input_tokens:,.0f} tokens to read, {model.output_tokens:,.0f} to write")
            if model.cost is None or model.worst is None:
                click.echo("    cost: not known; give --price IN/OUT, in dollars for a million tokens")
            else:
                click.echo(f"    cost: about {money(model.cost)}, at most {money(model.worst)}")
    if cap is not None:
        click.echo(f"cap: {money(cap)}")
    if planned.first is None:
        click.echo("nothing would be sent")
        return
    click.echo("\nThe first prompt:")
    for message in planned.first.messages:
        click.echo(f"\n--- {message.role} ---\n{message.content}")
    if planned.first.schema:
        click.echo(f"\n--- the reply's JSON Schema ---\n{planned.first.schema.text}")
    click.echo("\nNothing was sent.")
