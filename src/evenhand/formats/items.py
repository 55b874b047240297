"""Tables → items: columns mapped to the protocol's fields, cells read by kind, ids given or made from the content.

A reader of cells raises ValueError with what is wrong and what would be valid; the caller adds the location of the
cell. An empty cell is None: the field is absent.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import cast

from narwhals.typing import IntoFrame

from evenhand.errors import Problem, Problems
from evenhand.formats.tables.cells import LONGEST_CELL, listed, text_of
from evenhand.formats.tables.columns import ITEM_ID, WantedColumn, column_key, match_columns
from evenhand.formats.tables.table import InputTable
from evenhand.formats.tables.table_files import TableSource, table_of
from evenhand.formats.tables.triples import read_triples
from evenhand.protocol.model import FieldSpec, Protocol
from evenhand.records import FieldValue, Item
from evenhand.sampling import Draw, draw
from evenhand.scales import Nominal
from evenhand.text import quoted, some_of

LONGEST_ID = 200

INPUT_ID = "input_id"
"""The column in which generators record what an item was written from: its cluster, if the file names no other."""

_LIST = re.compile(r"\s*\[\s*([\"'{\]])")
"""How a list that is written as a text begins."""

_LISTS = (list, tuple)

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
    _table: InputTable = field(repr=False)
    _readers: Sequence[tuple[str, int, CellReader, bool, bool]] = field(repr=False)
    _id_place: int | None = field(repr=False)
    only: Collection[int] | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Item]:
        problems = Problems(self.source)
        made: dict[object, int] = {}
        ordinal, only, id_place, readers = -1, self.only, self._id_place, self._readers
        for ordinal, (row, cells) in enumerate(self._table.rows(problems)):
            fields: dict[str, FieldValue] = {}
            for name, place, read, is_text, required in readers:
                cell = cells[place]
                # What the reader would return, without the call: most cells of a large file are plain text.
                if is_text and type(cell) is str and cell[:1].isalnum() and len(cell) <= LONGEST_CELL:
                    fields[name] = cell
                    continue
                try:
                    value = read(cell)
                except ValueError as error:
                    problems.add(str(error), row=row, column=self.columns[name])
                    continue
                if value is not None:
                    fields[name] = value
                elif required and (row, self.columns[name]) not in problems:
                    problems.add("empty, but every item needs it", row=row, column=self.columns[name])
            if id_place is None:
                item_id = distinct(content_id(fields), made)
            else:
                item_id = cells[id_place]
                if not (type(item_id) is str and item_id.isalnum() and len(item_id) <= LONGEST_ID):
                    item_id = self._given_id(item_id, row, problems)
            if only is None or ordinal in only:
                yield Item(item_id, fields)
        if ordinal < 0:
            problems.add("there are no rows")
        if problems:
            problems.extend(self.duplicates())
        problems.raise_if_any()

    def remarks(self) -> Iterator[str]:
        """Which columns were read under another name, and which were not used, in words."""
        if renamed := [f"{name} ← {column}" for name, column in self.columns.items() if name != column]:
            yield f"columns: {', '.join(renamed)}"
        if "id" not in self.columns:
            yield "ids: made from the content, because no column has ids"
        if self.unused:
            yield f"unused columns: {some_of(self.unused)}"

    def duplicates(self) -> Iterator[Problem]:
        """Ids that are there more than once, found in another reading.

        Only a file that is rejected anyway pays for it; in a good one, the store finds them.
        """
        if self._id_place is None:
            return
        ignored, first = Problems(self.source), dict[str, int]()
        for ordinal, (row, cells) in enumerate(self._table.rows(ignored)):
            item_id = self._given_id(cells[self._id_place], row, ignored)
            if item_id and (self.only is None or ordinal in self.only) and first.setdefault(item_id, row) != row:
                fix = "each item needs an id of its own; --id names another column"
                what = f"the id {item_id!r} is already in row {first[item_id]}"
                yield Problem(what, row=row, column=self.columns["id"], fix=fix)

    def _given_id(self, cell: object, row: int, problems: Problems) -> str:
        try:
            item_id = (text_of(cell) or "").strip()
        except ValueError as error:
            problems.add(f"{error}; an id is one", row=row, column=self.columns["id"])
            return ""
        if not item_id and (row, self.columns["id"]) not in problems:
            problems.add("empty, but every item needs an id", row=row, column=self.columns["id"])
        elif len(item_id) > LONGEST_ID or not item_id.isprintable():
            what = f"an id is at most {LONGEST_ID} printable characters on one line"
            problems.add(what, row=row, column=self.columns["id"])
        return item_id


def read_items(
    source: TableSource, protocol: Protocol, *, mapping: Mapping[str, str] | None = None, id_column: str | None = None
) -> ItemSource:
    """The items in a file. `mapping` names the column of a field that has neither its own name nor an alias.

    Without an id column, ids are made from the content: the same row has the same id next time. Raises InputError for
    missing columns at once, and for bad cells when the items are iterated.
    """
    table, fields = table_of(source), protocol.item.fields
    given = {**(mapping or {}), **({"id": id_column} if id_column is not None else {})}
    wanted = [ITEM_ID, *(WantedColumn(name, spec.aliases, spec.required) for name, spec in fields.items())]
    places = dict(match_columns(table.source, _marked(table, wanted, given), wanted, given))
    if protocol.cluster and INPUT_ID in table.columns and table.columns.index(INPUT_ID) not in places.values():
        places.setdefault(protocol.cluster, table.columns.index(INPUT_ID))
    return ItemSource(
        source=table.source,
        columns={name: table.columns[place] for name, place in places.items()},
        unused=[column for place, column in enumerate(table.columns) if place not in places.values()],
        _table=table,
        _readers=[
            (name, places[name], cell_reader(spec), spec.kind == "text", spec.required)
            for name, spec in fields.items()
            if name in places
        ],
        _id_place=places.get("id"),
    )


def _marked(table: InputTable, wanted: Sequence[WantedColumn], given: Mapping[str, str]) -> Sequence[str]:
    """The columns, with a mark on those without a value in any row if another one could be the same field."""
    empty, named = dict[int, str](), set(map(column_key, given.values()))
    for want in wanted:
        names = set(map(column_key, (want.name, *want.aliases)))
        fitting = {place: name for place, name in enumerate(table.columns) if column_key(name) in names}
        empty |= {place: name for place, name in fitting.items() if len(fitting) > 1 and column_key(name) not in named}
    for _, cells in table.rows(Problems(table.source)) if empty else ():
        empty = {place: name for place, name in empty.items() if cells[place] in (None, "", [])}
        if not empty:
            break
    return [f"{name} (empty)" if place in empty else name for place, name in enumerate(table.columns)]


def items_from_frame(
    frame: IntoFrame, protocol: Protocol, *, mapping: Mapping[str, str] | None = None, id_column: str | None = None
) -> ItemSource:
    """The items in a pandas or Polars frame, or any other that narwhals knows, as `read_items` has them from a file."""
    return read_items(frame, protocol, mapping=mapping, id_column=id_column)


def items_of(
    source: TableSource | ItemSource | Iterable[Item],
    protocol: Protocol,
    mapping: Mapping[str, str] | None,
    id_column: str | None,
) -> ItemSource | Iterable[Item]:
    """Items from a path, a data frame, a list of dicts, or any iterable of items."""
    is_rows = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], Mapping)
    if is_rows or isinstance(source, str | Path) or (hasattr(source, "columns") and not isinstance(source, ItemSource)):
        return read_items(cast("TableSource", source), protocol, mapping=mapping, id_column=id_column)
    return cast("Iterable[Item]", source)


def sample(items: ItemSource, protocol: Protocol, size: int, by: Sequence[str], seed: int) -> tuple[ItemSource, Draw]:
    """A seeded sample of items, in proportion to the strata given by the fields `by`."""
    valid = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
    problems = Problems(items.source)
    for name in by:
        if name not in valid:
            fix = f"valid are {', '.join(valid) or 'none: no field is of kind label'}"
            problems.add(f"cannot sample by {name!r}", fix=fix)
        elif name not in items.columns:
            what = f"cannot sample by {name!r}: the file has no column for it"
            problems.add(what, fix=f"name it with --map {name}=COLUMN")
    problems.raise_if_any()
    strata = ((item.id, tuple(str(item.fields.get(name, "")) for name in by)) for item in items)
    drawn = draw(strata, size, seed)
    return replace(items, only=drawn.chosen), drawn


def content_id(fields: Mapping[str, FieldValue]) -> str:
    """An id made from the content: 80 bits of a hash, so that a million items are in no danger of sharing one."""
    return content_hash(fields, 10)


def content_hash(content: object, size: int) -> str:
    """A hash of `size` bytes, in hexadecimal digits."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def distinct(item_id: str, made: dict[object, int], *apart: object) -> str:
    """The id itself for the first row with this content, then `ID-2`, `ID-3`: equal rows stay apart.

    `made` counts the rows by their ids and by what else keeps them `apart`.
    """
    count = made[item_id, *apart] = made.get((item_id, *apart), 0) + 1
    return item_id if count == 1 else f"{item_id}-{count}"


