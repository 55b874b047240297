"""The store over SQL: the same statements for SQLite and PostgreSQL, which differ only in their `Backend`.

Whatever reads many rows reads them in pages by key, each page in a transaction of its own. A reader that takes its
time therefore holds nobody up, and in between the same store may write.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Protocol as Interface

from sqlalchemy import Connection, func, select

from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Status, Unit
from evenhand.store import work
from evenhand.store.append import Names, append
from evenhand.store.arrivals import read_arrivals
from evenhand.store.base import Added, NewUnits, ProtocolVersion, Replaced, ReplyKey, Run, StoredReply, Work
from evenhand.store.exchange import rated_units, replace_units
from evenhand.store.load import batches
from evenhand.store.migrations import Migration, migrate, schema_version
from evenhand.store.pending import Asked, count_pending, failure_times, read_pending
from evenhand.store.raters import introduce
from evenhand.store.reading import Wanted, read_ratings
from evenhand.store.replies import append_replies, find_replies, find_reply
from evenhand.store.runs import read_runs, write_run
from evenhand.store.schema import meta, raters, ratings
from evenhand.store.sql_people import SqlPeople
from evenhand.store.tabulating import documents, tabulate, unit_items
from evenhand.store.versions import Versions, check_fit, enact, read_versions
from evenhand.table import Tables


class Backend(Interface):
    """A database: transactions with its errors translated, and what else is its own."""

    location: str

    def reading(self) -> AbstractContextManager[Connection]: ...

    def writing(self) -> AbstractContextManager[Connection]: ...

    def backup(self, target: Path) -> None: ...

    def close(self) -> None: ...


class SqlStore:
    """A study in a database; see `base.Store` for what it promises."""

    def __init__(self, backend: Backend, migrations: Sequence[Migration]) -> None:
        self._backend = backend
        self._held: Connection | None = None
        self._shared: Connection | None = None
        self._spoilt = False
        self._names: Names | None = None
        self._people = SqlPeople(backend.location, self._reading, self._writing, self._versions_as_of)
        try:
            with backend.reading() as connection:
                found = schema_version(connection, backend.location, len(migrations))
            if found < len(migrations):
                with backend.writing() as connection:
                    # Somebody else may have brought it up to date while we waited.
                    migrate(connection, schema_version(connection, backend.location, len(migrations)), migrations)
            with backend.reading() as connection:
                self._versions: Versions = read_versions(connection, backend.location)
                totals = {row[0]: row[1] for row in connection.execute(select(meta.c.key, meta.c.value))}
            self._n_items = int(totals["items"])
            begun = f"{totals['created']} {self._versions.adopted[0].protocol.digest}"
            self._identity = sha256(begun.encode()).hexdigest()[:16]
        except BaseException:
            backend.close()
            raise

    @property
    def location(self) -> str:
        return self._backend.location

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def people(self) -> SqlPeople:
        return self._people

    def _versions_as_of(self, in_force: int) -> Versions:
        """The protocols, read again where the one of this number was put in force by another process."""
        if self._versions.by_digest[self.protocol.digest][0] != in_force:
            self.versions()
        return self._versions

    @property
    def protocol(self) -> Protocol:
        return self._versions.current

    @property
    def _rule(self) -> str:
        return self.protocol.rule.of

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        """A view of the study; the writer's own view while ratings that are being added are read from this store."""
        inside = self._held or self._shared
        if inside is not None:
            yield inside
        else:
            with self._backend.reading() as connection:
                yield connection

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        if self._held is not None:
            raise RuntimeError("ratings are being added: what yields them may read this store, but not write to it")
        with self._own_or_shared() as connection:
            self._held = connection
            try:
                yield connection
            except BaseException:
                self._spoilt = True
                raise
            finally:
                self._held = None

    @contextmanager
    def _own_or_shared(self) -> Generator[Connection]:
        if self._shared is not None:
            yield self._shared
        else:
            with self._backend.writing() as connection:
                yield connection

    @contextmanager
    def together(self) -> Generator[None]:
        if self._held is not None or self._shared is not None:
            raise RuntimeError("what is stored together does not begin within something that is being stored")
        self._spoilt = False
        try:
            with self._backend.writing() as connection:
                self._shared = connection
                yield
                if self._spoilt:
                    raise RuntimeError("a part of what was to be stored together failed, so nothing is stored")
        except BaseException:
            # They may name raters that came with what was not stored.
            self._names = None
            raise
        finally:
            self._shared = None

    def versions(self) -> Sequence[ProtocolVersion]:
        with self._reading() as connection:
            self._versions = read_versions(connection, self.location, self._versions)
        return self._versions.adopted

    def adopt(self, protocol: Protocol, source: str) -> None:
        self.versions()
        if protocol.digest == self.protocol.digest:
            return
        check_fit(self.location, self._versions, protocol, self.items())
        with self._writing() as connection:
            enact(connection, protocol, source)
        self.versions()

    def count_items(self) -> int:
        return self._n_items

    def count_units(self) -> int:
        with self._reading() as connection:
            return int(connection.execute(select(meta.c.value).where(meta.c.key == "units")).scalar_one())

    def items(self) -> Iterator[Item]:
        return work.all_items(self._reading)

    def items_at(self, numbers: Sequence[int]) -> Sequence[Item]:
        return work.items_at(self._reading, numbers)

    def item(self, item_id: str) -> Item | None:
        return work.one_item(self._reading, item_id)

    def items_of(self, item_ids: Sequence[str]) -> Mapping[str, Item]:
        return work.items_of(self._reading, item_ids)

    def units(self) -> Iterator[Unit]:
        return work.all_units(self._reading, self._rule)

    def units_of(self, item_ids: Sequence[str]) -> Mapping[str, Sequence[Unit]]:
        return work.units_of(self._reading, item_ids, self._rule)

    def unit(self, unit_id: str) -> Unit | None:
        return work.one_unit(self._reading, unit_id, self._rule)

    def rated_units(self, item_ids: Sequence[str]) -> Set[str]:
        with self._reading() as connection:
            return rated_units(connection, item_ids, self._rule)

    def replace_units(self, work: Iterable[NewUnits]) -> Replaced:
        with self._writing() as connection:
            return replace_units(
                connection, self.location, self._rule, work, lambda number: self._versions_as_of(number).current
            )

    def raters(self) -> Sequence[RaterRef]:
        columns = select(raters.c.id, raters.c.kind, raters.c.version, raters.c.config)
        with self._reading() as connection:
            rows = connection.execute(columns.order_by(raters.c.seq)).all()
        return [RaterRef(row[0], Kind(row[1]), row[2], row[3]) for row in rows]

    def add_rater(self, rater: RaterRef) -> None:
        with self._writing() as connection:
            introduce(connection, self.location, rater)

    def add_ratings(
        self,
        ratings: Iterable[Rating],
        *,
        raters: Iterable[RaterRef] = (),
        if_current: bool = False,
        keep_same: bool = False,
    ) -> Added:
        newcomers = list(raters)
        parts = batches(ratings)
        # The first batch is made before the lock is taken: an ordinary call keeps others out only while it stores.
        first = next(parts, list[Rating]())
        if not first and not newcomers:
            return Added()
        new = superseding = known = 0
        with self._writing() as connection:
            for rater in newcomers:
                introduce(connection, self.location, rater)
            names = self._names
            if names is None or any(rater.id not in names.raters for rater in newcomers):
                names = self._read_names(connection)
            for batch in chain([first], parts):
                if not names.cover(batch):
                    # Another process may have adopted a protocol, or brought a rater.
                    names = self._read_names(connection)
                added = append(connection, names, batch, if_current=if_current, keep_same=keep_same)
                new, superseding, known = new + added.new, superseding + added.superseding, known + added.known
        # Only now: what a transaction brought that was rolled back is not there.
        self._names = names
        return Added(new, superseding, known)

    def _read_names(self, connection: Connection) -> Names:
        versions = read_versions(connection, self.location)
        rows = connection.execute(select(raters.c.id, raters.c.seq))
        return Names(self.location, self._rule, versions.by_digest, {row[0]: row[1] for row in rows})

    def ratings(
        self,
        *,
        criterion: str | None = None,
        rater: str | None = None,
        item: str | None = None,
        digest: str | None = None,
        every_digest: bool = False,
        history: bool = False,
    ) -> Iterator[Rating]:
        if digest is not None and every_digest:
            raise ValueError("ask for one digest or for every digest, not for both")
        chosen = None if every_digest else digest or self.protocol.digest
        wanted = Wanted(criterion, rater, item, chosen, history)
        return read_ratings(self._reading, self.location, wanted, self._versions)

    def arrivals(
        self,
        *,
        after: int = 0,
        limit: int = 1000,
        criterion: str | None = None,
        rater: str | None = None,
        item: str | None = None,
        every_digest: bool = False,
        history: bool = False,
    ) -> Sequence[tuple[int, Rating]]:
        wanted = Wanted(criterion, rater, item, None if every_digest else self.protocol.digest, history)
        return read_arrivals(self._reading, self.location, wanted, after, limit)

    def count_ratings(self) -> Mapping[str, Mapping[Status, int]]:
        replaced = ratings.alias()
        every = select(ratings.c.protocol, ratings.c.status, func.count()).group_by(
            ratings.c.protocol, ratings.c.status
        )
        gone = (
            select(replaced.c.protocol, replaced.c.status, func.count())
            .join(ratings, ratings.c.supersedes == replaced.c.seq)
            .where(ratings.c.supersedes != 0)
            .group_by(replaced.c.protocol, replaced.c.status)
        )
        with self._reading() as connection:
            versions = read_versions(connection, self.location)
            counts = {(row[0], row[1]): row[2] for row in connection.execute(every)}
            for protocol, status, number in connection.execute(gone):
                counts[protocol, status] -= number
        in_force: dict[str, dict[Status, int]] = {}
        for digest, (seq, _) in versions.by_digest.items():
            found = {status: counts.get((seq, status.value), 0) for status in Status}
            if any(found.values()):
                in_force[digest] = {status: number for status, number in found.items() if number}
        return in_force

    def revision(self) -> int:
        with self._reading() as connection:
            return connection.execute(select(func.coalesce(func.max(ratings.c.seq), 0))).scalar_one()

    def pending(self, rater: str, *, failed: bool = False) -> Iterator[Work]:
        return read_pending(self._reading, self._asked(rater, failed))

    def count_pending(self, rater: str, *, failed: bool = False) -> tuple[int, int]:
        with self._reading() as connection:
            return count_pending(connection, self._asked(rater, failed))

    def failed_at(self, rater: str, unit_ids: Sequence[str]) -> Mapping[str, datetime]:
        with self._reading() as connection:
            return failure_times(connection, self._asked(rater, True), unit_ids)

    def _asked(self, rater: str, failed: bool) -> Asked:
        protocol = self.protocol
        criteria = [criterion.id for criterion in protocol.criteria]
        number = self._versions.by_digest[protocol.digest][0]
        return Asked(rater, number, criteria, failed, self._n_items, protocol.rule.of)

    def replies(self, keys: Sequence[ReplyKey]) -> Mapping[ReplyKey, StoredReply]:
        found: dict[ReplyKey, StoredReply] = {}
        for some in batches(keys):
            with self._reading() as connection:
                found |= find_replies(connection, some)
        return found

    def reply(self, reply_id: str) -> StoredReply | None:
        with self._reading() as connection:
            return find_reply(connection, reply_id)

    def add_replies(self, replies: Sequence[StoredReply]) -> None:
        if not replies:
            return
        with self._writing() as connection:
            for batch in batches(replies):
                append_replies(connection, self.location, batch)

    def save_run(self, run: Run) -> None:
        with self._writing() as connection:
            write_run(connection, self.location, run)

    def runs(self) -> Sequence[Run]:
        with self._reading() as connection:
            return read_runs(connection)

    def tables(self) -> Tables:
        protocol, known = self.protocol, self.raters()
        columns = select(raters.c.seq, raters.c.id)
        places = {rater.id: place for place, rater in enumerate(known)}
        with self._reading() as connection:
            by_seq = {row[0]: places[row[1]] for row in connection.execute(columns) if row[1] in places}
        clusters = unit_items(self._reading, protocol)
        protocol_seq = self._versions.by_digest[protocol.digest][0]
        n_units = self._n_items if clusters is None else len(clusters)
        made, failures = tabulate(self._reading, protocol, protocol_seq, by_seq, known, n_units, clusters)
        counts = self.count_ratings()
        labels = self._labels(protocol)
        return Tables(
            protocol,
            known,
            self._n_items,
            n_units,
            made,
            clusters,
            labels,
            [unit.answer for unit in self.units()] if protocol.rule.of == "question" else None,
            {digest: sum(found.values()) for digest, found in counts.items() if digest != protocol.digest},
            failures,
            documents(labels[protocol.cluster], clusters) if protocol.cluster else None,
            frozenset(member.rater for member in self.people.members() if member.role == "adjudicator"),
        )

    def _labels(self, protocol: Protocol) -> Mapping[str, Sequence[str | None]]:
        names = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
        if not names:
            return {}
        found: dict[str, list[str | None]] = {name: [] for name in names}
        for item in self.items():
            for name, values in found.items():
                value = item.fields.get(name)
                values.append(None if value is None else str(value))
        return found

    def backup(self, target: Path) -> None:
        self._backend.backup(target)

    def close(self) -> None:
        self._backend.close()

    def __enter__(self) -> "SqlStore":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
