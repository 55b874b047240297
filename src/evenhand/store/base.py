"""What a store promises, whichever database is behind it. `tests/contracts/test_store.py` holds every one to it.

1. Ratings are append-only. A rating that was stored is never changed or removed; a later one of the same unit,
   criterion, rater and protocol digest supersedes it and names it. The history of a cell is one line, never a tree.
2. When `add_ratings` returns, the ratings are on the disk: they outlive the end of this process, however it ends.
   When it raises, none of them is there.
3. A rating is known by its id. Sending the same one twice stores it once, so a writer that does not know whether its
   call went through may repeat it.
4. Any number of processes may write at once. They wait for one another; nobody sees "database is locked".
5. Every rating carries the digest of the protocol it was made under. Reading gives the ratings of the current protocol
   unless another digest, or all, is asked for: ratings of two digests are never mixed unasked.
6. Items do not change once the study is made. Their order is the order in which they came. Units follow from them and
   do not change either, but for questions, which `replace_units` exchanges: a unit that anybody has rated or tried, in
   whatever way and under whichever protocol, stays for good as it is and where it is. The positions of an item's units
   are 1, 2, 3 … without gaps. Items are given out to people by the units they have now.
7. `create_store` makes a whole study or nothing. Opening a study and reading one item, unit or rating takes the same
   time whatever the study's size; everything that reads many is an iterator. An iterator holds nobody up and shows each
   item as it is when its turn comes; for everything at one moment, read a backup.
8. Errors of the database come out as `StudyError`.
9. Replies of models are append-only, too. When `add_replies` returns, the replies are on the disk; when it raises,
   none of them is there. A reply is known by its id: sent twice, it is stored once. Of several replies under one key
   the one stored last counts; the others stay.
10. A run is written over as it goes on: what `save_run` was given last is what `runs` shows.
11. `pending` and `count_pending` look only at ratings by this rater under the protocol in force when they are called. A
    unit with such a rating on any criterion and of any status is rated; one with a failed rating in force is pending
    again if it is asked for. Between two pages `pending` keeps nothing open, its memory does not grow with the study,
    and no item is left out or comes twice because of ratings that are stored meanwhile.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from typing import Protocol as Interface

from evenhand.llm.base import Reply
from evenhand.protocol.model import Protocol
from evenhand.records import Item, RaterRef, Rating, Status, Unit
from evenhand.store.people import People
from evenhand.table import Tables

Work = tuple[Item, Sequence[Unit]]
"""An item with its units, as a study is filled. Where the unit is the whole item, its one unit may be left out."""

NewUnits = tuple[str, Sequence[Unit]]
"""An item's id with all the units that it is to have."""


@dataclass(frozen=True, slots=True)
class ProtocolVersion:
    """A protocol under which this study was or is rated; `source` is the name or path it was read from."""

    protocol: Protocol
    source: str
    adopted: datetime


@dataclass(frozen=True, slots=True)
class Added:
    """What became of ratings that were sent: `known` were stored before under the same id or say the same again."""

    new: int = 0
    superseding: int = 0
    known: int = 0


@dataclass(frozen=True, slots=True)
class Replaced:
    """What became of the units of the items that were given others."""

    kept: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0

    def plus(self, other: "Replaced") -> "Replaced":
        return Replaced(
            self.kept + other.kept,
            self.changed + other.changed,
            self.added + other.added,
            self.removed + other.removed,
        )


@dataclass(frozen=True, slots=True)
class ReplyKey:
    """What a reply answers: `prompt` is the digest of all the model read, `sample` tells repeated requests apart."""

    prompt: str
    model: str
    parameters: str
    sample: int = 0


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A model's reply as it is kept: nothing is read out of it yet."""

    id: str
    key: ReplyKey
    reply: Reply
    at: datetime


