"""The protocols of a study: which were adopted, which is in force, and whether a changed one fits the stored items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Column, Connection, func, insert, select

from evenhand.errors import NewerStudyError, StudyError
from evenhand.protocol.model import FieldSpec, Protocol
from evenhand.records import FieldValue, Item, Triple, now
from evenhand.store.base import ProtocolVersion
from evenhand.store.schema import adoptions, protocols


@dataclass(frozen=True, slots=True)
class Versions:
    """Every protocol of a study: by digest with its number, and in order of its last adoption."""

    by_digest: Mapping[str, tuple[int, Protocol]]
    adopted: Sequence[ProtocolVersion]
    adoptions: int

    @property
    def current(self) -> Protocol:
        return self.adopted[-1].protocol


_ADOPTIONS = select(func.coalesce(func.max(adoptions.c.seq), 0))


def read_versions(connection: Connection, location: str, known: Versions | None = None) -> Versions:
    """The protocols as they are now: `known` itself where none was adopted since, for neither is ever changed."""
    so_far: int = connection.execute(_ADOPTIONS).scalar_one()
    if known is not None and known.adoptions == so_far:
        return known
    rows = connection.execute(select(protocols.c.seq, protocols.c.digest, protocols.c.document)).all()
    by_digest: dict[str, tuple[int, Protocol]] = {}
    by_seq: dict[int, Protocol] = {}
    for seq, digest, document in rows:
        by_seq[seq] = _protocol(location, document)
        by_digest[digest] = seq, by_seq[seq]
    columns = select(adoptions.c.protocol, adoptions.c.source, adoptions.c.at)
    last: dict[int, ProtocolVersion] = {}
    for seq, source, at in connection.execute(columns.order_by(adoptions.c.seq)):
        # Adopted again, a protocol moves to the end of the line.
        last.pop(seq, None)
        last[seq] = ProtocolVersion(by_seq[seq], source, datetime.fromisoformat(at))
    return Versions(by_digest, list(last.values()), so_far)


def _protocol(location: str, document: str) -> Protocol:
    try:
        return _parsed(document)
    except ValidationError as error:
        raise NewerStudyError(
            f"{location}: the protocol of this study has parts that this version of Evenhand does not know; "
            "upgrade with: pip install --upgrade evenhand"
        ) from error


@lru_cache(maxsize=32)
def _parsed(document: str) -> Protocol:
    """Versions are read again with every batch of ratings, protocols never change: parse each once."""
    return Protocol.model_validate_json(document)


def enact(connection: Connection, protocol: Protocol, source: str) -> None:
    """Put a protocol in force; it may be new, or an earlier one again."""
    seq = connection.execute(select(protocols.c.seq).where(protocols.c.digest == protocol.digest)).scalar()
    if seq is None:
        seq = _next(connection, protocols.c.seq)
        values = {"seq": seq, "digest": protocol.digest, "document": protocol.canonical()}
        connection.execute(insert(protocols).values(**values))
    adoption = {"seq": _next(connection, adoptions.c.seq), "protocol": seq, "source": source, "at": now().isoformat()}
    connection.execute(insert(adoptions).values(**adoption))


def _next(connection: Connection, column: Column[Any]) -> int:
    return connection.execute(select(func.coalesce(func.max(column), 0))).scalar_one() + 1


def check_fit(location: str, versions: Versions, protocol: Protocol, items: Iterable[Item]) -> None:
    """Raise StudyError where the stored items and units cannot be rated under a changed protocol."""
    current = versions.current
    if protocol.unit != current.unit:
        raise StudyError(
            f"{location}: the units of this study are {current.unit!r}, and {protocol.name} wants {protocol.unit!r}; "
            "make a new study for it"
        )
    changed = {
        name: spec for name, spec in protocol.item.fields.items() if not _at_most(spec, current.item.fields.get(name))
    }
    problems = _misfits(changed, items) if changed else []
    if problems:
        raise StudyError(
            f"{location}: {protocol.name} does not fit the items of this study: {'; '.join(problems)}. "
            "Make a new study with items that have them, or change the protocol"
        )


def _at_most(spec: FieldSpec, before: FieldSpec | None) -> bool:
    """Whether a field asks nothing of the items that it did not ask before."""
    if before is None or (spec.required and not before.required):
        return False
    return spec.kind == before.kind and (spec.labels is None or spec.labels == before.labels)


def _misfits(changed: Mapping[str, FieldSpec], items: Iterable[Item]) -> list[str]:
    wrong: dict[tuple[str, str], list[str]] = {}
    for item in items:
        for name, spec in changed.items():
            value = item.fields.get(name)
            if value is None and spec.required:
                wrong.setdefault((name, "do not have it"), []).append(item.id)
            elif value is not None and not _fits(value, spec):
                wrong.setdefault((name, f"have something else than a {spec.kind} of this protocol"), []).append(item.id)
    return [
        f"field {name!r}: {len(ids):,} items {what}, the first is {ids[0]!r}" for (name, what), ids in wrong.items()
    ]


def _fits(value: FieldValue, spec: FieldSpec) -> bool:
    if spec.kind == "number":
        return isinstance(value, float)
    if spec.kind == "triples":
        return isinstance(value, tuple) and all(isinstance(part, Triple) for part in value)
    if spec.kind == "passages":
        return isinstance(value, tuple) and not any(isinstance(part, Triple) for part in value)
    return isinstance(value, str) and (spec.labels is None or value in spec.labels)
