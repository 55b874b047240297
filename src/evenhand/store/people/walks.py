"""Walks: how far each rater has gone through the queue, and what they have in hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update

from evenhand.assignment import Purpose
from evenhand.errors import StudyError
from evenhand.store.people.assignments import LAPSED, OPEN, Held, Turn
from evenhand.store.schema import assignments, members, raters, reopened, walks

_WALKER = (
    select(
        raters.c.seq,
        members.c.role,
        members.c.share,
        members.c.paused,
        members.c.training_over,
        walks.c.given,
        walks.c.trained,
        walks.c.reached,
        walks.c.heard,
        walks.c.golden,
        walks.c.repeated,
    )
    .select_from(raters)
    .join(members, members.c.rater == raters.c.seq)
    .outerjoin(walks, walks.c.rater == raters.c.seq)
    .where(raters.c.id == bindparam("name"))
)
MINE = (assignments.c.rater == bindparam("of_rater")) & (assignments.c.protocol == bindparam("of_protocol"))
HELD = select(
    assignments.c.rater,
    assignments.c.number,
    assignments.c.purpose,
    assignments.c.item,
    assignments.c.example,
    assignments.c.state,
)
_OPEN = HELD.where(MINE, OPEN).order_by(assignments.c.number)
_LAPSED = HELD.where(MINE, LAPSED).order_by(assignments.c.number)
_LAST = select(func.coalesce(func.max(assignments.c.number), 0)).where(MINE)
_SAVED = ("trained", "reached", "heard", "golden", "repeated")
_ADD_WALK = insert(walks)
_SAVE = update(walks).where(walks.c.rater == bindparam("of_rater")).values({name: bindparam(name) for name in _SAVED})
_LAST_REOPENED = select(func.coalesce(func.max(reopened.c.seq), 0))


def held_from(row: Any) -> Held:
    rater, number, purpose, item, example, state = row
    return Held(rater, number, Purpose(purpose), item, example, state)


@dataclass(slots=True)
class Walker:
    """A member on the way through the queue; see `schema.walks`."""

    turn: Turn
    name: str
    rater: int
    role: str
    share: int | None
    paused: bool
    training_over: bool
    given: int
    trained: int
    reached: int
    heard: int
    golden: int
    repeated: int

    @property
    def mine(self) -> dict[str, int]:
        return {"of_rater": self.rater, "of_protocol": self.turn.queue.protocol}

    def save(self) -> None:
        """Keep how far this member came; what is `given` is counted where it is given."""
        values = {name: getattr(self, name) for name in _SAVED}
        self.turn.connection.execute(_SAVE, {"of_rater": self.rater, **values})

    def in_hand(self) -> Sequence[Held]:
        """Open tasks, the lowest number first."""
        return [held_from(row) for row in self.turn.connection.execute(_OPEN, self.mine)]

    def lapsed(self) -> Sequence[Held]:
        """Tasks that went back because nobody renewed the claim."""
        return [held_from(row) for row in self.turn.connection.execute(_LAPSED, self.mine)]

    def next_number(self) -> int:
        return self.turn.connection.execute(_LAST, self.mine).scalar_one() + 1


def find_walker(turn: Turn, rater: str) -> Walker:
    row = turn.connection.execute(_WALKER, {"name": rater}).first()
    if row is None:
        raise StudyError(f"{rater!r} is not a member of this study; invite them first")
    who = row[0], row[1], row[2], bool(row[3]), bool(row[4])
    if row[5] is not None:
        return Walker(turn, rater, *who, *row[5:])
    walker = Walker(turn, rater, *who, 0, 0, 0, turn.connection.execute(_LAST_REOPENED).scalar_one(), 0, 0)
    _look_back(walker)
    return walker


def _look_back(walker: Walker) -> None:
    """Begin a walk: nothing is behind a newcomer; the numbers of a rater who was here before continue."""
    repeated: set[int] = set()
    numbers: dict[int, int] = {}
    rows = walker.turn.connection.execute(HELD.where(MINE).order_by(assignments.c.number), walker.mine)
    for _, number, purpose, item, _, state in rows:
        if purpose == Purpose.TRAINING:
            walker.trained += 1
        elif purpose == Purpose.REPEAT:
            repeated.add(item)
        else:
            numbers[item] = number
            walker.given += state != "returned"
    walker.repeated = max((numbers[item] for item in repeated), default=0)
    values = {"rater": walker.rater, "given": walker.given, "heard": walker.heard, "reached": 0, "golden": 0}
    walker.turn.connection.execute(_ADD_WALK, {**values, "trained": walker.trained, "repeated": walker.repeated})
