"""What a run would take, before anything is sent: calls, tokens, cost, and the first prompt as it would be sent.

A dry run is a run on chats that record each request and refuse it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.llm.base import BeforeRetry, CallError, Chat, Reply, Request, Usage
from evenhand.llm.rate_limit import RateLimiter
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, RaterSource, rater_of
from evenhand.run.budget import Price, Prices
from evenhand.run.judge import check_settings
from evenhand.run.recorded_chat import is_reusable, key_of
from evenhand.run.session import connect_model, run_in_loop
from evenhand.run.worker import Call, pending_calls
from evenhand.store.store import Store

SAMPLE = 2_000
"""Calls of a rater whose prompts are made for the estimate; the rest is extrapolated from their mean."""

REPLY_TOKENS = 90
"""Tokens expected for each criterion of each unit in a reply, rationale included."""

_IDEOGRAPH = re.compile(
    "[\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile("[\u0250-\u2e7f\ua000-\ua95f\ua980-\uabff\ufb00-\ufe2f\ufe50-\ufeff\U00010000-\U0001ffff]")


@dataclass
class ModelEstimate:
    """What one rater would ask of one model. Tokens are estimates: the model's own count may differ by a third."""

    rater: str
    model: str
    calls: float = 0
    stored: float = 0
    """Calls that need not be made: their replies are in the study."""
    input_tokens: float = 0
    output_tokens: float = 0
    cost: float | None = None
    worst: float | None = None
    """The most it could cost: each byte a token, each reply as long as it may get, each requested twice."""


@dataclass
class CostEstimate:
    """A run before it starts; `sampled`: only some of the prompts were made, and the rest extrapolated."""

    units: Mapping[str, int]
    models: Sequence[ModelEstimate]
    first: Request | None
    sampled: bool = False


class EstimatingChat:
    """Records each request and refuses it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.requests: list[Request] = []

    @property
    def model(self) -> str:
        return self._chat.model

    @property
    def pace(self) -> RateLimiter:
        return self._chat.pace

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        self.requests.append(request)
        raise CallError("dry run")

    async def close(self) -> None:
        await self._chat.close()


def estimate(
    store: Store,
    raters: Sequence[RaterSource],
    options: RaterOptions = RATER_DEFAULTS,
    run: RunOptions = RUN_DEFAULTS,
) -> CostEstimate:
    """What `judge` would do with the same arguments. Nothing is sent and nothing stored."""
    prices = Prices(run.prices)
    chats: list[EstimatingChat] = []

    def connect(target: str | Chat) -> Chat:
        chats.append(EstimatingChat(connect_model(target, run) if isinstance(target, str) else target))
        return chats[-1]

    context = RaterContext(store.protocol, connect, options, run)
    built = [rater_of(source, context) for source in raters]
    check_settings(store, built)
    prices.check([chat.model for chat in chats], run.max_cost)
    estimates = [run_in_loop(lambda rater=rater: _RaterEstimate(store, rater, run, prices).make()) for rater in built]
    return CostEstimate(
        {one.rater: one.units for one in estimates},
        [model for one in estimates for model in one.models.values()],
        next((one.first for one in estimates if one.first is not None), None),
        any(one.factor > 1 for one in estimates),
    )


class _RaterEstimate:
    """One rater's part of an estimate."""

    def __init__(self, store: Store, rater: Rater, run: RunOptions, prices: Prices) -> None:
        self._store = store
        self._rater = rater
        self._run = run
        self._prices = prices
        self.rater = rater.ref.id
        self.units = 0
        self.factor = 0.0
        self.models: dict[str, ModelEstimate] = {}
        self.first: Request | None = None

    async def make(self) -> "_RaterEstimate":
        _, pending = self._store.work.count_pending(self.rater, failed=self._run.retry_failed)
        self.units = pending if self._run.limit is None else min(pending, self._run.limit)
        sample = list(islice(pending_calls(self._store, self._rater, self._run), SAMPLE))
        seen = sum(len(call.units) for call in sample)
        self.factor = self.units / seen if seen else 0.0
        # Members of a jury that compute in this process send nothing.
        askers = [one for one in self._rater.members or [self._rater] if one.chats]
        for call in sample if askers else ():
            for asker in askers:
                await asker.rate_units(call.item, call.units)
            self._add(call)
        for chat in self._rater.chats:
            await chat.close()
        return self

    def _add(self, call: Call) -> None:
        for chat in self._rater.chats:
            assert isinstance(chat, EstimatingChat)
            for request in chat.requests:
                self.first = self.first or request
                self._add_request(chat, request, call)
            chat.requests.clear()

    def _add_request(self, chat: Chat, request: Request, call: Call) -> None:
        entry = self.models.setdefault(chat.model, ModelEstimate(self.rater, chat.model))
        key = key_of(chat, request)
        known = is_reusable(self._store.replies.find([key]).get(key), call.since)
        read = sum(estimated_tokens(message.content) for message in request.messages)
        written = min(request.max_tokens, REPLY_TOKENS * len(self._store.protocol.criteria) * len(call.units))
        calls = (not known) * self.factor
        entry.calls += calls
        entry.stored += known * self.factor
        entry.input_tokens += read * calls
        entry.output_tokens += written * calls
        price: Price | None = self._prices.of(chat.model)
        if price is not None:
            entry.cost = (entry.cost or 0.0) + price.cost(Usage(read, written)) * calls
            entry.worst = (entry.worst or 0.0) + 2 * price.worst(request) * calls


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: 1 for 4 Latin characters, 1 for 2 of other alphabets, 1 for a Chinese, Japanese
    or Korean character. Tokenizers differ by a third either way on ordinary prose, and more on code or tables.
    """
    if text.isascii():
        return -(-len(text) // 4)
    ideographs = len(_IDEOGRAPH.findall(text))
    others = len(_OTHER.findall(text))
    quarters = 4 * ideographs + 2 * others + (len(text) - ideographs - others)
    return -(-quarters // 4)
