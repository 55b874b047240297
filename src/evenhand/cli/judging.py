"""Options of the commands that ask models, and what they say about it."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_PROMPT_OPTIONS = (
    click.option(
        "--shots", type=click.IntRange(min=0), help="Worked examples in the prompt; all of the protocol's if not said."
    ),
    click.option(
        "--one-by-one", is_flag=True, help="Ask about each sentence by itself, not about all of a text together."
    ),
    click.option("--max-tokens", type=click.IntRange(min=16), help="The longest reply, in tokens."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="0 unless there are several samples, then 1."),
    click.option("--seed", type=int, help="For servers that take one."),
)


def prompt_options(command: F) -> F:
    """The options that say how a model is asked."""
    for option in reversed(_PROMPT_OPTIONS):
        command = option(command)
    return command


def money(amount: float) -> str:
    """Dollars, with as many digits as small amounts need."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"
