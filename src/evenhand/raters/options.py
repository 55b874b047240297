"""Options: of a rater, which belong to its configuration, of a run, and those that the calls of `Study` accept."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, TypedDict, cast

from evenhand.errors import UserError
from evenhand.text import unknown

_WHOLE: Mapping[str, tuple[int, int | None]] = {
    "shots": (0, None),
    "samples": (1, 100),
    "max_tokens": (16, None),
    "limit": (0, None),
    "concurrency": (1, 1024),
    "tries": (1, 100),
    "batch_size": (1, 1024),
    "per_cell": (1, 1000),
}
"""The least and the most of options that are whole numbers. A limit of 0 rates nothing; the command line rejects it."""
_MAY_BE_NONE = ("shots", "temperature", "max_tokens", "seed", "limit", "max_cost", "per_cell")
_SWITCHES = ("logprobs", "together", "one_by_one", "reasons", "retry_failed")


def check_option(name: str, value: Any) -> None:
    """Raise UserError if an option cannot have this value."""
    valid = None if value is None and name in _MAY_BE_NONE else _refused(name, value)
    if valid is not None:
        raise UserError(f"{name}: {value!r} is not valid; valid is {valid}")


def _refused(name: str, value: Any) -> str | None:
    """What is valid for an option, in words, if the value is not."""
    kind = cast("type[object]", type(value))
    number: float = value if kind is not bool and issubclass(kind, Real) else math.nan
    is_whole = kind is not bool and issubclass(kind, Integral)
    if name in _WHOLE:
        least, most = _WHOLE[name]
        fits = is_whole and least <= number <= (most or number)
        return None if fits else f"a whole number, {least} or more" if most is None else f"{least} to {most:,}"
    if name in ("max_cost", "timeout"):
        return None if 0 < number < math.inf else "a number above 0"
    if name == "temperature":
        return None if 0 <= number <= 2 else "a number from 0 to 2"
    if name == "seed":
        return None if is_whole else "a whole number"
    if name == "prices":
        fits = kind in (list, tuple) and all(isinstance(one, str) for one in value)
        return None if fits else "a list of texts, such as ['0.5/1.5']"
    return None if name not in _SWITCHES or isinstance(value, bool) else "True or False"


def check_names(options: Collection[str], valid: Collection[str]) -> None:
    """Raise UserError if an option has none of the valid names."""
    for name in options:
        if name not in valid:
            raise UserError(unknown("option", name, valid))


@dataclass(frozen=True, slots=True)
class RaterOptions:
    """What changes the ratings: part of the digest of a rater's configuration.

    `shots`: worked examples in the prompt, None for all. `samples`: how many times each question is asked.
    `temperature`: None for 0, or for 1 if there are several samples. `max_tokens`: the longest reply, None for a limit
    that suits the prompt. `logprobs`: ask for the probabilities of the answers. `together`: all sentences of a text in
    one call. `reasons`: a rationale before each answer, quoted evidence and a confidence, even if the protocol does not
    ask people for them.
    """

    shots: int | None = None
    samples: int = 1
    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    together: bool = True
    reasons: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        _check_fields(self)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What changes only how much is done, and how.

    `limit`: units for each rater. `retry_failed`: rate units whose ratings failed again. `max_cost`: dollars for all
    raters of the run together. `prices`: `IN/OUT` or `SPEC=IN/OUT`, dollars per million tokens. `concurrency`: calls at
    the same time, for each model. `timeout`: seconds for one try of a call. `tries`: attempts of a call if the server
    or the network fails. `patience`: seconds that a call waits in all if the server asks for fewer calls. `device`,
    `dtype` and `batch_size` are for Hugging Face models.
    """

    limit: int | None = None
    retry_failed: bool = False
    max_cost: float | None = None
    prices: Sequence[str] = ()
    concurrency: int = 16
    timeout: float = 120.0
    tries: int = 6
    patience: float = 300.0
    device: str = "auto"
    dtype: str = "auto"
    batch_size: int = 8

    def __post_init__(self) -> None:
        _check_fields(self)


def _check_fields(options: RaterOptions | RunOptions) -> None:
    for field in fields(options):
        check_option(field.name, getattr(options, field.name))


RATER_DEFAULTS = RaterOptions()
RUN_DEFAULTS = RunOptions()


class PromptOptions(TypedDict, total=False):
    """How a model is asked, part of a rater's configuration: see `RaterOptions`; `one_by_one` is not `together`."""

    shots: int | None
    one_by_one: bool
    max_tokens: int | None
    temperature: float | None
    seed: int | None


class JudgeOptions(PromptOptions, total=False):
    """Options of `Study.judge`, the same as those of `evenhand judge`: see `RaterOptions` and `RunOptions`."""

    limit: int | None
    max_cost: float | None
    prices: Sequence[str]
    retry_failed: bool
    samples: int
    logprobs: bool
    reasons: bool
    concurrency: int
    timeout: float
    tries: int
    device: str
    dtype: str
    batch_size: int


class MakeOptions(TypedDict, total=False):
    """Options of `Study.make_questions` and `Study.make_claims`: see `RunOptions`."""

    concurrency: int
    max_cost: float | None
    prices: Sequence[str]


def rater_options(given: Mapping[str, Any]) -> RaterOptions:
    """Those of `PromptOptions`, and others of `RaterOptions`, from the arguments of a call."""
    check_option("one_by_one", given.get("one_by_one", False))
    names = {field.name for field in fields(RaterOptions)} & set(given)
    return RaterOptions(**{name: given[name] for name in names}, together=not given.get("one_by_one", False))


def judge_options(options: JudgeOptions) -> tuple[RaterOptions, RunOptions]:
    """Raises UserError if an option is unknown or has a value that it cannot have."""
    check_names(options, JudgeOptions.__annotations__)
    found = rater_options(options)
    if found.logprobs and found.samples > 1:
        raise UserError("logprobs and samples are two ways to a distribution over the answers: choose one of them")
    given = cast("Mapping[str, Any]", options)
    names = {field.name for field in fields(RunOptions)} & set(given)
    return found, RunOptions(**{name: given[name] for name in names})
