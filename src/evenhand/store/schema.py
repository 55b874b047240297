"""The tables of a study, written once: `create_schema` makes them in an empty database.

Rows are numbered by the store itself (`seq`), from 1 and independently of the database, so that a study moves from
PostgreSQL to SQLite as it is. There is a column for whatever is looked up or counted; what a person or a model wrote
freely is JSON text, which keeps types, control characters and broken surrogates that a text column may refuse.

Unit ids are not stored: they follow from the item's id, the position and the unit rule.
"""

from typing import Any

from sqlalchemy import Connection, delete, insert, select, text
from sqlalchemy.schema import Column, ForeignKey, ForeignKeyConstraint, Index, MetaData, Table, UniqueConstraint
from sqlalchemy.types import BigInteger, Integer, Text

from evenhand.errors import NewerStudyError, NotAStudyError, StudyError
from evenhand.store.database import Identifier
from evenhand.version import __version__

SCHEMA = 7
"""The version of these tables. Versions 1 to 6 were never released."""

# Only a column declared INTEGER is SQLite's own row number; in PostgreSQL an INTEGER ends at two billion.
NUMBER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()


def _table(name: str, *parts: Any, rowid: bool = True) -> Table:
    """A table; without a `rowid`, SQLite keeps its rows in the order of their key."""
    return Table(name, metadata, *parts, sqlite_with_rowid=rowid)


