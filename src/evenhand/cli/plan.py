"""`evenhand plan`: how a study is shared out among people."""

import json
from collections.abc import Callable, Sequence

import click
from pydantic import ValidationError

from evenhand.assign import Plan
from evenhand.cli.opening import open_study
from evenhand.errors import InputError, Problem, counted
from evenhand.protocol.model import Protocol

_TRAINING = {
    "off": "Newcomers begin with items of the study at once",
    "offered": "Newcomers are offered the worked examples first",
    "required": "Newcomers rate the worked examples first",
}
_REVEAL = {
    "never": "Nobody sees what others rated",
    "models": "Once their own ratings of an item are final, raters see those by models",
    "all": "Once their own ratings of an item are final, raters see everybody's",
}


def _number_or(word: str) -> Callable[[click.Context, click.Parameter, str | None], int | str | None]:
    """A number, or the word that stands for no limit."""

    def parse(context: click.Context, parameter: click.Parameter, text: str | None) -> int | str | None:
        if text is None or text == word:
            return text
        try:
            return int(text)
        except ValueError as error:
            raise click.BadParameter(f"{text!r} is neither a number nor {word!r}") from error

    return parse


@click.command("plan")
@click.argument("study", metavar="STUDY")
@click.option("--overlap", metavar="N|all", callback=_number_or("all"), help="How many people rate each item.")
@click.option("--share", metavar="N|none", callback=_number_or("none"), help="The most items one person is given.")
@click.option("--seed", type=int, help="Fixes the order of the items and of each rater's batches.")
@click.option("--batch", type=int, help="Items in a batch.")
@click.option("--by", metavar="A,B|none|strata", help="Label fields by which batches are balanced; strata: those of "
              "the protocol.")  # fmt: skip
@click.option("--claim-minutes", type=float, help="An item without any answer for so long goes back to the others.")
@click.option("--training", type=click.Choice(list(_TRAINING)), help="Whether newcomers rate worked examples first.")
@click.option("--gold", metavar="RATER|none", help="The rater whose ratings are known answers, hidden among the items.")
@click.option("--gold-every", type=int, help="Every so many items one with a known answer.")
@click.option("--repeat-every", type=int, help="Every so many items one that the rater has rated before; 0: never.")
@click.option("--repeat-after", type=int, help="Items between an item and its repeat, at least.")
@click.option("--reveal", type=click.Choice(list(_REVEAL)), help="Whose ratings raters see once their own are final.")
@click.option("--pause", is_flag=True, help="Give nobody anything new; what is in hand can be finished.")
@click.option("--resume", is_flag=True, help="Go on after a pause.")
@click.option("--completion", metavar="URL|none", help="Where raters go who are done, such as Prolific's address.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    study: str, by: str | None, pause: bool, resume: bool, as_json: bool, **options: int | float | str | None
) -> None:
    """Say how STUDY is shared out among people; with options, change it.

    Seed, batch and --by are settled once the first item was given out; the rest may change at any time.
    """
    if pause and resume:
        raise click.UsageError("--pause and --resume contradict each other; give one of them")
    changes: dict[str, object] = {
        name: None if value == _EMPTY.get(name) else value for name, value in options.items() if value is not None
    }
    if by is not None:
        changes["by"] = _fields(by)
    if pause or resume:
        changes["paused"] = pause
    with open_study(study) as opened:
        people = opened.store.people
        plan = people.plan()
        if changes:
            plan = _changed(plan, changes)
            people.set_plan(plan)
        if as_json:
            click.echo(json.dumps(plan.model_dump(mode="json"), ensure_ascii=False, indent=2))
        else:
            click.echo("\n".join(_in_words(plan, opened.protocol)))


_EMPTY = {"overlap": "all", "share": "none", "gold": "none", "completion": "none"}
"""Options whose empty value has a word."""


def _fields(by: str) -> tuple[str, ...] | None:
    if by == "strata":
        return None
    return () if by == "none" else tuple(name.strip() for name in by.split(",") if name.strip())


def _changed(plan: Plan, changes: dict[str, object]) -> Plan:
    try:
        return Plan.model_validate({**plan.model_dump(), **changes})
    except ValidationError as error:
        problems = [
            Problem(f"--{str(one['loc'][0]).replace('_', '-')}: {message[:1].lower()}{message[1:]}")
            for one in error.errors()
            for message in [one["msg"].removeprefix("Value error, ")]
        ]
        raise InputError("plan", problems) from error


def _in_words(plan: Plan, protocol: Protocol) -> Sequence[str]:
    by = protocol.strata if plan.by is None else plan.by
    balance = f", balanced by {', '.join(by)}" if by else ""
    lines = [
        "Everybody rates every item"
        if plan.overlap is None
        else f"Each item is rated by {'1 person' if plan.overlap == 1 else f'{plan.overlap:,} people'}",
        "Nobody is given more than they want"
        if plan.share is None
        else f"Nobody is given more than {counted(plan.share, 'item')}",
        f"Items come in batches of {plan.batch:,}{balance}, in an order that the seed {plan.seed} fixes",
        f"An item without any answer for {plan.claim_minutes:g} minutes goes back to the others",
        _TRAINING[plan.training],
        "No known answers are hidden among the items"
        if plan.gold is None
        else f"One in {plan.gold_every:,} items has a known answer, by {plan.gold}",
        "No item comes twice"
        if not plan.repeat_every
        else f"One in {plan.repeat_every:,} items comes again, {counted(plan.repeat_after, 'item')} later or more",
        _REVEAL[plan.reveal],
    ]
    lines += [f"Who is done is sent to {plan.completion}"] if plan.completion else []
    lines += ["Paused: nobody is given anything new (--resume goes on)"] if plan.paused else []
    return lines
