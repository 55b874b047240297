"""Ratings in the order in which they came, page by page: for whoever keeps a copy and asks what is new."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, cast

from sqlalchemy import Connection, Select, exists, select

from evenhand.records import Rating
from evenhand.store.reading import Wanted
from evenhand.store.rows import RatingRow, rating_from, storable
from evenhand.store.schema import items, protocols, raters, ratings
from evenhand.store.versions import read_versions
from evenhand.units import unit_id


def read_arrivals(
    reading: Callable[[], AbstractContextManager[Connection]], location: str, wanted: Wanted, after: int, limit: int
) -> Sequence[tuple[int, Rating]]:
    """At most `limit` ratings that came after number `after`, each with its own number, oldest first."""
    if not all(storable(name) for name in (wanted.criterion, wanted.rater, wanted.item, wanted.digest) if name):
        return []
    query = _query(wanted).where(ratings.c.seq > after).order_by(ratings.c.seq).limit(limit)
    with reading() as connection:
        page: Sequence[Any] = connection.execute(query).all()
        versions = read_versions(connection, location)
    digests = {seq: digest for digest, (seq, _) in versions.by_digest.items()}
    rule = versions.current.rule.of
    found: list[tuple[int, Rating]] = []
    for row in page:
        item, rater, replaced = row[-3:]
        stored = cast("RatingRow", row[:-3])
        found.append((row[0], rating_from(stored, unit_id(item, row[3], rule), rater, digests[row[6]], replaced)))
    return found


def _query(wanted: Wanted) -> Select[Any]:
    earlier, later = ratings.alias(), ratings.alias()
    query = (
        select(*ratings.c, items.c.id, raters.c.id, earlier.c.id)
        .join(items, items.c.seq == ratings.c.item)
        .join(raters, raters.c.seq == ratings.c.rater)
        .outerjoin(earlier, earlier.c.seq == ratings.c.supersedes)
    )
    if wanted.criterion is not None:
        query = query.where(ratings.c.criterion == wanted.criterion)
    if wanted.rater is not None:
        query = query.where(raters.c.id == wanted.rater)
    if wanted.item is not None:
        query = query.where(items.c.id == wanted.item)
    if wanted.digest is not None:
        chosen = select(protocols.c.seq).where(protocols.c.digest == wanted.digest).scalar_subquery()
        query = query.where(ratings.c.protocol == chosen)
    if not wanted.history:
        # The index holds superseding ratings only, and is taken only where the query says that it asks for those.
        query = query.where(~exists().where(later.c.supersedes == ratings.c.seq, later.c.supersedes != 0))
    return query