def _columns(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns of one type; one whose name ends with `?` may be NULL."""
    return [Column(name.removesuffix("?"), kind, nullable=name.endswith("?")) for name in names]


def _key(kind: Any, *names: str) -> list[Column[Any]]:
    """Columns of the primary key; a number among them is the store's, not the database's."""
    return [Column(name, kind, primary_key=True, autoincrement=False) for name in names]


def _named() -> list[Column[Any]]:
    """The number of a row, and an id that no other row of the table has."""
    return [*_key(NUMBER, "seq"), Column("id", Identifier, nullable=False, unique=True)]


def _ref(name: str, target: str, *, key: bool = False, null: bool = False) -> Column[int]:
    """A column that refers to a row of another table by its number."""
    return Column(name, NUMBER, ForeignKey(target), primary_key=key, autoincrement=False, nullable=null)


def _partial(name: str, condition: str, *columns: Column[Any], unique: bool = False) -> Index:
    where = text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


def _answer() -> list[Column[Any]]:
    """What ratings and trials have in common behind the columns of their cell."""
    return [
        # The seq of the rating that this one replaces, or 0: a number and not NULL, because the unique key over a cell
        # and `supersedes` keeps the cell's history one line, and NULLs never collide.
        *_columns(NUMBER, "supersedes"),
        *_columns(Text, "status", "value?", "at", "details?"),
    ]


meta = _table("meta", *_key(Text, "key"), *_columns(Text, "value"))

protocols = _table(
    "protocols",
    *_key(NUMBER, "seq"),
    Column("digest", Identifier, nullable=False, unique=True),
    *_columns(Text, "document"),
)

# `source_digest` is the SHA-256 of the file's text: a file that has not changed need not be read as a protocol.
adoptions = _table(
    "adoptions",
    *_key(NUMBER, "seq"),
    _ref("protocol", "protocols.seq"),
    *_columns(Text, "source", "source_digest", "at"),
)

items = _table("items", *_key(NUMBER, "seq"), *_columns(Identifier, "id"), *_columns(Text, "fields"))
ITEM_INDEX = Index("items_by_id", items.c.id, unique=True)
"""A bulk load drops it and makes it when the items are in."""

units = _table(
    "units", _ref("item", "items.seq", key=True), *_key(Integer, "position"), *_columns(Text, "content?"), rowid=False
)

raters = _table(
    "raters", *_named(), *_columns(Text, "kind"), *_columns(Identifier, "version", "config"), *_columns(Text, "created")
)

ratings = _table(
    "ratings",
    *_named(),
    *_columns(NUMBER, "item"),
    *_columns(Integer, "position"),
    *_columns(Identifier, "criterion"),
    _ref("rater", "raters.seq"),
    _ref("protocol", "protocols.seq"),
    *_answer(),
    UniqueConstraint("item", "position", "criterion", "rater", "protocol", "supersedes"),
    ForeignKeyConstraint(["item", "position"], ["units.item", "units.position"]),
)

# The current rating of each cell: what one rater says on one criterion of one unit under one protocol. A trigger on
# `ratings` maintains it.
current = _table(
    "current",
    *_key(NUMBER, "protocol", "rater", "item"),
    *_key(Integer, "position"),
    *_key(Identifier, "criterion"),
    *_columns(NUMBER, "rating"),
    *_columns(Text, "status"),
    rowid=False,
)

# `key` is a number made from the next four: an index over the texts would be a tenth of the study and slow to write.
replies = _table(
    "replies",
    *_named(),
    Column("key", BigInteger, nullable=False, index=True),
    *_columns(Identifier, "prompt", "model", "parameters"),
    *_columns(Integer, "sample"),
    *_columns(Text, "at", "body"),
)

# Work of programs. Money is in micro-dollars, times are microseconds since 1970 by the database's clock.

runs = _table(
    "runs",
    *_named(),
    # The rater's name and not a number: a run starts before its rater has rated.
    *_columns(Identifier, "rater", "protocol", "config"),
    *_columns(Text, "started", "ended?", "state"),
    *_columns(Integer, "stop"),
    *_columns(Text, "settings"),
    # The last rating before the run: failures up to `revision` may be tried again, later ones are the run's own.
    # `purse` is the run whose `cap`, `spent` and `reserved` count: several raters of one command share a cap.
    *_columns(NUMBER, "revision", "purse"),
    *_columns(BigInteger, "cap?", "spent", "reserved"),
)

workers = _table(
    "workers",
    _ref("run", "runs.seq", key=True),
    *_key(Identifier, "id"),
    *_columns(Identifier, "host"),
    *_columns(BigInteger, "pid", "started", "until"),
    *_columns(Text, "counts"),
    rowid=False,
)

leases = _table(
    "leases",
    *_key(Identifier, "rater", "protocol"),
    _ref("item", "items.seq", key=True),
    _ref("run", "runs.seq"),
    *_columns(Identifier, "worker"),
    *_columns(BigInteger, "until", "reserved"),
    rowid=False,
)

# People. Times are microseconds since 1970: the database compares some of them, and text by each server's own rules.

invites = _table(
    "invites",
    *_named(),
    # The SHA-256 of the token, which is stored nowhere.
    Column("token", Text, nullable=False, unique=True),
    *_columns(Text, "role"),
    *_columns(Identifier, "name?"),
    *_columns(Integer, "seats", "share?"),
    *_columns(BigInteger, "created", "expires?", "revoked?"),
)

members = _table(
    "members",
    _ref("rater", "raters.seq", key=True),
    *_columns(Text, "role"),
    *_columns(BigInteger, "joined", "seen"),
    *_columns(Integer, "share?", "paused", "training_over"),
    *_columns(Text, "source"),
)

# Who joined with which invite: each takes one of its seats.
joins = _table("joins", _ref("invite", "invites.seq", key=True), _ref("rater", "members.rater", key=True), rowid=False)

sessions = _table(
    "sessions",
    *_key(Text, "token"),
    Column("id", Identifier, nullable=False, unique=True),
    *_columns(Text, "access"),
    _ref("rater", "raters.seq", null=True),
    *_columns(BigInteger, "created"),
    Column("expires", BigInteger, nullable=False, index=True),
    *_columns(Identifier, "invite?"),
)

# The last is current.
plans = _table("plans", *_key(NUMBER, "seq"), *_columns(BigInteger, "at"), *_columns(Text, "document"))

# What a rater was given, and under which protocol. Only `lapsed` tasks are offered to their rater again.
assignments = _table(
    "assignments",
    _ref("rater", "members.rater", key=True),
    *_key(Integer, "number"),
    _ref("protocol", "protocols.seq"),
    *_columns(Text, "purpose"),
    _ref("item", "items.seq", null=True),
    *_columns(Integer, "example?"),
    *_columns(Text, "state"),
    *_columns(Integer, "lapsed"),
    *_columns(BigInteger, "opened", "touched", "expires", "finished?"),
    rowid=False,
)
_ASSIGNED = assignments.c.rater, assignments.c.protocol, assignments.c.item
# A repeat is the second task with its item; worked examples have none.
_partial("assignments_by_item", "purpose <> 'repeat'", *_ASSIGNED, unique=True)
_CLAIMED = "state = 'open' AND purpose <> 'repeat' AND purpose <> 'training'"
_partial("assignments_by_end", _CLAIMED, assignments.c.protocol, assignments.c.expires)

# Answers that are not ratings: the columns of `ratings`, with the task's number instead of the item's.
trials = _table(
    "trials",
    *_named(),
    *_columns(Integer, "number", "position"),
    *_columns(Identifier, "criterion"),
    *_columns(NUMBER, "rater", "protocol"),
    *_answer(),
    UniqueConstraint("rater", "protocol", "number", "position", "criterion", "supersedes"),
    ForeignKeyConstraint(["rater", "number"], ["assignments.rater", "assignments.number"]),
)

# The queue follows from the tables above; `meta` says for which protocol and plan it was made. `free` more people are
# wanted for an item, less than none if some came on top; `gold` is 1 if its answers are known.
queue = _table("queue", *_key(NUMBER, "place"), *_columns(NUMBER, "item"), *_columns(Integer, "free", "gold"))
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
        f"""CREATE TRIGGER {table}_{event} BEFORE {event} ON {table} {condition}
            BEGIN SELECT RAISE(ABORT, '{what} are append-only'); END"""
        for table, condition, what in (
            *((table, "", table) for table in _APPEND_ONLY),
            ("units", f"WHEN {_HAS_RATINGS}", "units with ratings"),
        )
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
            "install a newer version of Evenhand"
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
