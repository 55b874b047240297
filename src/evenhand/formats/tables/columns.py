"""Which column of a file holds what: by name, by a spelling of the name, by an alias, or as the user specifies."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import Problem, UserError
from evenhand.formats.problems import Problems
from evenhand.text import did_you_mean, some_of

ID_NAMES = ("item", "item_id", "sample_id", "example_id", "sample", "uid")
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


def wanted_id(*, required: bool = False) -> WantedColumn:
    """The item's id, under the name `id`."""
    return WantedColumn("id", ID_NAMES, required, "--id COLUMN")


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
    """The place of each thing that was found. `given` names columns outright and comes before everything else.

    Matches are ranked: the exact name, another spelling of it, an alias of something required, an alias of something
    optional; among aliases the first counts. A column serves one thing, the one that it matches with the best rank.
    Raises InputError with every problem: a name or a column that does not exist, two columns for one thing, one column
    for two things, a required thing that is not found.
    """
    given = given or {}
    problems = Problems(source)
    found = _given(columns, wanted, given, problems)
    doubtful: set[str] = set()
    matches: dict[WantedColumn, list[int]] = {}
    for rank in range(4):
        owners: dict[int, WantedColumn] = {}
        for want in wanted:
            if want.name in found or want.name in doubtful:
                continue
            places = [place for place in _ranked(want, columns, rank) if place not in found.values()]
            if places:
                matches[want] = places
                doubtful |= _claim(want, places, rank, owners, columns, problems)
        found |= {want.name: place for place, want in owners.items()}
    _report_rivals(matches, columns, found, problems)
    for want in wanted:
        if want.required and not {want.name} & (found.keys() | doubtful | given.keys()):
            problems.extend([_given_away(want, columns, found, given) or _not_found(want, columns)])
    problems.raise_if_any()
    return found


def _ranked(want: WantedColumn, columns: Sequence[str], rank: int) -> Sequence[int]:
    """The places of the columns that match with this rank, the best first."""
    if rank == 0:
        return [place for place, name in enumerate(columns) if name == want.name]
    keys = [column_key(want.name)] if rank == 1 else [column_key(alias) for alias in want.aliases]
    if rank > 1 and want.required != (rank == 2):
        return []
    places = [place for place, name in enumerate(columns) if column_key(name) in keys]
    return sorted(places, key=lambda place: keys.index(column_key(columns[place])))


def _claim(
    want: WantedColumn,
    places: Sequence[int],
    rank: int,
    owners: dict[int, WantedColumn],
    columns: Sequence[str],
    problems: Problems,
) -> set[str]:
    """Give a thing its column, or report why that is in doubt and return its name."""
    if rank < 2 and len(places) > 1:
        _report_choice(want, places, columns, problems)
        return {want.name}
    if places[0] in owners:
        other = owners[places[0]]
        what = f"the column could be {other.name!r} or {want.name!r}"
        problems.add(what, column=columns[places[0]], fix=f"say which with {other.how} or {want.how}")
        return {want.name}
    owners[places[0]] = want
    return set()


def _report_rivals(
    matches: Mapping[WantedColumn, Sequence[int]], columns: Sequence[str], found: Mapping[str, int], problems: Problems
) -> None:
    """Report the things for which another column, which nothing else has taken, would do as well."""
    taken = set(found.values())
    for want, places in matches.items():
        rivals = [place for place in places if place not in taken]
        if rivals and want.name in found:
            _report_choice(want, sorted([found[want.name], *rivals]), columns, problems)


def _report_choice(want: WantedColumn, places: Sequence[int], columns: Sequence[str], problems: Problems) -> None:
    names = " and ".join(repr(columns[place]) for place in places)
    problems.add(f"the columns {names} could each be {want.name!r}", fix=f"say which with {want.how}")


def _given(
    columns: Sequence[str], wanted: Sequence[WantedColumn], given: Mapping[str, str], problems: Problems
) -> dict[str, int]:
    found: dict[str, int] = {}
    names = {want.name: want for want in wanted}
    owners: dict[int, str] = {}
    for name, column in given.items():
        if name not in names:
            valid = f"; valid are {', '.join(names)}"
            problems.add(f"there is nothing called {name!r} to map a column to{did_you_mean(name, names)}{valid}")
            continue
        place = _place(column, columns)
        if place is None:
            has = f"; the file has: {some_of(columns)}"
            option = names[name].how.replace("COLUMN", column)
            problems.add(
                f"there is no column {column!r}{did_you_mean(column, columns)}{has}", fix=f"asked for by {option}"
            )
        elif place in owners:
            what = f"the column is given for {owners[place]!r} and for {name!r}"
            problems.add(what, column=columns[place], fix="a column serves one of them")
        else:
            owners[place] = name
            found[name] = place
    return found


def _place(column: str, columns: Sequence[str]) -> int | None:
    if column in columns:
        return columns.index(column)
    spelt = [place for place, name in enumerate(columns) if column_key(name) == column_key(column)]
    return spelt[0] if len(spelt) == 1 else None


def _given_away(
    want: WantedColumn, columns: Sequence[str], found: Mapping[str, int], given: Mapping[str, str]
) -> Problem | None:
    """The problem of a required thing whose column the user has given to something else."""
    keys = {column_key(name) for name in (want.name, *want.aliases)}
    for name in given:
        place = found.get(name)
        if place is not None and column_key(columns[place]) in keys:
            return Problem(
                f"the column is given to {name!r}, and {want.name!r}, which is required too, has no other",
                column=columns[place],
                fix=f"map another column to {name!r}, or name one for {want.name!r} with {want.how}",
            )
    return None


def _not_found(want: WantedColumn, columns: Sequence[str]) -> Problem:
    also = f", also read under the names {', '.join(want.aliases)}" if want.aliases else ""
    return Problem(
        f"the column {want.name!r} is missing{did_you_mean(want.name, columns)}{also}; "
        f"the file has: {some_of(columns)}",
        fix=f"name it with {want.how}",
    )
