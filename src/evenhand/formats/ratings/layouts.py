"""The two shapes of a rating file: long, a rating in each row; wide, a column for each criterion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evenhand.errors import InputError, Problems
from evenhand.formats.items import cell_reader, content_id, distinct
from evenhand.formats.ratings.check_column import CHECK
from evenhand.formats.tables.cells import taken_back, text_of
from evenhand.formats.tables.columns import ID_NAMES, ITEM_ID, WantedColumn, match_columns
from evenhand.formats.tables.table import InputTable
from evenhand.protocol.completion import carrier
from evenhand.protocol.model import Criterion, FieldSpec, Protocol
from evenhand.text import some_of

RATER = WantedColumn("rater", ("rater_id", "annotator", "annotator_id"))
NOTES = WantedColumn("notes", ("note", "comment", "comments"))

Cells = Mapping[str, object]
"""The cells of a row that are not blank, by what they hold."""


class FileRow(NamedTuple):
    """A row of a rating file; `item` is None if it names none."""

    number: int
    item: str | None
    cells: Cells


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a row has one rating: the name of the cell with its value, and of the cells with its other parts.

    Without a `criterion`, the row names it. A column of a model's values has that model's rater id.
    """

    value: str
    criterion: str | None = None
    model: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict[str, str])


class Layout:
    """What the columns of a rating file hold. `without_column` are the criteria for which a wide file has no column."""

    def __init__(self, table: InputTable, places: Mapping[str, int], slots: Sequence[Slot], protocol: Protocol) -> None:
        is_long = slots[0].criterion is None
        self.slots = [slot for slot in slots if slot.value in places]
        self.without_column = tuple(name for name in protocol.by_id if not is_long and name not in places)
        self._table = table
        self._columns = {name: table.columns[place] for name, place in places.items()}
        self.item_name = "item" if is_long else "id"
        fields: Mapping[str, FieldSpec] = {} if is_long else protocol.item.fields
        self._cells = [(name, place) for name, place in places.items() if name not in fields]
        self._content = [(name, places[name], cell_reader(spec)) for name, spec in fields.items() if name in places]
        self._protocol = protocol

    def column(self, name: str) -> str:
        return self._columns.get(name, name)

    def rated(self, cells: Cells) -> Sequence[Slot]:
        """The slots with a rating: a blank value without a status is none."""
        return [slot for slot in self.slots if slot.value in cells or "status" in cells]

    def rows(self, problems: Problems) -> Iterator[FileRow]:
        """The rows. A file without ids has the ids that the items' content gives; equal items are distinguished by a
        number, as when they were read."""
        made: dict[object, int] = {}
        for number, row in self._table.rows(problems):
            cells = self._filled(row)
            try:
                if self.item_name in self._columns:
                    item = (text_of(cells.get(self.item_name)) or "").strip() or None
                else:
                    values = ((name, read(row[place])) for name, place, read in self._content)
                    fields = {name: value for name, value in values if value is not None}
                    apart = text_of(cells.get("unit")), text_of(cells.get("rater"))
                    item = distinct(content_id(fields), made, *apart)
                yield FileRow(number, item, cells)
            except ValueError as error:
                column = self._columns.get(self.item_name)
                problems.add(f"{error}; an id is one" if column else str(error), row=number, column=column)

    def _filled(self, row: Sequence[object]) -> Cells:
        """The cells that are not blank, without the apostrophe that `made_safe` added."""
        found: dict[str, object] = {}
        for name, place in self._cells:
            cell = row[place]
            if isinstance(cell, str):
                if cell and not cell.isspace():
                    found[name] = taken_back(cell) if self._table.spreadsheet else cell
            elif cell is not None and cell == cell:
                found[name] = cell
        return found

    def parts(self, slot: Slot, cells: Cells) -> Mapping[str, str]:
        """The names of the cells that are given with a value, by the part of the rating they are."""
        rated = {name: name for name in self._protocol.by_id if name in cells}
        carries = slot.value == (carrier(self._protocol, rated) or self._protocol.lead.id)
        once = {"confidence": "confidence", "notes": "notes"} if carries else {}
        return {part: name for part, name in {**slot.parts, **once}.items() if name in cells}


