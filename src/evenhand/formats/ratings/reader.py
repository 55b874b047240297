"""Rating files → ratings: what people filled in, what other programs exported, what our long export wrote.

Every cell is checked, and problems are collected while reading goes on.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import islice
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from evenhand.errors import UserError
from evenhand.formats.problems import Problems
from evenhand.formats.ratings.layouts import Cells, Layout, Slot, layout_of
from evenhand.formats.ratings.row_check import CHECK, refused
from evenhand.formats.tables.cells import short, text_of
from evenhand.formats.tables.table import InputTable
from evenhand.formats.tables.table_files import open_table
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Span, Status, Unit, Value
from evenhand.scales import PERCENT, Nominal, Ordinal, Percent, Scale, Text, label_key
from evenhand.text import did_you_mean

BATCH = 1_000
LONGEST_RATER = 200
WHO = "name them with --rater ID, or in a column rater"
DATE = "a spreadsheet program has made a date of it; format the column as a number or text"
TOLERANCE = 1e-6
"""How far probabilities may be from summing to 1; files round them."""

UnitsOf = Callable[[Sequence[str]], Mapping[str, Sequence[Unit]]]
"""The units of each of these items; an item that the study does not have is absent."""

ItemsOf = Callable[[Sequence[str]], Mapping[str, Item]]
"""Each of these items; one that the study does not have is absent."""


def _status(cell: object) -> object:
    return label_key(text_of(cell) or "").replace(" ", "_")


def _listed(cell: object) -> object:
    """A cell's list, as it is or as JSON."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        return cell


def _names(cell: object) -> object:
    """A list of names, or names with commas between them."""
    found = _listed(cell)
    names = cast("Sequence[object]", found) if isinstance(found, list | tuple) else (text_of(cell) or "").split(",")
    return [str(name).strip() for name in names if name and str(name).strip()]


def _time(cell: object) -> object:
    try:
        return cell if isinstance(cell, datetime) else datetime.fromisoformat((text_of(cell) or "").strip())
    except ValueError:
        return cell


def _in_utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


Plain = Annotated[str, BeforeValidator(text_of)]
Number = Annotated[float, BeforeValidator(text_of)]
Probability = Annotated[float, Field(strict=True, ge=0, le=1)]
Time = Annotated[datetime, Field(strict=True), BeforeValidator(_time), AfterValidator(_in_utc)]


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
                what = f"{short(value)} is given with the status {status}; only a rated criterion has a value"
                raise ValueError(what)
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
                raise ValueError(f"there is no field {name!r} to take evidence from; there are: {', '.join(fields)}")
            if not 0 <= start <= end:
                raise ValueError(f"{start} to {end} is not a range of characters; positions count from 0")
        return tuple(Span(*part) for part in parts)

    @field_validator("distribution")
    @classmethod
    def _sums_to_one(cls, pairs: tuple[tuple[object, float], ...], info: ValidationInfo) -> tuple[Any, ...]:
        found: dict[Value, float] = {}
        for given, probability in pairs:
            value = _scale(info).read(given)
            if value in found:
                raise ValueError(f"the value {value!r} is there twice")
            found[value] = probability
        total = fsum(found.values())
        if found and abs(total - 1) > TOLERANCE:
            raise ValueError(f"the probabilities sum to {total:.7g}, not to 1")
        return tuple(found.items())

    @field_validator("mean")
    @classmethod
    def _within_the_scale(cls, mean: float, info: ValidationInfo) -> float:
        scale = _scale(info)
        if not isinstance(scale, Ordinal | Percent):
            raise ValueError("only numbers have a mean, and this criterion is rated with labels or text")
        lowest, highest = (scale.values[0], scale.values[-1]) if isinstance(scale, Ordinal) else (0, 100)
        slack = TOLERANCE * max(abs(lowest), abs(highest))
        if not lowest - slack <= mean <= highest + slack:
            raise ValueError(f"{mean:g} is not a number from {lowest} to {highest}")
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


