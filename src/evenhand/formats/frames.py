"""pandas, Polars and other data frames → items, through narwhals."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
from narwhals.typing import IntoFrame

from evenhand.errors import UserError
from evenhand.formats.items import Items, items_from_rows
from evenhand.formats.problems import Problems
from evenhand.protocol.model import Protocol


@dataclass(frozen=True, slots=True)
class _FrameRows:
    """A frame's rows, numbered from 1."""

    frame: nw.DataFrame[Any]
    source: str = "data frame"

    @property
    def columns(self) -> Sequence[str]:
        return [str(column) for column in self.frame.columns]

    def rows(self, problems: Problems) -> Iterator[tuple[int, Sequence[object]]]:
        for number, row in enumerate(self.frame.iter_rows(), start=1):
            yield number, [None if _missing(cell) else cell for cell in row]


def items_from_frame(
    frame: IntoFrame,
    protocol: Protocol,
    *,
    mapping: Mapping[str, str] | None = None,
    id_column: str | None = None,
) -> Items:
    """The items in a pandas or Polars frame, or any other that narwhals knows, as `read_items` has them from a file."""
    try:
        known = nw.from_native(frame)
    except TypeError:
        raise UserError(f"a pandas or Polars data frame is needed, not {type(frame).__name__}") from None
    eager = known.collect() if isinstance(known, nw.LazyFrame) else known
    return items_from_rows(_FrameRows(eager), protocol, mapping=mapping, id_column=id_column)


def _missing(cell: object) -> bool:
    """pandas has None, NaN and NA for a missing cell; none of them equals itself as a value does."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return type(cell).__name__ in ("NAType", "NaTType")
