"""Which column of a file holds what: by name, by a spelling of the name, by an alias, or as the user says."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import Problem, UserError, some_of
from evenhand.formats.problems import Problems

ID_NAMES = ("item", "item_id", "sample_id", "example_id", "sample", "uid")
"""Columns read as the item's id where there is no column `id`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something looked for in a file: its name, other names for it, and the option that settles a doubt."""

    name: str
    aliases: tuple[str, ...] = ()
    required: bool = False
    option: str | None = None

    @property
    def how(self) -> str:
        return self.option or f"--map {self.name}=COLUMN"


def wanted_id(*, required: bool = False) -> Wanted:
    """The item's id, under the name `id`."""
    return Wanted("id", ID_NAMES, required, "--id COLUMN")


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
    source: str, columns: Sequence[str], wanted: Sequence[Wanted], given: Mapping[str, str] | None = None
) -> Mapping[str, int]:
    """The place of each thing that was found. `given` names columns outright and comes before everything else.

    A name matches exactly before it matches in another spelling, and both before an alias; a column serves one thing.
    Aliases stand in order of preference, and what is required chooses first: a column that a required thing passed
    over for a better one is free for an optional thing.
    Raises InputError with every problem: a name or a column that is not there, two columns for one thing, one column
    for two things, a required thing not found.
    """
    problems = Problems(source)
    found = _given(columns, wanted, given or {}, problems)
    for matches in (_exactly, _spelt):
        claims = {want: matches(want, columns, _free(columns, found)) for want in wanted if want.name not in found}
        _settle(claims, columns, found, problems)
    passed_over: dict[Wanted, list[int]] = {}
    for required in (True, False):
        claims = {want: _alias(want, columns, _free(columns, found)) for want in wanted if want.required == required}
        claims = {want: places for want, places in claims.items() if places and want.name not in found}
        _settle({want: places[:1] for want, places in claims.items()}, columns, found, problems)
        passed_over |= claims
    _in_doubt(passed_over, columns, found, problems)
    for want in wanted:
        if want.required and want.name not in found and want.name not in (given or {}):
            problems.extend([_given_away(want, columns, found, given or {}) or _not_found(want, columns)])
    problems.raise_if_any()
    return {name: place for name, place in found.items() if place >= 0}


def _given(
    columns: Sequence[str], wanted: Sequence[Wanted], given: Mapping[str, str], problems: Problems
) -> dict[str, int]:
    found: dict[str, int] = {}
    names = {want.name: want for want in wanted}
    owners: dict[int, str] = {}
    for name, column in given.items():
        if name not in names:
            valid = f"; valid are {', '.join(names)}"
            problems.add(f"there is nothing called {name!r} to map a column to{nearest(name, names)}{valid}")
            continue
        place = _place(column, columns)
        if place is None:
            has = f"; the file has: {some_of(columns)}"
            option = names[name].how.replace("COLUMN", column)
            problems.add(f"there is no column {column!r}{nearest(column, columns)}{has}", fix=f"asked for by {option}")
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


def _exactly(want: Wanted, columns: Sequence[str], free: Sequence[int]) -> list[int]:
    return [place for place in free if columns[place] == want.name]


def _spelt(want: Wanted, columns: Sequence[str], free: Sequence[int]) -> list[int]:
    return [place for place in free if column_key(columns[place]) == column_key(want.name)]


def _alias(want: Wanted, columns: Sequence[str], free: Sequence[int]) -> list[int]:
    """The columns with one of its other names, the preferred first."""
    keys = [column_key(alias) for alias in want.aliases]
    places = [place for place in free if column_key(columns[place]) in keys]
    return sorted(places, key=lambda place: keys.index(column_key(columns[place])))


def _free(columns: Sequence[str], found: Mapping[str, int]) -> list[int]:
    return [place for place in range(len(columns)) if place not in found.values()]


def _in_doubt(
    claims: Mapping[Wanted, Sequence[int]], columns: Sequence[str], found: Mapping[str, int], problems: Problems
) -> None:
    """Report the things for which a second column would do that nothing else has taken."""
    free = _free(columns, found)
    for want, places in claims.items():
        rest = [place for place in places if place in free]
        if rest and found.get(want.name, -1) >= 0:
            names = " and ".join(repr(columns[place]) for place in sorted([found[want.name], *rest]))
            problems.add(f"the columns {names} could each be {want.name!r}", fix=f"say which with {want.how}")


def _settle(
    claims: Mapping[Wanted, Sequence[int]], columns: Sequence[str], found: dict[str, int], problems: Problems
) -> None:
    """Give each thing its column; where that is in doubt, report it and mark the thing as dealt with."""
    owners: dict[int, Wanted] = {}
    for want, places in claims.items():
        if len(places) > 1:
            names = " and ".join(repr(columns[place]) for place in places)
            problems.add(f"the columns {names} could each be {want.name!r}", fix=f"say which with {want.how}")
            found[want.name] = -1 - len(found)
        elif places and places[0] in owners:
            other = owners[places[0]]
            what = f"the column could be {other.name!r} or {want.name!r}"
            problems.add(what, column=columns[places[0]], fix=f"say which with {other.how} or {want.how}")
            found[want.name] = -1 - len(found)
        elif places:
            owners[places[0]] = want
            found[want.name] = places[0]


def _given_away(
    want: Wanted, columns: Sequence[str], found: Mapping[str, int], given: Mapping[str, str]
) -> Problem | None:
    """The problem of a required thing whose column the user has given to something else."""
    keys = {column_key(name) for name in (want.name, *want.aliases)}
    for name in given:
        place = found.get(name, -1)
        if place >= 0 and column_key(columns[place]) in keys:
            return Problem(
                f"the column is given to {name!r}, and {want.name!r}, which is required too, has no other",
                column=columns[place],
                fix=f"map another column to {name!r}, or name one for {want.name!r} with {want.how}",
            )
    return None


def _not_found(want: Wanted, columns: Sequence[str]) -> Problem:
    also = f", also read under the names {', '.join(want.aliases)}" if want.aliases else ""
    return Problem(
        f"the column {want.name!r} is missing{nearest(want.name, columns)}{also}; the file has: {some_of(columns)}",
        fix=f"name it with {want.how}",
    )


def nearest(word: str, valid: Iterable[str]) -> str:
    """A hint at the name that was probably meant, or nothing."""
    close = difflib.get_close_matches(word, list(valid), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