def open_ratings(
    source: str | Path | InputTable,
    protocol: Protocol,
    *,
    rater: str | None = None,
    kind: Kind | None = None,
    id_column: str | None = None,
    columns: Mapping[str, str] | None = None,
    known: Iterable[RaterRef] = (),
) -> "RatingsFile":
    """Open a long or a wide rating file, or a table of that layout.

    `rater` gave the ratings that name no rater, and is of this `kind`; by default of the kind in the study (`known`),
    else a person. `columns` leads from criteria and other names to columns of the file. A file without a column of ids
    must have all required fields of the items. Raises InputError for a bad header.
    """
    rater = named_rater(rater)
    table = source if isinstance(source, InputTable) else open_table(source)
    layout = layout_of(table, protocol, id_column, columns or {}, PARTS)
    return RatingsFile(table, protocol, layout, rater, kind, {ref.id: ref.kind for ref in known})


class RatingsFile:
    """A rating file, its header checked. `raters` come first, then `ratings`, once; then the `summary` is complete."""

    def __init__(
        self,
        table: InputTable,
        protocol: Protocol,
        layout: Layout,
        named: str | None,
        kind: Kind | None,
        known: Mapping[str, Kind],
    ) -> None:
        self.table = table
        self.protocol = protocol
        self.layout = layout
        self.named = named
        self.known = known
        self.kinds = self._kinds(kind)
        self.summary = ImportSummary(without_column=layout.without_column)

    @property
    def shape(self) -> Literal["long", "wide"]:
        return self.layout.shape

    @property
    def raters(self) -> Sequence[RaterRef]:
        """Every rater with a rating in the file."""
        return [RaterRef(rater, kind) for rater, kind in self.kinds.items()]

    def ratings(self, units_of: UnitsOf, items_of: ItemsOf) -> Iterator[Rating]:
        """The ratings, a batch of rows at a time; after the last, InputError with every bad cell of the file.

        Items are requested only if the file has a column `check`, which says what its rows were made for.
        Once something is wrong no more ratings come, since none of the file's will be kept.
        """
        self.summary = ImportSummary(without_column=self.layout.without_column)
        reading = _Reading(self)
        problems = reading.problems
        rows = reading.rows()
        while batch := list(islice(rows, BATCH)):
            ids = list(dict.fromkeys(row.item for row in batch if row.item))
            reading.units = units_of(ids)
            reading.items = items_of(ids) if any(CHECK in row.cells for row in batch) else {}
            for row in batch:
                yield from (rating for rating in reading.ratings(row) if not problems)
        yield from (rating for rating in reading.settled() if not problems)
        problems.raise_if_any()

    def _kinds(self, kind: Kind | None) -> Mapping[str, Kind]:
        """The kind of every rater in the file, found in a first reading, because raters are stored before ratings.

        What is wrong with a rater is reported in the second reading.
        """
        kinds: dict[str, Kind] = {}
        for _, row in self.table.rows(Problems(self.table.source)):
            cells = self.layout.cells(row)
            for slot in self.layout.slots:
                if slot.value not in cells and "status" not in cells:
                    continue
                try:
                    rater, given = _rater(slot, cells)
                except ValueError:
                    continue
                if rater := rater or self.named:
                    kinds.setdefault(rater, given or kind or self.known.get(rater, Kind.PERSON))
        return kinds


class _Row(NamedTuple):
    number: int
    item: str | None
    cells: Cells


class _Held(NamedTuple):
    """A rating that has to do with a condition, and its place; None if its cell is blank or cannot be read."""

    rating: Rating | None
    row: int
    column: str
    unclear: bool = False


