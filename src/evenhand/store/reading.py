"""Read ratings in order, page by page.

A page ends with an item, so a cell's whole history is always in one page. Which rating is in force can then be told
without asking the database, and an item looks the way it did at one moment however many pages the reading takes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, select

from evenhand.records import Rating
from evenhand.store.rows import rating_from, storable
from evenhand.store.schema import items, protocols, raters, ratings
from evenhand.store.versions import Versions, read_versions
from evenhand.units import unit_id

PAGE = 2000

_ITEM, _POSITION, _CRITERION, _RATER, _PROTOCOL, _SUPERSEDES, _ITEM_ID = 2, 3, 4, 5, 6, 7, 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which ratings to read; None means all."""

    criterion: str | None
    rater: str | None
    item: str | None
    digest: str | None
    history: bool


def read_ratings(
    reading: Callable[[], AbstractContextManager[Connection]],
    location: str,
    wanted: Wanted,
    known: Versions | None = None,
) -> Iterator[Rating]:
    """Ratings in the order of units, then criteria, then arrival; `known` are the protocols that were read before."""
    query, given = _query(wanted), _given(wanted)
    people = select(raters.c.seq, raters.c.id)
    people = people if wanted.rater is None else people.where(raters.c.id == wanted.rater)
    after, size, more = 0, PAGE, query is not None
    while query is not None and more:
        with reading() as connection:
            page: Sequence[Any] = connection.execute(query, {"after": after, "size": size, **given}).all()
            versions = read_versions(connection, location, known)
            names = {row[0]: row[1] for row in connection.execute(people)} if page else {}
        more = len(page) == size
        if more:
            last = page[-1][_ITEM]
            page = [row for row in page if row[_ITEM] != last]
            if not page:
                size *= 2
                continue
        if page:
            after = page[-1][_ITEM]
            yield from _decoded(page, names, versions, wanted.history)


def _query(wanted: Wanted) -> Select[Any] | None:
    """One page; None where nothing can be found under such names."""
    given = _given(wanted)
    return _page(frozenset(given)) if all(map(storable, given.values())) else None


def _given(wanted: Wanted) -> dict[str, str]:
    asked = {
        "of_criterion": wanted.criterion,
        "of_rater": wanted.rater,
        "of_item": wanted.item,
        "of_digest": wanted.digest,
    }
    return {name: value for name, value in asked.items() if value is not None}


@lru_cache(maxsize=16)
def _page(given: frozenset[str]) -> Select[Any]:
    """Made once for each combination: SQLAlchemy takes longer to put it together than SQLite to answer it."""
    query = select(ratings, items.c.id).join(items, items.c.seq == ratings.c.item)
    if "of_criterion" in given:
        query = query.where(ratings.c.criterion == bindparam("of_criterion"))
    if "of_rater" in given:
        chosen = select(raters.c.seq).where(raters.c.id == bindparam("of_rater"))
        query = query.where(ratings.c.rater == chosen.scalar_subquery())
    if "of_item" in given:
        chosen = select(items.c.seq).where(items.c.id == bindparam("of_item"))
        query = query.where(ratings.c.item == chosen.scalar_subquery())
    if "of_digest" in given:
        chosen = select(protocols.c.seq).where(protocols.c.digest == bindparam("of_digest"))
        query = query.where(ratings.c.protocol == chosen.scalar_subquery())
    return query.where(ratings.c.item > bindparam("after")).order_by(ratings.c.item).limit(bindparam("size"))


def _decoded(page: Sequence[Any], names: dict[int, str], versions: Versions, history: bool) -> Iterator[Rating]:
    order = _order(versions)
    digests = {seq: digest for digest, (seq, _) in versions.by_digest.items()}
    rule = versions.current.rule.of
    replaced: dict[int, str] = {row[_SUPERSEDES]: "" for row in page if row[_SUPERSEDES]}
    for row in page:
        if row[0] in replaced:
            replaced[row[0]] = row[1]
    for row in sorted(page, key=lambda row: (row[_ITEM], row[_POSITION], order[row[_CRITERION]], row[0])):
        if history or row[0] not in replaced:
            unit = unit_id(row[_ITEM_ID], row[_POSITION], rule)
            yield rating_from(row, unit, names[row[_RATER]], digests[row[_PROTOCOL]], replaced.get(row[_SUPERSEDES]))


def _order(versions: Versions) -> dict[str, int]:
    """Criteria as the protocol in force has them, then those that only earlier ones had."""
    newest_first = [version.protocol for version in reversed(versions.adopted)]
    ids = dict.fromkeys(criterion.id for protocol in newest_first for criterion in protocol.criteria)
    return {criterion: place for place, criterion in enumerate(ids)}
