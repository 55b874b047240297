"""A program that rates by itself, as a judge that asks nobody: both go through the same run."""

from collections.abc import Mapping, Sequence

from evenhand.errors import RaterFailure
from evenhand.llm.base import Chat, Request
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Desk, Judgement, Rater, Task
from evenhand.records import RaterRef, Unit


class Program:
    """A rater that needs no desk."""

    together = False
    chats: Sequence[Chat] = ()

    def __init__(self, rater: Rater) -> None:
        self._rater = rater

    @property
    def ref(self) -> RaterRef:
        return self._rater.ref

    @property
    def settings(self) -> Mapping[str, object]:
        return {"version": self.ref.version, "config": self.ref.config}

    def questions(self, task: Task) -> Sequence[tuple[Chat, Request, int]]:
        return ()

    async def judge(self, protocol: Protocol, task: Task, desk: Desk) -> Sequence[Judgement]:
        return [self._judged(protocol, task, unit) for unit in task.units]

    def _judged(self, protocol: Protocol, task: Task, unit: Unit) -> Judgement:
        try:
            return Judgement(unit, self._rater.rate(protocol, task.item, unit))
        except RaterFailure as failure:
            return Judgement(unit, failure=failure)
