"""The tables of a study, as queries see them; `migrations` makes them.

Rows are numbered by the store itself (`seq`), from 1 and without regard to the database, so that a study moves from
PostgreSQL to SQLite as it is. A column exists where something is looked up or counted; everything a person or a model
wrote freely is JSON text, which keeps types, control characters and broken surrogates that a text column may refuse.

Unit ids are not stored: they follow from the item's id, the position and the unit rule.
"""

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

protocols = Table(
    "protocols",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("document", Text, nullable=False),
)

adoptions = Table(
    "adoptions",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("protocol", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("at", Text, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    Column("fields", Text, nullable=False),
)

units = Table(
    "units",
    metadata,
    Column("item", BigInteger, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("content", Text),
)

raters = Table(
    "raters",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("config", Text, nullable=False),
    Column("created", Text, nullable=False),
)

ratings = Table(
    "ratings",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    Column("item", BigInteger, nullable=False),
    Column("position", Integer, nullable=False),
    Column("criterion", Text, nullable=False),
    Column("rater", BigInteger, nullable=False),
    Column("protocol", BigInteger, nullable=False),
    # The seq of the rating that this one replaces, or 0: a number and not NULL, because the unique key over a cell
    # and `supersedes` is what keeps the cell's history one line, and NULLs never collide.
    Column("supersedes", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("value", Text),
    Column("at", Text, nullable=False),
    Column("details", Text),
)

replies = Table(
    "replies",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    # A number made of the next four: an index over themselves would be a tenth of the study and slow to write.
    Column("key", BigInteger, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("sample", Integer, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    # A name and not a number: a run is there before its rater has rated.
    Column("rater", Text, nullable=False),
    Column("started", Text, nullable=False),
    Column("ended", Text),
    Column("state", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("counts", Text, nullable=False),
)

IN_ORDER = (meta, protocols, adoptions, items, units, raters, ratings, replies, runs)
"""Every table after those it refers to."""
