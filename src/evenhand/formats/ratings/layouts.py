"""The two shapes of a rating file: long, a rating in each row; wide, a column for each criterion."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from typing import Protocol as Interface

from evenhand.errors import InputError
from evenhand.formats.ratings.rating_row import NAMES
from evenhand.formats.ratings.row_check import CHECK
from evenhand.formats.tables.cells import taken_back, text_of
from evenhand.formats.tables.columns import ID_NAMES, WantedColumn, match_columns, wanted_id
from evenhand.formats.tables.field_values import cell_reader
from evenhand.formats.tables.table import InputTable
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import FieldValue, Kind
from evenhand.text import some_of

ContentId = Callable[[Mapping[str, FieldValue]], str]

RATER_NAMES = ("rater_id", "annotator", "annotator_id")
NOTES_NAMES = ("note", "comment", "comments")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with the name of its column."""

    column: str
    content: object


@dataclass(frozen=True, slots=True)
class RatingCells:
    """One rating as it is in the file, not yet checked. Blank cells are left out of `beside`."""

    value: Cell
    criterion: object
    rater: object = None
    kind: object = None
    beside: Mapping[str, Cell] = field(default_factory=dict[str, Cell])


@dataclass(frozen=True, slots=True)
class RatedRow:
    """A row of the file: which item, which of its units, what is said about it, and what it was made for."""

    number: int
    item: Cell
    position: Cell | None
    answers: Sequence[RatingCells]
    check: Cell | None = None


class Layout(Interface):
    """How to read a row."""

    @property
    def name(self) -> Literal["long", "wide"]: ...

    @property
    def without_column(self) -> Sequence[str]:
        """Criteria for which the file has no column."""
        ...

    def row(self, number: int, cells: Sequence[object], made: Counter[object]) -> RatedRow:
        """A row. `made` counts the ids made from content in this reading. Raises ValueError if that fails."""
        ...

    def answers(self, cells: Sequence[object]) -> Sequence[RatingCells]: ...


def layout_of(
    table: InputTable,
    protocol: Protocol,
    id_column: str | None,
    columns: Mapping[str, str],
    content_id: ContentId | None,
) -> Layout:
    """Long if the file has columns `criterion` and `value`, wide otherwise. Raises InputError if it is neither.

    A column `criterion` alone proves nothing: an item may have a field of that name, but none is called `value`.
    """
    names = {criterion.id for criterion in protocol.criteria}
    pair = [WantedColumn("criterion"), WantedColumn("value")]
    given = {name: column for name, column in columns.items() if name in ("criterion", "value")}
    if names.isdisjoint(columns) and len(match_columns(table.source, table.columns, pair, given)) == 2:
        return Long(table, id_column, columns)
    return Wide(table, protocol, id_column, columns, content_id)


class _Cells:
    """The cells of a row by what they hold."""

    def __init__(self, table: InputTable, places: Mapping[str, int]) -> None:
        self._columns = table.columns
        self._places = places
        self._safe = table.spreadsheet

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def get(self, name: str, cells: Sequence[object]) -> Cell | None:
        """The cell without the apostrophe that `made_safe` added; None if it is blank or has no column."""
        place = self._places.get(name)
        content = cells[place] if place is not None else None
        if content is None or content == "" or content != content or (isinstance(content, str) and content.isspace()):
            return None
        if self._safe and isinstance(content, str):
            content = taken_back(content)
        return Cell(self.column(name), content)

    def column(self, name: str) -> str:
        return self._columns[self._places[name]] if name in self._places else name

    def all(self, names: Sequence[str], cells: Sequence[object]) -> dict[str, Cell]:
        found = ((name, self.get(name, cells)) for name in names if name in self._places)
        return {name: cell for name, cell in found if cell is not None}


class Long:
    """A rating in each row: `item`, `criterion`, `value`, and what else is known about it."""

    name: Literal["long"] = "long"
    without_column: Sequence[str] = ()

    def __init__(self, table: InputTable, id_column: str | None, columns: Mapping[str, str]) -> None:
        wanted = [
            WantedColumn("item", ("id", *ID_NAMES[1:]), required=True, option="--id COLUMN"),
            WantedColumn("criterion", required=True),
            WantedColumn("value", required=True),
            WantedColumn("rater", RATER_NAMES),
            WantedColumn("unit"),
            WantedColumn("kind"),
            WantedColumn(CHECK),
            *(WantedColumn(name, NOTES_NAMES if name == "notes" else ()) for name in NAMES),
        ]
        given = {**columns, "item": id_column} if id_column else columns
        self._cells = _Cells(table, match_columns(table.source, table.columns, wanted, given))

    def row(self, number: int, cells: Sequence[object], made: Counter[object]) -> RatedRow:
        item = self._cells.get("item", cells) or Cell(self._cells.column("item"), None)
        check = self._cells.get(CHECK, cells)
        return RatedRow(number, item, self._cells.get("unit", cells), self.answers(cells), check)

    def answers(self, cells: Sequence[object]) -> Sequence[RatingCells]:
        of = self._cells
        answer = RatingCells(
            value=of.get("value", cells) or Cell(of.column("value"), None),
            criterion=_content(of.get("criterion", cells)),
            rater=_content(of.get("rater", cells)),
            kind=_content(of.get("kind", cells)),
            beside=of.all(NAMES, cells),
        )
        return [answer]