def cell_reader(spec: FieldSpec) -> CellReader:
    """The function that reads the cells of one field."""
    readers: Mapping[str, CellReader] = {"text": text_of, "number": _number, "triples": read_triples}
    if spec.kind == "passages":
        return partial(_passages, delimiter=spec.delimiter)
    if spec.kind == "ids":
        return partial(_ids, delimiter=spec.delimiter)
    if spec.kind == "text" and spec.delimiter:
        return partial(_joined, delimiter=spec.delimiter)
    if spec.kind == "label":
        scale = Nominal.model_construct(type="nominal", labels=spec.labels or {})
        return partial(_label, read=lru_cache(maxsize=4096)(scale.read) if spec.labels else str.strip)
    return readers[spec.kind]


def _label(cell: object, read: Callable[[str], str]) -> str | None:
    """A label: as the protocol spells it if the field has a list of labels, otherwise without outer space."""
    text = text_of(cell)
    return text if text is None else read(text)


def _number(cell: object) -> float | None:
    text = text_of(cell)
    if text is None:
        return None
    try:
        number = float(text) if "_" not in text and not isinstance(cell, bool) else math.inf
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise ValueError(f"{quoted(text)} is not a number such as 3 or 0.5")
    return None if math.isnan(number) else number


def _passages(cell: object, delimiter: str | None) -> tuple[str, ...] | None:
    """A list; a list written as JSON or Python in a text; a text split at the delimiter; otherwise one passage."""
    if isinstance(cell, dict):
        cell = (cast("object", cell),)
    if not isinstance(cell, _LISTS):
        text = text_of(cell)
        start = _LIST.match(text) if text and not text[0].isalnum() else None
        inner = listed(text) if text and start else None
        if not isinstance(inner, list):
            if text and start and start[1] in '"{':
                raise ValueError(_not_a_list(text))
            if text is None or not delimiter or delimiter not in text:
                return None if text is None else (text.strip(),)
            return tuple(passage for piece in text.split(delimiter) if (passage := piece.strip())) or None
        cell = cast("list[object]", inner)
    passages = map(_passage, cast("Sequence[object]", cell))
    return tuple(passage for passage in passages if passage) or None


