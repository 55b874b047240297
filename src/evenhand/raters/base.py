"""What every rater has in common; and options: those of a rater, which belong to its configuration, and of a run."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol as Interface
from weakref import WeakKeyDictionary

from evenhand.llm.base import Chat
from evenhand.protocol.completion import Judgement
from evenhand.records import Item, Kind, RaterRef, Unit
from evenhand.version import __version__


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