class _Reading:
    """One reading of a file.

    Ratings that depend on others are held back until the whole file has been read, since a long file may have a unit's
    ratings in any order. If a condition turns out to be false for a rated unit, a rating with the status `not_asked`
    is added.
    """

    def __init__(self, file: RatingsFile) -> None:
        self._file, self._protocol, self._layout, self._summary = file, file.protocol, file.layout, file.summary
        self.problems = Problems(file.table.source)
        self.units: Mapping[str, Sequence[Unit]] = {}
        self.items: Mapping[str, Item] = {}
        criteria = file.protocol.criteria
        self._criteria = {
            label_key(spelling): criterion
            for criterion in reversed(criteria)
            for spelling in (criterion.name or criterion.id, criterion.id)
        }
        decisive = {criterion.when.criterion for criterion in criteria if criterion.when}
        self._involved = {
            criterion.id: criterion for criterion in criteria if criterion.when or criterion.id in decisive
        }
        self._held: dict[tuple[str, str], dict[str, _Held]] = {}
        self._first: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        self._unnamed = False
        self._lost = False
        """Whether something was rated of which it is unknown what: then a missing value is not reported as well."""

    def rows(self) -> Iterator[_Row]:
        for rater, kind in self._file.kinds.items():
            known = self._file.known.get(rater, kind)
            if known is not kind:
                what = f"{rater!r} is a {known} in this study, not a {kind}"
                self.problems.add(what, fix=f"use another id, or --kind {known}")
        made: dict[object, int] = {}
        for number, row in self._file.table.rows(self.problems):
            self._summary.rows += 1
            cells = self._layout.cells(row)
            try:
                yield _Row(number, _word(self._layout.item(row, cells, made)), cells)
            except ValueError as error:
                self.problems.add(str(error), row=number)

    def ratings(self, row: _Row) -> Iterator[Rating]:
        """The ratings of a row, but for those that depend on a condition: these come from `settled`."""
        cells = row.cells
        rated = [slot for slot in self._layout.slots if slot.value in cells or "status" in cells]
        unit = self._unit(row) if rated else None
        wrong = refused(cells.get(CHECK), self._protocol, self.items.get(unit.item), unit) if unit else None
        if wrong is not None:
            # The row was made for another protocol or another text, so its other cells mean something else.
            self._report(wrong[0], row, CHECK, fix=wrong[1])
            self._lost = True
            return
        for slot in self._layout.slots:
            name = slot.criterion or str(cells.get("criterion", ""))
            criterion = self._criteria.get(label_key(name))
            if slot not in rated:
                self._blank(slot, criterion, unit, row)
            elif criterion is None:
                valid = [criterion.id for criterion in self._protocol.criteria]
                what = f"there is no criterion {name!r}{did_you_mean(name, valid)}; there are: {', '.join(valid)}"
                self._report(what, row, "criterion")
                self._lost = True
            elif rating := self._rating(slot, criterion, unit, row):
                if criterion.when is None:
                    yield rating
                self._hold(criterion, rating.unit, rating.rater, _Held(rating, row.number, self._column(slot)))

    def settled(self) -> Iterator[Rating]:
        """The ratings that waited, and the added ones with the status `not_asked`."""
        for (unit, rater), given in self._held.items():
            values: dict[str, Value] = {}
            decided, unclear = set[str](), set[str]()
            for criterion in self._involved.values():
                when, held = criterion.when, given.get(criterion.id)
                if (when and when.criterion in unclear) or (held and held.unclear):
                    unclear.add(criterion.id)
                    continue
                asked = self._protocol.asked(criterion, values)
                rating = held.rating if held else None
                if rating is None and when and not asked and when.criterion in decided:
                    self._summary.not_asked += 1
                    status, digest = Status.NOT_ASKED, self._protocol.digest
                    rating = Rating(unit=unit, rater=rater, criterion=criterion.id, digest=digest, status=status)
                elif rating is None or held is None:
                    self._summary.blanks += held is not None
                    continue
                elif not self._fits(held, rating, criterion, asked, values):
                    continue
                if rating.status in (Status.RATED, Status.NOT_ASKED):
                    decided.add(criterion.id)
                if rating.value is not None:
                    values[criterion.id] = rating.value
                if when:
                    yield rating

    def _fits(
        self, held: _Held, rating: Rating, criterion: Criterion, asked: bool, values: Mapping[str, Value]
    ) -> bool:
        """Whether a rating agrees with its condition; reports a problem otherwise."""
        when = criterion.when
        if when is None or (rating.status is Status.RATED) == asked:
            return True
        if rating.status is Status.NOT_ASKED and asked:
            what = f"{criterion.id} is asked here: {when.describe()}"
        elif rating.status is not Status.RATED:
            return True
        elif when.criterion not in values and self._lost:
            return False
        else:
            here = (
                f"here it is {values[when.criterion]}" if when.criterion in values else "the file has no value for it"
            )
            what = f"{criterion.id} is asked only when {when.describe()}; {here}"
        fix = f"leave {criterion.id} empty, or correct {when.criterion}"
        self.problems.add(what, row=held.row, column=held.column, fix=fix)
        return False

    def _hold(self, criterion: Criterion, unit: str, rater: str, held: _Held) -> None:
        if criterion.id in self._involved:
            self._held.setdefault((unit, rater), {})[criterion.id] = held

    def _blank(self, slot: Slot, criterion: Criterion | None, unit: Unit | None, row: _Row) -> None:
        """Count a cell without a rating; whether one was expected if it has a condition is decided at the end."""
        if slot.model is not None:
            return
        rater = row.cells.get("rater") or self._file.named
        if criterion is not None and criterion.when and unit is not None and rater:
            self._hold(criterion, unit.id, str(rater), _Held(None, row.number, self._column(slot)))
        else:
            self._summary.blanks += 1
        self._summary.left_out += bool(self._layout.parts(slot, row.cells))

    def _unit(self, row: _Row) -> Unit | None:
        if row.item is None:
            what, fix = "empty, but a rating is about an item", None
        elif row.item not in self.units:
            what = f"the study has no item {short(row.item)}"
            fix = "a spreadsheet program may have changed it" if row.item.isdigit() else None
        else:
            try:
                return _at(row.cells.get("unit"), self.units[row.item], self._protocol.rule.of)
            except ValueError as error:
                self._report(f"item {short(row.item)}: {error}", row, "unit")
                return None
        self.problems.add(what, row=row.number, column=self._layout.item_column, fix=fix)
        return None

    def _rating(self, slot: Slot, criterion: Criterion, unit: Unit | None, row: _Row) -> Rating | None:
        """The rating in a slot, or None and the problems of its cells."""
        rater = self._rater_of(slot, row)
        content = self._content(slot, criterion, row)
        if content is None or rater is None or unit is None:
            if unit is None or rater is None:
                self._lost = True
            else:
                self._hold(criterion, unit.id, rater, _Held(None, row.number, self._column(slot), unclear=True))
            return None
        first = self._first.setdefault((rater, criterion.id), {}).setdefault(unit.id, (row.number, slot.value))
        if first != (row.number, slot.value):
            place = f"item {short(unit.item)}" + ("" if self._protocol.rule.of == "item" else f", unit {unit.position}")
            what = f"{rater!r} has rated {criterion.id} of {place} already in row {first[0]}"
            self._report(what, row, slot.value, fix="keep one of the two")
            return None
        rating = Rating(unit=unit.id, criterion=criterion.id, rater=rater, digest=self._protocol.digest, **content)
        self._count(rating, criterion)
        return rating

    def _content(self, slot: Slot, criterion: Criterion, row: _Row) -> Mapping[str, Any] | None:
        """What the cells say about a rating; None if one of them is bad."""
        names = {**self._layout.parts(slot, row.cells), "value": slot.value}
        given = {part: row.cells[name] for part, name in names.items() if name in row.cells}
        context = {"scale": criterion.scale, "fields": self._protocol.item.fields}
        try:
            read = RatingRow.model_validate(given, context=context)
        except ValidationError as error:
            for part, what in _wrong(error, given).items():
                fix = DATE if part == "value" and isinstance(given.get(part), date) else None
                self._report(what, row, names[part], fix=fix)
            return None
        return {part: getattr(read, part) for part in read.model_fields_set}

    def _rater_of(self, slot: Slot, row: _Row) -> str | None:
        named, kinds = self._file.named, self._file.kinds
        try:
            rater, kind = _rater(slot, row.cells)
            # A file may have columns of models as well as the named rater's, but not a column of raters.
            if rater is not None and named not in (None, rater) and slot.model is None:
                raise ValueError(f"the file names the rater {rater!r} and --rater {named!r}; leave --rater out")
            if rater is not None and kind is not None and kind is not kinds.get(rater, kind):
                raise ValueError(f"the rater {rater!r} is a {kind} here and a {kinds[rater]} further up")
        except ValueError as error:
            self.problems.add(str(error), row=row.number, column="rater")
            return None
        if rater is None and named is None and not self._unnamed:
            self._report("no rater is named", row, slot.value, fix=WHO)
            self._unnamed = True
        return rater or named

    def _count(self, rating: Rating, criterion: Criterion) -> None:
        summary, ask = self._summary, self._protocol.ask
        summary.ratings[rating.rater] = summary.ratings.get(rating.rater, 0) + 1
        if rating.status is Status.RATED and not isinstance(criterion.scale, Text):
            lead = criterion is self._protocol.lead
            summary.without_rationale += ask.rationale == "required" and rating.rationale is None
            summary.without_confidence += lead and ask.confidence == "required" and rating.confidence is None

    def _column(self, slot: Slot) -> str:
        return self._layout.column(slot.value)

    def _report(self, what: str, row: _Row, name: str, *, fix: str | None = None) -> None:
        self.problems.add(what, row=row.number, column=self._layout.column(name), fix=fix)


