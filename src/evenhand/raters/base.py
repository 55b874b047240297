"""What every rater has in common."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol as Interface
from weakref import WeakKeyDictionary

from evenhand.llm.base import Chat
from evenhand.protocol.completion import Judgement
from evenhand.records import Item, Kind, RaterRef, Unit
from evenhand.version import __version__


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
