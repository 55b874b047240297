"""Items and their units: by id, by place, or all of them in pages, each page in a transaction of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import astuple, dataclass
from operator import add
from typing import Any, cast

from sqlalchemy import BindParameter, Connection, bindparam, delete, func, select, update

from evenhand.errors import StudyError
from evenhand.records import FieldValue, Item, Span, Triple, Unit, unit_id
from evenhand.store.database import BATCH, Database, batches, decode, encode, insert_rows, microseconds, next_seq
from evenhand.store.schema import assignments, items, meta, raters, ratings, trials, units
from evenhand.text import counted, some_of
from evenhand.units import DERIVED

ItemUnits = tuple[Item, Sequence[Unit]]
"""An item with its units, as a study is filled. If the unit is the whole item, its one unit may be left out."""

NewUnits = tuple[str, Sequence[Unit]]
"""An item's id with all the units that it is to have."""

Place = tuple[int, int]
"""An item's number and a position in it."""

PAGE = 2000

# Statements are built once: SQLAlchemy takes longer to build one than SQLite to run it.
_OF_ITEMS: BindParameter[Any] = bindparam("of_items", expanding=True)
_ITEMS = select(items).where(items.c.id.in_(_OF_ITEMS))
_ITEMS_AT = select(items).where(items.c.seq.in_(_OF_ITEMS))
_NEXT_ITEMS = select(items).where(items.c.seq > bindparam("last")).order_by(items.c.seq).limit(BATCH)
_NEXT_UNITS = (
    select(units.c.item, units.c.position, items.c.id, units.c.content)
    .join(items, items.c.seq == units.c.item)
    .where(units.c.item >= bindparam("item"))
    .where((units.c.item > bindparam("item")) | (units.c.position > bindparam("position")))
    .order_by(units.c.item, units.c.position)
    .limit(PAGE)
)
_UNITS_OF = (
    select(items.c.id, units.c.position, units.c.content)
    .outerjoin_from(items, units, units.c.item == items.c.seq)
    .where(items.c.id.in_(_OF_ITEMS))
    .order_by(items.c.seq, units.c.position)
)
_NUMBERS = select(items.c.id, items.c.seq).where(items.c.id.in_(_OF_ITEMS))
_PRESENT = select(units.c.item, units.c.position, units.c.content).where(units.c.item.in_(_OF_ITEMS))
_RATED = select(ratings.c.item, ratings.c.position).where(ratings.c.item.in_(_OF_ITEMS)).distinct()
# An answer to a repeated item is not a rating, but fixes its unit just as much.
_TRIED = (
    select(assignments.c.item, trials.c.position)
    .join_from(assignments, trials)
    .where(assignments.c.item.in_(_OF_ITEMS))
    .distinct()
)
# People who are working on one of these items now.
_HOLDERS = (
    select(items.c.id, raters.c.id)
    .select_from(assignments)
    .join(items, items.c.seq == assignments.c.item)
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.item.in_(_OF_ITEMS), assignments.c.state == "open", assignments.c.expires > bindparam("now"))
    .order_by(items.c.seq, raters.c.seq)
)
_REOPEN = (
    update(assignments)
    .where(assignments.c.item.in_(_OF_ITEMS), assignments.c.state == "done")
    .where(assignments.c.purpose.in_(("rate", "gold")))
    .values(state="open", finished=None, touched=bindparam("now"))
    .values(expires=assignments.c.expires - assignments.c.touched + bindparam("now"))
)
_REMOVE = delete(units).where(units.c.item == bindparam("of_item"), units.c.position == bindparam("at"))
_FORGET_QUEUE = delete(meta).where(meta.c.key == "queue")
"""The order in which people are given the items is made again when it is needed."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What happened to the units of the items that were given others."""

    kept: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0

    def plus(self, other: "Replaced") -> "Replaced":
        return Replaced(*map(add, astuple(self), astuple(other)))