def named_rater(rater: str | None) -> str | None:
    """The rater of the option `--rater`, checked."""
    try:
        checked = _rater_id(rater)
    except ValueError as error:
        raise UserError(f"--rater: {error}") from error
    if rater is not None and checked is None:
        raise UserError("--rater: an empty text is not a rater's id; give a name or a short code")
    return checked


def _rater_id(cell: object) -> str | None:
    text = (text_of(cell) or "").strip()
    if len(text) > LONGEST_RATER or not text.isprintable():
        raise ValueError(f"{short(text)} is not a rater's id: at most {LONGEST_RATER} printable characters on one line")
    return text or None


def _rater(slot: Slot, cells: Cells) -> tuple[str | None, Kind | None]:
    """The rater and the kind that a row gives, None if it does not. Raises ValueError."""
    if slot.model is not None:
        return slot.model, Kind.MODEL
    rater, text = _rater_id(cells.get("rater")), text_of(cells.get("kind"))
    kind = next((kind for kind in Kind if text is not None and label_key(text) == kind), None)
    if text is not None and kind is None:
        raise ValueError(f"{short(text)} is not a kind of rater; valid are {', '.join(Kind)}")
    return rater, kind


def _wrong(error: ValidationError, given: Mapping[str, object]) -> Mapping[str, str]:
    """What is wrong with each bad cell, by its part of the rating."""
    wrong: dict[str, str] = {}
    for detail in error.errors():
        part = str(detail["loc"][0])
        said = detail["msg"].removeprefix("Value error, ")
        if detail["type"] != "value_error":
            said = f"{short(given[part])} is not {RatingRow.model_fields[part].description}"
        wrong.setdefault(part, said)
    return wrong


def _word(cell: object) -> str | None:
    """A short text such as an id, without outer white space; None if it is blank."""
    try:
        text = text_of(cell)
    except ValueError:
        text = str(cell)
    return text.strip() if text else None


def _at(cell: object, units: Sequence[Unit], rule: str) -> Unit:
    """The unit at a position, counted from 1; without one, the only unit there is. Raises ValueError."""
    if not units:
        raise ValueError(f"it has no {rule} to rate")
    span = f"from 1 to {len(units)}" if len(units) > 1 else "1"
    if cell is None:
        if len(units) > 1:
            raise ValueError(f"which {rule}? a column unit has its position, {span}")
        return units[0]
    text = _word(cell) or ""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    found = next((unit for unit in units if unit.position == number), None)
    if found is None:
        raise ValueError(f"there is no {rule} {short(text)}; valid is {span}")
    return found
