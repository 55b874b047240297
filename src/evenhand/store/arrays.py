"""Ratings → arrays for statistics, in one pass over the numbers that the database has anyway: to build a Rating of each
of three million rows would take longer than all the statistics."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from sqlalchemy import Connection, bindparam, func, select

from evenhand.analysis.tables import TableBuilder, Tables, built, table_builders
from evenhand.protocol.model import SCORES, Protocol
from evenhand.records import FieldValue, Kind, RaterRef, Status, Value
from evenhand.statistics import IntArray
from evenhand.store.database import BATCH, Database, decode, next_seq
from evenhand.store.protocols import Versions
from evenhand.store.schema import current, items, members, raters, ratings, units

PAGE = 20_000

_Row = tuple[int, int, str, int, str, str | None, str | None]
"""Item, position, criterion, rater, status, value, details."""

_STATUS = {status.value: status for status in Status}

# All ratings in the order of their arrival, not only the current ones: the tables keep the last of each cell anyway,
# and a lookup in `current` for each row would take longer.
_ROWS = (
    select(*ratings.c["item", "position", "criterion", "rater", "status", "value", "details"])
    .where(ratings.c.protocol == bindparam("of_protocol"))
    .where(ratings.c.seq > bindparam("after"), ratings.c.seq <= bindparam("end"))
    .order_by(ratings.c.seq)
)
_RATERS = (
    select(raters.c.seq, raters.c.id, raters.c.kind, raters.c.version, raters.c.config, members.c.role)
    .outerjoin_from(raters, members, members.c.rater == raters.c.seq)
    .order_by(raters.c.seq)
)


def read_tables(database: Database, versions: Versions) -> Tables:
    """The current ratings under the current protocol."""
    protocol = versions.current
    with database.reading() as connection:
        known = connection.execute(_RATERS).all()
        clusters, references, unit_fields = _units(connection, protocol)
        columns = _columns(connection, protocol)
        last, n_items = next_seq(connection, ratings) - 1, next_seq(connection, items) - 1
        counts = connection.execute(select(current.c.protocol, func.count()).group_by(current.c.protocol)).all()
    found = [RaterRef(row[1], Kind(row[2]), row[3], row[4]) for row in known]
    adjudicators = frozenset(row[1] for row in known if row[5] == "adjudicator")
    left_out = {versions.digests[number]: count for number, count in counts if number != versions.current_number}
    labels = {name: cast("Sequence[str | None]", columns.pop(name)) for name in _label_fields(protocol)}
    documents = _documents(labels[protocol.cluster], clusters) if protocol.cluster else None
    n_units = n_items if clusters is None else len(clusters)
    places = {row[0]: place for place, row in enumerate(known)}
    builders = table_builders(protocol, n_items, n_units, len(found))
    failed = _tabulate(_rows(database, versions.current_number, last), places, clusters, builders)
    failures: dict[str, Counter[str]] = {}
    for place, reason in failed:
        failures.setdefault(found[place].id, Counter())[reason] += 1
    tables, scores = built(builders)
    return Tables(
        protocol,
        found,
        n_items,
        n_units,
        tables,
        clusters=clusters,
        labels=labels,
        references=references,
        left_out=left_out,
        failures=failures,
        documents=documents,
        adjudicators=adjudicators,
        fields=columns,
        unit_fields=unit_fields,
        scores=scores,
    )


_Parts = Sequence[str | None] | None
"""A part of each unit's content; None if the units have no such part."""


def _units(connection: Connection, protocol: Protocol) -> tuple[IntArray | None, _Parts, _Parts]:
    """Each unit's item, counted from 0, or None if every item is its own only unit; the references' answers to
    questions; and the field that each claim comes from."""
    rule = protocol.rule.of
    if rule == "item":
        return None, None, None
    rows = connection.execute(select(units.c.item, units.c.content).order_by(units.c.item, units.c.position))
    key = {"question": "answer", "claim": "field"}.get(rule)
    if key is None:
        return np.fromiter((row[0] for row in rows), dtype=np.int64) - 1, None, None
    found = [(item, decode(content or "{}").get(key)) for item, content in rows]
    parts = [part for _, part in found]
    places = np.array([item for item, _ in found], dtype=np.int64) - 1
    return (places, parts, None) if rule == "question" else (places, None, parts)


def _label_fields(protocol: Protocol) -> Sequence[str]:
    return [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]


def _columns(connection: Connection, protocol: Protocol) -> dict[str, list[FieldValue | None]]:
    """The label fields of all items, and the fields that measures read, each as a list with None for a gap."""
    found: dict[str, list[FieldValue | None]] = {
        name: [] for name in (*_label_fields(protocol), *protocol.measured_fields)
    }
    if found:
        query = select(items.c.fields).order_by(items.c.seq).execution_options(yield_per=BATCH)
        for text in connection.execute(query).scalars():
            fields = decode(text)
            for name, values in found.items():
                value = fields.get(name)
                values.append(tuple(cast("list[str]", value)) if isinstance(value, list) else value)
    return found


def _documents(names: Sequence[str | None], clusters: IntArray | None) -> IntArray | None:
    """Each unit's document, numbered in order of appearance; an item that names none is a document by itself.

    None if no two items share a document.
    """
    numbers: dict[str | int, int] = {}
    of_items = [numbers.setdefault(item if name is None else name, len(numbers)) for item, name in enumerate(names)]
    if len(numbers) == len(names):
        return None
    found = np.array(of_items, dtype=np.int64)
    return found if clusters is None else found[clusters]


def _tabulate(
    rows: Iterable[_Row],
    places: Mapping[int, int],
    clusters: IntArray | None,
    builders: Mapping[str, TableBuilder],
) -> Iterable[tuple[int, str]]:
    """Fill the tables, those of overlap scores by item, and return the current failures: the rater's place and the
    reason. Of a cell's ratings the last counts."""
    first_units: list[int] = []
    if clusters is not None:
        counts = np.bincount(clusters)
        first_units = (np.cumsum(counts) - counts).tolist()
    values: dict[str, Value] = {}
    failed: dict[tuple[str, int, int], tuple[int, str]] = {}
    for item, position, criterion, rater, status, text, details in rows:
        is_score = criterion in SCORES
        if is_score and position > 1:
            continue
        unit = item - 1 if clusters is None or is_score else first_units[item - 1] + position - 1
        place, has_failed = places[rater], status == Status.FAILED
        if text is not None and text not in values:
            values[text] = decode(text)
        # Nearly all details have no confidence, and looking for the word is a tenth of the cost of parsing the JSON.
        known: dict[str, Any] = decode(details) if details and (has_failed or '"confidence"' in details) else {}
        value = None if text is None else values[text]
        builders[criterion].add(unit, place, _STATUS[status], value, known.get("confidence"))
        if has_failed:
            failed[criterion, unit, place] = place, str(known.get("reason"))
        elif failed:
            failed.pop((criterion, unit, place), None)
    return failed.values()


def _rows(database: Database, protocol: int, last: int) -> Iterator[_Row]:
    """Ratings in the order of their arrival up to number `last`, page by page."""
    for after in range(0, last, PAGE):
        asked = {"of_protocol": protocol, "after": after, "end": min(after + PAGE, last)}
        yield from cast("Sequence[_Row]", database.read(_ROWS, asked))