@dataclass
class Items:
    """The items and units of a study.

    Items never change; their order is the order in which they came, and others may be added after them. Units follow
    from them and do not change either, except for questions and claims, which `replace_units` exchanges: a unit that
    has a rating or a trial, under whichever protocol, keeps its content and its position for good. The positions of an
    item's units are 1, 2, 3 … without gaps.

    Reading one item or unit takes the same time in a study of any size. What reads many is an iterator that keeps no
    writer waiting and shows each item as it is when its page is read; for a view of one moment, read a backup.
    """

    _database: Database
    _rule: str

    def count(self) -> int:
        with self._database.reading() as connection:
            return next_seq(connection, items) - 1

    def count_units(self) -> int:
        if self._rule == "item":
            return self.count()
        return self._database.read(select(func.count()).select_from(units))[0][0]

    def all(self) -> Iterator[Item]:
        """All items in their order, page by page."""
        for _, item_id, fields in self._pages(_NEXT_ITEMS, last=0):
            yield item_from(item_id, decode(fields))

    def at(self, numbers: Sequence[int]) -> Sequence[Item]:
        """Items by their place in the order, counted from 0."""
        rows = self._rows(_ITEMS_AT, [number + 1 for number in numbers])
        found = {seq - 1: item_from(item_id, decode(fields)) for seq, item_id, fields in rows}
        return [found[number] for number in numbers]

    def find(self, item_id: str) -> Item | None:
        return self.find_many([item_id]).get(item_id)

    def find_many(self, item_ids: Sequence[str]) -> Mapping[str, Item]:
        """These items by id; an id that does not exist is absent."""
        return {item_id: item_from(item_id, decode(fields)) for _, item_id, fields in self._rows(_ITEMS, item_ids)}

    def units(self) -> Iterator[Unit]:
        """All units, item by item, in order of position."""
        for _, position, item_id, content in self._pages(_NEXT_UNITS, item=0, position=0):
            yield unit_from(item_id, position, content, self._rule)

    def work(self) -> Iterator[ItemUnits]:
        """All items in their order, each with its units."""
        for some in batches(self.all()):
            units = self.units_of([item.id for item in some])
            yield from ((item, units.get(item.id, ())) for item in some)

    def _pages(self, query: Any, **after: int) -> Iterator[Any]:
        """The rows of a query whose first columns are where its next page begins."""
        while page := self._database.read(query, after):
            yield from page
            after = dict(zip(after, page[-1], strict=False))

    def units_of(self, item_ids: Sequence[str]) -> Mapping[str, Sequence[Unit]]:
        """The units of these items by item id; an id that does not exist is absent."""
        found: dict[str, list[Unit]] = {}
        for item_id, position, content in self._rows(_UNITS_OF, item_ids):
            its_units = found.setdefault(item_id, [])
            # An item may have no question, or no claim.
            if position is not None:
                its_units.append(unit_from(item_id, position, content, self._rule))
        return found

    def _rows(self, query: Any, keys: Iterable[object]) -> Iterator[Any]:
        """What a query finds for some items; the order holds within a batch of them."""
        for some in batches(dict.fromkeys(keys)):
            yield from self._database.read(query, {"of_items": some})

    def unit(self, unit_id: str) -> Unit | None:
        item_id = unit_id if self._rule == "item" else unit_id.rpartition("#")[0]
        return next((unit for unit in self.units_of([item_id]).get(item_id, ()) if unit.id == unit_id), None)

    def rated_units(self, item_ids: Sequence[str]) -> Set[str]:
        """Ids of the units of these items that `replace_units` must leave alone: those with a rating or a trial."""
        with self._database.reading() as connection:
            names = {number: name for name, number in numbers_of(connection, item_ids).items()}
            answered = _answered(connection, list(names))
        return {unit_id(names[item], position, self._rule) for item, position in answered}

    def add(self, work: Iterable[ItemUnits]) -> int:
        """Add items with their units after the others, all of them or none; returns how many. An item that is there
        with the same fields is passed over. Raises StudyError if one is there with other fields."""
        added = 0
        with self._database.transaction() as connection:
            for batch in batches(work):
                there = self.find_many([item.id for item, _ in batch])
                changed = [item.id for item, _ in batch if item.id in there and there[item.id] != item]
                if changed:
                    raise StudyError(
                        f"the study has {counted(len(changed), 'item')} with the same id and other content: "
                        f"{some_of(changed)}; give changed items ids of their own, or begin with a new file. "
                        "Nothing was added"
                    )
                fresh = {item.id: (item, its) for item, its in batch if item.id not in there}
                added += insert_work(connection, self._rule, fresh.values(), first=next_seq(connection, items))
            if added:
                connection.execute(_FORGET_QUEUE)
        return added

    def replace_units(self, work: Iterable[NewUnits]) -> Replaced:
        """Give items other questions or claims, in one transaction; an item that is not named keeps its own.

        Raises StudyError, and changes nothing, if a unit with ratings would change, move or vanish (all of them are
        named), if a person is working at the page on an item whose units would change or vanish, and if the unit is not
        a question or claim. Each item exists and is named once. A person who was done with an item that now has more of
        them gets it again. The iterable may read this store while it is consumed.
        """
        with self._database.transaction() as connection:
            if self._rule not in DERIVED:
                raise StudyError(
                    "the units of this study follow from its texts; only questions and claims can be replaced"
                )
            replaced = self._replace(connection, work)
            if replaced.changed or replaced.added or replaced.removed:
                connection.execute(_FORGET_QUEUE)
        return replaced

    def _replace(self, connection: Connection, work: Iterable[NewUnits]) -> Replaced:
        total: Counter[str] = Counter()
        rated: list[str] = []
        held: list[str] = []
        for batch in batches(work):
            numbers = numbers_of(connection, [name for name, _ in batch])
            present = connection.execute(_PRESENT, {"of_items": [*numbers.values()]})
            before = {(row[0], row[1]): row[2] for row in present}
            after = {(numbers[name], one.position): unit_text(one) for name, its in batch for one in its}
            kept = {place for place, content in after.items() if place in before and before[place] == content}
            gone, new = before.keys() - kept, after.keys() - kept
            touched = sorted({item for item, _ in gone})
            names = {number: name for name, number in numbers.items()}
            fixed = sorted(gone & _answered(connection, touched))
            rated += [unit_id(names[item], position, self._rule) for item, position in fixed]
            holders = connection.execute(_HOLDERS, {"of_items": touched, "now": microseconds()})
            held += [f"{item} ({rater})" for item, rater in holders]
            # After the first obstacle nothing more is written; the rest is only searched for other obstacles.
            if not rated and not held:
                if gone:
                    connection.execute(_REMOVE, [{"of_item": item, "at": position} for item, position in gone])
                insert_rows(connection, units, [(*place, after[place]) for place in sorted(new)])
                grown = [*{item for item, _ in new - gone}]
                connection.execute(_REOPEN, {"of_items": grown, "now": microseconds()})
                changed, added, removed = gone & new, new - gone, gone - new
                total.update(kept=len(kept), changed=len(changed), added=len(added), removed=len(removed))
        _refuse(rated, held)
        return Replaced(**total)


