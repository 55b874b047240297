"""The tables of a study, written once: `create_schema` makes them in an empty database.

Rows are numbered by the store itself (`seq`), from 1 and independently of the database, so that a study moves from
PostgreSQL to SQLite as it is. There is a column for whatever is looked up or counted; what a person or a model wrote
freely is JSON text, which keeps types, control characters and broken surrogates that a text column may refuse.

Unit ids are not stored: they follow from the item's id, the position and the unit rule.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    delete,
    insert,
    select,
    text,
)

from evenhand.errors import NewerStudyError, NotAStudyError, StudyError
from evenhand.store.database import Identifier
from evenhand.version import __version__

SCHEMA = 6
"""The version of these tables. Versions 1 to 5 were never released."""


# Only a column declared INTEGER is SQLite's own row number; in PostgreSQL an INTEGER ends at two billion.
NUMBER = BigInteger().with_variant(Integer, "sqlite")
CLUSTERED: dict[str, Any] = {"sqlite_with_rowid": False}

metadata = MetaData()


def _seq() -> Column[int]:
    return Column("seq", NUMBER, primary_key=True, autoincrement=False)


def _ref(name: str, target: str | None = None, **more: Any) -> Column[int]:
    """A column that refers to a row by its number."""
    keys = [ForeignKey(target)] if target else []
    return Column(name, NUMBER, *keys, nullable=False, **more)


def _partial(name: str, condition: str, *columns: Column[Any], unique: bool = False) -> Index:
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

protocols = Table(
    "protocols",
    metadata,
    _seq(),
    Column("digest", Identifier, nullable=False, unique=True),
    Column("document", Text, nullable=False),
)

adoptions = Table(
    "adoptions",
    metadata,
    _seq(),
    _ref("protocol", "protocols.seq"),
    Column("source", Text, nullable=False),
    # The SHA-256 of the file's text, so that a file that has not changed need not be read as a protocol.
    Column("source_digest", Text, nullable=False),
    Column("at", Text, nullable=False),
)

items = Table(
    "items", metadata, _seq(), Column("id", Identifier, nullable=False), Column("fields", Text, nullable=False)
)
ITEM_INDEX = Index("items_by_id", items.c.id, unique=True)
"""A bulk load drops it and makes it when the items are in."""

units = Table(
    "units",
    metadata,
    _ref("item", "items.seq", primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("content", Text),
    **CLUSTERED,
)

raters = Table(
    "raters",
    metadata,
    _seq(),
    Column("id", Identifier, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("version", Identifier, nullable=False),
    Column("config", Identifier, nullable=False),
    Column("created", Text, nullable=False),
)

ratings = Table(
    "ratings",
    metadata,
    _seq(),
    Column("id", Identifier, nullable=False, unique=True),
    _ref("item"),
    Column("position", Integer, nullable=False),
    Column("criterion", Identifier, nullable=False),
    _ref("rater", "raters.seq"),
    _ref("protocol", "protocols.seq"),
    # The seq of the rating that this one replaces, or 0: a number and not NULL, because the unique key over a cell
    # and `supersedes` keeps the cell's history one line, and NULLs never collide.
    _ref("supersedes"),
    Column("status", Text, nullable=False),
    Column("value", Text),
    Column("at", Text, nullable=False),
    Column("details", Text),
    UniqueConstraint("item", "position", "criterion", "rater", "protocol", "supersedes"),
    ForeignKeyConstraint(["item", "position"], ["units.item", "units.position"]),
)

# The current rating of each cell: what one rater says on one criterion of one unit under one protocol. A trigger on
# `ratings` maintains it.
current = Table(
    "current",
    metadata,
    _ref("protocol", primary_key=True, autoincrement=False),
    _ref("rater", primary_key=True, autoincrement=False),
    _ref("item", primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("criterion", Identifier, primary_key=True),
    _ref("rating"),
    Column("status", Text, nullable=False),
    **CLUSTERED,
)

replies = Table(
    "replies",
    metadata,
    _seq(),
    Column("id", Identifier, nullable=False, unique=True),
    # A number made from the next four: an index over the texts would be a tenth of the study and slow to write.
    Column("key", BigInteger, nullable=False, index=True),
    Column("prompt", Identifier, nullable=False),
    Column("model", Identifier, nullable=False),
    Column("parameters", Identifier, nullable=False),
    Column("sample", Integer, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

# Work of programs. Money is in micro-dollars, times are microseconds since 1970 by the database's clock.

runs = Table(
    "runs",
    metadata,
    _seq(),
    Column("id", Identifier, nullable=False, unique=True),
    # A name and not a number: a run starts before its rater has rated.
    Column("rater", Identifier, nullable=False),
    Column("protocol", Identifier, nullable=False),
    Column("config", Identifier, nullable=False),
    Column("started", Text, nullable=False),
    Column("ended", Text),
    Column("state", Text, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("settings", Text, nullable=False),
    # The number of the last rating before the run: failures up to it may be tried again, later ones are its own.
    _ref("revision"),
    # The run whose `cap`, `spent` and `reserved` count: several raters of one command share a cap.
    _ref("purse"),
    Column("cap", BigInteger),
    Column("spent", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    _ref("run", "runs.seq", primary_key=True, autoincrement=False),
    Column("id", Identifier, primary_key=True),
    Column("host", Identifier, nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("counts", Text, nullable=False),
    **CLUSTERED,
)

leases = Table(
    "leases",
    metadata,
    Column("rater", Identifier, primary_key=True),
    Column("protocol", Identifier, primary_key=True),
    _ref("item", "items.seq", primary_key=True, autoincrement=False),
    _ref("run", "runs.seq"),
    Column("worker", Identifier, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("reserved", BigInteger, nullable=False),
    **CLUSTERED,
)

# People. Times are microseconds since 1970: the database compares some of them, and text by each server's own rules.

invites = Table(
    "invites",
    metadata,
    _seq(),
    Column("id", Identifier, nullable=False, unique=True),
    # The SHA-256 of the token, which is stored nowhere.
    Column("token", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("name", Identifier),
    Column("seats", Integer, nullable=False),
    Column("share", Integer),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
)

members = Table(
    "members",
    metadata,
    _ref("rater", "raters.seq", primary_key=True, autoincrement=False),
    Column("role", Text, nullable=False),
    Column("joined", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("share", Integer),
    Column("paused", Integer, nullable=False),
    Column("training_over", Integer, nullable=False),
    Column("source", Text, nullable=False),
)

# Who joined with which invite: each takes one of its seats.
joins = Table(
    "joins",
    metadata,
    _ref("invite", "invites.seq", primary_key=True, autoincrement=False),
    _ref("rater", "members.rater", primary_key=True, autoincrement=False),
    **CLUSTERED,
)

sessions = Table(
    "sessions",
    metadata,
    Column("token", Text, primary_key=True),
    Column("id", Identifier, nullable=False, unique=True),
    Column("access", Text, nullable=False),
    Column("rater", NUMBER, ForeignKey("raters.seq")),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False, index=True),
    Column("invite", Identifier),
)

# The last is current.
plans = Table(
    "plans",
    metadata,
    _seq(),
    Column("at", BigInteger, nullable=False),
    Column("document", Text, nullable=False),
)

# What a rater was given under a protocol. Only `lapsed` tasks are offered to their rater again.
assignments = Table(
    "assignments",
    metadata,
    _ref("rater", "members.rater", primary_key=True, autoincrement=False),
    _ref("protocol", "protocols.seq", primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("purpose", Text, nullable=False),
    Column("item", NUMBER, ForeignKey("items.seq")),
    Column("example", Integer),
    Column("state", Text, nullable=False),
    Column("lapsed", Integer, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("touched", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("finished", BigInteger),
    **CLUSTERED,
)
# A repeat is the second task with its item; worked examples have none.
_partial(
    "assignments_by_item",
    "purpose <> 'repeat'",
    assignments.c.rater,
    assignments.c.protocol,
    assignments.c.item,
    unique=True,
)
_partial(
    "assignments_by_end",
    "state = 'open' AND purpose <> 'repeat' AND purpose <> 'training'",
    assignments.c.protocol,
    assignments.c.expires,
)

# Answers that are not ratings: the columns of `ratings`, with the task's number instead of the item's.
trials = Table(
    "trials",
    metadata,
    _seq(),
    Column("id", Identifier, nullable=False, unique=True),
    Column("number", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("criterion", Identifier, nullable=False),
    _ref("rater"),
    _ref("protocol"),
    _ref("supersedes"),
    Column("status", Text, nullable=False),
    Column("value", Text),
    Column("at", Text, nullable=False),
    Column("details", Text),
    UniqueConstraint("rater", "protocol", "number", "position", "criterion", "supersedes"),
    ForeignKeyConstraint(
        ["rater", "protocol", "number"], ["assignments.rater", "assignments.protocol", "assignments.number"]
    ),
)

# The queue follows from the tables above; `meta` says for which protocol and plan it was made. `free` more people are
# wanted for an item, less than none if some came on top; `gold` is 1 if its answers are known.
queue = Table(
    "queue",
    metadata,
    Column("place", NUMBER, primary_key=True, autoincrement=False),
    _ref("item"),
    Column("free", Integer, nullable=False),
    Column("gold", Integer, nullable=False),
)
QUEUE_INDEX = Index("queue_by_item", queue.c.item, unique=True)
"""Made after the rows are in: in the queue the items are shuffled."""
_partial("queue_free", "free > 0", queue.c.place)
_partial("queue_gold", "gold = 1", queue.c.place)

COPIED = tuple(table for table in metadata.sorted_tables if table is not current)
"""What a backup copies, every table after those it refers to; `current` follows from the ratings."""

_APPEND_ONLY = ("items", "ratings", "replies", "trials")

_HAS_RATINGS = "EXISTS (SELECT 1 FROM ratings WHERE ratings.item = OLD.item AND ratings.position = OLD.position)"

_SQLITE_TRIGGERS = (
    *(
        f"""CREATE TRIGGER {table}_{event} BEFORE {event} ON {table}
            BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"""
        for table in _APPEND_ONLY
        for event in ("UPDATE", "DELETE")
    ),
    *(
        f"""CREATE TRIGGER units_{event} BEFORE {event} ON units WHEN {_HAS_RATINGS}
            BEGIN SELECT RAISE(ABORT, 'units with ratings are append-only'); END"""
        for event in ("UPDATE", "DELETE")
    ),
    """CREATE TRIGGER ratings_current AFTER INSERT ON ratings BEGIN
        INSERT OR REPLACE INTO current (protocol, rater, item, position, criterion, rating, status)
        VALUES (NEW.protocol, NEW.rater, NEW.item, NEW.position, NEW.criterion, NEW.seq, NEW.status); END""",
)

_POSTGRES_TRIGGERS = (
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' are append-only'; END $$""",
    *(
        f"""CREATE TRIGGER {table}_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"""
        for table in _APPEND_ONLY
    ),
    f"""CREATE FUNCTION refuse_rated() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF {_HAS_RATINGS} THEN RAISE EXCEPTION 'units with ratings are append-only'; END IF;
        IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
        RETURN NEW; END $$""",
    "CREATE TRIGGER units_rated BEFORE UPDATE OR DELETE ON units FOR EACH ROW EXECUTE FUNCTION refuse_rated()",
    "CREATE TRIGGER units_whole BEFORE TRUNCATE ON units FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
    # One statement may bring several ratings of a cell.
    """CREATE FUNCTION keep_current() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO current (protocol, rater, item, position, criterion, rating, status)
        SELECT DISTINCT ON (protocol, rater, item, position, criterion)
            protocol, rater, item, position, criterion, seq, status
        FROM added ORDER BY protocol, rater, item, position, criterion, seq DESC
        ON CONFLICT (protocol, rater, item, position, criterion)
        DO UPDATE SET rating = excluded.rating, status = excluded.status;
        RETURN NULL; END $$""",
    """CREATE TRIGGER ratings_current AFTER INSERT ON ratings REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION keep_current()""",
)


