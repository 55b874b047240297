"""How far one person's answers match known answers, their own earlier ones, worked examples and the other people.

A figure over all criteria is a share of answers. Its interval is computed over items (or documents), because the
answers to one item are not independent. Percentages and free texts have no meaningful exact match and are left out; a
text counts only for whether there is an answer, if the protocol has a value that means "no answer".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import evenhand.statistics as statistics
from evenhand.analysis.tables import Table, TableBuilder, Tables, compared
from evenhand.assignment import EXAMPLE
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Rating, Status, Value
from evenhand.statistics import MISSING, Estimate, FloatArray, IntArray, Resampling, undefined

NOTHING_COMPARED = "no criterion of this protocol has answers that can be the same"

FAST = Resampling(replicates=400)
"""Enough resamples for figures on the screen; the report draws five times as many."""


@dataclass(frozen=True, slots=True)
class CriterionMatch:
    """The share of equal answers; for levels also the share at most one apart, and κ with quadratic weights."""

    same: Estimate
    within_one: Estimate | None = None
    kappa_quadratic: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """The share of equal answers over all criteria, the number of different units, and each criterion."""

    same: Estimate
    units: int = 0
    by_criterion: Mapping[str, CriterionMatch] = field(default_factory=dict[str, CriterionMatch])


def comparable_criteria(tables: Tables) -> Mapping[str, Table]:
    """The criteria on which two answers can be equal."""
    found = {name: compared(table) for name, table in tables.tables.items()}
    return {name: table for name, table in found.items() if table is not None and table.labels}


def match_with_known(criteria: Mapping[str, Table], rater: int, known: int) -> Match:
    """A rater's answers compared with those of the rater whose answers are taken as correct."""
    none = "no item with a known answer is rated yet"
    return _match_tables(criteria, rater, lambda table, units: table.codes_at(known, units), none)


def match_with_others(criteria: Mapping[str, Table], rater: int, known: int | None = None) -> Match:
    """A rater's answers compared with the majority of the other people, without the rater with the known answers."""
    left_out = (rater,) if known is None else (rater, known)
    none = "no unit has a majority of other people yet"
    return _match_tables(criteria, rater, lambda table, units: table.people_at(units, left_out).majority, none)


def match_with_self(
    protocol: Protocol, values: Mapping[tuple[str, str], Value], trials: Iterable[Rating]
) -> Match | None:
    """A person's second answers to repeated items compared with their current first ones, if both are values."""
    repeats = [trial for trial in trials if trial.value is not None and not is_example(trial)]
    expected = [values.get((trial.unit, trial.criterion)) for trial in repeats]
    return _match_trials(protocol, repeats, expected)


def match_with_examples(protocol: Protocol, trials: Iterable[Rating]) -> Match | None:
    """A person's answers in training compared with the expected ones; "cannot assess" is never expected.

    The level next to the expected one counts half: 4 instead of 5 is not as wrong as 1.
    """
    answered = (Status.RATED, Status.CANNOT_ASSESS)
    training = [trial for trial in trials if is_example(trial) and trial.status in answered]
    examples = {f"{EXAMPLE}{number}": example.ratings for number, example in enumerate(protocol.examples)}
    expected = [examples.get(trial.unit, {}).get(trial.criterion) for trial in training]
    return _match_trials(protocol, training, expected, next_level=0.5)


def is_example(trial: Rating) -> bool:
    """Whether a trial answers a worked example rather than a repeated item."""
    # The id of an item may start the same way, but is unlikely to continue with a number alone.
    return trial.unit.startswith(EXAMPLE) and trial.unit.removeprefix(EXAMPLE).isdecimal()


def _match_tables(
    criteria: Mapping[str, Table],
    rater: int,
    other: Callable[[Table, IntArray], IntArray],
    none: str,
    *,
    trials: bool = False,
    next_level: float = 0.0,
) -> Match:
    """What a rater says compared with another source, on the units for which both have a value.

    `trials`: every answer of the other source counts, also one without a value, and levels are compared by distance.
    `next_level` is what an answer one level off counts. `none` is the reason if there is nothing to compare.
    """
    if not criteria:
        return Match(undefined(NOTHING_COMPARED))
    by_criterion: dict[str, CriterionMatch] = {}
    hits: list[tuple[IntArray, FloatArray]] = []
    for name, table in criteria.items():
        units = table.units_of(rater)
        own, others = table.codes_at(rater, units), other(table, units)
        used = np.ones(units.size, dtype=np.bool_) if trials else others != MISSING
        if used.any():
            same = (own[used] == others[used]).astype(np.float64)
            if next_level and table.level == "ordinal":
                both = (own[used] != MISSING) & (others[used] != MISSING)
                same[both & (np.abs(own[used] - others[used]) == 1)] = next_level
            hits.append((units[used], same))
            share = statistics.proportion(same, table.clusters_of(units[used]))
            by_criterion[name] = CriterionMatch(share, *(_distances(table, units, own, others) if trials else ()))
    if not hits:
        return Match(undefined(none))
    unit, same = (np.concatenate(parts) for parts in zip(*hits, strict=True))
    # Several answers to one unit are not independent; with one criterion, each unit has one answer.
    clusters = next(iter(criteria.values())).clusters_of(unit)
    groups = unit if clusters is None and len(hits) > 1 else clusters
    return Match(statistics.proportion(same, groups), len(np.unique(unit)), by_criterion)


def _distances(table: Table, units: IntArray, own: IntArray, others: IntArray) -> Sequence[Estimate]:
    """Of levels, the share at most one apart and κ; of labels nothing."""
    if table.level != "ordinal":
        return ()
    pair = statistics.cross(own, others, len(table.values), table.scores, table.clusters_of(units))
    return statistics.pair_within_one(pair, FAST), statistics.cohen_kappa(pair, "quadratic", FAST)


def _match_trials(
    protocol: Protocol, trials: Sequence[Rating], correct: Sequence[Value | None], *, next_level: float = 0.0
) -> Match | None:
    """Trials compared with the answers expected of them; None if there are none."""
    pairs = [(trial, value) for trial, value in zip(trials, correct, strict=True) if value is not None]
    units = {unit: number for number, unit in enumerate(dict.fromkeys(trial.unit for trial, _ in pairs))}
    several = protocol.rule.of != "item"
    # A unit's id is that of its item, with the position behind it if the item has several.
    items = [unit.rpartition("#")[0] or unit if several else unit for unit in units]
    numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
    builders = {criterion.id: TableBuilder(criterion, len(units), 2) for criterion in protocol.criteria}
    for trial, value in pairs:
        builders[trial.criterion].add(units[trial.unit], 0, Status.RATED, value)
        builders[trial.criterion].add(units[trial.unit], 1, trial.status, trial.value)
    raters = [RaterRef("expected", Kind.PERSON), RaterRef("given", Kind.PERSON)]
    tables = {name: builder.build() for name, builder in builders.items()}
    clusters = np.array([numbers[item] for item in items], dtype=np.int64) if several else None
    criteria = comparable_criteria(Tables(protocol, raters, len(numbers), len(units), tables, clusters))
    found = _match_tables(
        criteria, 0, lambda table, units: table.codes_at(1, units), "", trials=True, next_level=next_level
    )
    return found if found.units else None
