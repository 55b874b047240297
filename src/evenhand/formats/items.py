"""Tables → items: columns mapped to the protocol's fields, cells read by kind, ids given or made from the content.

A reader of cells raises ValueError with what is wrong and what would be valid; the caller adds the location of the
cell. An empty cell is None: the field is absent.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import cast

from narwhals.typing import IntoFrame

from evenhand.errors import InputError, Problem
from evenhand.formats.problems import Problems
from evenhand.formats.tables.cells import listed, short, text_of
from evenhand.formats.tables.columns import WantedColumn, match_columns, wanted_id
from evenhand.formats.tables.table import InputTable, frame_table
from evenhand.formats.tables.table_files import TableSource, open_table, table_of
from evenhand.formats.tables.triples import read_triples
from evenhand.protocol.model import FieldSpec, Protocol
from evenhand.records import FieldValue, Item
from evenhand.sampling import Draw, draw
from evenhand.scales import Label, label_key

LONGEST_ID = 200


CellReader = Callable[[object], FieldValue | None]


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Items on their way from a table: each iteration reads it again, row by row.

    After the last row it raises InputError with every problem of every row. `columns` says which column became which
    field (and `id`), `unused` which columns were ignored. `only` keeps the rows of a sample, by their ordinal.
    """

    source: str
    columns: Mapping[str, str]
    unused: Sequence[str]
    _rows: InputTable = field(repr=False)
    _readers: Sequence[tuple[str, int, CellReader, bool]] = field(repr=False)
    _id_place: int | None = field(repr=False)
    only: Collection[int] | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Item]:
        return map(itemgetter(1), self.numbered())

    def numbered(self) -> Iterator[tuple[int, Item]]:
        """Each item with the number of its row."""
        problems = Problems(self.source)
        made: dict[object, int] = {}
        ordinal, only, id_place, readers = -1, self.only, self._id_place, self._readers
        for ordinal, (row, cells) in enumerate(self._rows.rows(problems)):
            fields: dict[str, FieldValue] = {}
            for name, place, read, required in readers:
                cell = cells[place]
                if read is text_of and type(cell) is str and cell and not cell.isspace():
                    # What `text_of` would say, without the call: most cells of a large file are plain text.
                    fields[name] = cell
                    continue
                try:
                    value = read(cell)
                except ValueError as error:
                    problems.add(str(error), row=row, column=self.columns[name])
                    continue
                if value is not None:
                    fields[name] = value
                elif required:
                    problems.add("empty, but every item needs it", row=row, column=self.columns[name])
            if id_place is None:
                item_id = distinct(content_id(fields), made)
            else:
                item_id = cells[id_place]
                if not (type(item_id) is str and item_id.isalnum() and len(item_id) <= LONGEST_ID):
                    item_id = self._given_id(item_id, row, problems)
            if only is None or ordinal in only:
                yield row, Item(item_id, fields)
        if ordinal < 0:
            problems.add("there are no rows")
        if problems:
            problems.extend(self._duplicates())
        problems.raise_if_any()

    def sampled(self, ordinals: Collection[int]) -> "ItemSource":
        """The same source, but only the items at these ordinals (from 0)."""
        return replace(self, only=frozenset(ordinals))

    def _duplicates(self) -> Iterator[Problem]:
        """Ids that are there more than once, found in a second reading.

        Only a file that is rejected anyway pays for it; in a good one, the store finds them.
        """
        if self._id_place is None:
            return
        ignored, first = Problems(self.source), dict[str, int]()
        for ordinal, (row, cells) in enumerate(self._rows.rows(ignored)):
            item_id = self._given_id(cells[self._id_place], row, ignored)
            if item_id and (self.only is None or ordinal in self.only) and first.setdefault(item_id, row) != row:
                yield _duplicate(item_id, first[item_id], row, self.columns["id"])

    def _given_id(self, cell: object, row: int, problems: Problems) -> str:
        item_id = (text_of(cell) or "").strip()
        if not item_id:
            problems.add("empty, but every item needs an id", row=row, column=self.columns["id"])
        elif len(item_id) > LONGEST_ID or not item_id.isprintable():
            what = f"an id is at most {LONGEST_ID} printable characters on one line"
            problems.add(what, row=row, column=self.columns["id"])
        return item_id


