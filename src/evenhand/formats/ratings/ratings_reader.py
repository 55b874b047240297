"""Rating files → ratings: what people filled in, what other programs exported, what our long export wrote.

Every cell is checked, and problems are collected while reading goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import groupby, islice
from typing import Annotated, Any, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from evenhand.errors import InputError, Problems, UserError
from evenhand.files import parse_json
from evenhand.formats.ratings.check_column import CHECK, refused
from evenhand.formats.ratings.layouts import Cells, FileRow, Slot, layout_of
from evenhand.formats.tables.cells import text_of
from evenhand.formats.tables.table import InputTable
from evenhand.protocol.completion import concerns, is_asked
from evenhand.protocol.model import SCORES, Criterion, Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Unit, Value
from evenhand.scales import PERCENT, Nominal, Scale, Text, check_distribution, check_mean, label_key
from evenhand.text import quoted, some_of, unknown

BATCH = 1_000
LONGEST_RATER = 200
WHO = "name them with --rater ID, or in a column rater"
OTHER_STUDY = "the file was probably made for another study"
DATE = "a spreadsheet program has made a date of it; format the column as a number or text"

UnitsOf = Callable[[Sequence[str]], Mapping[str, Sequence[Unit]]]
"""The units of each of these items; an item that the study does not have is absent."""

ItemsOf = Callable[[Sequence[str]], Mapping[str, Item]]
"""Each of these items; one that the study does not have is absent."""


def _status(cell: object) -> object:
    return label_key(text_of(cell) or "").replace(" ", "_")


def _listed(cell: object) -> object:
    """A cell's list, as it is or as JSON."""
    try:
        return parse_json(cell) if isinstance(cell, str) else cell
    except ValueError:
        return cell


def _names(cell: object) -> object:
    """A list of names, or names with commas between them."""
    found = _listed(cell)
    names = cast("Sequence[object]", found) if isinstance(found, list | tuple) else (text_of(cell) or "").split(",")
    return [str(name).strip() for name in names if name and str(name).strip()]


