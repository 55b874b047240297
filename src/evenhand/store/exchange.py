"""Other units for an item: questions that people corrected or a model made, while nobody has answered the old ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, delete, select, update

from evenhand.assign import Purpose
from evenhand.errors import StudyError, some_of
from evenhand.protocol.model import Protocol
from evenhand.records import Unit, now
from evenhand.store.base import NewUnits, Replaced
from evenhand.store.load import batches, insert_rows
from evenhand.store.migrations import record
from evenhand.store.plans import read_in_force
from evenhand.store.queue import ready
from evenhand.store.rows import microseconds, storable, unit_text
from evenhand.store.schema import assignments, items, meta, raters, ratings, trials, units
from evenhand.units import unit_id

Place = tuple[int, int]
"""An item's number and a position in it."""

_OF_ITEMS: BindParameter[Any] = bindparam("of_items", expanding=True)
_NUMBERS = select(items.c.id, items.c.seq).where(items.c.id.in_(_OF_ITEMS))
_PRESENT = select(units.c.item, units.c.position, units.c.content).where(units.c.item.in_(_OF_ITEMS))
_RATED = select(ratings.c.item, ratings.c.position).where(ratings.c.item.in_(_OF_ITEMS)).distinct()
# An answer to a repeat is none of the ratings, and says as much about its unit.
_TRIED = (
    select(assignments.c.item, trials.c.position)
    .join(
        trials,
        (trials.c.rater == assignments.c.rater)
        & (trials.c.protocol == assignments.c.protocol)
        & (trials.c.number == assignments.c.number),
    )
    .where(assignments.c.item.in_(_OF_ITEMS))
    .distinct()
)
_IN_HAND = (
    select(items.c.id, raters.c.id)
    .select_from(assignments)
    .join(items, items.c.seq == assignments.c.item)
    .join(raters, raters.c.seq == assignments.c.rater)
    .where(assignments.c.item.in_(_OF_ITEMS), assignments.c.state == "open", assignments.c.expires > bindparam("now"))
    .order_by(items.c.seq, raters.c.seq)
)
_TAKE_UP = (
    update(assignments)
    .where(assignments.c.item.in_(_OF_ITEMS), assignments.c.state == "done")
    .where(assignments.c.purpose.in_((Purpose.RATE.value, Purpose.GOLD.value)))
    .values(state="open", lapsed=0, touched=bindparam("now"), expires=bindparam("until"), finished=None)
)
_REMOVE = delete(units).where(units.c.item == bindparam("of_item"), units.c.position == bindparam("at_position"))
_TOTAL = select(meta.c.value).where(meta.c.key == "units")


@dataclass(slots=True)
class _Change:
    """What becomes of the units of some items: places that lose what they hold, and rows that come."""

    removed: list[Place] = field(default_factory=list[Place])
    rows: list[tuple[int, int, str | None]] = field(default_factory=list[tuple[int, int, str | None]])
    names: dict[int, str] = field(default_factory=dict[int, str])
    kept: int = 0

    @property
    def added_to(self) -> list[int]:
        """Items with more units than before."""
        gone = set(self.removed)
        return sorted({item for item, position, _ in self.rows if (item, position) not in gone})


def replace_units(
    connection: Connection,
    location: str,
    rule: str,
    work: Iterable[NewUnits],
    protocol_of: Callable[[int], Protocol],
) -> Replaced:
    """Put these units in the place of those that the items have. The caller holds the transaction.

    `protocol_of` gives the protocol of a number.
    """
    if rule != "question":
        raise StudyError(f"{location}: the units of this study follow from its texts; only questions can be replaced")
    in_force = read_in_force(connection)
    at = microseconds(now())
    replaced = _exchanged(connection, location, work, at, at + round(in_force.plan.claim_minutes * 60_000_000))
    if replaced == Replaced(kept=replaced.kept):
        return replaced
    before = int(connection.execute(_TOTAL).scalar_one())
    record(connection, {"units": str(before + replaced.added - replaced.removed)})
    if in_force.queue is not None:
        # It stands for other units. Whoever changes them waits for what making it takes, not the next rater.
        connection.execute(delete(meta).where(meta.c.key == "queue"))
        ready(connection, read_in_force(connection), protocol_of(in_force.protocol))
    return replaced


