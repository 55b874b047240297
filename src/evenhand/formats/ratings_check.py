"""Rows of a rating file → ratings, every cell checked; what is wrong goes to a collector, and checking goes on."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from evenhand.formats.beside import read_beside
from evenhand.formats.columns import nearest
from evenhand.formats.conditions import Conditions
from evenhand.formats.plain import short, text_of
from evenhand.formats.problems import Problems
from evenhand.formats.provenance import refused
from evenhand.formats.raters_in import WHO, Raters
from evenhand.formats.ratings_reckoned import RECKONED, read_reckoned
from evenhand.formats.ratings_shapes import Answer, RatedRow, is_rated
from evenhand.formats.summary import ImportSummary
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import Item, Rating, Status, Unit, Value
from evenhand.scales import Nominal, Text, label_key

DATE = "a spreadsheet program has made a date of it; format the column as a number or text"

Units = Mapping[str, Sequence[Unit]]
Items = Mapping[str, Item]


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
        self._conditions = Conditions(protocol, problems, summary)

    def ratings(self, row: RatedRow, units: Units, items: Items) -> Iterator[Rating]:
        """The ratings of a row, but for those that depend on a condition: these come from `finish`."""
        unit = self._unit(row, units) if any(map(is_rated, row.answers)) else None
        if unit is not None and not self._made_for(row, unit, items):
            # Under another protocol or for another text, the row's other cells mean something else.
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
        """What waited for the end of the file."""
        yield from self._conditions.settled()

    def _blank(self, answer: Answer, unit: Unit | None) -> None:
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
        """Whether a row was made under this protocol and for this unit, as far as it says; a problem otherwise."""
        wrong = refused(row.check.content, self._protocol, items.get(unit.item), unit) if row.check else None
        if row.check is not None and wrong is not None:
            self._problems.add(wrong[0], row=row.number, column=row.check.column, fix=wrong[1])
        return wrong is None

    def _criterion(self, answer: Answer, row: int) -> Criterion | None:
        name = str(answer.criterion or "")
        criterion = self._criteria.get(label_key(name))
        if criterion is None:
            valid = [criterion.id for criterion in self._protocol.criteria]
            what = f"there is no criterion {name!r}{nearest(name, valid)}; there are: {', '.join(valid)}"
            self._problems.add(what, row=row, column="criterion")
        return criterion

    def _rating(self, answer: Answer, criterion: Criterion, unit: Unit | None, row: int) -> Rating | None:
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

    def _details(self, answer: Answer, criterion: Criterion, row: int) -> Mapping[str, Any] | None:
        """What stands beside the value; None where a cell of it is bad."""
        given = {name: cell for name, cell in answer.beside.items() if name not in RECKONED}
        told = read_beside(given, self._protocol.item.fields, row, self._problems)
        reckoned = read_reckoned(answer.beside, criterion, row, self._problems)
        return None if told is None or reckoned is None else {**told, **reckoned}

    def _value(
        self, answer: Answer, criterion: Criterion, details: Mapping[str, Any] | None, row: int
    ) -> tuple[Status, Value | None] | None:
        """Status and value, or None and a problem. Where what stands beside is bad, the value is looked at all the
        same, unless it hangs on a status that cannot be read."""
        if details is None and "status" in answer.beside:
            return None
        try:
            return _judged(answer.value.content, criterion, details or {})
        except ValueError as error:
            fix = DATE if isinstance(answer.value.content, date) else None
            self._problems.add(str(error), row=row, column=answer.value.column, fix=fix)
            return None

    def _rater(self, answer: Answer, row: int) -> str | None:
        try:
            rater = self._raters.of(answer)
        except ValueError as error:
            self._problems.add(str(error), row=row, column="rater")
            return None
        if rater is None and not self._nobody:
            self._problems.add("nobody is named as the rater", row=row, column=answer.value.column, fix=WHO)
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


def word(content: object) -> str | None:
    """A short text such as an id, without outer space; None where it is none."""
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
            raise ValueError(f"{short(content)} stands beside the status {status}; only what is rated has a value")
        if status is Status.FAILED and "reason" not in details:
            raise ValueError("a failed rating says why, in a column reason")
        return status, None
    if content is None:
        raise ValueError("empty beside the status rated")
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
