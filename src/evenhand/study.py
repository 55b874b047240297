"""A study: one protocol, its items, units and ratings. Where files meet the store."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Literal, get_args

from evenhand.errors import DuplicateItemError, InputError, Problem, ProtocolError, UserError, counted, some_of
from evenhand.formats.blind import filled_fields, write_blind
from evenhand.formats.items import Items, content_id, duplicate_rows
from evenhand.formats.questions import Questions, in_place, read_questions, write_questions
from evenhand.formats.ratings_in import open_ratings
from evenhand.formats.ratings_out import diagnosis_sheet, long_sheet, wide_sheet
from evenhand.formats.summary import ImportSummary
from evenhand.formats.writing import Sheet, write_table
from evenhand.protocol.load import available, load_protocol
from evenhand.protocol.model import Protocol
from evenhand.questeval.cloze import cloze
from evenhand.questeval.key_info import key_info
from evenhand.records import Item, Kind, RaterRef, Rating, Unit
from evenhand.sampling import Draw, draw
from evenhand.store.base import Added, NewUnits, ProtocolVersion, Replaced, Store, Work
from evenhand.store.open import create_store, open_store
from evenhand.units import Question, split

Shape = Literal["long", "wide", "blind", "diagnosis"]

Progress = Callable[[Iterable[Item]], Iterable[Item]]
"""Wraps the items on their way into a study, to show how far it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """The protocol a study was made with reads differently now; the study goes on with its own copy."""

    location: str
    source: str
    before: Protocol
    after: Protocol

    def __str__(self) -> str:
        versions = (
            f"{self.before.version} → {self.after.version}, " if self.before.version != self.after.version else ""
        )
        return (
            f"the protocol {self.source} has changed since {self.location} took it ({versions}digest "
            f"{self.before.digest[:12]} → {self.after.digest[:12]}). The study goes on with its own copy. "
            f"To rate under the new version from here on: evenhand protocol adopt {self.location} {self.source}"
        )