def read_items(
    path: str | Path,
    protocol: Protocol,
    *,
    mapping: Mapping[str, str] | None = None,
    id_column: str | None = None,
) -> ItemSource:
    """The items in a file. `mapping` names the column of a field that has neither its own name nor an alias.

    Without an id column, ids are made from the content: the same row has the same id next time. Raises InputError for
    missing columns at once, and for bad cells when the items are iterated.
    """
    return items_from_rows(open_table(path), protocol, mapping=mapping, id_column=id_column)


def items_from_frame(
    frame: IntoFrame,
    protocol: Protocol,
    *,
    mapping: Mapping[str, str] | None = None,
    id_column: str | None = None,
) -> ItemSource:
    """The items in a pandas or Polars frame, or any other that narwhals knows, as `read_items` has them from a file."""
    return items_from_rows(frame_table(frame), protocol, mapping=mapping, id_column=id_column)


def items_from_rows(
    rows: InputTable, protocol: Protocol, *, mapping: Mapping[str, str] | None = None, id_column: str | None = None
) -> ItemSource:
    """The items in a table that is already open."""
    given = dict(mapping or {})
    if id_column is not None:
        given["id"] = id_column
    wanted = [wanted_id(), *field_columns(protocol)]
    places = match_columns(rows.source, rows.columns, wanted, given)
    readers = [
        (name, places[name], cell_reader(spec), spec.required)
        for name, spec in protocol.item.fields.items()
        if name in places
    ]
    taken = set(places.values())
    return ItemSource(
        source=rows.source,
        columns={name: rows.columns[place] for name, place in places.items()},
        unused=[column for place, column in enumerate(rows.columns) if place not in taken],
        _rows=rows,
        _readers=readers,
        _id_place=places.get("id"),
    )


def items_of(
    source: TableSource | ItemSource | Iterable[Item],
    protocol: Protocol,
    mapping: Mapping[str, str] | None,
    id_column: str | None,
) -> ItemSource | Iterable[Item]:
    """Items from a path, a data frame, a list of dicts, or any iterable of items."""
    is_rows = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], Mapping)
    if is_rows or isinstance(source, str | Path) or hasattr(source, "columns"):
        if isinstance(source, ItemSource):
            return source
        return items_from_rows(table_of(cast("TableSource", source)), protocol, mapping=mapping, id_column=id_column)
    return cast("Iterable[Item]", source)


def sample(items: ItemSource, protocol: Protocol, size: int, by: Sequence[str], seed: int) -> tuple[ItemSource, Draw]:
    """A seeded sample of items, in proportion to the strata given by the fields `by`."""
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


def field_columns(protocol: Protocol) -> Sequence[WantedColumn]:
    """The protocol's fields, as things to look for among a file's columns."""
    return [WantedColumn(name, spec.aliases, spec.required) for name, spec in protocol.item.fields.items()]


def content_id(fields: Mapping[str, FieldValue]) -> str:
    """An id made from the content: 80 bits of a hash, so that a million items are in no danger of sharing one."""
    content = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def duplicate_rows(items: ItemSource, duplicates: Mapping[str, Sequence[int]]) -> InputError:
    """The error for ids that are there more than once, given the ordinals (from 1) of the items with each id."""
    wanted = {ordinal for ordinals in duplicates.values() for ordinal in ordinals}
    rows = {ordinal: row for ordinal, (row, _) in enumerate(items.numbered(), start=1) if ordinal in wanted}
    column = items.columns.get("id")
    problems = [
        _duplicate(item_id, rows[ordinals[0]], rows[ordinal], column)
        for item_id, ordinals in duplicates.items()
        for ordinal in ordinals[1:]
    ]
    return InputError(items.source, sorted(problems, key=lambda problem: problem.row or 0))


