"""Several raters taken as one: every rating of a pool, their rounded mean, their majority or their plurality.

A combined rater is added to copies of the tables that serve the figures about it alone. Everything else (α, majority
votes, what people reach among themselves) is computed without it: it is not another opinion.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from pydantic import ValidationError

from evenhand.analysis.tables import Combined, Table, Tables
from evenhand.errors import UserError
from evenhand.protocol.model import Combination
from evenhand.protocol.problems import validation_problems
from evenhand.records import Kind, RaterRef, Status, Value
from evenhand.statistics import MISSING, FloatArray, IntArray
from evenhand.text import quoted, unknown

PEOPLE, MODELS = "people", "models"
_SPEC = re.compile(r"\s*([\w.-]+)\s*=\s*(\w+)\s*\(([^()]*)\)\s*")
_VALID = "give NAME=RULE(RATERS), such as reference=mean(people, step=0.5) or vote=plurality(ann, ben, ties=first)"


def parse_combination(spec: str) -> tuple[str, Combination]:
    """The name of a combined rater and how it is made, from `NAME=RULE(RATER, …, KEY=VALUE)`."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise UserError(f"{quoted(spec)} does not combine raters: {_VALID}")
    name, rule, inside = found.groups()
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    options = dict(part.replace(" ", "").split("=", 1) for part in parts if "=" in part)
    members = {"of": tuple(part for part in parts if "=" not in part)} if any("=" not in part for part in parts) else {}
    given = {"rule": rule, **members, **options}
    try:
        return name, Combination.model_validate(given)
    except ValidationError as error:
        wrong = "; ".join(map(str, validation_problems(error, Combination, given)))
        raise UserError(f"{quoted(spec)}: {wrong}; {_VALID}") from None


def selections(tables: Tables, combinations_: Mapping[str, Combination]) -> Iterator[Tables]:
    """The tables with each combined rater alone, then with each two that have no rater in common.

    `Tables.combined` has the numbers of those that were added. Raises UserError for a name that is taken and for a
    member that does not exist or is an adjudicator.
    """
    found = {name: _members(tables, name, how) for name, how in combinations_.items()}
    chosen = [[name] for name in found]
    chosen += [[a, b] for a, b in combinations(found, 2) if set(found[a]).isdisjoint(found[b])]
    for names in chosen:
        if all(found[name] for name in names):
            yield _with(tables, {name: (combinations_[name], found[name]) for name in names})


def _members(tables: Tables, name: str, how: Combination) -> Sequence[int]:
    """The numbers of the raters that are combined; none if a group of the protocol is empty in this study."""
    numbers = {rater.id: number for number, rater in enumerate(tables.raters)}
    if name in numbers or name == PEOPLE:
        raise UserError(f"there is already a rater {name!r}: choose another name for those combined")
    groups = {PEOPLE: tables.people(), MODELS: tables.machines()}
    for member in how.of:
        if member not in groups and member not in numbers:
            raise UserError(f"{name}: {unknown('rater', member, [*groups, *numbers])}")
        if member in tables.adjudicators:
            raise UserError(
                f"{name}: {quoted(member)} is an adjudicator, and rulings are left out of agreement: adjudicators have "
                "seen the others' ratings. Combine other raters; evenhand ratings export has the rulings"
            )
    return list(dict.fromkeys(one for of in how.of for one in groups.get(of, [numbers.get(of, MISSING)])))


def _with(tables: Tables, added: Mapping[str, tuple[Combination, Sequence[int]]]) -> Tables:
    raters = list(tables.raters)
    combined: dict[int, Combined] = {}
    changed = dict(tables.tables)
    for name, (how, members) in added.items():
        combined[len(raters)] = Combined(members, how.rule)
        changed = {criterion: _extended(table, how, members) for criterion, table in changed.items()}
        person = all(tables.raters[member].kind is Kind.PERSON for member in members)
        raters.append(RaterRef(name, Kind.PERSON if person else Kind.MODEL))
    return replace(tables, raters=raters, tables=changed, combined=combined)


def _extended(table: Table, how: Combination, members: Sequence[int]) -> Table:
    """The table with one more rater. A pool has no ratings of its own: its members' are read instead."""
    nobody: Mapping[Status, int] = {}
    table = replace(table, n_raters=table.n_raters + 1, statuses=[*table.statuses, nobody])
    if how.rule == "pool" or (how.rule == "mean" and table.scores is None) or not (table.labels or how.rule == "mean"):
        return table
    said = table.opinions(members)
    units = np.flatnonzero(said.count >= how.fewest)
    if how.rule == "mean":
        # Half a step goes up; a little more than half of one, so that rounding errors of the mean do not decide.
        # However large the step, the mean stays on the scale.
        means = np.round(np.floor(said.mean[units] / how.step + 0.5 + 1e-9) * how.step, 9).clip(*table.ends)
        table, code = _with_values(table, means)
    else:
        code = (
            said.majority[units] if how.rule == "majority" else _plurality(table, members, units, said.tally, how.ties)
        )
        units, code = units[code != MISSING], code[code != MISSING]
    confidence = None if table.confidence is None else np.append(table.confidence, np.full(units.size, np.nan))
    return replace(
        table,
        unit=np.append(table.unit, units),
        rater=np.append(table.rater, np.full(units.size, table.n_raters - 1)),
        code=np.append(table.code, code),
        order=np.append(table.order, np.zeros(units.size, dtype=np.int64)),
        confidence=confidence,
    )


def _with_values(table: Table, numbers: FloatArray) -> tuple[Table, IntArray]:
    """The table with values between those of its scale, as far as these numbers need them, and the numbers' codes."""
    assert table.scores is not None
    scores = np.unique(np.append(table.scores, numbers))
    known: dict[float, Value] = dict(zip(table.scores.tolist(), table.values, strict=True))
    values = [known.get(score, score) for score in scores.tolist()]
    code = np.searchsorted(scores, table.scores)[table.code] if table.code.size else table.code
    return replace(table, values=values, code=code), np.searchsorted(scores, numbers).astype(np.int64)


def _plurality(table: Table, members: Sequence[int], units: IntArray, tally: IntArray, ties: str) -> IntArray:
    """The label with the most votes; of several, the first or the last of the scale, the first member's, or none."""
    tally = tally[units]
    first = tally.argmax(axis=1)
    last = tally.shape[1] - 1 - tally[:, ::-1].argmax(axis=1)
    if ties == "rater":
        found = np.full(units.size, MISSING, dtype=np.int64)
        for member in reversed(members):
            own = table.codes_at(member, units)
            top = (own != MISSING) & (tally[np.arange(units.size), own] == tally.max(axis=1))
            found[top] = own[top]
        return found
    return np.where(first == last, first, MISSING) if ties == "none" else first if ties == "first" else last