def _ids(cell: object, delimiter: str | None) -> tuple[str, ...] | None:
    """Ids, in order: a list, one written as JSON or Python in a text, or a text split at the delimiter.

    An empty list is a value, and not the same as an empty cell: nothing was retrieved, for instance.
    """
    if not isinstance(cell, list | tuple):
        text = text_of(cell)
        inner = listed(text) if text else None
        if not isinstance(inner, list):
            if text and text.lstrip()[:1] == "[":
                raise ValueError(f"{_not_a_list(text)}, or without brackets")
            pieces = text.split(delimiter) if text and delimiter else re.split(r"[,;\n]", text or "")
            return tuple(piece for part in pieces if (piece := part.strip())) or None
        cell = cast("list[object]", inner)
    return tuple(map(_id, cast("Sequence[object]", cell)))


def _not_a_list(text: str) -> str:
    return f'{quoted(text)} is not a readable list; a list is written as JSON: ["…", "…"]'


def _id(entry: object) -> str:
    """An id is a text or a number, or in an object under the key `id`."""
    if isinstance(entry, Mapping):
        entry = cast("Mapping[object, object]", entry).get("id", cast("object", entry))
    text = None if isinstance(entry, bool) else text_of(entry)
    if text is None:
        raise ValueError(f"{quoted(entry)} is not an id; a list of ids holds texts or whole numbers")
    return text.strip()


def _joined(cell: object, delimiter: str) -> str | None:
    """A text, or one made of a list of texts, such as several references."""
    if isinstance(cell, _LISTS) or (isinstance(cell, str) and cell.lstrip()[:1] == "["):
        return delimiter.join(_passages(cast("object", cell), None) or ()) or None
    return text_of(cell)


def _passage(entry: object) -> str | None:
    """A passage is a text, or an object with a `text` and perhaps a `title`, which is then put above it."""
    if not isinstance(entry, Mapping):
        return text_of(entry)
    passage = cast("Mapping[object, object]", entry)
    by_key = {str(key).casefold(): value for key, value in passage.items()}
    if "text" not in by_key:
        raise ValueError(f'the passage {quoted(passage)} has no "text"')
    parts = [text_of(by_key.get("title")), text_of(by_key["text"])]
    return "\n".join(part for part in parts if part) or None
