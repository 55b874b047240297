"""What a run would take, before anything is sent: calls, tokens, cost, and the first prompt as it would be sent.

A dry run is a run on chats that record each request and refuse it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from evenhand.llm.base import BeforeRetry, CallError, Reply, Request, Usage
from evenhand.llm.tokens import estimated_tokens
from evenhand.raters.base import Rater
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.raters.registry import RaterSource
from evenhand.run.budget import Price
from evenhand.run.recorded_chat import SCOPE, CallScope, RecordedChat, Recorder
from evenhand.run.worker import calls_for, check_settings, run_in_loop
from evenhand.store.store import Store
from evenhand.store.work import limited
from evenhand.text import counted, money

SAMPLE = 2_000
"""Calls of a rater whose prompts are made for the estimate; the rest is extrapolated from their mean."""

REPLY_TOKENS = 90
"""Tokens expected for each criterion of each unit in a reply, rationale included."""


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

    def add(self, request: Request, price: Price | None, written: int, known: bool, factor: float) -> None:
        """Add a request that stands for `factor` requests; `known`: its reply is stored."""
        calls, read = (not known) * factor, sum(estimated_tokens(message.content) for message in request.messages)
        self.calls += calls
        self.stored += known * factor
        self.input_tokens += read * calls
        self.output_tokens += written * calls
        if price is not None:
            self.cost = (self.cost or 0.0) + price.cost(Usage(read, written)) * calls
            self.worst = (self.worst or 0.0) + 2 * price.worst(request) * calls

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

    cap: float | None = None
    units: dict[str, int] = field(default_factory=dict[str, int])
    models: list[ModelEstimate] = field(default_factory=list[ModelEstimate])
    first: Request | None = None
    sampled: bool = False

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


class EstimatingChat(RecordedChat):
    """Records each request, and whether its reply is stored, and refuses it."""

    sends = False
    requests: Sequence[tuple[Request, bool]] = ()

    async def complete(self, request: Request, *, before_retry: BeforeRetry | None = None) -> Reply:
        stored = await self.find(self.key(request), SCOPE.get().since)
        self.requests = [*self.requests, (request, stored is not None)]
        raise CallError("dry run")


def estimate(
    store: Store,
    raters: Sequence[RaterSource],
    options: RaterOptions = RATER_DEFAULTS,
    run: RunOptions = RUN_DEFAULTS,
) -> CostEstimate:
    """What `judge` would do with the same arguments. Nothing is sent and nothing stored."""
    recorder, found = Recorder(store, run), CostEstimate(run.max_cost)
    for rater in recorder.raters(raters, options, EstimatingChat):
        check_settings(store, rater)
        run_in_loop(lambda rater=rater: _add_rater(recorder, rater, found))
    return found


async def _add_rater(recorder: Recorder, rater: Rater, found: CostEstimate) -> None:
    name, limit, retry = rater.ref.id, recorder.options.limit, recorder.options.retry_failed
    found.units[name] = recorder.store.work.count_pending(name, limit, rater.together, failed=retry)
    work = limited(recorder.store.work.pending(name, failed=retry), limit, rater.together)
    calls = (call for item, units in work for call in calls_for(recorder.store, rater, retry, item, units))
    sample = list(islice(calls, SAMPLE))
    seen = sum(len(call.units) for call in sample)
    factor = found.units[name] / seen if seen else 0.0
    found.sampled |= factor > 1
    # Members of a jury that compute in this process send nothing.
    askers = [one for one in rater.members or [rater] if one.chats]
    chats = [chat for chat in rater.chats if isinstance(chat, EstimatingChat)]
    models = {chat.model: ModelEstimate(name, chat.model) for chat in chats}
    for item, units, since in sample if askers else ():
        SCOPE.set(CallScope(("", "", item.id), since))
        for asker in askers:
            await asker.rate_units(item, units)
        written = rater.reply_tokens or REPLY_TOKENS * len(recorder.store.protocol.criteria) * len(units)
        for chat in chats:
            for request, known in chat.requests:
                found.first = found.first or request
                price = recorder.budget.price(chat.model)
                models[chat.model].add(request, price, min(request.max_tokens, written), known, factor)
            chat.requests = ()
    for chat in chats:
        await chat.close()
    found.models += [model for model in models.values() if model.calls or model.stored]
