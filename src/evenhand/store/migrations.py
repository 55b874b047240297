"""Numbered steps from an empty database to the present schema.

Making a study runs them all; opening an older one runs those it lacks, in one transaction. A step that was released is
never edited: what changes later is a new function at the end of `MIGRATIONS`, beside the same change in `schema`.
`meta` with its keys `schema` and `evenhand` stays as it is for good, so that every version can tell a newer study.
"""

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, delete, insert, select

from evenhand.errors import NewerStudyError, NotAStudyError
from evenhand.store.schema import meta
from evenhand.version import __version__

Migration = Callable[[Connection], None]

ITEM_INDEX = "CREATE UNIQUE INDEX items_by_id ON items (id)"
"""By itself, because a bulk load puts it off until the items are in."""

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE protocols (seq {number} PRIMARY KEY, digest TEXT NOT NULL UNIQUE, document TEXT NOT NULL)",
    """CREATE TABLE adoptions (
        seq {number} PRIMARY KEY, protocol {number} NOT NULL REFERENCES protocols, source TEXT NOT NULL,
        at TEXT NOT NULL)""",
    "CREATE TABLE items (seq {number} PRIMARY KEY, id TEXT NOT NULL, fields TEXT NOT NULL)",
    ITEM_INDEX,
    """CREATE TABLE units (
        item {number} NOT NULL REFERENCES items, position INTEGER NOT NULL, content TEXT,
        PRIMARY KEY (item, position)){clustered}""",
    """CREATE TABLE raters (
        seq {number} PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, version TEXT NOT NULL,
        config TEXT NOT NULL, created TEXT NOT NULL)""",
    """CREATE TABLE ratings (
        seq {number} PRIMARY KEY, id TEXT NOT NULL UNIQUE, item {number} NOT NULL, position INTEGER NOT NULL,
        criterion TEXT NOT NULL, rater {number} NOT NULL REFERENCES raters,
        protocol {number} NOT NULL REFERENCES protocols, supersedes {number} NOT NULL, status TEXT NOT NULL,
        value TEXT, at TEXT NOT NULL, details TEXT,
        UNIQUE (item, position, criterion, rater, protocol, supersedes),
        FOREIGN KEY (item, position) REFERENCES units (item, position))""",
    # For counting. The protocol comes second, lest SQLite take this index for reading one protocol's ratings in order.
    "CREATE INDEX ratings_by_status ON ratings (status, protocol)",
    "CREATE INDEX ratings_replaced ON ratings (supersedes) WHERE supersedes <> 0",
)

_REPLIES = (
    """CREATE TABLE replies (
        seq {number} PRIMARY KEY, id TEXT NOT NULL UNIQUE, key BIGINT NOT NULL, prompt TEXT NOT NULL,
        model TEXT NOT NULL, parameters TEXT NOT NULL, sample INTEGER NOT NULL, at TEXT NOT NULL,
        body TEXT NOT NULL)""",
    "CREATE INDEX replies_by_key ON replies (key)",
    """CREATE TABLE runs (
        seq {number} PRIMARY KEY, id TEXT NOT NULL UNIQUE, rater TEXT NOT NULL, started TEXT NOT NULL, ended TEXT,
        state TEXT NOT NULL, settings TEXT NOT NULL, counts TEXT NOT NULL)""",
)

_SQLITE_GUARD = """CREATE TRIGGER {table}_{event} BEFORE {event} ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"""

_POSTGRES_REFUSAL = """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' are append-only'; END $$"""

_POSTGRES_GUARD = """CREATE TRIGGER {table}_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"""


def _first(connection: Connection) -> None:
    """The tables of version 1, and triggers that refuse to change or remove what must stay."""
    _make(connection, _TABLES)
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(_POSTGRES_REFUSAL)
    _fix(connection, "items", "units", "ratings")


def _second(connection: Connection) -> None:
    """Replies of models, which stay as they came, and the runs that asked for them."""
    _make(connection, _REPLIES)
    _fix(connection, "replies")


def _make(connection: Connection, statements: Sequence[str]) -> None:
    # Only a column declared INTEGER is SQLite's own row number; in PostgreSQL an INTEGER ends at two billion.
    number, clustered = ("INTEGER", " WITHOUT ROWID") if connection.dialect.name == "sqlite" else ("BIGINT", "")
    for statement in statements:
        connection.exec_driver_sql(statement.format(number=number, clustered=clustered))


def _fix(connection: Connection, *tables: str) -> None:
    for table in tables:
        if connection.dialect.name == "sqlite":
            for event in ("UPDATE", "DELETE"):
                connection.exec_driver_sql(_SQLITE_GUARD.format(table=table, event=event))
        else:
            connection.exec_driver_sql(_POSTGRES_GUARD.format(table=table))


MIGRATIONS: Sequence[Migration] = (_first, _second)


def migrate(connection: Connection, found: int, migrations: Sequence[Migration]) -> None:
    """Run the steps after number `found`. The caller holds the transaction."""
    for step in migrations[found:]:
        step(connection)
    record(connection, {"schema": str(len(migrations)), "evenhand": __version__})


def schema_version(connection: Connection, location: str, newest: int) -> int:
    """The number of the last step this study has seen; a study that is further than `newest` is refused."""
    known: dict[str, str] = {row[0]: row[1] for row in connection.execute(select(meta.c.key, meta.c.value))}
    number = known.get("schema", "")
    if not number.isdecimal():
        raise NotAStudyError(f"{location}: this is not an Evenhand study: its version is missing")
    if int(number) > newest:
        raise NewerStudyError(
            f"{location}: this study was written by Evenhand {known.get('evenhand', 'of a later version')}, and "
            f"{__version__} cannot read it; upgrade with: pip install --upgrade evenhand"
        )
    return int(number)


def record(connection: Connection, entries: dict[str, str]) -> None:
    """Write keys of `meta`, new or changed."""
    connection.execute(delete(meta).where(meta.c.key.in_(list(entries))))
    connection.execute(insert(meta), [{"key": key, "value": value} for key, value in entries.items()])
