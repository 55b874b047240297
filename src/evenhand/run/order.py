"""What a run is to do, and the tasks that makes of a study."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from evenhand.raters.base import Judge, Task
from evenhand.run.batches import tasks_of
from evenhand.run.budget import Price
from evenhand.store.base import Store


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is to do. `limit` is for each rater; `max_cost` is in dollars and for all of them together.

    `again`: the units whose ratings failed are rated once more, besides those never rated.
    """

    limit: int | None = None
    again: bool = False
    max_cost: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])


ALL = Order()
"""Everything that is not rated yet, whatever it costs."""


def pending_tasks(store: Store, judge: Judge, order: Order) -> Iterator[Task]:
    """What the judge has to do, read from the study as it is taken up."""
    left = order.limit
    for item, units in store.pending(judge.ref.id, failed=order.again):
        if left is not None and left <= 0:
            return
        # Sentences that are rated together are never torn apart by a limit.
        chosen = units if left is None or judge.together else units[:left]
        left = None if left is None else left - len(chosen)
        failed: Mapping[str, datetime] = {}
        if order.again:
            failed = store.failed_at(judge.ref.id, [unit.id for unit in chosen])
        for task in tasks_of((item, chosen), judge.together):
            times = [failed[unit.id] for unit in task.units if unit.id in failed]
            yield replace(task, since=max(times)) if times else task
