"""What calls cost, and the cap on it.

Before a call its worst case is reserved: every byte of the prompt a token, the reply as long as it may get. When the
call is over, its cost counts as spent, and the rest is free again. What is spent and what is reserved together never
exceed the cap, so no reply can take the run beyond it. A call whose server does not report its usage counts with its
worst case, and so does one that broke off after it was sent. The workers of a run share its cap: money is reserved for
a leased item, in the study's database. If a worker is killed, what its items had reserved counts as spent, because it
may have paid.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import ceil

from evenhand.errors import UserError
from evenhand.llm.base import CallError, Request, Usage
from evenhand.llm.rate_limit import RateLimiter
from evenhand.llm.tokens import most_tokens
from evenhand.raters.base import Rater
from evenhand.run.progress import CapReached, RaterCounters, Stopped
from evenhand.store.work import Work
from evenhand.text import money

LeaseName = tuple[str, str, str]
"""The run, the worker and the item of a lease."""

POLL_SECONDS = 0.5
"""How often a worker looks whether others have given money back."""

_PROVIDERS = {"openai": "openai", "gemini": "google", "anthropic": "anthropic"}
_MANY = 100_000
_MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add around a message."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input that the server has read before; by default the same as `input`."""

    def cost(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / 1e6

    def worst(self, request: Request) -> float:
        """The most that a reply to this request can cost: a token covers at least one byte of text."""
        size = sum(most_tokens(message.content) + _MESSAGE_OVERHEAD for message in request.messages)
        size += most_tokens(request.schema.text) if request.schema else 0
        return self.cost(Usage(size, request.max_tokens))


@cache
def published_price(spec: str) -> Price | None:
    """The published price of an `openai:`, `gemini:` or `anthropic:` model, if it is known."""
    kind, _, model = spec.partition(":")
    provider = _PROVIDERS.get(kind)
    if provider is None:
        return None
    # It brings an HTTP client of its own.
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    usages = (
        Tokens(input_tokens=_MANY),
        Tokens(output_tokens=_MANY),
        Tokens(input_tokens=_MANY, cache_read_tokens=_MANY),
    )
    try:
        prices = [calc_price(usage, model, provider_id=provider).total_price for usage in usages]
    except LookupError:
        return None
    return Price(*(float(price) / _MANY * 1e6 for price in prices))


def parse_prices(texts: Iterable[str]) -> Mapping[str | None, Price]:
    """`IN/OUT` or `SPEC=IN/OUT`, in dollars per million tokens."""
    given: dict[str | None, Price] = {}
    for text in texts:
        spec, equals, amounts = text.rpartition("=")
        try:
            numbers = [float(part) for part in amounts.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 3) or not all(0 <= number < 1e6 for number in numbers):
            raise UserError(
                f"{text!r} is not a price: give dollars per million tokens read and written, as in 0.4/1.6, or for "
                "one rater alone, as in openai:gpt-4.1-mini=0.4/1.6; a third number is the price of cached input"
            )
        given[spec if equals else None] = Price(*numbers)
    return given


class Budget:
    """The prices of a run's models, and the cap that all its workers share. Without a cap nothing is reserved."""

    def __init__(self, work: Work, max_cost: float | None, prices: Mapping[str | None, Price]) -> None:
        self._work = work
        self._prices = prices
        self._freed = asyncio.Event()
        self.cap = None if max_cost is None else int(max_cost * 1e6)
        """Micro-dollars."""
        self._settled: dict[LeaseName, tuple[int, int]] = {}
        """Micro-dollars reserved for calls that are over, and what of them was spent."""

    def price(self, model: str) -> Price | None:
        """The price of a model by its spec: as the user says, or as published for the three large services."""
        return self._prices.get(model) or self._prices.get(None) or published_price(model)

    def check(self, raters: Iterable[Rater]) -> None:
        """Raise UserError if a price is given for a model that no rater uses, or if a cap lacks a price."""
        models = [chat.model for rater in raters for chat in rater.chats]
        unknown = sorted(spec for spec in self._prices if spec is not None and spec not in models)
        if unknown:
            valid = ", ".join(dict.fromkeys(models)) or "none that has a price"
            raise UserError(f"--price {unknown[0]}=…: this run does not use such a model; it uses: {valid}")
        unpriced = sorted(model for model in models if self.price(model) is None)
        if self.cap is not None and unpriced:
            raise UserError(
                f"a cost limit needs a price, and the price of {unpriced[0]} is not known; give it in dollars per "
                f"million tokens read and written: --price {unpriced[0]}=IN/OUT"
            )

    async def reserve(self, lease: LeaseName, amount: int, pace: RateLimiter) -> None:
        """Wait until the amount fits under the cap.

        Raises CapReached if it does not fit and nothing will be freed, Stopped if waits of this pace have ended.

        The caller holds a place of `pace`, but not while it waits: a call that was told to try later keeps its money
        and needs a place to come back.
        """
        while not self.reserve_now(lease, amount):
            if pace.ended.is_set():
                raise Stopped
            if not any(run.id == lease[0] and run.reserved for run in self._work.runs()):
                alone = f": a single call may cost up to {money(amount / 1e6)}, so raise the limit above that"
                raise CapReached(alone if amount > (self.cap or 0) else "")
            self._freed.clear()
            async with pace.without_place():
                # Other processes free money without a signal.
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._freed.wait(), POLL_SECONDS)

    def reserve_now(self, lease: LeaseName, amount: int) -> bool:
        """Reserve micro-dollars for a call about a leased item; False if they do not fit under the cap."""
        if self.cap is None:
            return True
        settled, self._settled = self._settled, {}
        return self._work.reserve(*lease, amount, settled)

    def settle(self, lease: LeaseName, reserved: int, spent: int) -> None:
        """A call is over. What was reserved for it is given back with the next reservation, or with the lease."""
        before = self._settled.get(lease, (0, 0))
        self._settled[lease] = before[0] + reserved, before[1] + spent
        self._freed.set()

    def finish(self, lease: LeaseName) -> int:
        """What was spent on a lease and is not stored yet, to be stored when the lease is ended."""
        return self._settled.pop(lease, (0, 0))[1]


