"""Heavy work of raters in this process: one at a time, so that memory and cores suffice, beside the event loop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

_LOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""A lock belongs to its event loop, and a program may have one loop after another."""


@asynccontextmanager
async def turn() -> AsyncGenerator[None]:
    """Wait until nobody else is at heavy work, and keep the others waiting meanwhile."""
    async with _LOCKS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        yield
