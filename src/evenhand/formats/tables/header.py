"""The header of a table: names that are there, once each."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evenhand.formats.problems import Problems

Row = tuple[int, Sequence[object]]
"""A row's number and its cells, one for each column."""

Reader = Callable[[Problems], Iterator[Row]]
"""Opens the file again and reads its rows; problems go to the collector."""


class Content(NamedTuple):
    """What a format's reader makes of a file."""

    columns: Sequence[str]
    read: Reader


def checked_header(cells: Sequence[object], problems: Problems, row: int, *, hint: str = "") -> list[str]:
    """The column names without outer white space. Unnamed columns at the end, as spreadsheets leave them, are cut.

    Raises the collector's InputError for a column without a name and for a name that is there twice.
    """
    names = ["" if cell is None else str(cell).strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    if not names:
        problems.add("the header has no column names", row=row, fix="name the columns in the first row")
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if not name:
            problems.add(
                f"column {place} ({letters(place)}) has no name",
                row=row,
                fix=f"name it or delete it{hint}",
            )
        elif first.setdefault(name, place) != place:
            problems.add(
                f"the name is there twice, in columns {first[name]} ({letters(first[name])}) "
                f"and {place} ({letters(place)})",
                row=row,
                column=name,
                fix="rename or delete one of them",
            )
    problems.raise_if_any()
    return names


def letters(place: int) -> str:
    """A column's place, counted from 1, as spreadsheets write it: A, B, …, Z, AA."""
    text = ""
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def fitted(cells: Sequence[object], width: int, row: int, problems: Problems) -> bool:
    """Whether a row of another length than the header only has empty cells at its end; otherwise it is reported."""
    if len(cells) > width and not any(cell not in (None, "") for cell in cells[width:]):
        return True
    problems.add(
        f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'} where the header has {width}",
        row=row,
        fix="a cell that holds the separator, a quotation mark or a line break must stand in quotation marks",
    )
    return False
