"""Fill an empty database with a study: many rows, quickly, in constant memory."""

import gc
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, func, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import DuplicateItemError, StudyError
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Unit, now
from evenhand.store.base import Work
from evenhand.store.migrations import ITEM_INDEX, Migration, migrate, record
from evenhand.store.rows import fields_text, storable, unit_text
from evenhand.store.schema import IN_ORDER, adoptions, items, protocols, units
from evenhand.units import unit_id

BATCH = 500
"""Rows in memory at once. Items can be long documents, and a larger batch is no quicker."""

T = TypeVar("T")


def fill(
    connection: Connection,
    location: str,
    protocol: Protocol,
    source: str,
    work: Iterable[Work],
    migrations: Sequence[Migration],
) -> None:
    """Everything a new study begins with. The caller holds the transaction."""
    migrate(connection, 0, migrations)
    made = now().isoformat()
    insert_rows(connection, protocols, [(1, protocol.digest, protocol.canonical())])
    insert_rows(connection, adoptions, [(1, 1, source, made)])
    connection.exec_driver_sql("DROP INDEX items_by_id")
    with _collector_paused():
        n_items, n_units = _insert_work(connection, location, protocol.rule.of, work)
    _index_items(connection, location)
    record(connection, {"created": made, "items": str(n_items), "units": str(n_units)})


@contextmanager
def _collector_paused() -> Generator[None]:
    """Millions of short-lived records set Python's cycle collector off again and again, a sixth of the time of a load;
    none of them is in a cycle, so counting references frees them all."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def copy_study(source: Connection, target: Connection, migrations: Sequence[Migration]) -> None:
    """Every row of one database into an empty other one, numbers and ids included."""
    migrate(target, 0, migrations)
    target.exec_driver_sql("DELETE FROM meta")
    target.exec_driver_sql("DROP INDEX items_by_id")
    streaming = source.execution_options(yield_per=BATCH)
    for table in IN_ORDER:
        for rows in streaming.execute(select(table).order_by(*table.primary_key.columns)).partitions():
            insert_rows(target, table, [tuple(row) for row in rows])
    target.exec_driver_sql(ITEM_INDEX)


def insert_rows(connection: Connection, table: Table, rows: list[tuple[Any, ...]]) -> None:
    """Many rows at once, each with every column of the table in its order."""
    if not rows:
        return
    names = ", ".join(table.columns.keys())
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(table.columns))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", rows)
        return
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def batches(source: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    iterator = iter(source)
    while batch := list(islice(iterator, size)):
        yield batch


def _insert_work(connection: Connection, location: str, rule: str, work: Iterable[Work]) -> tuple[int, int]:
    """Items and units as they come; returns how many there were."""
    n_items = n_units = 0
    whole_items = rule == "item"
    for batch in batches(work):
        item_rows: list[tuple[Any, ...]] = []
        unit_rows: list[tuple[Any, ...]] = []
        for item, its_units in batch:
            n_items += 1
            if not storable(item.id):
                raise StudyError(
                    f"{location}: item {n_items}: the id {item.id!r} has a character that cannot be stored"
                )
            item_rows.append((n_items, item.id, fields_text(item.fields)))
            if whole_items and its_units:
                _check_whole(item, its_units)
            elif its_units:
                unit_rows += [_unit_row(n_items, item, unit, rule) for unit in its_units]
        n_units += len(item_rows) if whole_items else len(unit_rows)
        insert_rows(connection, items, item_rows)
        insert_rows(connection, units, unit_rows)
    if whole_items:
        # One unit for each item and nothing in it: the database makes a million of these sooner than it reads them.
        connection.exec_driver_sql("INSERT INTO units (item, position) SELECT seq, 1 FROM items ORDER BY seq")
    return n_items, n_units


def _check_whole(item: Item, its_units: Sequence[Unit]) -> None:
    """Under the rule `item` nothing of the unit is stored, so it must be what reading will make of it."""
    if len(its_units) != 1 or its_units[0].id != item.id or its_units[0].text is not None:
        raise ValueError(f"item {item.id!r}: the rule `item` gives the item itself as its one unit, not {its_units!r}")


def _unit_row(item_seq: int, item: Item, unit: Unit, rule: str) -> tuple[int, int, str | None]:
    if unit.item != item.id or unit.id != unit_id(item.id, unit.position, rule):
        raise ValueError(f"unit {unit.id!r} does not belong to item {item.id!r} at position {unit.position}")
    return item_seq, unit.position, unit_text(unit)


def _index_items(connection: Connection, location: str) -> None:
    savepoint = connection.dialect.name != "sqlite"
    try:
        if savepoint:
            # PostgreSQL answers nothing more in a transaction that failed, and the duplicates are to be found there.
            connection.exec_driver_sql("SAVEPOINT before_index")
        connection.exec_driver_sql(ITEM_INDEX)
    except IntegrityError as error:
        if savepoint:
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT before_index")
        raise DuplicateItemError(location, _duplicates(connection)) from error


def _duplicates(connection: Connection) -> list[tuple[str, list[int]]]:
    """Ids that occur more than once with the places of their items, in the order of the first."""
    repeated = select(items.c.id).group_by(items.c.id).having(func.count() > 1)
    rows = connection.execute(
        select(items.c.id, items.c.seq).where(items.c.id.in_(repeated)).order_by(items.c.id, items.c.seq)
    )
    found = [(item_id, [row[1] for row in group]) for item_id, group in groupby(rows, key=lambda row: str(row[0]))]
    return sorted(found, key=lambda duplicate: duplicate[1][0])
