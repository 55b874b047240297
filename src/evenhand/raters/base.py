"""What every rater has in common; and options: those of a rater, which belong to its configuration, and of a run."""

import asyncio
import hashlib
import json
import math
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, cast
from typing import Protocol as Interface
from weakref import WeakKeyDictionary

from evenhand.errors import UserError
from evenhand.llm.base import Chat
from evenhand.protocol.completion import Judgement
from evenhand.records import Item, Kind, RaterRef, Unit
from evenhand.text import unknown
from evenhand.version import __version__

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
"""The least and the most of options that are whole numbers, as on the command line; a limit of 0 rates nothing."""
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


class Rater(Interface):
    """A program that rates. It knows its models as `Chat`s, and nothing of studies, budgets and stored replies.

    To write your own rater, you need only a method `rate(item, unit)`: see `registry.OwnRater`.
    """

    ref: RaterRef
    settings: Mapping[str, object]
    """Everything that the digest of its configuration is made of."""
    together: bool = False
    """Whether it rates all units of an item in one call of `rate_units`; otherwise they come one by one."""
    chats: Sequence[Chat] = ()
    """The models it asks. The run closes them."""
    reply_tokens: int | None = None
    """Tokens expected in a reply, however many units it is about; by default as many as ratings of them have."""
    members: Sequence["Rater"] = ()
    """The raters it is made of, if it is a jury."""
    remarks: Sequence[str] = ()
    """What the user should know of it, such as what it cannot do for want of a package."""

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        """A judgement of each of these units of one item, in their order."""
        ...


def model_ref(name: str, settings: Mapping[str, object]) -> RaterRef:
    """The identity of a built-in rater: its name and the digest of its settings."""
    return RaterRef(name, Kind.MODEL, __version__, digest_of(settings))


def digest_of(settings: object) -> str:
    """SHA-256 of settings, the same for the same content."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


_LOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""A lock belongs to its event loop, and a program may use one loop after another."""


@asynccontextmanager
async def local_computation() -> AsyncGenerator[None]:
    """Heavy computations in this process run one at a time, so that memory and cores suffice."""
    async with _LOCKS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        yield