def create_schema(connection: Connection) -> None:
    """Make the tables, and triggers that refuse to change or remove what must stay."""
    metadata.create_all(connection, checkfirst=False)
    sqlite = connection.dialect.name == "sqlite"
    for statement in _SQLITE_TRIGGERS if sqlite else _POSTGRES_TRIGGERS:
        connection.exec_driver_sql(statement)
    write_meta(connection, {"schema": str(SCHEMA), "evenhand": __version__})


def check_schema(connection: Connection) -> dict[str, str]:
    """The entries of `meta`; StudyError if these are not the tables of this version."""
    known: dict[str, str] = {row[0]: row[1] for row in connection.execute(select(meta.c.key, meta.c.value))}
    number = known.get("schema", "")
    if not number.isdecimal():
        raise NotAStudyError("this is not an Evenhand study: its version is missing")
    writer = known.get("evenhand", "a later version")
    if int(number) > SCHEMA:
        raise NewerStudyError(
            f"this study was written by Evenhand {writer}, and {__version__} cannot read it; "
            "upgrade with: pip install --upgrade evenhand"
        )
    if int(number) < SCHEMA:
        raise StudyError(
            f"this study was written by a development version of Evenhand ({writer}) whose files this one does not "
            "read. Export its ratings with that version (evenhand ratings export STUDY -o ratings.csv), create the "
            "study again with evenhand new, and import them with evenhand ratings import"
        )
    return known


def write_meta(connection: Connection, entries: dict[str, str]) -> None:
    """Write entries of `meta`, new or changed."""
    connection.execute(delete(meta).where(meta.c.key.in_(list(entries))))
    connection.execute(insert(meta), [{"key": key, "value": value} for key, value in entries.items()])
