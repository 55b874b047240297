"""What a rater is given next. Every statement here is a search by an index, whatever the study's size.

A rater goes through the queue once. What became free behind them is in `reopened`, which each rater goes through once
as well. So a call may pass over much at a time, but nothing twice.
"""

from collections.abc import Sequence

from sqlalchemy import bindparam, func, insert, literal_column, select, update

from evenhand.assignment import Purpose, own_order, own_place, purpose_of
from evenhand.errors import StudyError
from evenhand.store.people.assignments import OWN, Held, Turn, add_task, claim, count_person, lapse, see
from evenhand.store.people.queue import needed
from evenhand.store.people.walks import HELD, MINE, Walker, find_walker, held_from
from evenhand.store.schema import assignments, gold, items, prior, queue, ratings, reopened, units

MOST_OPEN = 3
"""Tasks that a rater has in hand at once: one on the page and what it has fetched ahead."""

_STRETCH = 20

_FORGET = (
    update(assignments).where(MINE, assignments.c.number.in_(bindparam("numbers", expanding=True))).values(lapsed=0)
)
# Subqueries that give a number and no `EXISTS`, of which PostgreSQL would make a join.
_GIVEN = select(assignments.c.number).where(MINE, OWN, assignments.c.item == queue.c.item).limit(1).scalar_subquery()
_PRIOR = (
    select(prior.c.item)
    .where(prior.c.rater == bindparam("of_rater"), prior.c.item == queue.c.item)
    .limit(1)
    .scalar_subquery()
)
_FOR_ME = (queue.c.free > literal_column("0")) & _GIVEN.is_(None) & _PRIOR.is_(None)
_FIRST = select(queue.c.place).where(_FOR_ME, queue.c.place >= bindparam("start")).order_by(queue.c.place).limit(1)
_BATCH = select(queue.c.item).where(_FOR_ME, queue.c.place >= bindparam("start"), queue.c.place < bindparam("end"))
_END = select(func.coalesce(func.max(queue.c.place), -1) + 1)
_REOPENED = (
    select(reopened.c.seq, reopened.c.place)
    .where(reopened.c.seq > bindparam("heard"))
    .order_by(reopened.c.seq)
    .limit(_STRETCH)
)
_AT = select(queue.c.item).where(_FOR_ME, queue.c.place == bindparam("place"))
_GOLD = (
    select(gold.c.item)
    .join(queue, queue.c.item == gold.c.item)
    .where(gold.c.place == bindparam("place"), _GIVEN.is_(None), _PRIOR.is_(None))
)
_REPEAT = (
    select(assignments.c.number, assignments.c.item)
    .where(MINE, OWN, assignments.c.state == "done", assignments.c.item.is_not(None))
    .where(assignments.c.number > bindparam("after"), assignments.c.number <= bindparam("until"))
    .order_by(assignments.c.number.desc())
    .limit(1)
)
_UNITS = select(func.count()).select_from(units).where(units.c.item == bindparam("of_item"))
_CELLS = (
    select(func.count())
    .select_from(units)
    .join(ratings, (ratings.c.item == units.c.item) & (ratings.c.position == units.c.position))
    .where(units.c.item == bindparam("of_item"), ratings.c.criterion.in_(bindparam("criteria", expanding=True)))
    .where(ratings.c.rater == bindparam("of_rater"), ratings.c.protocol == bindparam("of_protocol"))
    .where(ratings.c.supersedes == literal_column("0"))
)
_ADD_PRIOR = insert(prior)
_ITEM = (
    select(items.c.seq, queue.c.place)
    .outerjoin(queue, queue.c.item == items.c.seq)
    .where(items.c.id == bindparam("id"))
)
_OWN_OF_ITEM = HELD.where(MINE, OWN, assignments.c.item == bindparam("of_item"))


def next_task(turn: Turn, rater: str, holding: Sequence[int]) -> int | None:
    """The number of the task that a member is to do; None where there is nothing for them now."""
    lapse(turn)
    walker = find_walker(turn, rater)
    see(turn, walker.rater)
    if walker.role != "rater":
        return None
    in_hand = walker.in_hand()
    in_training = _in_training(walker, in_hand)
    due = [held for held in in_hand if (held.purpose is Purpose.TRAINING) == in_training]
    for held in due:
        if held.number not in holding:
            claim(turn, held)
            return held.number
    if walker.paused or turn.plan.paused:
        return None
    if in_training:
        return None if due else _give_example(walker)
    lapsed = _lapsed(walker, holding)
    if lapsed is not None:
        return lapsed
    share = turn.plan.share if walker.share is None else walker.share
    if len(due) >= MOST_OPEN or (share is not None and walker.given >= share):
        return None
    number = _give_new(walker)
    walker.save()
    return number


