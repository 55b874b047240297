"""What a run would take, before anything is sent: calls, tokens, money, and the first prompt as it would go out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.llm.base import Request, Usage
from evenhand.raters.base import Judge, Task
from evenhand.raters.tokens import estimated_tokens
from evenhand.run.order import Order, pending_tasks
from evenhand.store.base import ReplyKey, Store

LOOKED_AT = 2_000
"""Tasks whose prompts are made for the estimate; what they take on average stands for the rest."""

REPLY_TOKENS = 90
"""What is reckoned for each criterion of each unit in a reply, rationale included, where no reply is known yet."""


@dataclass
class ModelPlan:
    """What one rater would ask of one model. Tokens are estimates: a model's own count may differ by a third."""

    rater: str
    model: str
    calls: float = 0
    stored: float = 0
    """Calls that need not be made: their replies are in the study."""
    input_tokens: float = 0
    output_tokens: float = 0
    cost: float | None = None
    worst: float | None = None
    """What it would cost at most: each byte a token, each reply as long as it may get, each asked for twice."""


@dataclass
class Plan:
    """A run before it begins; `sampled`: only a part of the prompts was looked at, and the rest reckoned from it."""

    units: Mapping[str, int]
    models: Sequence[ModelPlan]
    first: Request | None
    sampled: bool = False


def plan(store: Store, judges: Sequence[Judge], order: Order) -> Plan:
    """What the run would do. Nothing is sent and nothing stored."""
    units: dict[str, int] = {}
    models: list[ModelPlan] = []
    first: Request | None = None
    sampled = False
    for judge in judges:
        _, pending = store.count_pending(judge.ref.id, failed=order.again)
        units[judge.ref.id] = pending if order.limit is None else min(pending, order.limit)
        looked_at = list(islice(pending_tasks(store, judge, order), LOOKED_AT))
        seen = sum(len(task.units) for task in looked_at)
        factor = units[judge.ref.id] / seen if seen else 0.0
        sampled |= factor > 1
        if looked_at and first is None:
            first = next((request for _, request, _ in judge.questions(looked_at[0])), None)
        models += _models(store, judge, looked_at, factor, order)
    return Plan(units, models, first, sampled)


def _models(store: Store, judge: Judge, tasks: Sequence[Task], factor: float, order: Order) -> Sequence[ModelPlan]:
    plans: dict[str, ModelPlan] = {}
    criteria = len(store.protocol.criteria)
    for task in tasks:
        for chat, request, sample in judge.questions(task):
            entry = plans.setdefault(chat.model, ModelPlan(judge.ref.id, chat.model))
            key = ReplyKey(request.digest, chat.model, request.parameters, sample)
            found = store.replies([key]).get(key)
            known = found is not None and (task.since is None or found.at > task.since)
            read = sum(estimated_tokens(message.content) for message in request.messages)
            written = min(request.max_tokens, REPLY_TOKENS * criteria * len(task.units))
            calls = (not known) * factor
            entry.calls += calls
            entry.stored += known * factor
            entry.input_tokens += read * calls
            entry.output_tokens += written * calls
            price = order.prices.get(chat.model)
            if price:
                cost = price.cost(Usage(read, written)) * calls
                entry.cost = (entry.cost or 0.0) + cost
                entry.worst = (entry.worst or 0.0) + 2 * price.worst(request) * calls
    return list(plans.values())
