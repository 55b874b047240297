"""The protocols of a study: which were adopted, and whether a changed one fits the stored items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from pydantic import ValidationError
from sqlalchemy import Connection, func, insert, select

from evenhand.errors import NewerStudyError, StudyError
from evenhand.protocol.load import source_digest
from evenhand.protocol.model import FieldSpec, Protocol
from evenhand.records import FieldValue, Item, Triple, now
from evenhand.store.database import Database, next_seq
from evenhand.store.items import Items
from evenhand.store.schema import adoptions, protocols

_ADOPTIONS = select(adoptions).order_by(adoptions.c.seq)
_LAST_ADOPTION = select(func.max(adoptions.c.seq))


@dataclass(frozen=True, slots=True)
class ProtocolVersion:
    """A protocol that this study was or is rated under; `source` is the name or path it was read from, and
    `source_digest` identifies the text that was there."""

    protocol: Protocol
    source: str
    source_digest: str
    adopted: datetime


@dataclass(frozen=True, slots=True)
class Versions:
    """Every protocol of a study: by digest with its number, and in the order of its last adoption."""

    by_digest: Mapping[str, tuple[int, Protocol]]
    digests: Mapping[int, str]
    adopted: Sequence[ProtocolVersion]
    adoptions: int
    current: Protocol
    current_number: int


@dataclass
class Protocols:
    """The protocols of a study; every rating carries the digest of the one it was made under.

    `known` changes only when this object reads the protocols again, not whenever another process adopts one.
    """

    _database: Database
    _items: Items
    known: Versions

    def versions(self) -> Sequence[ProtocolVersion]:
        """Every protocol this study was rated under, oldest first; the last is current. Reads them again."""
        with self._database.reading() as connection:
            return self.refresh(connection).adopted

    def refresh(self, connection: Connection) -> Versions:
        """The protocols as they are now; read again only if one was adopted in the meantime."""
        self.known = read_versions(connection, self.known)
        return self.known

    def adopt(self, protocol: Protocol, source: str) -> None:
        """Make a changed protocol the current one. Ratings made so far keep their digest and are hidden by default.

        Raises StudyError if the stored items and units do not fit: another unit rule, or a required field that the
        items do not have. Adopting the current protocol, or an earlier one again, is fine.
        """
        with self._database.reading() as connection:
            before = self.refresh(connection).current
            if protocol.digest == before.digest:
                return
            _check_fit(before, protocol, self._items.all())
        with self._database.transaction() as connection:
            add_adoption(connection, protocol, source)
            self.refresh(connection)


def read_versions(connection: Connection, known: Versions | None = None) -> Versions:
    """The protocols as they are now: `known` itself if none was adopted since, because none ever changes."""
    if known is not None and known.adoptions == connection.execute(_LAST_ADOPTION).scalar():
        return known
    rows = connection.execute(select(protocols.c.seq, protocols.c.digest, protocols.c.document)).all()
    by_digest = {digest: (seq, _read_protocol(document)) for seq, digest, document in rows}
    by_seq = dict(by_digest.values())
    adopted = connection.execute(_ADOPTIONS).all()
    last: dict[int, ProtocolVersion] = {}
    for row in adopted:
        # A protocol that is adopted again moves to the end.
        last.pop(row.protocol, None)
        at = datetime.fromisoformat(row.at)
        last[row.protocol] = ProtocolVersion(by_seq[row.protocol], row.source, row.source_digest, at)
    digests, current = {row[0]: row[1] for row in rows}, adopted[-1].protocol
    return Versions(by_digest, digests, list(last.values()), adopted[-1].seq, by_seq[current], current)


@lru_cache(maxsize=32)
def _read_protocol(document: str) -> Protocol:
    """Versions are read with every batch of ratings and protocols never change, so each is parsed once."""
    try:
        return Protocol.model_validate_json(document)
    except ValidationError as error:
        raise NewerStudyError(
            "the protocol of this study has parts that this version of Evenhand does not know; "
            "install a newer version of Evenhand"
        ) from error


def add_adoption(connection: Connection, protocol: Protocol, source: str) -> None:
    """Make a protocol the current one; it may be new, or an earlier one again."""
    seq = connection.execute(select(protocols.c.seq).where(protocols.c.digest == protocol.digest)).scalar()
    if seq is None:
        seq = next_seq(connection, protocols)
        connection.execute(insert(protocols).values(seq=seq, digest=protocol.digest, document=protocol.canonical()))
    adoption = {"protocol": seq, "source": source, "source_digest": source_digest(source), "at": now().isoformat()}
    connection.execute(insert(adoptions).values(seq=next_seq(connection, adoptions), **adoption))


def _check_fit(current: Protocol, protocol: Protocol, items: Iterable[Item]) -> None:
    """Raise StudyError if the stored items and units cannot be rated under a changed protocol."""
    if protocol.unit != current.unit:
        raise StudyError(
            f"the unit of this study is {current.unit!r}, and that of {protocol.name} is {protocol.unit!r}; "
            "create a new study for it"
        )
    changed = {name: spec for name, spec in protocol.item.fields.items() if spec != current.item.fields.get(name)}
    wrong: dict[tuple[str, str], list[str]] = {}
    for item in items if changed else ():
        for name, spec in changed.items():
            value = item.fields.get(name)
            if value is None and spec.required:
                wrong.setdefault((name, "do not have it"), []).append(item.id)
            elif value is not None and not _fits(value, spec):
                wrong.setdefault((name, f"have a value that is not a {spec.kind} of this protocol"), []).append(item.id)
    if wrong:
        problems = "; ".join(
            f"field {name!r}: {len(ids):,} items {what}, the first is {ids[0]!r}" for (name, what), ids in wrong.items()
        )
        raise StudyError(
            f"{protocol.name} does not fit the items of this study: {problems}. "
            "Create a new study with items that have these fields, or change the protocol"
        )


def _fits(value: FieldValue, spec: FieldSpec) -> bool:
    if spec.kind == "number":
        return isinstance(value, float)
    if spec.kind == "triples":
        return isinstance(value, tuple) and all(isinstance(part, Triple) for part in value)
    if spec.kind in ("passages", "ids"):
        return isinstance(value, tuple) and not any(isinstance(part, Triple) for part in value)
    return isinstance(value, str) and (spec.labels is None or value in spec.labels)
