"""Items and units: by id, by place, or all of them in pages by key, each page in a transaction of its own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from sqlalchemy import Connection, bindparam, select

from evenhand.records import Item, Unit
from evenhand.store.append import locate
from evenhand.store.load import BATCH, batches
from evenhand.store.rows import item_from, storable, unit_from
from evenhand.store.schema import items, units

PAGE = 2000

Reading = Callable[[], AbstractContextManager[Connection]]

# Written once, because SQLAlchemy takes longer to put a statement together than SQLite to answer it.
_ITEM = select(items.c.id, items.c.fields).where(items.c.id == bindparam("of_item"))
_UNIT = (
    select(items.c.id, units.c.position, units.c.content)
    .join(items, items.c.seq == units.c.item)
    .where(units.c.item == bindparam("of_item"), units.c.position == bindparam("at_position"))
)
_UNITS_OF = (
    select(items.c.id, units.c.position, units.c.content)
    .outerjoin_from(items, units, units.c.item == items.c.seq)
    .where(items.c.id.in_(bindparam("of_items", expanding=True)))
    .order_by(items.c.seq, units.c.position)
)


def all_items(reading: Reading) -> Iterator[Item]:
    last = 0
    while True:
        query = select(items).where(items.c.seq > last).order_by(items.c.seq).limit(BATCH)
        with reading() as connection:
            page = connection.execute(query).all()
        if not page:
            return
        for _, item_id, fields in page:
            yield item_from(item_id, fields)
        last = page[-1][0]


def items_at(reading: Reading, numbers: Sequence[int]) -> Sequence[Item]:
    found: dict[int, Item] = {}
    for some in batches(dict.fromkeys(numbers)):
        query = select(items).where(items.c.seq.in_([number + 1 for number in some]))
        with reading() as connection:
            rows = connection.execute(query).all()
        found |= {seq - 1: item_from(item_id, fields) for seq, item_id, fields in rows}
    return [found[number] for number in numbers]


def one_item(reading: Reading, item_id: str) -> Item | None:
    if not storable(item_id):
        return None
    with reading() as connection:
        row = connection.execute(_ITEM, {"of_item": item_id}).first()
    return None if row is None else item_from(row[0], row[1])


def items_of(reading: Reading, item_ids: Sequence[str]) -> Mapping[str, Item]:
    found: dict[str, Item] = {}
    for some in batches(dict.fromkeys(filter(storable, item_ids))):
        query = select(items.c.id, items.c.fields).where(items.c.id.in_(some))
        with reading() as connection:
            found.update((row[0], item_from(row[0], row[1])) for row in connection.execute(query))
    return found


def all_units(reading: Reading, rule: str) -> Iterator[Unit]:
    last = (0, 0)
    columns = select(units.c.item, units.c.position, items.c.id, units.c.content).join(
        items, items.c.seq == units.c.item
    )
    while True:
        query = (
            columns.where((units.c.item > last[0]) | ((units.c.item == last[0]) & (units.c.position > last[1])))
            .where(units.c.item >= last[0])
            .order_by(units.c.item, units.c.position)
            .limit(PAGE)
        )
        with reading() as connection:
            page = connection.execute(query).all()
        if not page:
            return
        for _, position, item_id, content in page:
            yield unit_from(item_id, position, content, rule)
        last = (page[-1][0], page[-1][1])


def units_of(reading: Reading, item_ids: Sequence[str], rule: str) -> Mapping[str, Sequence[Unit]]:
    found: dict[str, list[Unit]] = {}
    for some in batches(dict.fromkeys(filter(storable, item_ids))):
        with reading() as connection:
            rows = connection.execute(_UNITS_OF, {"of_items": some}).all()
        for item_id, position, content in rows:
            its_units = found.setdefault(item_id, [])
            # An item of a question protocol may have no question.
            if position is not None:
                its_units.append(unit_from(item_id, position, content, rule))
    return found


def one_unit(reading: Reading, unit_id: str, rule: str) -> Unit | None:
    with reading() as connection:
        place = locate(connection, [unit_id], rule).get(unit_id)
        if place is None:
            return None
        row = connection.execute(_UNIT, {"of_item": place[0], "at_position": place[1]}).one()
    return unit_from(row[0], row[1], row[2], rule)
