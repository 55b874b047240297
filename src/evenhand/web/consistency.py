"""How far one person's answers match their own, on repeated items, and the worked examples, in training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.cross import cross
from evenhand.agreement.kappa import cohen_kappa
from evenhand.agreement.labels import pair_within_one
from evenhand.agreement.result import undefined
from evenhand.protocol.model import Criterion, Protocol
from evenhand.records import UNANSWERABLE, Rating, Status, Value
from evenhand.scales import Nominal, Ordinal, Text
from evenhand.table import MISSING, IntArray
from evenhand.web.diary import Cell
from evenhand.web.matching import Alike, Hits, Match, match

QUICKLY = Plan(replicates=400)
"""For figures on a page that is watched; the report draws five times as often."""

EXAMPLE = "example:"
"""How the unit of a worked example begins in a trial."""

Answers = Sequence[tuple[str, Value, Value | None]]
"""Answers to one criterion: the unit, what is expected, what was given."""


def with_self(protocol: Protocol, values: Mapping[Cell, Value], trials: Iterable[Rating]) -> Match:
    """A person's second answers to repeated items against the ones in force, where both are values."""
    answers: dict[str, list[tuple[str, Value, Value | None]]] = {}
    for trial in trials:
        first = values.get((trial.unit, trial.criterion))
        if first is not None and trial.value is not None and not is_example(trial):
            answers.setdefault(trial.criterion, []).append((trial.unit, first, trial.value))
    return _matched(protocol, answers, "no repeated item is answered yet")


def with_examples(protocol: Protocol, trials: Iterable[Rating]) -> Match:
    """A person's answers in training against the worked examples' own; "cannot assess" is not what they say."""
    answers: dict[str, list[tuple[str, Value, Value | None]]] = {}
    for trial in trials:
        if not is_example(trial) or trial.status not in (Status.RATED, Status.CANNOT_ASSESS):
            continue
        number = int(trial.unit.removeprefix(EXAMPLE))
        expected = protocol.examples[number].ratings.get(trial.criterion) if number < len(protocol.examples) else None
        if expected is not None:
            answers.setdefault(trial.criterion, []).append((trial.unit, expected, trial.value))
    return _matched(protocol, answers, "no worked example is answered yet")


def is_example(trial: Rating) -> bool:
    """Whether a trial answers a worked example and not a repeated item."""
    # The id of an item may begin the same way; whole numbers behind it are as sure as it gets.
    return trial.unit.startswith(EXAMPLE) and trial.unit.removeprefix(EXAMPLE).isdecimal()


def _matched(protocol: Protocol, answers: Mapping[str, Answers], none: str) -> Match:
    if not answers:
        return Match(undefined(none))
    comparable = {name: of for name, of in answers.items() if _values(protocol.criterion(name))}
    units = _numbered(unit for of in comparable.values() for unit, _, _ in of)
    items = _numbered(_item(protocol, unit) for unit in units)
    hits: dict[str, Hits] = {}
    ordinal: dict[str, Alike] = {}
    for name, of in comparable.items():
        criterion = protocol.criterion(name)
        unit = np.array([units[unit] for unit, _, _ in of], dtype=np.int64)
        item = np.array([items[_item(protocol, unit)] for unit, _, _ in of], dtype=np.int64)
        expected, given = (_codes(criterion, [answer[side] for answer in of]) for side in (1, 2))
        hits[name] = Hits(unit, expected == given, None if protocol.rule.of == "item" else item)
        if isinstance(criterion.scale, Ordinal):
            scores = np.array(criterion.scale.values, dtype=np.float64)
            pair = cross(expected, given, len(scores), scores, hits[name].together)
            kappa = cohen_kappa(pair, "quadratic", QUICKLY)
            ordinal[name] = Alike(hits[name].share, pair_within_one(pair, QUICKLY), kappa)
    found = match(hits, none)
    return replace(found, by_criterion={**found.by_criterion, **ordinal})


def _values(criterion: Criterion) -> Sequence[Value]:
    """What answers to a criterion can be, as far as two of them can be the same; empty where they cannot."""
    scale = criterion.scale
    if isinstance(scale, Text):
        return ("", UNANSWERABLE) if scale.unanswerable else ()
    return scale.values if isinstance(scale, Ordinal | Nominal) else ()


def _codes(criterion: Criterion, given: Iterable[Value | None]) -> IntArray:
    places = {value: code for code, value in enumerate(_values(criterion))}
    free = isinstance(criterion.scale, Text)
    found = (value if value is None or not free or value == UNANSWERABLE else "" for value in given)
    return np.array([MISSING if value is None else places[value] for value in found], dtype=np.int64)


def _numbered(names: Iterable[str]) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _item(protocol: Protocol, unit: str) -> str:
    """The item of a unit, whose id is the item's, or that with the position behind it."""
    return unit if protocol.rule.of == "item" else unit.rpartition("#")[0] or unit
