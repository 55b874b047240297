"""A hard cap on what a run may cost.

Before a call its worst case is set aside: every byte of the prompt a token, the reply as long as it may get. What is
spent and what is set aside together never exceed the cap, so no reply can take the run beyond it. A call whose server
does not say what it took counts with its worst case, and so does one that broke off after it was sent.
"""

import asyncio
from dataclasses import dataclass

from evenhand.errors import EvenhandError
from evenhand.llm.base import Request, Usage
from evenhand.raters.tokens import most_tokens


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in dollars."""

    input: float
    output: float
    cached: float | None = None
    """For input that the server had read before; the same as `input` where nothing is said."""

    def cost(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / 1e6

    def worst(self, request: Request) -> float:
        """The most that a reply to this can cost: a token covers at least one byte of text."""
        size = sum(most_tokens(message.content) + 16 for message in request.messages)
        size += most_tokens(request.schema.text) if request.schema else 0
        return self.cost(Usage(size, request.max_tokens))


class CapReached(EvenhandError):
    """The next call could take the run beyond its cap."""


class Budget:
    """What may still be spent. Belongs to one event loop."""

    def __init__(self, cap: float | None = None) -> None:
        self.cap = cap
        self.spent = 0.0
        self._aside = 0.0
        self._freed: asyncio.Event = asyncio.Event()

    async def set_aside(self, most: float) -> None:
        """Wait until `most` fits under the cap. Raises CapReached where it does not fit and nothing will come free."""
        while self.cap is not None and self.spent + self._aside + most > self.cap:
            if self._aside <= 0:
                raise CapReached
            self._freed.clear()
            await self._freed.wait()
        self._aside += most

    def set_aside_at_once(self, more: float) -> None:
        """Set more aside for a call that is under way. Raises CapReached where it does not fit now."""
        if self.cap is not None and self.spent + self._aside + more > self.cap:
            raise CapReached
        self._aside += more

    def settle(self, most: float, spent: float) -> None:
        """Give back what was set aside; `spent` of it is gone."""
        # Rounding must not leave a trace of money aside that nobody will ever give back.
        self._aside = 0.0 if self._aside - most < 1e-12 else self._aside - most
        self.spent += spent
        self._freed.set()
