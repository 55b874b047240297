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

QUEUE_INDEX = "CREATE UNIQUE INDEX queue_by_item ON queue (item)"
"""By itself for the same reason: in the queue the items are shuffled."""

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

_PEOPLE = (
    """CREATE TABLE invites (
        seq {number} PRIMARY KEY, id TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE, role TEXT NOT NULL, name TEXT,
        seats INTEGER NOT NULL, share INTEGER, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT)""",
    """CREATE TABLE members (
        rater {number} PRIMARY KEY REFERENCES raters, role TEXT NOT NULL, joined BIGINT NOT NULL, seen BIGINT NOT NULL,
        share INTEGER, paused INTEGER NOT NULL, training_over INTEGER NOT NULL, source TEXT NOT NULL)""",
    """CREATE TABLE joins (
        invite {number} NOT NULL REFERENCES invites, rater {number} NOT NULL REFERENCES members,
        PRIMARY KEY (invite, rater)){clustered}""",
    """CREATE TABLE sessions (
        token TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, access TEXT NOT NULL, rater {number} REFERENCES raters,
        created BIGINT NOT NULL, expires BIGINT NOT NULL, invite TEXT)""",
    "CREATE INDEX sessions_by_end ON sessions (expires)",
    "CREATE TABLE plans (seq {number} PRIMARY KEY, at BIGINT NOT NULL, document TEXT NOT NULL)",
    """CREATE TABLE assignments (
        rater {number} NOT NULL REFERENCES members, protocol {number} NOT NULL REFERENCES protocols,
        number INTEGER NOT NULL, purpose TEXT NOT NULL, item {number} REFERENCES items, example INTEGER,
        state TEXT NOT NULL, lapsed INTEGER NOT NULL, opened BIGINT NOT NULL, touched BIGINT NOT NULL,
        expires BIGINT NOT NULL, finished BIGINT,
        PRIMARY KEY (rater, protocol, number)){clustered}""",
    # A repeat is the second task with its item; worked examples have none.
    "CREATE UNIQUE INDEX assignments_by_item ON assignments (rater, protocol, item) WHERE purpose <> 'repeat'",
    "CREATE INDEX assignments_open ON assignments (rater, protocol, number) WHERE state = 'open'",
    "CREATE INDEX assignments_lapsed ON assignments (rater, protocol, number) WHERE lapsed = 1",
    """CREATE INDEX assignments_by_end ON assignments (protocol, expires)
        WHERE state = 'open' AND purpose <> 'repeat' AND purpose <> 'training'""",
    """CREATE TABLE trials (
        seq {number} PRIMARY KEY, id TEXT NOT NULL UNIQUE, number INTEGER NOT NULL, position INTEGER NOT NULL,
        criterion TEXT NOT NULL, rater {number} NOT NULL, protocol {number} NOT NULL, supersedes {number} NOT NULL,
        status TEXT NOT NULL, value TEXT, at TEXT NOT NULL, details TEXT,
        UNIQUE (rater, protocol, number, position, criterion, supersedes),
        FOREIGN KEY (rater, protocol, number) REFERENCES assignments (rater, protocol, number))""",
    """CREATE TABLE queue (
        place {number} PRIMARY KEY, item {number} NOT NULL, taken INTEGER NOT NULL, free INTEGER NOT NULL)""",
    QUEUE_INDEX,
    "CREATE INDEX queue_free ON queue (place) WHERE free > 0",
    "CREATE TABLE reopened (seq {number} PRIMARY KEY, place {number} NOT NULL)",
    "CREATE TABLE prior (rater {number} NOT NULL, item {number} NOT NULL, PRIMARY KEY (rater, item)){clustered}",
    "CREATE TABLE gold (place {number} PRIMARY KEY, item {number} NOT NULL UNIQUE)",
    """CREATE TABLE walks (
        rater {number} PRIMARY KEY REFERENCES members, given INTEGER NOT NULL, trained INTEGER NOT NULL,
        reached {number} NOT NULL, heard {number} NOT NULL, golden INTEGER NOT NULL, repeated INTEGER NOT NULL)""",
)

_SQLITE_GUARD = """CREATE TRIGGER {table}_{event} BEFORE {event} ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"""

_POSTGRES_REFUSAL = """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' are append-only'; END $$"""

_POSTGRES_GUARD = """CREATE TRIGGER {table}_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"""

_RATED = "EXISTS (SELECT 1 FROM ratings WHERE ratings.item = OLD.item AND ratings.position = OLD.position)"

_SQLITE_UNIT_GUARD = """CREATE TRIGGER units_rated_{event} BEFORE {event} ON units WHEN {rated}
    BEGIN SELECT RAISE(ABORT, 'units with ratings are append-only'); END"""

_POSTGRES_UNIT_GUARD = (
    f"""CREATE FUNCTION refuse_rated() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF {_RATED} THEN RAISE EXCEPTION 'units with ratings are append-only'; END IF;
        IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
        RETURN NEW; END $$""",
    """CREATE TRIGGER units_rated BEFORE UPDATE OR DELETE ON units
        FOR EACH ROW EXECUTE FUNCTION refuse_rated()""",
    "CREATE TRIGGER units_whole BEFORE TRUNCATE ON units FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
)


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


def _third(connection: Connection) -> None:
    """People: who may rate at the page, who has what in hand, and their trials, which stay."""
    _make(connection, _PEOPLE)
    _fix(connection, "trials")


def _fourth(connection: Connection) -> None:
    """Units may change until somebody has rated them: the guard over them looks at the ratings."""
    if connection.dialect.name == "sqlite":
        for event in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(f"DROP TRIGGER units_{event}")
            connection.exec_driver_sql(_SQLITE_UNIT_GUARD.format(event=event, rated=_RATED))
        return
    connection.exec_driver_sql("DROP TRIGGER units_fixed ON units")
    for statement in _POSTGRES_UNIT_GUARD:
        connection.exec_driver_sql(statement)


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


MIGRATIONS: Sequence[Migration] = (_first, _second, _third, _fourth)


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