def layout_of(
    table: InputTable, protocol: Protocol, id_column: str | None, given: Mapping[str, str], parts: Sequence[str]
) -> Layout:
    """Long if the file has columns `criterion` and `value`, wide otherwise. Raises InputError if it is neither.

    A column `criterion` alone proves nothing: an item may have a field of that name, but none is called `value`.
    `given` leads from criteria and other names to columns; `parts` are the columns of a long file that a rating may
    have besides its value.
    """
    pair = [WantedColumn("criterion"), WantedColumn("value")]
    named = {name: column for name, column in given.items() if name in ("criterion", "value")}
    is_long = len(match_columns(table.source, table.columns, pair, named)) == 2
    if is_long and protocol.by_id.keys().isdisjoint(given):
        wanted = [
            WantedColumn("item", ("id", *ID_NAMES[1:]), required=True, option="--id COLUMN"),
            *(WantedColumn(name, required=True) for name in ("criterion", "value")),
            *(RATER, *map(WantedColumn, ("unit", "kind", CHECK))),
            *(NOTES if name == "notes" else WantedColumn(name) for name in parts),
        ]
        places = match_columns(
            table.source, table.columns, wanted, {**given, "item": id_column} if id_column else given
        )
        return Layout(table, places, [Slot("value", parts={name: name for name in parts})], protocol)
    return _wide(table, protocol, id_column, given)


def _wide(table: InputTable, protocol: Protocol, id_column: str | None, given: Mapping[str, str]) -> Layout:
    """A row for each item or unit, a column for each criterion, all by one rater, and perhaps columns of models."""
    by_id = {"id": id_column} if id_column else {}
    has_id = "id" in match_columns(table.source, table.columns, [ITEM_ID], by_id)
    fields = [WantedColumn(name, () if has_id else spec.aliases) for name, spec in protocol.item.fields.items()]
    wanted = [ITEM_ID, *fields, *_wide_columns(protocol)]
    places = match_columns(table.source, table.columns, wanted, {**given, **by_id})
    required = [name for name, spec in protocol.item.fields.items() if spec.required]
    if not has_id and any(name not in places for name in required):
        raise InputError(
            table.source,
            f"no column says which item a row is about; the file has: {some_of(table.columns)} (add the ids as a "
            f"column id, name their column with --id COLUMN, or give all of: {', '.join(required)})",
        )
    slots: list[Slot] = []
    for criterion in protocol.criteria:
        slots.append(Slot(criterion.id, criterion.id, parts={"rationale": rationale_column(criterion)}))
        slots += [Slot(column, criterion.id, model) for column, model in criterion.model_columns.items()]
    layout = Layout(table, places, slots, protocol)
    if not layout.slots:
        names = [" or ".join((criterion.id, *criterion.columns)) for criterion in protocol.criteria]
        raise InputError(
            table.source,
            f"no column holds ratings; the file has: {some_of(table.columns)} (a wide file has a column for each "
            f"criterion: {', '.join(names)}; a long file has the columns rater, item, criterion and value; another "
            f"name is given with --map {protocol.criteria[0].id}=COLUMN)",
        )
    return layout


def rationale_column(criterion: Criterion) -> str:
    """The column of a wide file that holds the rationales of a criterion."""
    return f"{criterion.id}_rationale"


def _wide_columns(protocol: Protocol) -> Iterator[WantedColumn]:
    yield from (RATER, NOTES, *map(WantedColumn, ("unit", "kind", CHECK, "confidence")))
    alone = ("rationale", "reasoning") if len(protocol.criteria) == 1 else ()
    taken = {criterion.id for criterion in protocol.criteria} | set(protocol.item.fields)
    for criterion in protocol.criteria:
        yield WantedColumn(criterion.id, ((criterion.name,) if criterion.name else ()) + criterion.columns)
        yield from map(WantedColumn, criterion.model_columns)
        if (name := rationale_column(criterion)) not in taken:
            yield WantedColumn(name, (*(f"{column}_rationale" for column in criterion.columns), *alone))