class Study:
    """An open study. Use it as a context manager, or close it."""

    def __init__(self, store: Store, change: Change | None = None) -> None:
        self.store = store
        self.change = change

    @classmethod
    def create(
        cls,
        location: str | Path,
        protocol: Protocol | str | Path,
        items: Items | Iterable[Item],
        *,
        questions: Mapping[str, Sequence[Question]] | None = None,
        source: str | None = None,
        progress: Progress | None = None,
    ) -> "Study":
        """Make a study at a path or `postgresql://` URL: the whole of it, or nothing.

        `protocol` is a name, a file or a protocol; `source` says where a protocol came from, so that a later change of
        its file is noticed. Where the unit is a question and no `questions` are given, they are made from the
        references without a model; see `cloze_questions`.
        """
        if isinstance(protocol, str | Path):
            source = source or origin(protocol)
            protocol = load_protocol(protocol)
        if questions is not None and protocol.rule.of != "question":
            raise UserError(
                f"{protocol.name}: the unit is {protocol.unit!r}, so a study takes no questions: leave --questions out"
            )
        stream = progress(items) if progress else items
        try:
            store = create_store(str(location), protocol, source or "", _work(protocol, stream, questions))
        except DuplicateItemError as error:
            if isinstance(items, Items):
                raise duplicate_rows(items, dict(error.duplicates)) from error
            raise
        return cls(store)

    @classmethod
    def open(cls, location: str | Path, *, check_source: bool = True) -> "Study":
        """Open a study; `change` is set where its protocol's file or built-in version reads differently by now."""
        store = open_store(str(location))
        return cls(store, _change(store) if check_source else None)

    @property
    def protocol(self) -> Protocol:
        """The protocol in force."""
        return self.store.protocol

    def items(self) -> Iterator[Item]:
        return self.store.items()

    def item(self, item_id: str) -> Item | None:
        return self.store.item(item_id)

    def units(self) -> Iterator[Unit]:
        return self.store.units()

    def raters(self) -> Sequence[RaterRef]:
        return self.store.raters()

    def ratings(self, *, criterion: str | None = None, rater: str | None = None) -> Iterator[Rating]:
        """The ratings in force under the current protocol."""
        return self.store.ratings(criterion=criterion, rater=rater)

    def versions(self) -> Sequence[ProtocolVersion]:
        """Every protocol this study was rated under, oldest first; the last is in force."""
        return self.store.versions()

    def version(self, digest: str) -> Protocol:
        """The protocol of this study whose digest begins so. Raises UserError where there is not exactly one."""
        found = [version.protocol for version in self.versions() if version.protocol.digest.startswith(digest.lower())]
        if len(found) == 1 and digest:
            return found[0]
        there = some_of([version.protocol.digest[:12] for version in self.versions()])
        what = "more than one version" if found else "no version"
        raise UserError(f"{self.store.location}: {what} of the protocol has a digest that begins with {digest!r}; "
                        f"there are: {there}")  # fmt: skip

    def adopt(self, protocol: Protocol | str | Path) -> None:
        """Put a changed protocol in force; ratings under the earlier one stay, and stay apart.

        `protocol` is a name, a file, a protocol, or the beginning of the digest of an earlier one of this study.
        """
        if isinstance(protocol, str) and _may_be_digest(protocol):
            protocol = self.version(protocol)
        if isinstance(protocol, Protocol):
            # Whoever goes back to an earlier version knows that its file reads differently: no source, no notice.
            self.store.adopt(protocol, "")
        else:
            self.store.adopt(load_protocol(protocol), origin(protocol))
        self.change = None

    def import_ratings(
        self,
        path: str | Path,
        *,
        rater: str | None = None,
        kind: Kind | None = None,
        id_column: str | None = None,
        mapping: Mapping[str, str] | None = None,
    ) -> tuple[ImportSummary, Added]:
        """Bring in a long or wide rating file: every cell of it, or, where one is wrong, none.

        Raises InputError with all bad cells. A rating that says what the study has already is passed over; one that
        says something else supersedes it.
        """
        file = open_ratings(
            path,
            self.protocol,
            rater=rater,
            kind=kind,
            id_column=id_column,
            columns=mapping,
            known=self.store.raters(),
            content_id=content_id,
        )
        ratings = file.ratings(self.store.units_of, self.store.items_of)
        added = self.store.add_ratings(ratings, raters=file.raters, keep_same=True)
        return file.summary, added

    def export_ratings(
        self, path: str | Path, shape: Shape = "long", *, digest: str | None = None, overwrite: bool = False
    ) -> int:
        """Write ratings to a file and say how many rows it has.

        `long`: a row for each rating, as `import_ratings` reads it; `wide`: a row for each unit; `diagnosis`: a row
        for each unit and criterion with what was used and why not; `blind`: a sheet to fill in, without ratings.
        `digest`, or its beginning: the ratings under that version of the protocol, long or wide. An existing file is
        refused unless `overwrite`: a rater's work may be in it.
        """
        if shape not in get_args(Shape):
            raise UserError(f"there is no shape {shape!r}; there are: {', '.join(get_args(Shape))}")
        if digest is not None and shape not in ("long", "wide"):
            raise UserError(f"a digest goes with the shapes long and wide, not with {shape}")
        if shape == "blind":
            fields = filled_fields(self.protocol, self.items())
            return write_blind(path, self.protocol, self.work(), fields=fields, overwrite=overwrite)
        protocol = self.protocol if digest is None else self.version(digest)
        return write_table(path, self._sheet(shape, protocol), overwrite=overwrite)

    def _sheet(self, shape: Literal["long", "wide", "diagnosis"], protocol: Protocol) -> Sheet:
        store, raters = self.store, self.store.raters()
        if shape == "long":
            return long_sheet(store.units(), store.ratings(digest=protocol.digest), raters)
        if shape == "wide":
            ratings = store.ratings(digest=protocol.digest)
            return wide_sheet(protocol, store.units(), store.items(), ratings, raters)
        return diagnosis_sheet(self.protocol, store.units(), store.ratings(every_digest=True), raters)

    def export_questions(self, path: str | Path, *, overwrite: bool = False) -> tuple[int, int]:
        """Write all questions with the references' answers as JSON, to be edited and brought back in with
        `import_questions`; says how many items and questions there are."""
        self.check_asks()
        return write_questions(path, self.items(), self.units(), overwrite=overwrite)

    def import_questions(self, path: str | Path) -> Replaced:
        """Give the items in a file the questions it has for them; see `replace_questions`."""
        self.check_asks()
        return self.replace_questions(read_questions(path))

    def replace_questions(self, questions: Mapping[str, Sequence[Question]]) -> Replaced:
        """Give items other questions: all of it, or, where something stands in the way, nothing.

        An item that is not among them keeps its own. A question that has ratings must be there as it was and keeps its
        place; the others come in their order. Raises UserError, with all such questions, where one is not.
        """
        names = list(questions)
        present = self.store.units_of(names)
        if unknown := [name for name in names if name not in present]:
            raise _foreign(questions, unknown)
        fixed = self.store.rated_units(names)
        return self.store.replace_units(self._other_units(questions, present, fixed))

    def _other_units(
        self, questions: Mapping[str, Sequence[Question]], present: Mapping[str, Sequence[Unit]], fixed: Set[str]
    ) -> Iterator[NewUnits]:
        for name, wanted in questions.items():
            placed = {name: in_place(wanted, present[name], fixed)}
            yield name, split(self.protocol, Item(name, {}), placed)

    def check_asks(self) -> None:
        """Raise UserError where this study has no questions because its protocol has another unit."""
        if self.protocol.rule.of != "question":
            raise UserError(
                f"{self.store.location}: the unit of {self.protocol.name} is {self.protocol.unit!r}, and only a "
                "protocol whose unit is a question has questions"
            )

    def work(self) -> Iterator[tuple[Item, Unit]]:
        """Every unit with its item."""
        items = self.store.items()
        item: Item | None = None
        for unit in self.store.units():
            while item is None or item.id != unit.item:
                item = next(items)
            yield item, unit

    def count_ratings(self, *, every_digest: bool = False) -> int:
        """Ratings in force, of the current protocol or of all."""
        counts = self.store.count_ratings()
        digests = list(counts) if every_digest else [self.protocol.digest]
        return sum(sum(counts.get(digest, {}).values()) for digest in digests)

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def sample(items: Items, protocol: Protocol, size: int, by: Sequence[str], seed: int) -> tuple[Items, Draw]:
    """A seeded sample of items, in proportion to the strata that the fields `by` make up."""
    valid = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
    problems = [
        Problem(f"cannot sample by {name!r}", fix=f"valid are {', '.join(valid) or 'none: no field is of kind label'}")
        for name in by
        if name not in valid
    ]
    problems += [
        Problem(f"cannot sample by {name!r}: the file has no column for it", fix=f"name it with --map {name}=COLUMN")
        for name in by
        if name in valid and name not in items.columns
    ]
    if problems:
        raise InputError(items.source, problems)
    strata = ((item.id, tuple(str(item.fields.get(name, "")) for name in by)) for item in items)
    drawn = draw(strata, size, seed)
    return items.sampled(drawn.chosen), drawn


