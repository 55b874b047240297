"""The data frame under evaluation: its rows as items, its columns as texts, and results in the library it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
from narwhals.typing import IntoFrame

from evenhand.errors import InputError, Problem, UserError
from evenhand.formats.items import ItemSource, items_from_frame
from evenhand.formats.problems import Problems
from evenhand.formats.tables.cells import text_of
from evenhand.formats.tables.columns import WantedColumn, match_columns
from evenhand.protocol.model import Protocol

SOURCE = "data frame"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A pandas or Polars frame. `mapping` names the columns of fields where names and aliases do not tell."""

    frame: nw.DataFrame[Any]
    mapping: Mapping[str, str]
    id_column: str | None

    @classmethod
    def of(cls, frame: IntoFrame, mapping: Mapping[str, str] | None, id_column: str | None) -> "Dataset":
        try:
            known = nw.from_native(frame)
        except TypeError:
            raise UserError(f"dataset: a pandas or Polars data frame is needed, not {type(frame).__name__}") from None
        eager = known.collect() if isinstance(known, nw.LazyFrame) else known
        return cls(eager, dict(mapping or {}), id_column)

    def __len__(self) -> int:
        return len(self.frame)

    def items(self, protocol: Protocol) -> ItemSource:
        """The rows as items. Raises InputError for missing columns, and for bad cells when they are iterated."""
        return items_from_frame(self.frame.to_native(), protocol, mapping=self.mapping, id_column=self.id_column)

    def texts(self, wanted: Sequence[WantedColumn], given: Mapping[str, str]) -> Mapping[str, Sequence[str | None]]:
        """Columns as texts without outer space, None for a blank cell; every row, in order."""
        names = {want.name for want in wanted}
        named = {name: column for name, column in self.mapping.items() if name in names} | dict(given)
        places = match_columns(SOURCE, [str(column) for column in self.frame.columns], wanted, named)
        problems = Problems(SOURCE)
        found = {name: self._column(place, problems) for name, place in places.items()}
        problems.raise_if_any()
        if len(self) == 0:
            raise InputError(SOURCE, [Problem("there are no rows")])
        return found

    def like(self, columns: Mapping[str, Sequence[object]]) -> object:
        """A frame of these columns, of the library that the dataset came from."""
        made = nw.from_dict(dict(columns), backend=self.frame.implementation)
        # pandas would turn whole numbers with gaps into floats; its own nullable types keep them.
        return nw.maybe_convert_dtypes(made).to_native()

    def _column(self, place: int, problems: Problems) -> list[str | None]:
        name = str(self.frame.columns[place])
        cells: list[str | None] = []
        for row, (cell,) in enumerate(self.frame[:, [place]].iter_rows(), start=1):
            try:
                text = None if type(cell).__name__ in ("NAType", "NaTType") else text_of(cell)
            except ValueError as error:
                problems.add(str(error), row=row, column=name)
                text = None
            cells.append(text and text.strip())
        return cells
