"""Rows of a rating file as ratings: every cell is checked, and problems are collected while checking goes on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from evenhand.formats.problems import Problems
from evenhand.formats.ratings.layouts import RatedRow, RatingCells, is_rated
from evenhand.formats.ratings.raters import WHO, Raters
from evenhand.formats.ratings.rating_row import RowContext, read_row
from evenhand.formats.ratings.row_check import refused
from evenhand.formats.tables.cells import short, text_of
from evenhand.protocol.model import Condition, Criterion, Protocol
from evenhand.records import Item, Rating, Status, Unit, Value
from evenhand.scales import Nominal, Text, label_key
from evenhand.text import did_you_mean

DATE = "a spreadsheet program has made a date of it; format the column as a number or text"

Units = Mapping[str, Sequence[Unit]]
Items = Mapping[str, Item]


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


class Checker:
    """One reading of one file."""

    def __init__(self, protocol: Protocol, raters: Raters, problems: Problems, summary: ImportSummary) -> None:
        self._protocol = protocol
        self._raters = raters
        self._problems = problems
        self._summary = summary
        self._criteria = {
            label_key(spelling): criterion
            for criterion in reversed(protocol.criteria)
            for spelling in (criterion.name or criterion.id, criterion.id)
        }
        self._first: dict[tuple[str, str], dict[str, tuple[int, str]]] = {}
        self._nobody = False
        self._conditions = _Conditions(protocol, problems, summary)

    def ratings(self, row: RatedRow, units: Units, items: Items) -> Iterator[Rating]:
        """The ratings of a row, but for those that depend on a condition: these come from `finish`."""
        unit = self._unit(row, units) if any(map(is_rated, row.answers)) else None
        if unit is not None and not self._made_for(row, unit, items):
            # The row was made for another protocol or another text, so its other cells mean something else.
            self._conditions.unclear(None)
            return
        for answer in row.answers:
            if not is_rated(answer):
                self._blank(answer, unit)
                continue
            criterion = self._criterion(answer, row.number)
            rating = self._rating(answer, criterion, unit, row.number) if criterion else None
            if criterion is None:
                self._conditions.unclear(None)
            if rating is not None and criterion is not None:
                yield from self._conditions.pass_on(rating, criterion, row.number, answer.value.column)

    def finish(self) -> Iterator[Rating]:
        """The ratings that had to wait for the end of the file."""
        yield from self._conditions.settled()

    def _blank(self, answer: RatingCells, unit: Unit | None) -> None:
        criterion = self._criteria.get(label_key(str(answer.criterion)))
        rater = answer.rater or self._raters.named
        self._conditions.blank(criterion, unit.id if unit else None, str(rater) if rater else None)
        self._summary.left_out += bool(answer.beside)

    def _unit(self, row: RatedRow, units: Units) -> Unit | None:
        item_id = word(row.item.content)
        if item_id is None:
            self._problems.add("empty, but a rating is about an item", row=row.number, column=row.item.column)
            return None
        if item_id not in units:
            fix = "a spreadsheet program may have changed it" if item_id.isdigit() else None
            what = f"the study has no item {short(item_id)}"
            self._problems.add(what, row=row.number, column=row.item.column, fix=fix)
            return None
        try:
            return _at(row.position.content if row.position else None, units[item_id], self._protocol.rule.of)
        except ValueError as error:
            column = row.position.column if row.position else "unit"
            self._problems.add(f"item {short(item_id)}: {error}", row=row.number, column=column)
            return None

    def _made_for(self, row: RatedRow, unit: Unit, items: Items) -> bool:
        """Whether a row was made for this protocol and this unit, as far as it says; reports a problem otherwise."""
        wrong = refused(row.check.content, self._protocol, items.get(unit.item), unit) if row.check else None
        if row.check is not None and wrong is not None:
            self._problems.add(wrong[0], row=row.number, column=row.check.column, fix=wrong[1])
        return wrong is None

    def _criterion(self, answer: RatingCells, row: int) -> Criterion | None:
        name = str(answer.criterion or "")
        criterion = self._criteria.get(label_key(name))
        if criterion is None:
            valid = [criterion.id for criterion in self._protocol.criteria]
            what = f"there is no criterion {name!r}{did_you_mean(name, valid)}; there are: {', '.join(valid)}"
            self._problems.add(what, row=row, column="criterion")
        return criterion

    def _rating(self, answer: RatingCells, criterion: Criterion, unit: Unit | None, row: int) -> Rating | None:
        rater = self._rater(answer, row)
        details = self._details(answer, criterion, row)
        judged = self._value(answer, criterion, details, row)
        if details is None or judged is None or rater is None or unit is None:
            self._conditions.unclear((unit.id, rater, criterion.id) if unit and rater else None)
            return None
        status, value = judged
        if not self._is_first(unit, criterion, rater, row, answer.value.column):
            return None
        self._count(rater, criterion, status, details)
        content: dict[str, Any] = {**details, "status": status, "value": value}
        return Rating(unit=unit.id, criterion=criterion.id, rater=rater, digest=self._protocol.digest, **content)

    def _details(self, answer: RatingCells, criterion: Criterion, row: int) -> Mapping[str, Any] | None:
        """What the file says besides the value; None if a cell of it is bad."""
        cells = {name: cell.content for name, cell in answer.beside.items()}
        details, wrong = read_row(cells, RowContext(self._protocol.item.fields, criterion))
        for name, what in wrong.items():
            self._problems.add(what, row=row, column=answer.beside[name].column)
        return None if wrong else details

    def _value(
        self, answer: RatingCells, criterion: Criterion, details: Mapping[str, Any] | None, row: int
    ) -> tuple[Status, Value | None] | None:
        """Status and value, or None and a problem. The value is checked even if other cells are bad, unless it
        depends on a status that cannot be read."""
        if details is None and "status" in answer.beside:
            return None
        try:
            return _judged(answer.value.content, criterion, details or {})
        except ValueError as error:
            fix = DATE if isinstance(answer.value.content, date) else None
            self._problems.add(str(error), row=row, column=answer.value.column, fix=fix)
            return None

    def _rater(self, answer: RatingCells, row: int) -> str | None:
        try:
            rater = self._raters.of(answer)
        except ValueError as error:
            self._problems.add(str(error), row=row, column="rater")
            return None
        if rater is None and not self._nobody:
            self._problems.add("no rater is named", row=row, column=answer.value.column, fix=WHO)
            self._nobody = True
        return rater

    def _is_first(self, unit: Unit, criterion: Criterion, rater: str, row: int, column: str) -> bool:
        first = self._first.setdefault((rater, criterion.id), {}).setdefault(unit.id, (row, column))
        if first == (row, column):
            return True
        place = f"item {short(unit.item)}" + ("" if self._protocol.rule.of == "item" else f", unit {unit.position}")
        what = f"{rater!r} has rated {criterion.id} of {place} already in row {first[0]}"
        self._problems.add(what, row=row, column=column, fix="keep one of the two")
        return False

    def _count(self, rater: str, criterion: Criterion, status: Status, details: Mapping[str, Any]) -> None:
        summary, ask = self._summary, self._protocol.ask
        summary.ratings[rater] = summary.ratings.get(rater, 0) + 1
        if status is Status.RATED and not isinstance(criterion.scale, Text):
            summary.without_rationale += ask.rationale == "required" and "rationale" not in details
            lead = criterion is self._protocol.lead
            summary.without_confidence += lead and ask.confidence == "required" and "confidence" not in details


class _Waiting(NamedTuple):
    rating: Rating
    row: int
    column: str


class _Conditions:
    """Holds back the ratings that depend on others until the whole file has been read.

    A long file may have a unit's ratings in any order. If a condition turns out to be false for a rated unit, a rating
    with the status `not_asked` is added.
    """

    def __init__(self, protocol: Protocol, problems: Problems, summary: ImportSummary) -> None:
        self._protocol = protocol
        self._problems = problems
        self._summary = summary
        self._dependent = [criterion for criterion in protocol.criteria if criterion.when]
        self._decisive = {criterion.when.criterion for criterion in self._dependent if criterion.when}
        self._values: dict[tuple[str, str], dict[str, Value]] = {}
        self._waiting: dict[tuple[str, str], dict[str, _Waiting]] = {}
        self._blank: set[tuple[str, str, str]] = set()
        self._unclear: set[tuple[str, str, str]] = set()
        self._lost = False

    @property
    def any(self) -> bool:
        return bool(self._dependent)

    def blank(self, criterion: Criterion | None, unit: str | None, rater: str | None) -> None:
        """Count a cell without a rating; whether one was expected is decided at the end."""
        if criterion is not None and criterion.when and unit is not None and rater is not None:
            self._blank.add((unit, rater, criterion.id))
        else:
            self._summary.blanks += 1

    def unclear(self, place: tuple[str, str, str] | None) -> None:
        """Remember a rating (unit, rater, criterion) that was reported as unreadable, so that ratings that depend on
        it are not reported as well. None: it is unknown which rating it was meant to be."""
        if place is None:
            self._lost = True
        else:
            self._unclear.add(place)

    def pass_on(self, rating: Rating, criterion: Criterion, row: int, column: str) -> Iterator[Rating]:
        """The rating, unless it has to wait."""
        key = (rating.unit, rating.rater)
        if criterion.when:
            self._waiting.setdefault(key, {})[criterion.id] = _Waiting(rating, row, column)
            return
        if criterion.id in self._decisive and rating.value is not None:
            self._values.setdefault(key, {})[criterion.id] = rating.value
        yield rating

    def settled(self) -> Iterator[Rating]:
        """The ratings that waited, and the added ones with the status `not_asked`."""
        for key in dict.fromkeys((*self._values, *self._waiting)):
            yield from self._settle(key, self._values.get(key, {}), self._waiting.get(key, {}))
        self._summary.blanks += len(self._blank)

    def _settle(self, key: tuple[str, str], values: dict[str, Value], waiting: dict[str, _Waiting]) -> Iterator[Rating]:
        decided = set(values)
        for criterion in self._dependent:
            assert criterion.when is not None
            if (*key, criterion.when.criterion) in self._unclear:
                self._unclear.add((*key, criterion.id))
                continue
            asked = self._protocol.asked(criterion, values)
            held = waiting.get(criterion.id)
            if held is None:
                if not asked and criterion.when.criterion in decided:
                    decided.add(criterion.id)
                    self._blank.discard((*key, criterion.id))
                    self._summary.not_asked += 1
                    yield Rating(
                        unit=key[0],
                        rater=key[1],
                        criterion=criterion.id,
                        digest=self._protocol.digest,
                        status=Status.NOT_ASKED,
                    )
            elif self._fits(held, criterion, criterion.when, asked, values):
                if held.rating.status in (Status.RATED, Status.NOT_ASKED):
                    decided.add(criterion.id)
                if held.rating.value is not None:
                    values[criterion.id] = held.rating.value
                yield held.rating

    def _fits(
        self, held: _Waiting, criterion: Criterion, when: Condition, asked: bool, values: dict[str, Value]
    ) -> bool:
        """Whether a rating agrees with its condition; reports a problem otherwise."""
        status = held.rating.status
        if status is Status.NOT_ASKED and asked:
            what = f"{criterion.id} is asked here: {when.describe()}"
        elif status is not Status.RATED or asked:
            return True
        elif when.criterion not in values and self._lost:
            return False
        elif when.criterion in values:
            what = f"{criterion.id} is asked only when {when.describe()}; here it is {values[when.criterion]}"
        else:
            what = f"{criterion.id} is asked only when {when.describe()}; the file has no value for it"
        fix = f"leave {criterion.id} empty, or correct {when.criterion}"
        self._problems.add(what, row=held.row, column=held.column, fix=fix)
        return False


def word(content: object) -> str | None:
    """A short text such as an id, without outer white space; None if it is blank."""
    try:
        text = text_of(content)
    except ValueError:
        text = str(content)
    return text.strip() if text else None


def _judged(content: object, criterion: Criterion, details: Mapping[str, Any]) -> tuple[Status, Value | None]:
    """A rating's status and value. Raises ValueError for a value off the scale and for a status that denies it."""
    status: Status = details.get("status", Status.RATED)
    if status is not Status.RATED:
        if content is not None:
            raise ValueError(f"{short(content)} is given with the status {status}; only a rated criterion has a value")
        if status is Status.FAILED and "reason" not in details:
            raise ValueError("a failed rating says why, in a column reason")
        return status, None
    if content is None:
        raise ValueError("empty, although the status is rated")
    plain = isinstance(criterion.scale, Nominal | Text) or not isinstance(content, int | float)
    return status, criterion.scale.read(text_of(content) if plain else content)


def _at(content: object, units: Sequence[Unit], rule: str) -> Unit:
    """The unit at a position, counted from 1; without one, the only unit there is. Raises ValueError."""
    if not units:
        raise ValueError(f"it has no {rule} to rate")
    span = f"from 1 to {len(units)}" if len(units) > 1 else "1"
    if content is None:
        if len(units) > 1:
            raise ValueError(f"which {rule}? a column unit has its position, {span}")
        return units[0]
    text = word(content) or ""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    found = [unit for unit in units if unit.position == number]
    if not found:
        raise ValueError(f"there is no {rule} {short(text)}; valid is {span}")
    return found[0]
