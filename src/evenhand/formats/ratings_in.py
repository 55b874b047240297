"""Rating files → ratings: what people filled in, what other programs exported, what our long export wrote."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from evenhand.formats.problems import Problems
from evenhand.formats.raters_in import Raters, named_rater
from evenhand.formats.ratings_check import Checker, word
from evenhand.formats.ratings_shapes import ContentId, RatedRow, Shape, shape_of
from evenhand.formats.summary import ImportSummary
from evenhand.formats.tables import Table, open_table
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Unit

BATCH = 1_000

UnitsOf = Callable[[Sequence[str]], Mapping[str, Sequence[Unit]]]
"""The units of each of these items; an item that the study does not have is absent."""

ItemsOf = Callable[[Sequence[str]], Mapping[str, Item]]
"""Each of these items; one that the study does not have is absent."""


class RatingsFile:
    """A rating file, its header checked. `raters` come first, then `ratings`, once; then the `summary` is complete."""

    def __init__(self, table: Table, protocol: Protocol, shape: Shape, raters: Raters) -> None:
        self._table = table
        self._protocol = protocol
        self._shape = shape
        self._raters = raters
        self.summary = ImportSummary(without_column=tuple(shape.without_column))

    @property
    def source(self) -> str:
        return self._table.source

    @property
    def shape(self) -> Literal["long", "wide"]:
        return self._shape.name

    @property
    def raters(self) -> Sequence[RaterRef]:
        """Everybody who has a rating in the file."""
        return self._raters.refs()

    def ratings(self, units_of: UnitsOf, items_of: ItemsOf) -> Iterator[Rating]:
        """The ratings, a batch of rows at a time; after the last, InputError with every bad cell of the file.

        Items are asked for only where the file says what its rows were made for, in a column `check`.
        Once something is wrong no more ratings come, since none of the file's will be kept.
        """
        self.summary = ImportSummary(without_column=tuple(self._shape.without_column))
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
                yield self._shape.row(number, cells, made)
            except ValueError as error:
                problems.add(str(error), row=number)


def open_ratings(
    path: str | Path,
    protocol: Protocol,
    *,
    rater: str | None = None,
    kind: Kind | None = None,
    id_column: str | None = None,
    columns: Mapping[str, str] | None = None,
    known: Iterable[RaterRef] = (),
    content_id: ContentId | None = None,
) -> RatingsFile:
    """Open a long or a wide rating file.

    `rater` gave the ratings that name nobody, and is of this `kind`; where none is given, of the kind the study knows
    (`known`), else a person. `columns` leads from criteria and other names to columns of the file. `content_id` makes
    the id of an item from its fields, for files that have the items and no ids. Raises InputError for a bad header.
    """
    rater = named_rater(rater)
    table = open_table(path)
    shape = shape_of(table, protocol, id_column, columns or {}, content_id)
    ignored = Problems(table.source)
    answers = (answer for _, cells in table.rows(ignored) for answer in shape.answers(cells))
    return RatingsFile(table, protocol, shape, Raters.found(answers, rater, kind, known))
