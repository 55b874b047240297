"""`evenhand prompts`: what a model would be asked, for use by hand or in a batch queue."""

from pathlib import Path

import click

from evenhand.cli.judging import prompt_options
from evenhand.cli.opening import open_study
from evenhand.cli.paths import FILE
from evenhand.cli.program import program
from evenhand.errors import UserError, counted
from evenhand.raters.options import Asking
from evenhand.run.offline import write_batch, write_prompts


@click.command("prompts")
@click.argument("study", metavar="STUDY")
@click.option(
    "-o", "--output", required=True, type=FILE, help="The file to write: .jsonl, .csv, .tsv, .xlsx, .parquet."
)
@click.option("--batch", type=click.Choice(["openai"]), help="Write a batch file of this service's format (.jsonl).")
@click.option("--model", help="With --batch: the model that is to answer.")
@click.option("--limit", type=click.IntRange(min=1), help="Ask about at most so many units.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it is there.")
@prompt_options
def command(
    study: str, output: Path, batch: str | None, model: str | None, limit: int | None, overwrite: bool,
    shots: int | None, one_by_one: bool, max_tokens: int | None, temperature: float | None, seed: int | None,
) -> None:  # fmt: skip
    """Write the prompts for the units of STUDY, to be answered elsewhere.

    Without --batch: a table with a column `reply` to fill in, from a chat window for instance. `evenhand replies`
    brings the answers back.
    """
    if (batch is None) != (model is None):
        raise UserError("--batch and --model go together: say which model is to answer, as in --batch openai --model M")
    asking = Asking(shots, 1, temperature, max_tokens, together=not one_by_one, seed=seed)
    with open_study(study) as opened:
        if model is not None:
            count = write_batch(opened, output, model, asking, limit=limit, overwrite=overwrite)
        else:
            for option, given in (("--max-tokens", max_tokens), ("--temperature", temperature), ("--seed", seed)):
                if given is not None:
                    raise UserError(f"{option} goes with --batch: a prompt that is used by hand has no such setting")
            count = write_prompts(opened, output, asking, limit=limit, overwrite=overwrite)
    click.echo(f"{output}: {counted(count, 'prompt')}")
    filled = "its output file" if batch else "the column reply filled in"
    click.echo(f"  bring the answers back, {filled}: {program()} replies {study} FILE --rater NAME")
