"""What a run would take, before anything is sent: calls, tokens, cost, and the first prompt as it would be sent.

A dry run is a run on chats that record each request and refuse it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.llm.base import BeforeRetry, CallError, Chat, Reply, Request, Usage
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.raters.registry import RaterContext, RaterSource, rater_of
from evenhand.run.budget import Budget
from evenhand.run.judge import check_settings, connect_model
from evenhand.run.recorded_chat import is_reusable, key_of
from evenhand.run.worker import Call, calls_for, limited, run_in_loop
from evenhand.store.store import Store
from evenhand.text import counted, money

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

    def lines(self, about: str) -> Iterator[str]:
        stored = f", {self.stored:,.0f} more have a stored reply" if self.stored else ""
        yield f"  {self.model}: {about}{self.calls:,.0f} calls{stored}"
        yield f"    about {self.input_tokens:,.0f} tokens to read, {self.output_tokens:,.0f} to write"
        if self.cost is None or self.worst is None:
            yield "    cost: unknown; give --price IN/OUT, in dollars per million tokens"
        else:
            yield f"    cost: about {money(self.cost)}, at most {money(self.worst)}"


@dataclass
class CostEstimate:
    """A run before it starts; `sampled`: only some of the prompts were made, and the rest extrapolated."""

    units: Mapping[str, int]
    models: Sequence[ModelEstimate]
    first: Request | None
    sampled: bool = False
    cap: float | None = None

    def __str__(self) -> str:
        lines = list[str]()
        for rater, units in self.units.items():
            lines.append(f"{rater}: {counted(units, 'unit')} to rate")
            for model in (model for model in self.models if model.rater == rater):
                lines += model.lines("about " if self.sampled else "")
        lines += [] if self.cap is None else [f"limit: {money(self.cap)}"]
        if self.first is None:
            return "\n".join([*lines, "nothing would be sent"])
        lines.append("\nThe first prompt:")
        lines += [f"\n--- {message.role} ---\n{message.content}" for message in self.first.messages]
        if self.first.schema:
            lines.append(f"\n--- JSON Schema of the reply ---\n{self.first.schema.text}")
        return "\n".join([*lines, "\nNothing was sent."])


class EstimatingChat:
    """Records each request and refuses it."""

    def __init__(self, chat: Chat) -> None:
        self.model = chat.model
        self.pace = chat.pace
        self.close = chat.close
        self.requests: list[Request] = []

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        self.requests.append(request)
        raise CallError("dry run")


def estimate(
    store: Store,
    raters: Sequence[RaterSource],
    options: RaterOptions = RATER_DEFAULTS,
    run: RunOptions = RUN_DEFAULTS,
) -> CostEstimate:
    """What `judge` would do with the same arguments. Nothing is sent and nothing stored."""

    def connect(target: str | Chat) -> Chat:
        return EstimatingChat(connect_model(target, run) if isinstance(target, str) else target)

    budget = Budget(store.work, run)
    built = [rater_of(source, RaterContext(store.protocol, connect, options, run)) for source in raters]
    check_settings(store, built)
    budget.check([chat.model for rater in built for chat in rater.chats])
    found = [_RaterEstimate(store, rater, run, budget) for rater in built]
    for one in found:
        run_in_loop(one.make)
    return CostEstimate(
        {one.rater.ref.id: one.units for one in found},
        [model for one in found for model in one.models.values()],
        next((one.first for one in found if one.first is not None), None),
        any(one.factor > 1 for one in found),
        run.max_cost,
    )


class _RaterEstimate:
    """One rater's part of an estimate."""

    def __init__(self, store: Store, rater: Rater, run: RunOptions, budget: Budget) -> None:
        self._store = store
        self._run = run
        self._budget = budget
        self.rater = rater
        _, pending = store.work.count_pending(rater.ref.id, failed=run.retry_failed)
        self.units = pending if run.limit is None else min(pending, run.limit)
        self.factor = 0.0
        self.models: dict[str, ModelEstimate] = {}
        self.first: Request | None = None

    async def make(self) -> None:
        sample = list(islice(self._calls(), SAMPLE))
        seen = sum(len(call.units) for call in sample)
        self.factor = self.units / seen if seen else 0.0
        # Members of a jury that compute in this process send nothing.
        askers = [one for one in self.rater.members or [self.rater] if one.chats]
        for call in sample if askers else ():
            for asker in askers:
                await asker.rate_units(call.item, call.units)
            for chat in self.rater.chats:
                assert isinstance(chat, EstimatingChat)
                for request in chat.requests:
                    self._add(chat, request, call)
                chat.requests.clear()
        for chat in self.rater.chats:
            await chat.close()

    def _calls(self) -> Iterator[Call]:
        """All calls that the rater has to make, read from the study as they are taken."""
        left = self._run.limit
        for item, units in self._store.work.pending(self.rater.ref.id, failed=self._run.retry_failed):
            if left is not None and left <= 0:
                return
            chosen = limited(units, left, self.rater)
            left = None if left is None else left - len(chosen)
            yield from calls_for(self._store, self.rater, self._run.retry_failed, item, chosen)

    def _add(self, chat: Chat, request: Request, call: Call) -> None:
        self.first = self.first or request
        entry = self.models.setdefault(chat.model, ModelEstimate(self.rater.ref.id, chat.model))
        key = key_of(chat, request)
        known = is_reusable(self._store.replies.find([key]).get(key), call.since)
        read = sum(estimated_tokens(message.content) for message in request.messages)
        written = min(request.max_tokens, REPLY_TOKENS * len(self._store.protocol.criteria) * len(call.units))
        calls = (not known) * self.factor
        entry.calls += calls
        entry.stored += known * self.factor
        entry.input_tokens += read * calls
        entry.output_tokens += written * calls
        price = self._budget.price(chat.model)
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
