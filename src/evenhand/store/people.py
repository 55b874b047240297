"""What a store promises about the people who rate at the page: who may, and who has what in hand.

Reached as `Store.people`. `tests/contracts/test_people.py` holds every back end to it.

1. Secrets are not kept. Of a token, which callers hand over as it is, the store keeps the SHA-256 and nothing else.
2. What is given out is given once. With an overlap of K, at most K people hold or have done an item at any time,
   whoever asks at the same moment, in whichever process; expired claims and returned items are given out again. People
   who had rated an item before the queue was made count among the K; the rater with the known answers never does.
   Beyond the K an item comes to somebody only as one with a known answer, by `reassign`, or because they finish a task
   that went back. Nobody is given an item that they have rated in another way.
3. A rater's tasks are numbered 1, 2, 3 … without gaps. A number keeps its item for good.
4. `next_task` takes the same time whatever the study's size. It passes over what a rater cannot have, each item once.
5. Nothing here changes a rating. Trials, answers to worked examples and to repeated items, are kept apart from ratings,
   append-only like them, and are never counted among them.
6. Tasks, their numbers and trials belong to the protocol in force in the database, also when another process adopted
   it. Under a changed one everybody begins anew; an earlier one adopted again goes on where it was left. What gives or
   changes tasks brings `Store.protocol` up to date, as `Store.versions` does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from typing import Protocol as Interface

from evenhand.assign import Plan, Task
from evenhand.records import Rating

Role = Literal["rater", "adjudicator"]
Access = Literal["rater", "adjudicator", "owner"]


@dataclass(frozen=True, slots=True)
class Invite:
    """A link by which people join. With a `name`, one person under that rater id; without, anybody who brings an id of
    their own, up to `seats` people. `share` is the most items for each, instead of the plan's."""

    id: str
    role: Role
    name: str | None
    seats: int
    share: int | None
    created: datetime
    expires: datetime | None
    revoked: datetime | None = None
    joined: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """One browser's access. The owner's has no rater."""

    id: str
    access: Access
    rater: str | None
    created: datetime
    expires: datetime
    invite: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A person who may rate at the page. `source` holds what came with them, such as Prolific's ids."""

    rater: str
    role: Role
    joined: datetime
    seen: datetime
    share: int | None = None
    paused: bool = False
    training_over: bool = False
    source: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """A rater's tasks: worked examples that were done apart, repeats among the rest. Of those that are open and done,
    `repeats_open` and `repeats_done` are repeats."""

    training: int = 0
    open: int = 0
    done: int = 0
    returned: int = 0
    repeats_open: int = 0
    repeats_done: int = 0

    @property
    def own_done(self) -> int:
        """Items done, each counted once."""
        return self.done - self.repeats_done

    @property
    def own_given(self) -> int:
        """Items in hand or done, each counted once."""
        return self.own_done + self.open - self.repeats_open

    @property
    def repeats_given(self) -> int:
        return self.repeats_open + self.repeats_done


