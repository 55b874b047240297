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

# People. Times are microseconds since 1970: the database compares some of them, and text by each server's own rules.

invites = Table(
    "invites",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    # The SHA-256 of the token, which is nowhere itself.
    Column("token", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("name", Text),
    Column("seats", Integer, nullable=False),
    Column("share", Integer),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
)

members = Table(
    "members",
    metadata,
    Column("rater", BigInteger, primary_key=True),
    Column("role", Text, nullable=False),
    Column("joined", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("share", Integer),
    Column("paused", Integer, nullable=False),
    Column("training_over", Integer, nullable=False),
    Column("source", Text, nullable=False),
)

# Who came by which invite: each takes one of its seats.
joins = Table(
    "joins",
    metadata,
    Column("invite", BigInteger, primary_key=True),
    Column("rater", BigInteger, primary_key=True),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token", Text, primary_key=True),
    Column("id", Text, nullable=False),
    Column("access", Text, nullable=False),
    Column("rater", BigInteger),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("invite", Text),
)

# The last is in force.
plans = Table(
    "plans",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("document", Text, nullable=False),
)

# What somebody was given under a protocol. Only `lapsed` ones are offered to their rater again.
assignments = Table(
    "assignments",
    metadata,
    Column("rater", BigInteger, primary_key=True),
    Column("protocol", BigInteger, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("item", BigInteger),
    Column("example", Integer),
    Column("state", Text, nullable=False),
    Column("lapsed", Integer, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("touched", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("finished", BigInteger),
)

# Answers that are no ratings: the columns of `ratings`, with the task's number where the item's is.
trials = Table(
    "trials",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("criterion", Text, nullable=False),
    Column("rater", BigInteger, nullable=False),
    Column("protocol", BigInteger, nullable=False),
    Column("supersedes", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("value", Text),
    Column("at", Text, nullable=False),
    Column("details", Text),
)

# The queue and what belongs to it follow from the tables above; `meta` says for which protocol and plan they were made.

# `taken` people have the item or have done it; `free` more are wanted, less than none where some came on top.
queue = Table(
    "queue",
    metadata,
    Column("place", BigInteger, primary_key=True),
    Column("item", BigInteger, nullable=False),
    Column("taken", Integer, nullable=False),
    Column("free", Integer, nullable=False),
)

# Places that became free when some raters had gone past them.
reopened = Table(
    "reopened",
    metadata,
    Column("seq", BigInteger, primary_key=True),
    Column("place", BigInteger, nullable=False),
)

# What people had rated in another way.
prior = Table(
    "prior",
    metadata,
    Column("rater", BigInteger, primary_key=True),
    Column("item", BigInteger, primary_key=True),
)

# Items with known answers, shuffled.
gold = Table(
    "gold",
    metadata,
    Column("place", BigInteger, primary_key=True),
    Column("item", BigInteger, nullable=False),
)

# How far a rater has come: items `given` and not taken back, worked examples given, the place in the queue before which
# nothing is left, the last row of `reopened` looked at, steps through `gold`, and the last task that was repeated.
walks = Table(
    "walks",
    metadata,
    Column("rater", BigInteger, primary_key=True),
    Column("given", Integer, nullable=False),
    Column("trained", Integer, nullable=False),
    Column("reached", BigInteger, nullable=False),
    Column("heard", BigInteger, nullable=False),
    Column("golden", Integer, nullable=False),
    Column("repeated", Integer, nullable=False),
)

_PEOPLE = (invites, members, joins, sessions, plans, assignments, trials, queue, reopened, prior, gold, walks)

IN_ORDER = (meta, protocols, adoptions, items, units, raters, ratings, replies, runs, *_PEOPLE)
"""Every table after those it refers to."""