def reassign(turn: Turn, item: str, rater: str) -> int:
    """Give an item to a member, whether or not other people have it; the number of the task."""
    walker = find_walker(turn, rater)
    row = turn.connection.execute(_ITEM, {"id": item}).first()
    if row is None:
        raise StudyError(f"there is no item {item!r}")
    if walker.role != "rater":
        raise StudyError(f"{rater!r} is an adjudicator; only raters are given items")
    if row[1] is None:
        raise StudyError(f"item {item!r} has nothing to rate")
    there = turn.connection.execute(_OWN_OF_ITEM, {**walker.mine, "of_item": row[0]}).first()
    if there is not None:
        if there[5] == "returned":
            claim(turn, held_from(there))
        return there[1]
    return _give(walker, row[0], _purpose(walker, row[0]))


def _in_training(walker: Walker, in_hand: Sequence[Held]) -> bool:
    if walker.turn.plan.training == "off" or walker.training_over:
        return False
    more = walker.trained < len(walker.turn.protocol.examples)
    return more or any(held.purpose is Purpose.TRAINING for held in in_hand)


def _give_example(walker: Walker) -> int:
    number = walker.next_number()
    add_task(walker.turn, walker.rater, number, Purpose.TRAINING, None, walker.trained)
    walker.trained += 1
    walker.save()
    return number


def _lapsed(walker: Walker, holding: Sequence[int]) -> int | None:
    """A task whose claim lapsed while nobody else took its item."""
    gone: list[int] = []
    found = None
    for held in walker.lapsed():
        if held.number in holding:
            continue
        if walker.turn.is_free(held):
            claim(walker.turn, held)
            found = held.number
            break
        gone.append(held.number)
    if gone:
        walker.turn.connection.execute(_FORGET, {**walker.mine, "numbers": gone})
    return found


def _give_new(walker: Walker) -> int | None:
    turn = walker.turn
    place = walker.next_number() - walker.trained
    gold_left = turn.queue.known > 0 and walker.name != turn.plan.gold
    repeat_left = True
    while True:
        purpose = purpose_of(place, turn.plan, gold_left=gold_left, repeat_left=repeat_left)
        if purpose is Purpose.GOLD:
            item = _next_gold(walker)
            gold_left = False
        elif purpose is Purpose.REPEAT:
            item = _next_repeat(walker)
            repeat_left = False
        else:
            item = _next_item(walker)
            return None if item is None else _give(walker, item, _purpose(walker, item))
        if item is not None:
            return _give(walker, item, purpose)


def _give(walker: Walker, item: int, purpose: Purpose) -> int:
    number = walker.next_number()
    add_task(walker.turn, walker.rater, number, purpose, item, None)
    return number


def _purpose(walker: Walker, item: int) -> Purpose:
    known = walker.turn.queue.known > 0 and walker.name != walker.turn.plan.gold and walker.turn.is_known(item)
    return Purpose.GOLD if known else Purpose.RATE


def _next_gold(walker: Walker) -> int | None:
    turn, known = walker.turn, walker.turn.queue.known
    while walker.golden < known:
        place = own_place(walker.golden, known, walker.name, turn.plan.seed)
        walker.golden += 1
        item: int | None = turn.connection.execute(_GOLD, {**walker.mine, "place": place}).scalar()
        if item is not None and not _rated_elsewhere(walker, item):
            return item
    return None


def _next_repeat(walker: Walker) -> int | None:
    """The latest task that is far enough back; those before it are passed over, so that the distance stays the same."""
    until = walker.next_number() - walker.turn.plan.repeat_after - 1
    asked = {**walker.mine, "after": walker.repeated, "until": until}
    row = walker.turn.connection.execute(_REPEAT, asked).first()
    if row is None:
        return None
    walker.repeated = row[0]
    return row[1]


def _next_item(walker: Walker) -> int | None:
    """What became free behind this rater, or the next item of the queue."""
    connection = walker.turn.connection
    while found := connection.execute(_REOPENED, {"heard": walker.heard}).all():
        for seq, place in found:
            walker.heard = seq
            if place >= walker.reached:
                continue
            item: int | None = connection.execute(_AT, {**walker.mine, "place": place}).scalar()
            if item is not None and not _rated_elsewhere(walker, item):
                return item
    size = walker.turn.plan.batch
    while True:
        first: int | None = connection.execute(_FIRST, {**walker.mine, "start": walker.reached}).scalar()
        if first is None:
            # What becomes free from here on is behind this rater.
            walker.reached = connection.execute(_END).scalar_one()
            return None
        walker.reached = first - first % size
        asked = {**walker.mine, "start": walker.reached, "end": walker.reached + size}
        batch = list(connection.execute(_BATCH, asked).scalars())
        for item in own_order(batch, walker.name, walker.turn.plan.seed):
            if not _rated_elsewhere(walker, item):
                return item


def _rated_elsewhere(walker: Walker, item: int) -> bool:
    """Whether this rater has rated an item in another way since the queue was made; it is then passed over for good."""
    connection = walker.turn.connection
    criteria = needed(walker.turn.protocol)
    asked = {**walker.mine, "of_item": item, "criteria": criteria}
    cells = connection.execute(_CELLS, asked).scalar_one()
    if not cells or cells < len(criteria) * connection.execute(_UNITS, {"of_item": item}).scalar_one():
        return False
    connection.execute(_ADD_PRIOR, {"rater": walker.rater, "item": item})
    count_person(walker.turn, walker.rater, item, 1)
    return True