class People(Interface):
    """The page's part of a study; belongs to the thread of its store."""

    # Who may

    def add_invite(self, invite: Invite, token: str) -> None:
        """Store an invite under the digest of its token. StudyError where its name is known as a model or rule, or as a
        member with another role, or cannot be a rater's id: blank, or longer than 200 characters."""
        ...

    def invites(self) -> Sequence[Invite]:
        """Every invite, oldest first."""
        ...

    def invite_of(self, token: str) -> Invite | None:
        """The invite with this token's digest, where it is neither revoked nor expired."""
        ...

    def revoke_invite(self, invite_id: str) -> bool:
        """End an invite and the sessions that came from it; False where there is none that is not revoked already."""
        ...

    def join(self, invite: Invite, rater: str, source: Mapping[str, str]) -> Member:
        """Make somebody a member and a rater of kind person, or greet them again. StudyError where the invite has
        ended, its seats are taken, or it is for somebody else; where the rater is known as a model or rule, or as a
        member with another role; and where an invite without a name is used under an id that somebody here had
        before, or that a named invite is kept for."""
        ...

    def add_member(self, rater: str, role: Role, share: int | None = None) -> Member:
        """The same without an invite, by the owner."""
        ...

    def members(self) -> Sequence[Member]: ...

    def member(self, rater: str) -> Member | None: ...

    def set_member(self, rater: str, *, paused: bool | None = None, training_over: bool | None = None) -> None:
        """Change what is given. Worked examples in hand go back when training is over."""
        ...

    def see(self, rater: str) -> None:
        """Note that a member was here now."""
        ...

    def open_session(self, session: Session, token: str) -> None: ...

    def session_of(self, token: str) -> Session | None:
        """The session with this token's digest, where it has not expired."""
        ...

    def close_session(self, token: str) -> None: ...

    # Who does what

    def plan(self) -> Plan: ...

    def set_plan(self, plan: Plan) -> None:
        """Put a plan in force. StudyError where seed, batch or strata change after work was given out, where a field of
        `by` is not a label field, where `gold` is no rater here, or
        where `reveal` would go back to never after work was given out under another."""
        ...

    def prepare(self) -> None:
        """Put the items in order, unless that was done for this protocol and plan, and find all known answers there are
        by now. Takes time with the study's size; `next_task` does it where it was never done."""
        ...

    def next_task(self, rater: str, *, holding: Sequence[int] = ()) -> Task | None:
        """The first open task of a member that is not among `holding`; where there is none, one whose claim expired and
        whose item is still free, then a new one, or None: three are in hand, the share is done, or nothing is left.
        While the member or the plan is paused, only open tasks. Only training, one example at a time, is given to a
        member before `training_over`, where the plan has training and the protocol examples. Adjudicators are given
        nothing; who is no member is a StudyError."""
        ...

    def task(self, rater: str, number: int) -> Task | None: ...

    def tasks(self, rater: str, *, after: int = 0, limit: int = 1000) -> Sequence[Task]: ...

    def touch(self, rater: str, number: int) -> None:
        """Renew the claim on an open task; take one that went back up again while its item is free. StudyError where
        there is no such task, as in `finish`."""
        ...

    def finish(self, rater: str, number: int) -> None:
        """An open or returned task is done. Once is as good as twice."""
        ...

    def reopen(self, rater: str, number: int) -> None:
        """A task that was done is open again, under a new claim; its item has been this rater's all the time. A worked
        example stays done, and a task that is not done stays as it is."""
        ...

    def give_back(self, rater: str, *, number: int | None = None) -> int:
        """Take open tasks, or one of them, out of a rater's hands for others; says how many. They do not come back to
        this rater by themselves. Training stays."""
        ...

    def reassign(self, item: str, rater: str) -> Task:
        """Give an item to a member, whatever the overlap; the task that is there already, where there is one.
        One that went back is open again. StudyError where the item or the member is unknown, the member is an
        adjudicator, or the item has no unit."""
        ...

    def task_counts(self, rater: str | None = None) -> Mapping[str, TaskCounts]:
        """Every member's, those without a task included; with `rater`, that one's alone, however many others there
        are, and none where there are no tasks."""
        ...

    # Trials

    def add_trials(self, number: int, ratings: Sequence[Rating]) -> None:
        """Store answers to the worked example or repeated item of task `number` of their rater. The unit of a worked
        example is `example:N`, N being the task's `example`; of a repeat, one of the item's own. Each must name the one
        it supersedes, as in `Store.add_ratings` with `if_current`: ConflictError otherwise. Known by id: sent twice,
        stored once. StudyError where the task takes ratings instead, or an answer does not fit the protocol."""
        ...

    def trials(self, rater: str | None = None, *, number: int | None = None) -> Iterator[tuple[int, Rating]]:
        """Trials in force under the current protocol with the numbers of their tasks, in order of arrival."""
        ...
