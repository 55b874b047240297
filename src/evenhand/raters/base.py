"""What every program that rates has in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol as Interface

from evenhand.errors import RaterFailure
from evenhand.llm.base import Chat, Reply, Request
from evenhand.protocol.model import Protocol
from evenhand.records import Item, RaterRef, Span, Unit, Value


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater says on one criterion, as it says it; whether the value fits the scale is checked by `run`."""

    criterion: str
    value: object
    rationale: str | None = None
    confidence: float | None = None
    notes: str | None = None
    evidence: tuple[Span, ...] = ()
    misquoted: tuple[str, ...] = ()
    distribution: tuple[tuple[Value, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """What is given to a rater at once: one unit, or several units of one item that are rated together.

    `since`: replies from before that moment are not to be used again; what came of them had failed.
    """

    item: Item
    units: tuple[Unit, ...]
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one unit: answers, or the failure that stands in their place.

    `beyond` names the criteria that this rater cannot judge at all, each with the reason: where they are asked, they
    are recorded as `cannot_assess`.
    """

    unit: Unit
    answers: Sequence[Answer] = ()
    failure: RaterFailure | None = None
    seconds: float | None = None
    reply: str | None = None
    beyond: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Stored:
    """A reply that is on the disk, with its id there."""

    id: str
    reply: Reply


Trim = Callable[[Reply], Reply]


class Desk(Interface):
    """Where replies come in and are kept. A reply is on the disk before `ask` returns it."""

    async def ask(
        self,
        chat: Chat,
        request: Request,
        *,
        sample: int = 0,
        since: datetime | None = None,
        trim: Trim | None = None,
    ) -> Stored:
        """An earlier reply of this model to the same request, or a new one, asked for now.

        `sample` tells apart the replies to one request that is made several times; `since` as in Task. `trim` takes
        off a reply what is not worth keeping. Raises CallError where none came.
        """
        ...

    def check(self) -> None:
        """For work of the rater's own that takes long: called before each piece of it, it raises what ends the task
        where the run is to end."""
        ...


class Rater(Interface):
    """A program that rates one unit at a time, by itself."""

    @property
    def ref(self) -> RaterRef: ...

    def rate(self, protocol: Protocol, item: Item, unit: Unit) -> Sequence[Answer]:
        """Answers for the unit. Raises RaterFailure where it has none; it never makes one up."""
        ...


class Judge(Interface):
    """A model that rates: it asks through a desk, and many tasks are under way at once."""

    @property
    def ref(self) -> RaterRef: ...

    @property
    def settings(self) -> Mapping[str, object]:
        """What it was set to, for the record: everything that its configuration's digest is made of."""
        ...

    @property
    def together(self) -> bool:
        """Whether the units of an item are rated together, in one task."""
        ...

    @property
    def chats(self) -> Sequence[Chat]:
        """The models it asks; the run closes them."""
        ...

    def questions(self, task: Task) -> Sequence[tuple[Chat, Request, int]]:
        """What will be asked about a task, as far as it is known beforehand: of whom, what, and as which sample."""
        ...

    async def judge(self, protocol: Protocol, task: Task, desk: Desk) -> Sequence[Judgement]:
        """What became of each unit of the task, in their order."""
        ...
