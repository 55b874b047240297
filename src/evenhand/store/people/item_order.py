"""The queue: all items in one order for all raters, to how many more people each is to be given, and which of them have
known answers. It is made again when the protocol changes, or what the plan says about it; `meta` keeps for what it was
made."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Select, Subquery, delete, exists, func, select, union, update

from evenhand.assignment import Plan, Purpose, in_batches
from evenhand.protocol.model import Protocol
from evenhand.records import Kind
from evenhand.store.database import batches, decode, encode, insert_rows
from evenhand.store.schema import (
    QUEUE_INDEX,
    assignments,
    current,
    items,
    members,
    meta,
    queue,
    raters,
    units,
    write_meta,
)

COUNTED = (Purpose.RATE.value, Purpose.GOLD.value)
"""Tasks whose rater is one of the people who have the item."""

PAGE = 5000

_MADE_FOR = select(meta.c.value).where(meta.c.key == "queue")


def is_made(connection: Connection) -> bool:
    return connection.execute(_MADE_FOR).first() is not None


def make_queue(connection: Connection, number: int, protocol: Protocol, plan: Plan, *, again: bool = False) -> None:
    """Make the queue for a protocol, whose number is given, and a plan, as far as it was made for something else.
    `again`: count in any case, because there may be ratings that did not come from the page."""
    order = [number, plan.seed, plan.batch, list(strata(protocol, plan))]
    wanted = encode([order, plan.overlap, plan.gold])
    made: str | None = connection.execute(_MADE_FOR).scalar()
    if made == wanted and not again:
        return
    if made is None or decode(made)[0] != order:
        connection.execute(delete(queue))
        QUEUE_INDEX.drop(connection)
        shuffled = in_batches(_numbered(connection, strata(protocol, plan), protocol), plan)
        rows = ((place, item, 1, 0) for place, item in enumerate(chain.from_iterable(shuffled)))
        for some in batches(rows, PAGE):
            insert_rows(connection, queue, some)
        QUEUE_INDEX.create(connection)
    _count(connection, number, protocol, plan)
    write_meta(connection, {"queue": wanted})


def _count(connection: Connection, number: int, protocol: Protocol, plan: Plan) -> None:
    """Count for each item how many more people are wanted, and mark the known answers."""
    free = plan.overlap or 1
    connection.execute(update(queue).where((queue.c.free != free) | (queue.c.gold != 0)).values(free=free, gold=0))
    gold = select(raters.c.seq).where(raters.c.id == plan.gold)
    known = _complete(number, protocol, gold).with_only_columns(current.c.item)
    connection.execute(update(queue).where(queue.c.item.in_(known)).values(gold=1))
    if plan.overlap is not None:
        taken = _taken(number, protocol, gold)
        connection.execute(update(queue).where(queue.c.item == taken.c.item).values(free=free - taken.c.people))


def strata(protocol: Protocol, plan: Plan) -> tuple[str, ...]:
    return protocol.strata if plan.by is None else plan.by


def needed(protocol: Protocol) -> list[str]:
    """The criteria on which a unit that was rated completely has an answer in any case."""
    always = [one.id for one in protocol.criteria if one.required and one.when is None and one.of is None]
    return always or [protocol.lead.id]


def _numbered(connection: Connection, by: Sequence[str], protocol: Protocol) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Items that have a unit, each with its stratum."""
    query = select(items.c.seq, items.c.fields) if by else select(items.c.seq)
    if protocol.rule.of != "item":
        query = query.where(exists().where(units.c.item == items.c.seq))
    last = 0
    while page := connection.execute(query.where(items.c.seq > last).order_by(items.c.seq).limit(PAGE)).all():
        for row in page:
            fields: dict[str, object] = decode(row[1]) if by else {}
            yield row[0], tuple(str(fields.get(name, "")) for name in by)
        last = page[-1][0]


def _taken(number: int, protocol: Protocol, gold: Select[Any]) -> Subquery:
    """How many people have each item or have done it; the rater with the known answers apart, and adjudicators."""
    adjudicators = select(members.c.rater).where(members.c.role == "adjudicator")
    people = select(raters.c.seq).where(raters.c.kind == Kind.PERSON.value, raters.c.seq.not_in(adjudicators))
    in_hand = (
        select(assignments.c.item, assignments.c.rater)
        .where(assignments.c.protocol == number, assignments.c.purpose.in_(COUNTED))
        .where(assignments.c.state != "returned")
    )
    pairs = union(_complete(number, protocol, people), in_hand).subquery()
    counts = select(pairs.c.item, func.count().label("people")).where(pairs.c.rater.not_in(gold))
    return counts.group_by(pairs.c.item).subquery()


def _complete(number: int, protocol: Protocol, whose: Select[Any]) -> Select[Any, Any]:
    """Item and rater for every item that one of these raters has rated completely."""
    criteria = needed(protocol)
    its_units = select(func.count()).where(units.c.item == current.c.item).scalar_subquery()
    return (
        select(current.c.item, current.c.rater)
        .where(current.c.protocol == number, current.c.criterion.in_(criteria), current.c.rater.in_(whose))
        .group_by(current.c.rater, current.c.item)
        .having(func.count() == len(criteria) * its_units)
    )
