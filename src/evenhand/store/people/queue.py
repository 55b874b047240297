"""The queue: the items in one order for all raters, how many people have each, and those with known answers.

It follows from the items, the ratings, the assignments, the protocol and the plan, and is made again when the protocol
or what fixes the order changes. `meta` keeps for what it was made.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Subquery, delete, exists, func, select, union, update

from evenhand.assignment import Plan, in_batches, own_order
from evenhand.protocol.model import Protocol
from evenhand.records import Kind
from evenhand.store.database import decode, encode, insert_rows
from evenhand.store.people.plans import InForce
from evenhand.store.ratings import find_rater
from evenhand.store.schema import (
    QUEUE_INDEX,
    assignments,
    gold,
    items,
    members,
    prior,
    queue,
    raters,
    ratings,
    reopened,
    units,
    walks,
    write_meta,
)

PAGE = 5000


@dataclass(frozen=True, slots=True)
class Made:
    """What a queue is made for; `known` is how many items have known answers."""

    protocol: int
    seed: int
    batch: int
    by: tuple[str, ...]
    overlap: int | None
    gold: str | None
    known: int = 0

    def same_order(self, other: "Made") -> bool:
        return (self.protocol, self.seed, self.batch, self.by) == (other.protocol, other.seed, other.batch, other.by)


def ready(connection: Connection, in_force: InForce, protocol: Protocol, *, look_again: bool = False) -> Made:
    """The queue for the current protocol and plan, made or brought up to date where it is for something else.

    `look_again`: the rater with the known answers may have given more of them.
    """
    plan = in_force.plan
    wanted = Made(in_force.protocol, plan.seed, plan.batch, strata(protocol, plan), plan.overlap, plan.gold)
    made = None if in_force.queue is None else _made_from(in_force.queue)
    if made is not None and made.same_order(wanted):
        if made.gold != wanted.gold:
            _count_anew(connection, wanted.protocol, made.gold, 1)
            _count_anew(connection, wanted.protocol, wanted.gold, -1)
        if (made.overlap, made.gold) != (wanted.overlap, wanted.gold):
            _set_free(connection, wanted.overlap)
        known = made.known
        if made.gold != wanted.gold or (look_again and wanted.gold is not None):
            known = _set_gold(connection, wanted, protocol)
    else:
        _make(connection, wanted, protocol)
        known = _set_gold(connection, wanted, protocol)
    standing = replace(wanted, known=known)
    if standing != made:
        write_meta(connection, {"queue": encode(asdict(standing))})
    return standing


def strata(protocol: Protocol, plan: Plan) -> tuple[str, ...]:
    return protocol.strata if plan.by is None else plan.by


def needed(protocol: Protocol) -> list[str]:
    """The criteria on which a unit that was rated completely has an answer in any case."""
    always = [criterion.id for criterion in protocol.criteria if criterion.required and criterion.when is None]
    return always or [protocol.lead.id]


def _made_from(text: str) -> Made:
    known: dict[str, Any] = decode(text)
    known["by"] = tuple(known["by"])
    return Made(**known)


def _make(connection: Connection, wanted: Made, protocol: Protocol) -> None:
    for table in (walks, reopened, prior, gold, queue):
        connection.execute(delete(table))
    adjudicators = select(members.c.rater).where(members.c.role == "adjudicator")
    people = select(raters.c.seq).where(raters.c.kind == Kind.PERSON.value, raters.c.seq.not_in(adjudicators))
    done = _complete(wanted.protocol, protocol, ratings.c.rater.in_(people))
    connection.execute(prior.insert().from_select(["rater", "item"], done))
    taken = _taken(connection, wanted)
    QUEUE_INDEX.drop(connection)
    plan = Plan(seed=wanted.seed, batch=wanted.batch)
    rows: list[tuple[int, int, int, int]] = []
    place = 0
    for batch in in_batches(_numbered(connection, wanted.by, protocol), plan):
        for item in batch:
            rows.append((place, item, taken[item], _free(wanted.overlap, taken[item])))
            place += 1
        if len(rows) >= PAGE:
            insert_rows(connection, queue, rows)
            rows = []
    insert_rows(connection, queue, rows)
    QUEUE_INDEX.create(connection)


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


def _complete(number: int, protocol: Protocol, whose: ColumnElement[bool]) -> Select[int, int]:
    """Rater and item for every item that a rater has rated completely."""
    criteria = needed(protocol)
    its_units = select(func.count()).select_from(units).where(units.c.item == ratings.c.item).scalar_subquery()
    # Each cell has one rating that replaces none, so that these count the cells.
    return (
        select(ratings.c.rater, ratings.c.item)
        .where(ratings.c.protocol == number, ratings.c.supersedes == 0, ratings.c.criterion.in_(criteria), whose)
        .group_by(ratings.c.item, ratings.c.rater)
        .having(func.count() == len(criteria) * its_units)
    )


def _pairs(protocol: int) -> Subquery:
    """Item and rater for every item that a rater has or has done."""
    in_hand = (
        select(assignments.c.item, assignments.c.rater)
        .where(assignments.c.protocol == protocol, assignments.c.purpose.in_(("rate", "gold")))
        .where(assignments.c.state != "returned")
    )
    return union(select(prior.c.item, prior.c.rater), in_hand).subquery()


def _taken(connection: Connection, wanted: Made) -> Sequence[int]:
    """How many people have each item or have done it, by the item's number; the rater with the known answers apart."""
    pairs = _pairs(wanted.protocol)
    gold_rater = None if wanted.gold is None else find_rater(connection, wanted.gold)
    counts = select(pairs.c.item, func.count()).group_by(pairs.c.item)
    if gold_rater is not None:
        counts = counts.where(pairs.c.rater != gold_rater[0])
    last = connection.execute(select(func.coalesce(func.max(items.c.seq), 0))).scalar_one()
    taken = array("l", bytes(array("l").itemsize * (last + 1)))
    for item, count in connection.execute(counts):
        taken[item] = count
    return taken


def _count_anew(connection: Connection, protocol: int, rater: str | None, more: int) -> None:
    """Count a rater in, or out, wherever they have an item: whose answers are the known ones has changed."""
    found = None if rater is None else find_rater(connection, rater)
    if found is not None:
        pairs = _pairs(protocol)
        theirs = select(pairs.c.item).where(pairs.c.rater == found[0])
        connection.execute(update(queue).where(queue.c.item.in_(theirs)).values(taken=queue.c.taken + more))


def _free(overlap: int | None, taken: int) -> int:
    return 1 if overlap is None else overlap - taken


def _set_free(connection: Connection, overlap: int | None) -> None:
    """Another overlap, or other people who count: places are free again that raters had passed, so that every rater
    begins at the front."""
    connection.execute(update(queue).values(free=1 if overlap is None else overlap - queue.c.taken))
    connection.execute(delete(reopened))
    connection.execute(update(walks).values(reached=0, heard=0))


def _set_gold(connection: Connection, wanted: Made, protocol: Protocol) -> int:
    found: list[int] = []
    rater = None if wanted.gold is None else find_rater(connection, wanted.gold)
    if rater is not None and wanted.gold is not None:
        query = _complete(wanted.protocol, protocol, ratings.c.rater == rater[0])
        found = list(own_order([row[1] for row in connection.execute(query)], wanted.gold, wanted.seed))
    if found != list(connection.execute(select(gold.c.item).order_by(gold.c.place)).scalars()):
        connection.execute(delete(gold))
        insert_rows(connection, gold, list(enumerate(found)))
        # Every rater's way through the list depends on its length.
        connection.execute(update(walks).values(golden=0))
    return len(found)