def insert_work(connection: Connection, rule: str, work: Iterable[ItemUnits], *, first: int = 1) -> int:
    """Insert items, numbered from `first`, with their units as they come; returns how many items there were."""
    last = first - 1
    for batch in batches(enumerate(work, start=first)):
        last = batch[-1][0]
        insert_rows(connection, items, [(seq, item.id, encode(dict(item.fields))) for seq, (item, _) in batch])
        if rule != "item":
            rows = [(seq, one.position, unit_text(one)) for seq, (_, its_units) in batch for one in its_units]
            insert_rows(connection, units, rows)
    if rule == "item":
        # One unit for each item with nothing in it: the database makes a million of these faster than it reads them.
        whole = f"INSERT INTO units (item, position) SELECT seq, 1 FROM items WHERE seq >= {first} ORDER BY seq"
        connection.exec_driver_sql(whole)
    return last - first + 1


def numbers_of(connection: Connection, item_ids: Iterable[str]) -> dict[str, int]:
    """The numbers of items by their ids; one that does not exist is absent."""
    found: dict[str, int] = {}
    for some in batches(dict.fromkeys(item_ids)):
        found.update((name, seq) for name, seq in connection.execute(_NUMBERS, {"of_items": some}))
    return found


def _answered(connection: Connection, numbers: Sequence[int]) -> set[Place]:
    """Where these items have a rating or a trial, under whichever protocol."""
    places: set[Place] = set()
    for some in batches(numbers):
        for query in (_RATED, _TRIED):
            places.update((row[0], row[1]) for row in connection.execute(query, {"of_items": some}))
    return places


def _refuse(rated: Sequence[str], held: Sequence[str]) -> None:
    if rated:
        many = "units have ratings and must stay as they are, where they are"
        which = many if len(rated) > 1 else "unit has ratings and must stay as it is, where it is"
        raise StudyError(
            f"{len(rated):,} {which}: {some_of(rated)}. No unit was changed; leave these as they were, or create "
            "a new study"
        )
    if held:
        raise StudyError(
            "people are working on these items at the page, and their answers would go to other units: "
            f"{some_of(held)}. No unit was changed; wait until they are done, or take the items back first"
        )


def item_from(item_id: str, fields: Mapping[str, Any]) -> Item:
    """An item from its decoded row, exactly: a number stays a float, a triple a Triple."""
    return Item(item_id, {name: _field(value) for name, value in fields.items()})


def _field(value: Any) -> FieldValue:
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        return tuple(Triple(*part) if isinstance(part, list) else part for part in parts)
    return value if isinstance(value, str) else float(value)


def unit_text(unit: Unit) -> str | None:
    """What a unit has besides its place; None for a whole item."""
    span = unit.span and (unit.span.field, unit.span.start, unit.span.end)
    content = {
        "text": unit.text,
        "field": unit.field,
        "span": span,
        "answer": unit.answer,
        "key_info": unit.key_info,
    }
    content = {name: value for name, value in content.items() if value is not None}
    return encode(content) if content else None


def unit_from(item_id: str, position: int, content: str | None, rule: str) -> Unit:
    known: dict[str, Any] = {} if content is None else decode(content)
    if "span" in known:
        known["span"] = Span(*known["span"])
    return Unit(unit_id(item_id, position, rule), item_id, position, **known)
