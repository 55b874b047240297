"""How far one person's answers match known answers, their own earlier ones, worked examples and the other people.

A figure over all criteria is a share of answers. Its interval is computed over items (or documents), because the
answers to one item are not independent. Percentages and free texts have no meaningful exact match and are left out; a
text counts only for whether there is an answer, if the protocol has a value that means "no answer".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.analysis.tables import Table, Tables, compared
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Rating, Status, Value
from evenhand.scales import Nominal, Ordinal, Text
from evenhand.statistics import (
    MISSING,
    BoolArray,
    Estimate,
    IntArray,
    Resampling,
    cohen_kappa,
    cross,
    pair_within_one,
    proportion,
    undefined,
)

NOTHING_COMPARED = "no criterion of this protocol has answers that can be the same"

FAST = Resampling(replicates=400)
"""Enough resamples for figures on the screen; the report draws five times as many."""

EXAMPLE = "example:"
"""The unit id of a worked example in a trial starts with this; its number follows."""

AnswerPair = tuple[str, Value, Value | None]
"""The unit, the expected answer, the given answer."""


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


@dataclass(frozen=True, slots=True)
class _Hits:
    """Answers to one criterion: the unit of each, whether it was equal, and the cluster it belongs to."""

    unit: IntArray
    same: BoolArray
    clusters: IntArray | None

    @property
    def share(self) -> Estimate:
        return proportion(self.same.astype(np.float64), self.clusters)


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


def match_with_self(protocol: Protocol, values: Mapping[tuple[str, str], Value], trials: Iterable[Rating]) -> Match:
    """A person's second answers to repeated items compared with their current first ones, if both are values."""
    repeats = [trial for trial in trials if trial.value is not None and not is_example(trial)]
    expected = [values.get((trial.unit, trial.criterion)) for trial in repeats]
    return _match_trials(protocol, repeats, expected, "no repeated item is answered yet")


def match_with_examples(protocol: Protocol, trials: Iterable[Rating]) -> Match:
    """A person's answers in training compared with the expected ones; "cannot assess" is never expected."""
    answered = (Status.RATED, Status.CANNOT_ASSESS)
    training = [trial for trial in trials if is_example(trial) and trial.status in answered]
    examples = {f"{EXAMPLE}{number}": example.ratings for number, example in enumerate(protocol.examples)}
    expected = [examples.get(trial.unit, {}).get(trial.criterion) for trial in training]
    return _match_trials(protocol, training, expected, "no worked example is answered yet")


def is_example(trial: Rating) -> bool:
    """Whether a trial answers a worked example rather than a repeated item."""
    # The id of an item may start the same way, but is unlikely to continue with a number alone.
    return trial.unit.startswith(EXAMPLE) and trial.unit.removeprefix(EXAMPLE).isdecimal()


def _match_tables(
    criteria: Mapping[str, Table], rater: int, other: Callable[[Table, IntArray], IntArray], none: str
) -> Match:
    hits: dict[str, _Hits] = {}
    for name, table in criteria.items():
        units = table.units_of(rater)
        own, others = table.codes_at(rater, units), other(table, units)
        used = (own != MISSING) & (others != MISSING)
        hits[name] = _Hits(units[used], own[used] == others[used], table.clusters_of(units[used]))
    return _match(hits, none)


def _match(hits: Mapping[str, _Hits], none: str) -> Match:
    """All criteria in one figure; `none` is the reason if there is no answer to compare."""
    used = {name: one for name, one in hits.items() if one.unit.size}
    if not used:
        return Match(undefined(none if hits else NOTHING_COMPARED))
    unit = np.concatenate([one.unit for one in used.values()])
    same = np.concatenate([one.same for one in used.values()])
    groups = [one.clusters for one in used.values() if one.clusters is not None]
    # Several answers to one unit are not independent; with one criterion, each unit has one answer.
    clusters = np.concatenate(groups) if groups else unit if len(used) > 1 else None
    by_criterion = {name: CriterionMatch(one.share) for name, one in used.items()}
    return Match(_Hits(unit, same, clusters).share, len(np.unique(unit)), by_criterion)


def _match_trials(protocol: Protocol, trials: Sequence[Rating], correct: Sequence[Value | None], none: str) -> Match:
    """Trials compared with the answers expected of them, as far as there are any."""
    answers: dict[str, list[AnswerPair]] = {}
    for trial, value in zip(trials, correct, strict=True):
        if value is not None:
            answers.setdefault(trial.criterion, []).append((trial.unit, value, trial.value))
    if not answers:
        return Match(undefined(none))
    comparable_answers = {name: pairs for name, pairs in answers.items() if _values(protocol.criterion(name))}
    units = _numbered(unit for pairs in comparable_answers.values() for unit, _, _ in pairs)
    items = _numbered(_item(protocol, unit) for unit in units)
    hits: dict[str, _Hits] = {}
    levels: dict[str, CriterionMatch] = {}
    for name, pairs in comparable_answers.items():
        criterion = protocol.criterion(name)
        unit = np.array([units[unit] for unit, _, _ in pairs], dtype=np.int64)
        item = np.array([items[_item(protocol, unit)] for unit, _, _ in pairs], dtype=np.int64)
        expected, given = (_codes(criterion, [pair[side] for pair in pairs]) for side in (1, 2))
        hits[name] = _Hits(unit, expected == given, None if protocol.rule.of == "item" else item)
        if isinstance(criterion.scale, Ordinal):
            levels[name] = _level_match(criterion.scale, hits[name], expected, given)
    found = _match(hits, none)
    return replace(found, by_criterion={**found.by_criterion, **levels})


def _level_match(scale: Ordinal, hits: _Hits, expected: IntArray, given: IntArray) -> CriterionMatch:
    scores = np.array(scale.values, dtype=np.float64)
    pair = cross(expected, given, len(scores), scores, hits.clusters)
    return CriterionMatch(hits.share, pair_within_one(pair, FAST), cohen_kappa(pair, "quadratic", FAST))


def _values(criterion: Criterion) -> Sequence[Value]:
    """The possible answers to a criterion, if two answers can be equal; otherwise nothing."""
    scale = criterion.scale
    if isinstance(scale, Text):
        return ("", UNANSWERABLE) if scale.unanswerable else ()
    return scale.values if isinstance(scale, Ordinal | Nominal) else ()


def _codes(criterion: Criterion, given: Iterable[Value | None]) -> IntArray:
    codes = {value: code for code, value in enumerate(_values(criterion))}
    free = isinstance(criterion.scale, Text)
    found = (value if value is None or not free or value == UNANSWERABLE else "" for value in given)
    return np.array([MISSING if value is None else codes[value] for value in found], dtype=np.int64)


def _numbered(names: Iterable[str]) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _item(protocol: Protocol, unit: str) -> str:
    """The item of a unit: the unit's id, without the position if the item has several units."""
    return unit if protocol.rule.of == "item" else unit.rpartition("#")[0] or unit