class Wide:
    """A row for each item or unit, a column for each criterion, all by one rater, and perhaps columns of models."""

    name: Literal["wide"] = "wide"

    def __init__(
        self,
        table: InputTable,
        protocol: Protocol,
        id_column: str | None,
        columns: Mapping[str, str],
        content_id: ContentId | None,
    ) -> None:
        self._protocol = protocol
        self._content_id = content_id
        by_id = {"id": id_column} if id_column else {}
        has_id = "id" in match_columns(table.source, table.columns, [wanted_id()], by_id)
        fields = [WantedColumn(name, () if has_id else spec.aliases) for name, spec in protocol.item.fields.items()]
        wanted = [wanted_id(), *fields, *_wide_columns(protocol)]
        places = match_columns(table.source, table.columns, wanted, {**columns, **by_id})
        self._cells = _Cells(table, places)
        self._places = places
        self._has_id = has_id
        self._readers = {name: cell_reader(spec) for name, spec in protocol.item.fields.items() if name in places}
        self.without_column = [criterion.id for criterion in protocol.criteria if criterion.id not in places]
        if not has_id:
            self._demand_content(table)
        if not any(
            name in places for criterion in protocol.criteria for name in (criterion.id, *criterion.model_columns)
        ):
            raise InputError(table.source, _no_criteria(table, protocol))

    def _demand_content(self, table: InputTable) -> None:
        required = [name for name, spec in self._protocol.item.fields.items() if spec.required]
        if self._content_id is None or any(name not in self._places for name in required):
            raise InputError(
                table.source,
                f"no column says which item a row is about; the file has: {some_of(table.columns)} (add the ids as a "
                f"column id, name their column with --id COLUMN, or give all of: {', '.join(required)})",
            )

    def row(self, number: int, cells: Sequence[object], made: Counter[object]) -> RatedRow:
        position = self._cells.get("unit", cells)
        if self._has_id:
            item = self._cells.get("id", cells) or Cell(self._cells.column("id"), None)
        else:
            item = Cell("id", self._made_id(cells, position, made))
        return RatedRow(number, item, position, self.answers(cells), self._cells.get(CHECK, cells))

    def _made_id(self, cells: Sequence[object], position: Cell | None, made: Counter[object]) -> str:
        """The id that the item's content gives; equal items are distinguished by a number, as when they were read."""
        fields: dict[str, FieldValue] = {}
        for name, read in self._readers.items():
            value = read(cells[self._places[name]])
            if value is not None:
                fields[name] = value
        assert self._content_id is not None, "the header was checked"
        item_id = self._content_id(fields)
        which = (item_id, text_of(_content(position)), text_of(_content(self._cells.get("rater", cells))))
        made[which] += 1
        return item_id if made[which] == 1 else f"{item_id}-{made[which]}"

    def answers(self, cells: Sequence[object]) -> Sequence[RatingCells]:
        of, carrier = self._cells, self._carrier(cells)
        rater, kind = _content(of.get("rater", cells)), _content(of.get("kind", cells))
        answers: list[RatingCells] = []
        for criterion in self._protocol.criteria:
            if criterion.id in of:
                beside = of.all(("confidence", "notes"), cells) if criterion is carrier else {}
                if rationale := of.get(rationale_column(criterion), cells):
                    beside["rationale"] = rationale
                value = of.get(criterion.id, cells) or Cell(of.column(criterion.id), None)
                answers.append(RatingCells(value, criterion.id, rater, kind, beside))
            for column, model in criterion.model_columns.items():
                if value := of.get(column, cells):
                    answers.append(RatingCells(value, criterion.id, model, Kind.MODEL))
        return answers

    def _carrier(self, cells: Sequence[object]) -> Criterion:
        """The criterion whose rating gets confidence and notes: the leading one, or else the first that is rated."""
        lead = self._protocol.lead
        order = sorted(self._protocol.criteria, key=lambda criterion: criterion is not lead)
        return next((criterion for criterion in order if self._cells.get(criterion.id, cells)), lead)


def rationale_column(criterion: Criterion) -> str:
    """The column of a wide file that holds the rationales of a criterion."""
    return f"{criterion.id}_rationale"


def _wide_columns(protocol: Protocol) -> Iterator[WantedColumn]:
    yield from (WantedColumn("unit"), WantedColumn("rater", RATER_NAMES), WantedColumn("kind"), WantedColumn(CHECK))
    yield from (WantedColumn("confidence"), WantedColumn("notes", NOTES_NAMES))
    alone = ("rationale", "reasoning") if len(protocol.criteria) == 1 else ()
    taken = {criterion.id for criterion in protocol.criteria} | set(protocol.item.fields)
    for criterion in protocol.criteria:
        yield WantedColumn(criterion.id, ((criterion.name,) if criterion.name else ()) + criterion.columns)
        yield from (WantedColumn(column) for column in criterion.model_columns)
        if rationale_column(criterion) not in taken:
            yield WantedColumn(
                rationale_column(criterion), (*(f"{name}_rationale" for name in criterion.columns), *alone)
            )


def _no_criteria(table: InputTable, protocol: Protocol) -> str:
    names = [" or ".join((criterion.id, *criterion.columns)) for criterion in protocol.criteria]
    return (
        f"no column holds ratings; the file has: {some_of(table.columns)} (a wide file has a column for each "
        f"criterion: {', '.join(names)}; a long file has the columns rater, item, criterion and value; another name "
        f"is given with --map {protocol.criteria[0].id}=COLUMN)"
    )


def _content(cell: Cell | None) -> object:
    return cell.content if cell else None


def is_rated(answer: RatingCells) -> bool:
    """Whether there is a rating: a blank cell without a status is none."""
    return answer.value.content is not None or "status" in answer.beside