def _duplicate(item_id: str, first: int, row: int, column: str | None) -> Problem:
    return Problem(
        f"the id {item_id!r} is already in row {first}",
        row=row,
        column=column,
        fix="each item needs an id of its own; --id names another column",
    )


def distinct(item_id: str, made: dict[object, int], *apart: object) -> str:
    """The id itself for the first row with this content, then `ID-2`, `ID-3`: equal rows stay apart.

    `made` counts the rows by their ids and by what else keeps them `apart`.
    """
    count = made[item_id, *apart] = made.get((item_id, *apart), 0) + 1
    return item_id if count == 1 else f"{item_id}-{count}"


def cell_reader(spec: FieldSpec) -> CellReader:
    """The function that reads the cells of one field."""
    if spec.kind == "text":
        return text_of
    if spec.kind == "label":
        return _label_reader(spec.labels or {})
    if spec.kind == "number":
        return _number
    if spec.kind == "triples":
        return read_triples
    return partial(_passages, delimiter=spec.delimiter)


def _label_reader(labels: Mapping[str, Label]) -> CellReader:
    """Reads a label: as the protocol spells it if the field has a list of labels, otherwise without outer space."""
    canonical = {label_key(alias): name for name, label in labels.items() for alias in (name, *label.aliases)}
    known: dict[object, str] = {name: name for name in labels}

    def read(cell: object) -> str | None:
        if type(cell) is str and cell in known:
            return known[cell]
        text = text_of(cell)
        if text is None or not labels:
            return text and text.strip()
        name = canonical.get(label_key(text))
        if name is None:
            raise ValueError(f"{short(text)} is not one of {', '.join(labels)}")
        known[text] = name
        return name

    return read


def _number(cell: object) -> float | None:
    text = text_of(cell)
    if text is None:
        return None
    try:
        number = float(text) if "_" not in text and not isinstance(cell, bool) else None
    except ValueError:
        number = None
    if number is None or abs(number) == float("inf"):
        raise ValueError(f"{short(text)} is not a number such as 3 or 0.5")
    return None if number != number else number


def _passages(cell: object, delimiter: str | None) -> tuple[str, ...] | None:
    """A list; a list written as JSON or Python in a text; a text split at the delimiter; otherwise one passage."""
    if type(cell) is str and (text := cell.strip()) and text[0] != "[" and (not delimiter or delimiter not in text):
        # The case of nearly every cell of a large file, decided without the detours below.
        return (text,)
    if isinstance(cell, list | tuple):
        found = [_passage(entry) for entry in cast("Sequence[object]", cell)]
        return tuple(passage for passage in found if passage) or None
    if isinstance(cell, Mapping):
        return _passages((cast("object", cell),), None)
    text = text_of(cell)
    if text is None:
        return None
    inner = listed(text) if re.match(r"\s*\[\s*[\"'{\]]", text) else None
    if isinstance(inner, list):
        return _passages(cast("list[object]", inner), None)
    pieces = (piece.strip() for piece in text.split(delimiter)) if delimiter else (text.strip(),)
    return tuple(piece for piece in pieces if piece) or None


def _passage(entry: object) -> str | None:
    """A passage is a text, or an object with a `text` and perhaps a `title`, which is then put above it."""
    if not isinstance(entry, Mapping):
        return text_of(entry)
    passage = cast("Mapping[object, object]", entry)
    by_key = {str(key).casefold(): value for key, value in passage.items()}
    if "text" not in by_key:
        raise ValueError(f'the passage {short(passage)} has no "text"')
    parts = [text_of(by_key.get("title")), text_of(by_key["text"])]
    return "\n".join(part for part in parts if part) or None