def origin(protocol: str | Path) -> str:
    """Where a protocol comes from, so that it is found again from another folder."""
    path = Path(protocol)
    return str(path.resolve()) if path.is_file() else str(protocol)


def _may_be_digest(name: str) -> bool:
    """Whether a name is the beginning of a digest: hexadecimal, and neither a protocol nor a file is called so."""
    return bool(re.fullmatch(r"[0-9a-fA-F]{4,64}", name)) and name not in available() and not Path(name).is_file()


def cloze_questions(protocol: Protocol, item: Item) -> Sequence[Question]:
    """Questions from an item's reference, made without a model: sentences in which something is left out.

    What is left out, a name, a number, a date or a phrase, is the reference's own answer.
    """
    field = protocol.rule.field
    text = item.fields.get(field, "") if field is not None else ""
    assert isinstance(text, str), "the protocol's check demands a text field"
    found = [(" ".join(info.text.split()), info) for info in key_info(text, protocol.language)]
    return [Question(cloze(text, info), answer, answer) for answer, info in found]


def _work(
    protocol: Protocol, items: Iterable[Item], questions: Mapping[str, Sequence[Question]] | None
) -> Iterator[Work]:
    if protocol.rule.of == "item":
        return zip(items, repeat(()), strict=False)
    if protocol.rule.of == "question" and questions is None:
        return ((item, split(protocol, item, {item.id: cloze_questions(protocol, item)})) for item in items)
    return _with_units(protocol, items, questions or {})


def _with_units(
    protocol: Protocol, items: Iterable[Item], questions: Mapping[str, Sequence[Question]]
) -> Iterator[Work]:
    unused = set(questions)
    for item in items:
        unused.discard(item.id)
        yield item, split(protocol, item, questions)
    if unused:
        raise _foreign(questions, sorted(unused))


def _foreign(questions: Mapping[str, Sequence[Question]], names: Sequence[str]) -> InputError:
    source = questions.source if isinstance(questions, Questions) else "questions"
    what = f"there are questions for {counted(len(names), 'id')} that no item has: {some_of(names, 5)}"
    fix = "correct these ids, take the entries out, or give items with these ids"
    return InputError(source, [Problem(what, fix=fix)])


def _change(store: Store) -> Change | None:
    source = store.versions()[-1].source
    if not source:
        return None
    try:
        now = load_protocol(Path(source) if Path(source).is_absolute() else source)
    except ProtocolError:
        # The file is gone, or broken in the middle of an edit: the study has its own copy and needs neither.
        return None
    return Change(store.location, source, store.protocol, now) if now.digest != store.protocol.digest else None
