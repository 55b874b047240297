"""A jury: a rater made of raters. Each member judges by itself; the jury's answer is the votes' mode."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from evenhand.llm.base import Chat, Request
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Desk, Judge, Judgement, Task
from evenhand.raters.combine import all_of, combined
from evenhand.records import Kind, RaterRef
from evenhand.version import __version__


class Jury:
    """Rates as its members do together; see `combine` for how votes become one answer."""

    def __init__(self, name: str, members: Sequence[Judge]) -> None:
        self._members = members
        self.together = all(member.together for member in members)
        self.settings: Mapping[str, object] = {
            "spec": f"jury({', '.join(member.ref.id for member in members)})",
            "members": {member.ref.id: dict(member.settings) for member in members},
        }
        config = hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()
        self.ref = RaterRef(name, Kind.MODEL, __version__, config)

    @property
    def chats(self) -> Sequence[Chat]:
        return [chat for member in self._members for chat in member.chats]

    def questions(self, task: Task) -> Sequence[tuple[Chat, Request, int]]:
        return [question for member in self._members for question in member.questions(task)]

    async def judge(self, protocol: Protocol, task: Task, desk: Desk) -> Sequence[Judgement]:
        votes = await all_of(member.judge(protocol, task, desk) for member in self._members)
        by_unit = zip(*votes, strict=True)
        return [combined(protocol, unit, given, "members") for unit, given in zip(task.units, by_unit, strict=True)]
