"""A hard cap on what a run may cost, and the prices it is computed with.

Before a call its worst case is reserved: every byte of the prompt a token, the reply as long as it may get. What is
spent and what is reserved together never exceed the cap, so no reply can take the run beyond it. A call whose server
does not report its usage counts with its worst case, and so does one that broke off after it was sent.

Workers share the cap of their run: money is reserved for each leased item in the study's database. If a worker is
killed, what its items had reserved counts as spent, because it may have paid.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Protocol as Interface

from genai_prices import Usage as Tokens
from genai_prices import calc_price

from evenhand.errors import EvenhandError, UserError
from evenhand.llm.base import Reply, Request, Usage
from evenhand.store.work import Work

_PROVIDERS = {"openai": "openai", "gemini": "google", "anthropic": "anthropic"}
_MANY = 100_000
POLL_SECONDS = 0.5
"""How often a worker looks whether others have given money back."""
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


def most_tokens(text: str) -> int:
    """An upper bound on the tokens of a text: a token covers one byte of UTF-8 or more."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class Prices:
    """What the tokens of each model cost: as the user says, or as published for the three large services."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._given = _parsed(texts)

    def of(self, model: str) -> Price | None:
        """The price of a model by its spec, if it is known."""
        return self._given.get(model) or self._given.get(None) or published_price(model)

    def check(self, models: Sequence[str], max_cost: float | None) -> None:
        """Raise UserError if a price is given for another model, or if a cap cannot be kept for want of a price."""
        unknown = sorted(spec for spec in self._given if spec is not None and spec not in models)
        if unknown:
            valid = ", ".join(dict.fromkeys(models)) or "none that has a price"
            raise UserError(f"--price {unknown[0]}=…: this run does not use such a model; it uses: {valid}")
        unpriced = sorted(model for model in models if self.of(model) is None)
        if max_cost is not None and unpriced:
            raise UserError(
                f"a cost limit needs a price, and the price of {unpriced[0]} is not known; give it in dollars per "
                f"million tokens read and written: --price {unpriced[0]}=IN/OUT"
            )


@cache
def published_price(spec: str) -> Price | None:
    """The published price of an `openai:`, `gemini:` or `anthropic:` model, if it is known."""
    kind, _, model = spec.partition(":")
    provider = _PROVIDERS.get(kind)
    if provider is None:
        return None
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


def _parsed(texts: Iterable[str]) -> Mapping[str | None, Price]:
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


class CapReached(EvenhandError):
    """The next call could take the run beyond its cap."""


class Budget(Interface):
    """What calls reserve their worst case from."""

    async def reserve(self, amount: float) -> None:
        """Wait until the amount fits under the cap. Raises CapReached if it does not fit and nothing will be freed."""
        ...

    def reserve_now(self, amount: float) -> None:
        """Reserve more for a call that is under way. Raises CapReached if it does not fit at once."""
        ...

    def settle(self, reserved: float, spent: float) -> None:
        """Give a reservation back, of which `spent` is gone."""
        ...


class LocalBudget:
    """A cap for this process alone."""

    def __init__(self, cap: float | None = None) -> None:
        self._cap = cap
        self._spent = 0.0
        self._reserved = 0.0
        self._freed = asyncio.Event()

    async def reserve(self, amount: float) -> None:
        while not self._fits(amount):
            if self._reserved <= 0:
                raise CapReached
            self._freed.clear()
            await self._freed.wait()
        self._reserved += amount

    def reserve_now(self, amount: float) -> None:
        if not self._fits(amount):
            raise CapReached
        self._reserved += amount

    def settle(self, reserved: float, spent: float) -> None:
        # Rounding must not leave a trace of a reservation that is never given back.
        self._reserved = 0.0 if self._reserved - reserved < 1e-12 else self._reserved - reserved
        self._spent += spent
        self._freed.set()

    def _fits(self, amount: float) -> bool:
        return self._cap is None or self._spent + self._reserved + amount <= self._cap


class SharedCap:
    """The cap that the workers of a run share, as one of them sees it."""

    def __init__(self, work: Work, cap: float | None) -> None:
        self.work = work
        self.micros = None if cap is None else int(cap * 1e6)
        self.leases: set[LeaseBudget] = set()
        self.open_calls = 0
        self._freed = asyncio.Event()

    def freed(self) -> None:
        """Money may have been given back: callers that wait try again."""
        self._freed.set()

    async def wait(self, run: str) -> None:
        """Wait until money may have been given back. Raises CapReached if nobody will give any back.

        Other workers give money back without a signal, so they are polled.
        """
        if any(lease.release() for lease in self.leases):
            return
        mine = sum(lease.reserved for lease in self.leases)
        if not self.open_calls and not any(one.id == run and one.reserved > mine for one in self.work.runs()):
            raise CapReached
        self._freed.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._freed.wait(), POLL_SECONDS)


class LeaseBudget:
    """The money of one leased item. Without a cap nothing is reserved, only the cost is counted."""

    def __init__(self, shared: SharedCap, run: str, worker: str, item: str) -> None:
        self._shared = shared
        self._names = run, worker, item
        self.reserved = 0
        """Micro-dollars reserved for this item in the study's database."""
        self._in_use = 0.0
        self._spent = 0.0
        shared.leases.add(self)

    @property
    def spent(self) -> int:
        """Micro-dollars, rounded up."""
        return ceil(self._spent * 1e6)

    async def reserve(self, amount: float) -> None:
        while not self._drawn(amount):
            await self._shared.wait(self._names[0])
        self._shared.open_calls += 1

    def reserve_now(self, amount: float) -> None:
        if not self._drawn(amount):
            raise CapReached

    def settle(self, reserved: float, spent: float) -> None:
        self._in_use = max(0.0, self._in_use - reserved)
        self._spent += spent
        self._shared.open_calls -= 1
        self._shared.freed()

    def release(self) -> bool:
        """Give back what no open call needs; False if that is nothing."""
        surplus = self.reserved - self._needed(0.0)
        if surplus <= 0:
            return False
        self._shared.work.reserve(*self._names, -surplus)
        self.reserved -= surplus
        return True

    def close(self) -> None:
        """The item is finished: its reserve was given back with its lease."""
        self._shared.leases.discard(self)
        self._shared.freed()

    def _needed(self, more: float) -> int:
        return ceil((self._spent + self._in_use + more) * 1e6)

    def _drawn(self, amount: float) -> bool:
        missing = self._needed(amount) - self.reserved
        if self._shared.micros is not None and missing > 0:
            if not self._shared.work.reserve(*self._names, missing):
                return False
            self.reserved += missing
        self._in_use += amount
        return True


class CallBudget:
    """The reservation and the cost of one call; nothing if its price is not known. Use it as a context manager."""

    def __init__(self, budget: Budget, price: Price | None, request: Request) -> None:
        self._budget = budget
        self._price = price
        self._worst = price.worst(request) if price else 0.0
        self._reserved = 0.0
        self._spent = 0.0
        self._open = False

    @property
    def cost(self) -> float | None:
        """What the call cost so far."""
        return None if self._price is None else self._spent

    async def reserve(self) -> None:
        await self._budget.reserve(self._worst)
        self._reserved += self._worst
        self._open = True

    def reserve_retry(self) -> None:
        """The request is about to be sent again, and the last attempt may be charged."""
        self._spent += self._worst
        self._budget.reserve_now(self._worst)
        self._reserved += self._worst

    def charge_worst(self) -> None:
        self._spent += self._worst

    def charge(self, reply: Reply) -> None:
        if self._price is not None:
            self._spent += self._worst if reply.usage is None else self._price.cost(reply.usage)

    def __enter__(self) -> "CallBudget":
        return self

    def __exit__(self, *exc: object) -> None:
        if self._open:
            self._budget.settle(self._reserved, self._spent)
