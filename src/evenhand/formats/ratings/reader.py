"""Rating files → ratings: what people filled in, what other programs exported, what our long export wrote."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from evenhand.formats.problems import Problems
from evenhand.formats.ratings.layouts import ContentId, Layout, RatedRow, layout_of
from evenhand.formats.ratings.raters import Raters, named_rater
from evenhand.formats.ratings.validation import Checker, ImportSummary, word
from evenhand.formats.tables.table import InputTable, open_table
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Unit

BATCH = 1_000

UnitsOf = Callable[[Sequence[str]], Mapping[str, Sequence[Unit]]]
"""The units of each of these items; an item that the study does not have is absent."""

ItemsOf = Callable[[Sequence[str]], Mapping[str, Item]]
"""Each of these items; one that the study does not have is absent."""


class RatingsFile:
    """A rating file, its header checked. `raters` come first, then `ratings`, once; then the `summary` is complete."""

    def __init__(self, table: InputTable, protocol: Protocol, layout: Layout, raters: Raters) -> None:
        self._table = table
        self._protocol = protocol
        self._layout = layout
        self._raters = raters
        self.summary = ImportSummary(without_column=tuple(layout.without_column))

    @property
    def source(self) -> str:
        return self._table.source

    @property
    def shape(self) -> Literal["long", "wide"]:
        return self._layout.name

    @property
    def raters(self) -> Sequence[RaterRef]:
        """Every rater with a rating in the file."""
        return self._raters.refs()

    def ratings(self, units_of: UnitsOf, items_of: ItemsOf) -> Iterator[Rating]:
        """The ratings, a batch of rows at a time; after the last, InputError with every bad cell of the file.

        Items are requested only if the file has a column `check`, which says what its rows were made for.
        Once something is wrong no more ratings come, since none of the file's will be kept.
        """
        self.summary = ImportSummary(without_column=tuple(self._layout.without_column))
        problems = Problems(self.source)
        self._raters.clashes(problems)
        checker = Checker(self._protocol, self._raters, problems, self.summary)
        rows = self._rows(problems)
        while batch := list(islice(rows, BATCH)):
            ids = dict.fromkeys(item_id for row in batch if (item_id := word(row.item.content)))
            units = units_of(list(ids))
            items: Mapping[str, Item] = items_of(list(ids)) if any(row.check for row in batch) else {}
            for row in batch:
                for rating in checker.ratings(row, units, items):
                    if not problems:
                        yield rating
        for rating in checker.finish():
            if not problems:
                yield rating
        problems.raise_if_any()

    def _rows(self, problems: Problems) -> Iterator[RatedRow]:
        made: Counter[object] = Counter()
        for number, cells in self._table.rows(problems):
            self.summary.rows += 1
            try:
                yield self._layout.row(number, cells, made)
            except ValueError as error:
                problems.add(str(error), row=number)


def open_ratings(
    source: str | Path | InputTable,
    protocol: Protocol,
    *,
    rater: str | None = None,
    kind: Kind | None = None,
    id_column: str | None = None,
    columns: Mapping[str, str] | None = None,
    known: Iterable[RaterRef] = (),
    content_id: ContentId | None = None,
) -> RatingsFile:
    """Open a long or a wide rating file, or a table of that layout.

    `rater` gave the ratings that name no rater, and is of this `kind`; by default of the kind in the study (`known`),
    else a person. `columns` leads from criteria and other names to columns of the file. `content_id` makes
    the id of an item from its fields, for files that have the items and no ids. Raises InputError for a bad header.
    """
    rater = named_rater(rater)
    table = source if isinstance(source, InputTable) else open_table(source)
    layout = layout_of(table, protocol, id_column, columns or {}, content_id)
    ignored = Problems(table.source)
    answers = (answer for _, cells in table.rows(ignored) for answer in layout.answers(cells))
    return RatingsFile(table, protocol, layout, Raters.found(answers, rater, kind, known))
