"""Which column of a file holds what: by name, by a spelling of the name, by an alias, or as the user specifies."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import Problem, Problems, UserError
from evenhand.text import did_you_mean, some_of

ID_NAMES = ("item", "item_id", "sample_id", "example_id", "qa_id", "sample", "uid")
"""Columns that are read as the item's id if there is no column `id`."""


@dataclass(frozen=True, slots=True)
class WantedColumn:
    """Something looked for in a file: its name, other names for it, and the option that settles a doubt."""

    name: str
    aliases: tuple[str, ...] = ()
    required: bool = False
    option: str | None = None

    @property
    def how(self) -> str:
        return self.option or f"--map {self.name}=COLUMN"


ITEM_ID = WantedColumn("id", ID_NAMES, option="--id COLUMN")


def column_key(name: str) -> str:
    """The form under which two spellings of a column name are the same: `Human Label`, `human_label`, `humanLabel`."""
    return re.sub(r"[\s_\-]+", "", name).casefold()


def parse_map(options: Iterable[str]) -> Mapping[str, str]:
    """The `--map name=column` options as a mapping."""
    given: dict[str, str] = {}
    for option in options:
        name, sign, column = (part.strip() for part in option.partition("="))
        if not (name and sign and column):
            raise UserError(f"--map {option}: write it as name=column, for instance --map question=Frage")
        if given.setdefault(name, column) != column:
            raise UserError(f"--map {option}: {name} is already mapped to the column {given[name]!r}")
    return given


def match_columns(
    source: str, columns: Sequence[str], wanted: Sequence[WantedColumn], given: Mapping[str, str] | None = None
) -> Mapping[str, int]:
    """The place of each thing that was found. `given` comes first; it may name one column for two things.

    Matches are ranked: the exact name, another spelling of it, an alias of something required, an alias of something
    optional; among aliases the first counts. Otherwise a column serves one thing, the one that it matches with the best
    rank. Raises InputError with every problem: a name or a column that does not exist, two columns that could be one
    thing, one column that could be two things, a required thing that is not found.
    """
    given, keys = given or {}, [column_key(column) for column in columns]
    problems = Problems(source)
    found = _given(columns, wanted, given, problems)
    matches: dict[str, Sequence[int]] = {}
    for rank in range(4):
        free = [place for place in range(len(columns)) if place not in found.values()]
        claims: dict[int, WantedColumn] = {}
        for want in wanted:
            if want.name in found or want.name in matches:
                continue
            if places := _ranked(want, rank, columns, keys, free):
                matches[want.name] = places
                other = claims.setdefault(places[0], want)
                if other is not want:
                    what = f"the column could be {other.name!r} or {want.name!r}"
                    problems.add(what, column=columns[places[0]], fix=f"say which with {other.how} or {want.how}")
        found |= {want.name: place for place, want in claims.items()}
    for want in wanted:
        rivals = [place for place in matches.get(want.name, ()) if place not in found.values()]
        if rivals and want.name in found:
            names = " and ".join(repr(columns[place]) for place in sorted([found[want.name], *rivals]))
            problems.add(f"the columns {names} could each be {want.name!r}", fix=f"say which with {want.how}")
        if want.required and not {want.name} & (found.keys() | matches.keys() | given.keys()):
            problems.extend([_not_found(want, columns, found, given)])
    problems.raise_if_any()
    return found


def _ranked(
    want: WantedColumn, rank: int, columns: Sequence[str], keys: Sequence[str], free: Sequence[int]
) -> Sequence[int]:
    """The places of the free columns that match with this rank, the best first."""
    if rank == 0:
        return [place for place in free if columns[place] == want.name]
    if rank > 1 and want.required != (rank == 2):
        return []
    names = [column_key(name) for name in (want.aliases if rank > 1 else (want.name,))]
    return sorted((place for place in free if keys[place] in names), key=lambda place: names.index(keys[place]))


def _given(
    columns: Sequence[str], wanted: Sequence[WantedColumn], given: Mapping[str, str], problems: Problems
) -> dict[str, int]:
    found: dict[str, int] = {}
    names = {want.name: want for want in wanted}
    for name, column in given.items():
        places = [place for place, other in enumerate(columns) if other == column] or [
            place for place, other in enumerate(columns) if column_key(other) == column_key(column)
        ]
        if name not in names:
            valid = f"; valid are {', '.join(names)}"
            problems.add(f"there is nothing called {name!r} to map a column to{did_you_mean(name, names)}{valid}")
        elif len(places) != 1:
            what = f"there is no column {column!r}{did_you_mean(column, columns)}; the file has: {some_of(columns)}"
            problems.add(what, fix=f"asked for by {names[name].how.replace('COLUMN', column)}")
        else:
            found[name] = places[0]
    return found


def _not_found(
    want: WantedColumn, columns: Sequence[str], found: Mapping[str, int], given: Mapping[str, str]
) -> Problem:
    names = {column_key(name) for name in (want.name, *want.aliases)}
    for name in given:
        if name in found and column_key(columns[found[name]]) in names:
            return Problem(
                f"the column is given to {name!r}, and {want.name!r}, which is required too, has no other",
                column=columns[found[name]],
                fix=f"map another column to {name!r}, or name one for {want.name!r} with {want.how}",
            )
    also = f", also read under the names {', '.join(want.aliases)}" if want.aliases else ""
    return Problem(
        f"the column {want.name!r} is missing{did_you_mean(want.name, columns)}{also}; "
        f"the file has: {some_of(columns)}",
        fix=f"name it with {want.how}",
    )