RunState = Literal["running", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Run:
    """One rater's work through a study by a program. `settings` and `counts` hold what JSON can."""

    id: str
    rater: str
    started: datetime
    ended: datetime | None
    state: RunState
    settings: Mapping[str, object]
    counts: Mapping[str, object]


class Store(Interface):
    """A study, open. Use it as a context manager; one object belongs to one thread."""

    @property
    def location(self) -> str:
        """The path, or the URL without its password."""
        ...

    @property
    def identity(self) -> str:
        """A name that no other study has, and that this one keeps wherever it is moved; copies share it."""
        ...

    @property
    def people(self) -> People:
        """Who may rate at the page, and who has what in hand."""
        ...

    @property
    def protocol(self) -> Protocol:
        """The protocol in force, as of opening or the last call of `versions`, `adopt`, or what gives out tasks.

        It does not change under a caller's hands when another process adopts one; ratings made under either are kept.
        """
        ...

    def together(self) -> AbstractContextManager[None]:
        """Everything that is read and stored in this block is one transaction: all of it, or, where the block raises,
        nothing. Others wait meanwhile. A call that failed within spoils the rest: the block must raise, too."""
        ...

    def versions(self) -> Sequence[ProtocolVersion]:
        """Every protocol this study was rated under, oldest first; the last is in force."""
        ...

    def adopt(self, protocol: Protocol, source: str) -> None:
        """Put a changed protocol in force. Ratings made so far keep their digest and stay out of sight by default.

        Refused (StudyError) where the stored items and units do not fit: another unit rule, or a required field that
        the items do not have. Adopting the protocol in force, or an earlier one again, is fine.
        """
        ...

    def count_items(self) -> int: ...

    def count_units(self) -> int: ...

    def items(self) -> Iterator[Item]: ...

    def items_at(self, numbers: Sequence[int]) -> Sequence[Item]:
        """Items by their place in the order, counted from 0."""
        ...

    def item(self, item_id: str) -> Item | None: ...

    def items_of(self, item_ids: Sequence[str]) -> Mapping[str, Item]:
        """These items; an id that is not there is absent from the answer."""
        ...

    def units(self) -> Iterator[Unit]:
        """All units, item by item, in order of position."""
        ...

    def units_of(self, item_ids: Sequence[str]) -> Mapping[str, Sequence[Unit]]:
        """The units of these items; an id that is not there is absent from the answer."""
        ...

    def unit(self, unit_id: str) -> Unit | None: ...

    def rated_units(self, item_ids: Sequence[str]) -> Set[str]:
        """Ids of the units of these items that `replace_units` would not touch: those with a rating or a trial."""
        ...

    def replace_units(self, work: Iterable[NewUnits]) -> Replaced:
        """Give items other questions, in one transaction; an item that is not named keeps its own.

        StudyError, and nothing changed, where a unit with ratings would change, move or vanish (all of them are named),
        where somebody has an item in hand at the page whose questions would change or vanish, where an item is not
        there or is named twice, and where the unit is not a question. Whoever was done with an item that now has more
        questions has it in hand again. While the iterable is read it may read this store, but not write to it.
        """
        ...

    def raters(self) -> Sequence[RaterRef]:
        """Everybody who may rate here, in order of arrival."""
        ...

    def add_rater(self, rater: RaterRef) -> None:
        """Make a rater known. Again with the same kind: its version and configuration are brought up to date; with
        another kind: StudyError."""
        ...

    def add_ratings(
        self,
        ratings: Iterable[Rating],
        *,
        raters: Iterable[RaterRef] = (),
        if_current: bool = False,
        keep_same: bool = False,
    ) -> Added:
        """Store ratings, and make `raters` known first, in one transaction.

        `if_current`: each rating's `supersedes` must name the rating in force (None: there is none yet), otherwise
        ConflictError; without it the store fills `supersedes` in. `keep_same`: a rating that says the same as the one
        in force (status, value, rationale, confidence, notes, evidence, misquoted, distribution, mean) is passed over
        and counted as known. A rating of an unknown unit, criterion, rater or digest is a StudyError, and so is one
        that does not fit its protocol: a value, there or in the distribution, that is not the very one its scale reads,
        a confidence beyond 0 to 100, probabilities that do not sum to 1, a mean beyond the scale. The reply that a
        rating names need not be here. If the iterable raises, nothing is stored. While it is read it may read this
        store, but not write to it.
        """
        ...

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
        """Ratings in the order of units, then criteria as the protocol in force has them, then arrival.

        Those in force only, unless `history`; of the current protocol only, unless `digest` or `every_digest`.
        """
        ...

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
        """Ratings in the order in which they came, each with its number, which is the `revision` it made.

        Those after `after`, at most `limit`; in force and of the current protocol only, unless asked otherwise. A
        rating that is changed comes again under a higher number.
        """
        ...

    def count_ratings(self) -> Mapping[str, Mapping[Status, int]]:
        """Ratings in force by protocol digest and status."""
        ...

    def revision(self) -> int:
        """A number that grows with every rating that is stored: the same number, the same ratings."""
        ...

    def pending(self, rater: str, *, failed: bool = False) -> Iterator[Work]:
        """Every item with the units that this rater has yet to rate, in the order of the study.

        An item without such units is passed over. `failed`: units with a failed rating in force count among them.
        """
        ...

    def count_pending(self, rater: str, *, failed: bool = False) -> tuple[int, int]:
        """How many items and units `pending` would give now."""
        ...

    def failed_at(self, rater: str, unit_ids: Sequence[str]) -> Mapping[str, datetime]:
        """When the latest failed rating in force of each of these units was made, by this rater under the protocol in
        force; a unit without one is absent."""
        ...

    def replies(self, keys: Sequence[ReplyKey]) -> Mapping[ReplyKey, StoredReply]:
        """The reply stored last under each of these keys; a key without one is absent."""
        ...

    def reply(self, reply_id: str) -> StoredReply | None: ...

    def add_replies(self, replies: Sequence[StoredReply]) -> None:
        """Store replies, in one transaction."""
        ...

    def save_run(self, run: Run) -> None:
        """Store a run, or bring one of the same id up to date."""
        ...

    def runs(self) -> Sequence[Run]:
        """Every run, in order of their start."""
        ...

    def tables(self) -> Tables:
        """The ratings in force under the current protocol as arrays, for statistics."""
        ...

    def backup(self, target: Path) -> None:
        """A consistent copy as a SQLite study while others go on writing; the target must not exist."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> "Store": ...

    def __exit__(self, *exc: object) -> None: ...