def _time(cell: object) -> object:
    """A time in UTC, which is also that of times without a zone."""
    try:
        time = cell if isinstance(cell, datetime) else datetime.fromisoformat((text_of(cell) or "").strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return cell


Plain = Annotated[str, BeforeValidator(text_of)]
Number = Annotated[float, BeforeValidator(text_of)]
Probability = Annotated[float, Field(strict=True, ge=0, le=1)]
Time = Annotated[datetime, Field(strict=True), BeforeValidator(_time)]


class RatingRow(BaseModel):
    """The cells of one rating by their names, without the blank ones. A description says what is valid.

    The context of its validation is the criterion's scale and the item's fields.
    """

    status: Annotated[Status, BeforeValidator(_status)] = Field(Status.RATED, description=f"one of {', '.join(Status)}")
    reason: Plain | None = None
    value: object = Field(None, validate_default=True)
    rationale: Plain | None = None
    confidence: Annotated[float, BeforeValidator(PERCENT.read)] | None = None
    notes: Plain | None = None
    evidence: Annotated[tuple[tuple[StrictStr, StrictInt, StrictInt], ...], BeforeValidator(_listed)] = Field(
        (), description='evidence; write it as [["FIELD", START, END], …], with character positions from 0'
    )
    misquoted: Annotated[tuple[StrictStr, ...], BeforeValidator(_listed)] = Field(
        (), description='a list of texts; write it as ["TEXT", …]'
    )
    distribution: Annotated[tuple[tuple[object, Probability], ...], BeforeValidator(_listed)] = Field(
        (), description="a list of values with their probabilities from 0 to 1; write it as [[VALUE, PROBABILITY], …]"
    )
    mean: Number | None = Field(None, description="a number")
    reply: Plain | None = None
    seconds: Number | None = Field(None, ge=0, allow_inf_nan=False, description="a number of seconds")
    visible: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    raw: Plain | None = None
    at: Time | None = Field(None, description="a time such as 2026-01-31T09:30:00+00:00")

    @field_validator("value")
    @classmethod
    def _on_the_scale(cls, value: object, info: ValidationInfo) -> Value | None:
        status = info.data.get("status")
        if status is None:  # it cannot be read, which is reported: whether there should be a value is unknown
            return None
        if status is not Status.RATED:
            if value is not None:
                raise ValueError(f"{quoted(value)} is given with the status {status}; only a rated one has a value")
            if status is Status.FAILED and not info.data.get("reason"):
                raise ValueError("a failed rating says why, in a column reason")
            return None
        if value is None:
            raise ValueError("empty, although the status is rated")
        scale = _scale(info)
        is_number = isinstance(value, int | float) and not isinstance(scale, Nominal | Text)
        return scale.read(value if is_number else text_of(value))

    @field_validator("evidence")
    @classmethod
    def _spans(cls, parts: tuple[tuple[str, int, int], ...], info: ValidationInfo) -> tuple[Any, ...]:
        fields = cast("Mapping[str, Any]", info.context)["fields"]
        for name, start, end in parts:
            if name not in fields:
                raise ValueError(unknown("field", name, fields))
            if not 0 <= start <= end:
                raise ValueError(f"{start} to {end} is not a range of characters; positions count from 0")
        return tuple(Span(*part) for part in parts)

    @field_validator("distribution")
    @classmethod
    def _sums_to_one(cls, pairs: tuple[tuple[object, float], ...], info: ValidationInfo) -> tuple[Any, ...]:
        found = tuple((_scale(info).read(value), probability) for value, probability in pairs)
        check_distribution(found)
        return found

    @field_validator("mean")
    @classmethod
    def _within_the_scale(cls, mean: float, info: ValidationInfo) -> float:
        check_mean(mean, _scale(info))
        return mean


PARTS = tuple(name for name in RatingRow.model_fields if name != "value")
"""The columns of a long file that a rating may have besides its value."""


def _scale(info: ValidationInfo) -> Scale:
    return cast("Mapping[str, Any]", info.context)["scale"]


@dataclass(slots=True)
class ImportSummary:
    """What a rating file contained; complete once its last rating has been read.

    `ratings` counts the file's ratings by rater. `not_asked` counts the ratings added because a condition was false,
    `blanks` the cells without a rating, `left_out` the rationales, confidences and notes next to such a cell.
    `without_rationale` and `without_confidence` count ratings that lack what the protocol requires.
    `without_column` names the criteria for which a wide file has no column.
    """

    rows: int = 0
    ratings: dict[str, int] = field(default_factory=dict[str, int])
    not_asked: int = 0
    blanks: int = 0
    left_out: int = 0
    without_rationale: int = 0
    without_confidence: int = 0
    without_column: tuple[str, ...] = ()


class RatingsFile:
    """A long or a wide rating file, its header checked. Take its `raters` first, then its `ratings`, once; then the
    `summary` is complete.

    Ratings that depend on others are held back until the whole file has been read, since a long file may have a unit's
    ratings in any order. If a condition turns out to be false for a rated unit, a rating with the status `not_asked`
    is added.
    """

    def __init__(
        self,
        table: InputTable,
        protocol: Protocol,
        *,
        rater: str | None = None,
        kind: Kind | None = None,
        id_column: str | None = None,
        columns: Mapping[str, str] | None = None,
        known: Iterable[RaterRef] = (),
    ) -> None:
        """Open a table. Raises InputError for a bad header.

        `rater` gave the ratings that name no rater. Raters whose kind the file does not give are of this `kind`, by
        default people; one that the study knows (`known`) as another kind is a problem. `columns` leads from criteria
        and other names to columns of the file. A file without a column of ids must have all required fields of the
        items.
        """
        self._named = named_rater(rater)
        self._problems = Problems(table.source)
        self._protocol = protocol
        self._layout = layout_of(table, protocol, id_column, columns or {}, PARTS)
        self._known = {ref.id: ref.kind for ref in known}
        self._kinds: dict[str, Kind] = {}
        self._find_kinds(kind)
        self.summary = ImportSummary(without_column=self._layout.without_column)
        self.sheet_units: set[tuple[object, object]] = set()
        self._criteria = {
            label_key(spelling): criterion
            for criterion in reversed(protocol.criteria)
            for spelling in (criterion.name or criterion.id, criterion.id)
        }
        decisive = {criterion.when.criterion for criterion in protocol.criteria if criterion.when}
        by_field = any(criterion.of for criterion in protocol.criteria)
        self._involved = {one.id: one for one in protocol.criteria if by_field or one.when or one.id in decisive}
        self._held: dict[tuple[str, str], dict[str, tuple[Rating | None, int, str]]] = {}
        """By unit and rater, then criterion: ratings that conditions involve, with row and column; None for a blank."""
        self._fields: dict[str, str | None] = {}
        """The field that each of these units comes from."""
        self._unclear: set[tuple[str, str]] = set()
        self._first: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        self._unnamed = False
        self._lost = False
        """Whether something was rated of which it is unknown what: then a missing value is not reported as well."""

    @property
    def raters(self) -> Sequence[RaterRef]:
        """Every rater with a rating in the file."""
        return [RaterRef(rater, kind) for rater, kind in self._kinds.items()]

    def similar_raters(self) -> Mapping[str, Sequence[str]]:
        """New raters whose ids differ only in case or spaces from those of others, which are perhaps the same."""
        by_key: dict[str, list[str]] = {}
        for rater in dict.fromkeys((*self._known, *self._kinds)):
            by_key.setdefault("".join(rater.split()).casefold(), []).append(rater)
        return {
            rater: ids[:place]
            for ids in by_key.values()
            for place, rater in enumerate(ids)
            if place and rater not in self._known
        }

    def ratings(self, units_of: UnitsOf, items_of: ItemsOf) -> Iterator[Rating]:
        """The ratings, a batch of rows at a time; after the last, InputError with every bad cell of the file.

        Items are requested only if the file has a column `check`, which says what its rows were made for.
        Once something is wrong no more ratings come, since none of the file's will be kept.
        """
        problems = self._problems
        for rater, kind in self._kinds.items():
            if (known := self._known.get(rater, kind)) is not kind:
                problems.add(f"{rater!r} is a {known} in this study, not a {kind}", fix=self._kind_fix(rater, known))
        rows = self._layout.rows(problems)
        while batch := list(islice(rows, BATCH)):
            self.summary.rows += len(batch)
            ids = list(dict.fromkeys(row.item for row in batch if row.item))
            units = units_of(ids)
            if len(ids) > 1 and not units and self.summary.rows == len(batch):
                raise InputError(problems.source, f"{OTHER_STUDY}; this one has none of its items: {some_of(ids, 3)}")
            items: Mapping[str, Item] = items_of(ids) if any(CHECK in row.cells for row in batch) else {}
            for row in batch:
                if "-" in str(row.cells.get(CHECK)) and row.item in units:
                    self.sheet_units.add((row.item, row.cells.get("unit")))
                yield from (rating for rating in self._row_ratings(row, units, items) if not problems)
        yield from (rating for rating in self._settled() if not problems)
        problems.raise_if_any()

    def _kind_fix(self, rater: str, known: Kind) -> str:
        """What to do about a rater of another kind. No option says that a rater is a rule."""
        is_named = rater == self._named
        other = "another --rater" if is_named else "another id"
        how = f"--kind {known}" if is_named and known is not Kind.RULE else f"a column kind with {known}"
        return f"use {other}, or {how} if these really are its ratings"

    def _find_kinds(self, kind: Kind | None) -> None:
        """Find the kind of every rater in the file in a first reading, because raters are stored before ratings.

        What is wrong with a rater is reported in the second reading.
        """
        for row in self._layout.rows(Problems(self._problems.source)):
            for slot in self._layout.rated(row.cells):
                with suppress(ValueError):
                    rater, given = self._rater_and_kind(slot, row.cells)
                    if rater is not None:
                        self._kinds.setdefault(rater, given or kind or Kind.PERSON)

    def _row_ratings(
        self, row: FileRow, units: Mapping[str, Sequence[Unit]], items: Mapping[str, Item]
    ) -> Iterator[Rating]:
        """The ratings of a row, but for those that depend on a condition."""
        cells = row.cells
        rated = self._layout.rated(cells)
        unit = self._unit(row, units) if rated else None
        wrong = refused(cells.get(CHECK), self._protocol, items.get(unit.item), unit) if unit else None
        if wrong is not None:
            # The row was made for another protocol or another text, so its other cells mean something else.
            self._report(wrong[0], row, CHECK, wrong[1])
            self._lost = True
            return
        for slot in self._layout.slots:
            name = slot.criterion or str(cells.get("criterion", ""))
            criterion = SCORES.get(name) or self._criteria.get(label_key(name))
            if slot not in rated:
                self._blank(slot, criterion, unit, row)
            elif criterion is None:
                self._report(unknown("criterion", name, self._protocol.by_id), row, "criterion")
                self._lost = True
            elif rating := self._rating(slot, criterion, unit, row):
                if not _depends(criterion):
                    yield rating
                if criterion.id in self._involved:
                    place = row.number, self._layout.column(slot.value)
                    self._held.setdefault((rating.unit, rating.rater), {})[criterion.id] = (rating, *place)
                    self._fields[rating.unit] = unit.field if unit else None

    def _settled(self) -> Iterator[Rating]:
        """The ratings that waited, and the added ones with the status `not_asked`."""
        for (unit, rater), given in self._held.items():
            field, is_rated = self._fields.get(unit), any(rating for rating, _, _ in given.values())
            values: dict[str, Value] = {}
            decided = set[str]()
            for criterion in self._involved.values() if (unit, rater) not in self._unclear else ():
                when, (rating, row, column) = criterion.when, given.get(criterion.id, (None, 0, ""))
                asked = is_asked(criterion, values, field)
                if rating is None:
                    elsewhere = is_rated and not concerns(criterion, field)
                    if asked or not (elsewhere or (when and when.criterion in decided)):
                        self.summary.blanks += criterion.id in given
                        continue
                    self.summary.not_asked += 1
                    status, digest = Status.NOT_ASKED, self._protocol.digest
                    rating = Rating(unit=unit, rater=rater, criterion=criterion.id, digest=digest, status=status)
                elif what := self._misfit(rating, criterion, asked, values, field):
                    other = f", or correct {when.criterion}" if when and concerns(criterion, field) else ""
                    fix = f"leave {criterion.id} empty{other}"
                    self._problems.add(what, row=row, column=column, fix=fix)
                    continue
                if rating.status in (Status.RATED, Status.NOT_ASKED):
                    decided.add(criterion.id)
                if rating.value is not None:
                    values[criterion.id] = rating.value
                if _depends(criterion):
                    yield rating

    def _misfit(
        self, rating: Rating, criterion: Criterion, asked: bool, values: Mapping[str, Value], field: str | None
    ) -> str | None:
        """Why a rating contradicts its condition; None if it does not, or if what it depends on was not readable."""
        if not concerns(criterion, field):
            what = f"{rating.criterion} is asked only about {self._protocol.rule.of}s of {criterion.of}"
            return None if rating.status is Status.NOT_ASKED else f"{what}; this one is of {field}"
        when = criterion.when
        if when is None:
            return None
        if rating.status is Status.NOT_ASKED and asked:
            return f"{rating.criterion} is asked here: {when.describe()}"
        value = values.get(when.criterion)
        if rating.status is not Status.RATED or asked or (value is None and self._lost):
            return None
        here = "the file has no value for it" if value is None else f"here it is {value}"
        return f"{rating.criterion} is asked only when {when.describe()}; {here}"

    def _blank(self, slot: Slot, criterion: Criterion | None, unit: Unit | None, row: FileRow) -> None:
        """Count a cell without a rating; whether one was expected if it has a condition is decided at the end."""
        if slot.model is not None:
            return
        rater = row.cells.get("rater") or self._named
        if criterion is not None and _depends(criterion) and unit is not None and rater:
            self._held.setdefault((unit.id, str(rater)), {})[criterion.id] = (None, 0, "")
            self._fields[unit.id] = unit.field
        else:
            self.summary.blanks += 1
        self.summary.left_out += bool(self._layout.parts(slot, row.cells))

    def _unit(self, row: FileRow, units: Mapping[str, Sequence[Unit]]) -> Unit | None:
        """The unit at the position that the row gives, counted from 1; without one, the only unit there is."""
        if row.item is None:
            return self._report("empty, but a rating is about an item", row, self._layout.item_name)
        if row.item not in units:
            fix = "a spreadsheet program may have changed the id; correct it, or add the item with Study.add_items"
            return self._report(f"the study has no item {quoted(row.item)}", row, self._layout.item_name, fix)
        cell, here, rule = row.cells.get("unit"), units[row.item], self._protocol.rule.of
        valid = f"from 1 to {len(here)}" if len(here) > 1 else "1"
        text = "1" if cell is None else str(cell).strip()
        what = f"there is no {rule} {quoted(text)}; valid is {valid}"
        if not here:
            what = f"it has no {rule} to rate"
        elif cell is None and len(here) > 1:
            what = f"which {rule}? a column unit has its position, {valid}"
        else:
            with suppress(ValueError):
                if (position := float(text)).is_integer() and 1 <= position <= len(here):
                    return here[int(position) - 1]
        return self._report(f"item {quoted(row.item)}: {what}", row, "unit")

    def _rating(self, slot: Slot, criterion: Criterion, unit: Unit | None, row: FileRow) -> Rating | None:
        """The rating in a slot, or None and the problems of its cells."""
        rater, content = self._rater(slot, row), self._content(slot, criterion, row)
        if unit is None or rater is None:
            self._lost = True
            return None
        if content is None:
            self._unclear.add((unit.id, rater))
            return None
        place = row.number, slot.value
        first = self._first.setdefault((rater, criterion.id), {}).setdefault(unit.id, place)
        if first != place:
            which = "" if self._protocol.rule.of == "item" else f", unit {unit.position}"
            what = f"{rater!r} has rated {criterion.id} of item {quoted(unit.item)}{which} already in row {first[0]}"
            return self._report(what, row, slot.value, "keep one of the two")
        rating = Rating(unit=unit.id, criterion=criterion.id, rater=rater, digest=self._protocol.digest, **content)
        summary, ask = self.summary, self._protocol.ask
        summary.ratings[rater] = summary.ratings.get(rater, 0) + 1
        if rating.status is Status.RATED and not isinstance(criterion.scale, Text):
            lead = criterion is self._protocol.lead
            summary.without_rationale += ask.rationale == "required" and rating.rationale is None
            summary.without_confidence += lead and ask.confidence == "required" and rating.confidence is None
        return rating

    def _content(self, slot: Slot, criterion: Criterion, row: FileRow) -> Mapping[str, Any] | None:
        """What the cells say about a rating; None if one of them is bad."""
        names = {**self._layout.parts(slot, row.cells), "value": slot.value}
        given = {part: row.cells[name] for part, name in names.items() if name in row.cells}
        context = {"scale": criterion.scale, "fields": self._protocol.item.fields}
        try:
            read = RatingRow.model_validate(given, context=context)
        except ValidationError as error:
            for part, details in groupby(error.errors(), key=lambda detail: str(detail["loc"][0])):
                first = next(details)
                what = first["msg"].removeprefix("Value error, ")
                if first["type"] != "value_error":
                    what = f"{quoted(given[part])} is not {RatingRow.model_fields[part].description}"
                fix = DATE if part == "value" and isinstance(given.get(part), date) else None
                self._report(what, row, names[part], fix)
            return None
        return {part: getattr(read, part) for part in read.model_fields_set}

    def _rater(self, slot: Slot, row: FileRow) -> str | None:
        try:
            rater, _ = self._rater_and_kind(slot, row.cells)
        except ValueError as error:
            what, column = error.args if len(error.args) == 2 else (str(error), "rater")
            if (row.number, self._layout.column(column)) not in self._problems:  # a row may have several ratings
                self._report(what, row, column)
            return None
        if rater is None and not self._unnamed:
            self._unnamed = True
            self._report("no rater is named", row, slot.value, WHO)
        return rater

    def _rater_and_kind(self, slot: Slot, cells: Cells) -> tuple[str | None, Kind | None]:
        """The rater that a row gives, or else the named one, and the kind, if given. Raises ValueError."""
        rater, given = slot.model or _rater_id(cells.get("rater")), cells.get("kind")
        if slot.model is not None:
            given = Kind.MODEL
        elif rater is not None and self._named not in (None, rater):
            # A file may have columns of models as well as the named rater's, but not a column of raters.
            raise ValueError(f"the file names the rater {rater!r} and --rater {self._named!r}; leave --rater out")
        if given is not None and label_key(str(given)) not in list(Kind):
            raise ValueError(f"{quoted(given)} is not a kind of rater; valid are {', '.join(Kind)}", "kind")
        kind = None if given is None else Kind(label_key(str(given)))
        if rater is not None and kind is not self._kinds.get(rater, kind) and kind is not None:
            raise ValueError(f"the rater {rater!r} is a {kind} here and a {self._kinds[rater]} further up", "kind")
        return rater or self._named, kind

    def _report(self, what: str, row: FileRow, name: str, fix: str | None = None) -> None:
        self._problems.add(what, row=row.number, column=self._layout.column(name), fix=fix)


def _depends(criterion: Criterion) -> bool:
    """Whether a criterion is not asked about every unit."""
    return criterion.when is not None or criterion.of is not None


def named_rater(rater: str | None, option: str = "--rater") -> str | None:
    """The rater that an option names, checked."""
    try:
        checked = _rater_id(rater)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error
    if rater is not None and checked is None:
        raise UserError(f"{option}: an empty text is not a rater's id; give a name or a short code")
    return checked


def _rater_id(cell: object) -> str | None:
    text = (text_of(cell) or "").strip()
    if len(text) > LONGEST_RATER or not text.isprintable():
        valid = f"at most {LONGEST_RATER} printable characters on one line"
        raise ValueError(f"{quoted(text)} is not a rater's id: {valid}")
    return text or None