def _exchanged(connection: Connection, location: str, work: Iterable[NewUnits], at: int, until: int) -> Replaced:
    total = Replaced()
    seen: set[str] = set()
    rated: list[str] = []
    in_hand: list[str] = []
    for batch in batches(work):
        change = _change(connection, location, batch, seen)
        places = set(change.removed)
        numbers = sorted({item for item, _ in places})
        touched = places & _answered(connection, numbers)
        rated += [unit_id(change.names[item], position, "question") for item, position in sorted(touched)]
        holders = connection.execute(_IN_HAND, {"of_items": numbers, "now": at})
        in_hand += [f"{item} ({who})" for item, who in holders]
        if rated or in_hand:
            # Nothing is written any more; the rest is only looked through for what else stands in the way.
            continue
        _write(connection, change)
        # Who was done with an item that has more units now has it in hand again.
        connection.execute(_TAKE_UP, {"of_items": change.added_to, "now": at, "until": until})
        total = total.plus(_counted(change))
    _refuse(location, rated, in_hand)
    return total


def rated_units(connection: Connection, item_ids: Sequence[str], rule: str) -> set[str]:
    """Ids of the units of these items that somebody has answered, under whichever protocol."""
    names = _names(connection, item_ids)
    return {unit_id(names[item], position, rule) for item, position in _answered(connection, sorted(names))}


def _change(connection: Connection, location: str, batch: Sequence[NewUnits], seen: set[str]) -> _Change:
    names = _names(connection, [item_id for item_id, _ in batch])
    numbers = {name: number for number, name in names.items()}
    present: dict[int, dict[int, str | None]] = {number: {} for number in names}
    for number, position, content in connection.execute(_PRESENT, {"of_items": sorted(names)}):
        present[number][position] = content
    change = _Change(names=names)
    for item_id, its_units in batch:
        if item_id not in numbers:
            raise StudyError(f"{location}: there is no item {item_id!r}; no unit was changed")
        if item_id in seen:
            raise StudyError(f"{location}: item {item_id!r} is given units twice; no unit was changed")
        seen.add(item_id)
        _compare(change, numbers[item_id], item_id, its_units, present[numbers[item_id]])
    return change


def _compare(
    change: _Change, number: int, item_id: str, its_units: Sequence[Unit], before: Mapping[int, str | None]
) -> None:
    after: dict[int, str | None] = {}
    for position, unit in enumerate(its_units, start=1):
        if (unit.item, unit.position, unit.id) != (item_id, position, unit_id(item_id, position, "question")):
            raise ValueError(f"unit {unit.id!r} does not belong to item {item_id!r} at position {position}")
        after[position] = unit_text(unit)
    for position, content in before.items():
        if position in after and after[position] == content:
            change.kept += 1
        else:
            change.removed.append((number, position))
    for position, content in after.items():
        if position not in before or before[position] != content:
            change.rows.append((number, position, content))


def _names(connection: Connection, item_ids: Iterable[str]) -> dict[int, str]:
    """The items' ids by their numbers; one that is not there is absent."""
    found: dict[int, str] = {}
    for some in batches(dict.fromkeys(filter(storable, item_ids))):
        found.update((seq, name) for name, seq in connection.execute(_NUMBERS, {"of_items": some}))
    return found


def _answered(connection: Connection, numbers: Sequence[int]) -> set[Place]:
    places: set[Place] = set()
    for some in batches(numbers):
        for query in (_RATED, _TRIED):
            places.update((row[0], row[1]) for row in connection.execute(query, {"of_items": some}))
    return places


def _write(connection: Connection, change: _Change) -> None:
    if change.removed:
        places = [{"of_item": item, "at_position": position} for item, position in change.removed]
        connection.execute(_REMOVE, places)
    insert_rows(connection, units, change.rows)


def _counted(change: _Change) -> Replaced:
    gone = set(change.removed)
    changed = sum((item, position) in gone for item, position, _ in change.rows)
    return Replaced(change.kept, changed, len(change.rows) - changed, len(gone) - changed)


def _refuse(location: str, rated: Sequence[str], in_hand: Sequence[str]) -> None:
    if rated:
        many = "units have ratings and stay as they are, where they are"
        which = many if len(rated) > 1 else "unit has ratings and stays as it is, where it is"
        raise StudyError(
            f"{location}: {len(rated):,} {which}: {some_of(rated)}. No unit was changed; leave these questions and "
            "answers as they were, or make a new study"
        )
    if in_hand:
        raise StudyError(
            f"{location}: these items are in somebody's hands at the page, whose answers would go to other questions: "
            f"{some_of(in_hand)}. No unit was changed; wait until they are done, or take the items back first"
        )
