"""A study's database: transactions, and rows in and out of it. `SqliteDatabase` and `PostgresDatabase` do the rest."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic_core import from_json, to_json
from sqlalchemy import Connection, Dialect, Executable, Select, Table, Text, TypeDecorator, func, select
from sqlalchemy.exc import SQLAlchemyError

from evenhand.errors import StudyError

BATCH = 500
"""Rows in memory at once. Items can be long documents, and a larger batch is not faster."""

Mode = Literal["read", "write", "locked"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

T = TypeVar("T")


class Database(ABC):
    """A database that holds one study, on one connection that begins and ends transactions only by SQL.

    It connects when it is first used, and again after the connection was lost. One object belongs to one thread.
    """

    location: str
    patience: float
    """Seconds after which a reader or writer that others keep waiting gives up."""
    rollbacks = 0
    """How often a transaction was rolled back: whatever was cached from inside one may be wrong afterwards."""
    _closed = False
    _only: Connection | None = None
    _connection: Connection | None = None
    _mode: Mode = "read"

    def reading(self) -> AbstractContextManager[Connection]:
        """A consistent view of the study that keeps no writer waiting; inside a transaction, the transaction's."""
        return self._outermost("read") if self._connection is None else nullcontext(self._connection)

    def read(self, query: Executable, asked: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """The rows that one query finds now."""
        with self.reading() as connection:
            return connection.execute(query, asked).all()

    def transaction(self, *, lock: bool = True) -> AbstractContextManager[Connection]:
        """Everything in this block is stored, or, if it raises, nothing.

        Inside another transaction the block is a part of that one, and can fail by itself (a savepoint).
        `lock`: be the only writer of ratings, which the numbering without gaps relies on. Without it, a PostgreSQL
        server lets several such blocks run at the same time; a SQLite file has one writer at a time in any case.
        """
        if self._connection is None:
            return self._outermost("locked" if lock else "write")
        if self._mode == "read" or (lock and self._mode == "write"):
            # To take the lock late could deadlock with a writer that has it and waits for a row of ours.
            raise RuntimeError("a writing transaction cannot begin inside a block that reads or took no lock")
        return self._savepoint(self._connection)

    @contextmanager
    def _outermost(self, mode: Mode) -> Generator[Connection]:
        with self.translated(), self._undone("ROLLBACK"):
            if self._closed:
                raise StudyError("the study is closed; open it again")
            if self._only is None or self._only.invalidated:
                self._only = self._connect()
            self._begin(self._only, mode)
            self._connection, self._mode = self._only, mode
            try:
                yield self._connection
                self._connection.exec_driver_sql("COMMIT")
            finally:
                self._connection = None

    @contextmanager
    def _savepoint(self, connection: Connection) -> Generator[Connection]:
        with self.translated():
            # Of savepoints with the same name, the last one counts.
            connection.exec_driver_sql("SAVEPOINT nested")
            with self._undone("ROLLBACK TO SAVEPOINT nested", "RELEASE SAVEPOINT nested"):
                yield connection
                connection.exec_driver_sql("RELEASE SAVEPOINT nested")

    @contextmanager
    def _undone(self, *statements: str) -> Generator[None]:
        """Undo what was done in this block if it raises."""
        try:
            yield
        except BaseException:
            self.rollbacks += 1
            # A full disk makes SQLite roll back by itself, and there is no savepoint any more; a statement that is
            # interrupted makes SQLAlchemy give the connection up, and it refuses the next one. Neither may hide what
            # happened.
            with suppress(SQLAlchemyError):
                for statement in statements:
                    if self._only is not None:
                        self._only.exec_driver_sql(statement)
            raise

    @contextmanager
    def translated(self, location: str | None = None) -> Generator[None]:
        """Turn the driver's errors into `StudyError`, and add the location to those that have none."""
        try:
            yield
        except Exception as error:
            known = error if isinstance(error, StudyError) else self.explain(error)
            if known is None:
                raise
            known.location = known.location or location or self.location
            if known is error:
                raise
            raise known from error

    def stop_waiting(self) -> None:
        """From now on nobody waits for others who keep the study locked: StudyError instead. Another thread may call
        this; what waits already fails, too."""
        self.patience = 0

    def close(self) -> None:
        self._closed = True
        if self._only is not None:
            self._only.close()
            self._only = None

    @abstractmethod
    def _connect(self) -> Connection: ...

    @abstractmethod
    def _begin(self, connection: Connection, mode: Mode) -> None: ...

    @abstractmethod
    def explain(self, error: Exception) -> StudyError | None:
        """The driver's error in words that say what to do; None for one that is a mistake in our own code."""

    @abstractmethod
    def holds_study(self, connection: Connection) -> bool: ...

    @abstractmethod
    def create(self, fill: Callable[[Connection], None]) -> None:
        """Create a study from what `fill` stores, or change nothing."""

    @abstractmethod
    def backup(self, target: Path) -> None:
        """Copy the study as it is now into a new SQLite file, which must not exist, while others go on writing."""


def storable(name: str) -> bool:
    """Whether an id can be stored: PostgreSQL has no NUL, and UTF-8 no lone surrogate."""
    return "\0" not in name and (name.isascii() or name == name.encode(errors="ignore").decode())


class Identifier(TypeDecorator[str]):
    """A column of ids. A text that cannot be stored equals no id, so a search for it finds nothing."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value if value is None or storable(value) else None


def insert_rows(
    connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]], *, skip_known: bool = False
) -> None:
    """Insert many rows at once, each with every column of the table in its order.

    `skip_known`: leave rows out whose id is stored already. Raises StudyError if an id cannot be stored.
    """
    if not rows:
        return
    for place, column in enumerate(table.columns):
        if isinstance(column.type, Identifier):
            ids = [row[place] for row in rows if row[place] is not None]
            if not storable("".join(ids)):
                wrong = next(one for one in ids if not storable(one))
                raise StudyError(f"{table.name}: the {column.name} {wrong!r} has a character that cannot be stored")
    names = ", ".join(table.columns.keys())
    sqlite = connection.dialect.name == "sqlite"
    if sqlite or skip_known:
        marks = ", ".join(["?" if sqlite else "%s"] * len(table.columns))
        known = "ON CONFLICT (id) DO NOTHING" if skip_known else ""
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks}) {known}", list(rows))
        return
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


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
