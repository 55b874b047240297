"""A study's database: transactions, and rows in and out of it.

`SqliteDatabase` and `PostgresDatabase` supply what is their own: connecting, beginning a transaction, and the words for
their driver's errors.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic_core import from_json, to_json
from sqlalchemy import Connection, Select, Table, func, select
from sqlalchemy.exc import SQLAlchemyError

from evenhand.errors import StudyError
from evenhand.store.schema import Identifier, storable

BATCH = 500
"""Rows in memory at once. Items can be long documents, and a larger batch is not faster."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

T = TypeVar("T")


class Database(ABC):
    """An open database that holds one study. One object belongs to one thread."""

    clock: ClassVar[str]
    """SQL for the database's own time in microseconds since 1970."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.rollbacks = 0
        """How often a transaction was rolled back: whatever was cached from inside one may be wrong afterwards."""
        self._connection: Connection | None = None
        self._mode: Literal["read", "write", "locked"] = "read"
        self._depth = 0

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A consistent view of the study that keeps no writer waiting; inside a transaction, the transaction's."""
        if self._connection is not None:
            yield self._connection
            return
        with self.located(), self._begin_reading() as connection, self._entered(connection, "read"):
            yield connection

    @contextmanager
    def transaction(self, *, lock: bool = True) -> Generator[Connection]:
        """Everything in this block is stored, or, if it raises, nothing.

        Inside another transaction the block is a part of that one, and can fail by itself (a savepoint).
        `lock`: be the only writer of ratings, which the numbering without gaps relies on. Without it, a PostgreSQL
        server lets several such blocks run at the same time; a SQLite file has one writer at a time in any case.
        """
        if self._connection is None:
            mode = "locked" if lock else "write"
            with self.located(), self._begin_writing(lock) as connection, self._entered(connection, mode):
                yield connection
            return
        if self._mode == "read" or (lock and self._mode == "write"):
            # To take the lock late could deadlock with a writer that has it and waits for a row of ours.
            raise RuntimeError("a writing transaction cannot begin inside a block that reads or took no lock")
        with self._savepoint(self._connection):
            yield self._connection

    @contextmanager
    def located(self) -> Generator[None]:
        """Add this study's location to an error that does not have one yet."""
        try:
            yield
        except StudyError as error:
            if error.location is None:
                error.location = self.location
            raise

    @contextmanager
    def _entered(self, connection: Connection, mode: Literal["read", "write", "locked"]) -> Generator[None]:
        self._connection, self._mode = connection, mode
        try:
            yield
        except BaseException:
            self.rollbacks += 1
            raise
        finally:
            self._connection = None

    @contextmanager
    def _savepoint(self, connection: Connection) -> Generator[None]:
        self._depth += 1
        name = f"nested_{self._depth}"
        try:
            with self.translated():
                connection.exec_driver_sql(f"SAVEPOINT {name}")
                yield
                connection.exec_driver_sql(f"RELEASE SAVEPOINT {name}")
        except BaseException:
            self.rollbacks += 1
            # A full disk makes SQLite roll everything back by itself; then there is no savepoint any more.
            with suppress(SQLAlchemyError):
                connection.exec_driver_sql(f"ROLLBACK TO SAVEPOINT {name}")
                connection.exec_driver_sql(f"RELEASE SAVEPOINT {name}")
            raise
        finally:
            self._depth -= 1

    @abstractmethod
    def _begin_reading(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _begin_writing(self, lock: bool) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def translated(self) -> AbstractContextManager[None]:
        """Turn the driver's errors into `StudyError`."""

    @abstractmethod
    def backup(self, target: Path) -> None:
        """Copy the study as it is now into a new SQLite file, while others go on writing."""

    @abstractmethod
    def close(self) -> None: ...


def insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows at once, each with every column of the table in its order."""
    if not rows:
        return
    for place, column in enumerate(table.columns):
        if isinstance(column.type, Identifier):
            _check_storable(table, column.name, [row[place] for row in rows])
    names = ", ".join(table.columns.keys())
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(table.columns))
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", list(rows))
        return
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _check_storable(table: Table, column: str, names: Sequence[str | None]) -> None:
    for name in names:
        if name is not None and not storable(name):
            raise StudyError(f"{table.name}: the {column} {name!r} has a character that cannot be stored")


def next_seq(connection: Connection, table: Table) -> int:
    """The number of the next row. Only a writer that keeps others out may rely on it."""
    return connection.execute(_last_seq(table)).scalar_one() + 1


@cache
def _last_seq(table: Table) -> Select[int]:
    return select(func.coalesce(func.max(table.c.seq), 0))


def batches(source: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    iterator = iter(source)
    while batch := list(islice(iterator, size)):
        yield batch


def encode(data: object) -> str:
    """JSON text. pydantic's encoder is three times as fast as `json`, but refuses lone surrogates."""
    try:
        return to_json(data).decode()
    except ValueError:
        return json.dumps(data)


def decode(text: str) -> Any:
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


def microseconds(at: datetime | None = None) -> int:
    """A time, now by default, as a number that a database can compare, exactly."""
    return ((at or datetime.now(UTC)) - _EPOCH) // _MICROSECOND


def moment(count: int) -> datetime:
    return _EPOCH + count * _MICROSECOND
