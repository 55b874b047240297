"""How far a study and each person in it are. Pure: what was read goes in, figures come out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from evenhand.analysis.tables import Tables
from evenhand.assignment import Plan
from evenhand.monitoring import quality
from evenhand.monitoring.activity import Participant
from evenhand.monitoring.hints import hints
from evenhand.statistics import IntArray


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """How far a study is.

    `units_rated` have a value from at least one person, `units_done` from as many as the plan asks for. `items_wanted`
    counts an item once for each person who is to rate it, `items_given` once for each person who has. Adjudicators and
    the rater with the known answers are not counted.
    """

    items: int
    units: int
    raters: int
    units_rated: int
    units_done: int
    items_wanted: int
    items_given: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The study, and each member in order of arrival with their matches and the hints about them.

    `elsewhere` are the people who rated only in another way, such as in a spreadsheet, with the number of units that
    have a value from them.
    """

    study: StudyProgress
    elsewhere: Mapping[str, int]
    people: Sequence[Participant]
    hints: Mapping[str, Sequence[str]]


def progress(tables: Tables, people: Sequence[Participant], plan: Plan, now: datetime) -> Progress:
    """Everything that the owner's page shows about the work done so far."""
    numbers = {rater.id: number for number, rater in enumerate(tables.raters)}
    known = None if plan.gold is None else numbers.get(plan.gold)
    everyone, independent = quality.comparable_criteria(tables), quality.comparable_criteria(tables.independent())
    compared: list[Participant] = []
    for person in people:
        number = numbers.get(person.member.rater) if person.member.role == "rater" else None
        with_known = None
        if number is not None and known is not None and number != known:
            with_known = quality.match_with_known(everyone, number, known)
        compared.append(
            replace(
                person,
                known=with_known,
                repeats=quality.match_with_self(tables.protocol, person.activity.values, person.trials),
                training=quality.match_with_examples(tables.protocol, person.trials),
                others=None if number is None else quality.match_with_others(independent, number, known),
            )
        )
    raters = [person for person in compared if person.member.role == "rater"]
    of_person = _units_by_person(tables, known)
    here = {person.member.rater for person in people}
    return Progress(
        _study_progress(tables, people, plan, of_person),
        {name: len(units) for name, units in of_person.items() if name not in here},
        compared,
        {one.member.rater: hints(one, [other for other in raters if other is not one], plan, now) for one in raters},
    )


def _study_progress(
    tables: Tables, people: Sequence[Participant], plan: Plan, of_person: Mapping[str, IntArray]
) -> StudyProgress:
    members = [person for person in people if person.member.role == "rater"]
    raters = [person for person in members if person.member.rater != plan.gold]
    wanted = plan.overlap or max(len(raters), 1)
    rated = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *of_person.values()]))
    if plan.overlap is None:
        # Every member rates every item. With an overlap of K, people who rated elsewhere count among the K.
        here = {person.member.rater for person in raters}
        of_person = {name: units for name, units in of_person.items() if name in here}
    of_units, of_items = np.zeros(tables.n_units, dtype=np.int64), np.zeros(tables.n_items, dtype=np.int64)
    without_value = {person.member.rater: person.counts.own_done for person in raters}
    for name, units in of_person.items():
        items = units if tables.clusters is None else np.unique(tables.clusters[units])
        of_units[units] += 1
        of_items[items] += 1
        without_value[name] = without_value.get(name, 0) - len(items)
    # Items with known answers are given to every rater, so some have more ratings than they need.
    given = int(np.minimum(of_items, wanted).sum()) + sum(max(left, 0) for left in without_value.values())
    return StudyProgress(
        items=tables.n_items,
        units=tables.n_units,
        raters=len(members),
        units_rated=rated.size,
        units_done=int((of_units >= wanted).sum()),
        items_wanted=tables.n_items * wanted,
        items_given=min(given, tables.n_items * wanted),
    )


def _units_by_person(tables: Tables, known: int | None) -> Mapping[str, IntArray]:
    """The units that each person gave a value for, without adjudicators and the rater with the known answers."""
    cells = [table.rater * tables.n_units + table.unit for table in tables.tables.values()]
    both = np.unique(np.concatenate(cells)) if cells else np.zeros(0, dtype=np.int64)
    raters, units = np.divmod(both, max(tables.n_units, 1))
    ends = np.searchsorted(raters, np.arange(len(tables.raters) + 1))
    return {
        tables.raters[number].id: units[ends[number] : ends[number + 1]]
        for number in tables.people()
        if number != known and ends[number] < ends[number + 1]
    }