class CallCost:
    """What is reserved for a call while it lasts, and what it has cost so far; nothing if its price is not known."""

    def __init__(self, budget: Budget, lease: LeaseName, model: str, request: Request, counters: RaterCounters) -> None:
        self._budget = budget
        self._lease = lease
        self._price = budget.price(model)
        self._worst = self._price.worst(request) if self._price else 0.0
        self._amount = ceil(self._worst * 1e6)
        self._reserved = 0
        self._spent = 0.0
        self._assumed = 0.0
        """The part of it that is a worst case."""
        self._counters = counters

    async def __aenter__(self) -> "CallCost":
        return self

    async def reserve(self, pace: RateLimiter) -> None:
        """The first attempt is about to be sent: see `Budget.reserve`."""
        await self._budget.reserve(self._lease, self._amount, pace)
        self._reserved += self._amount

    def retry(self) -> None:
        """The request is about to be sent again, and the last attempt may be charged. Raises CapReached."""
        self._assume()
        if not self._budget.reserve_now(self._lease, self._amount):
            raise CapReached
        self._reserved += self._amount

    def charge(self, usage: Usage | None) -> None:
        """The reply has come."""
        if usage is None:
            self._assume()
        elif self._price is not None:
            self._spent += self._price.cost(usage)

    def _assume(self) -> None:
        """An attempt may be charged, nobody knows how much."""
        self._spent += self._worst
        self._assumed += self._worst

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, CallError) and error.charged:
            self._assume()
        if self._price is not None:
            self._counters.cost = (self._counters.cost or 0.0) + self._spent
            self._counters.assumed_cost += self._assumed
        self._budget.settle(self._lease, self._reserved, ceil(self._spent * 1e6))
