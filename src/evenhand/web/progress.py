"""How a study and the people in it come along. Pure: what was read goes in, figures come out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from evenhand.assign import Plan
from evenhand.records import Rating
from evenhand.store.people import Member, TaskCounts
from evenhand.table import IntArray, Tables
from evenhand.trust.reading import Reading
from evenhand.web.consistency import with_examples, with_self
from evenhand.web.diary import Diary
from evenhand.web.hints import Record, hints
from evenhand.web.matching import Match, readings, with_known, with_others
from evenhand.web.pace import pace


@dataclass(frozen=True, slots=True)
class Person:
    """A member with what was read about them: tasks, diary, and trials in force with the numbers of their tasks."""

    member: Member
    counts: TaskCounts = field(default_factory=TaskCounts)
    diary: Diary = field(default_factory=Diary)
    trials: Sequence[tuple[int, Rating]] = ()


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a study has come. `units_rated` have a value from one person, `units_done` from as many as the plan
    wants. `items_wanted` counts an item once for each person who is to rate it, `items_given` those that have done so.
    Adjudicators and the rater with the known answers have no part in any of it."""

    items: int
    units: int
    people: int
    units_rated: int
    units_done: int
    items_wanted: int
    items_given: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The study, and each member in order of arrival with what they need help with. `elsewhere`: the people who have
    rated in another way only, such as in a spreadsheet, with the number of units that have a value of theirs."""

    reached: Reached
    elsewhere: Mapping[str, int]
    records: Sequence[Record]
    hints: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Yardsticks:
    """What raters are held against: the readings of all ratings with the known answers among them, and those of the
    independent ones."""

    numbers: Mapping[str, int]
    known: int | None
    all_ratings: Mapping[str, Reading]
    independent: Mapping[str, Reading]

    def to_known(self, member: Member) -> Match | None:
        number = self.numbers.get(member.rater)
        if self.known is None or number is None or member.role != "rater" or number == self.known:
            return None
        return with_known(self.all_ratings, number, self.known)

    def to_others(self, member: Member) -> Match | None:
        number = self.numbers.get(member.rater)
        return None if number is None or member.role != "rater" else with_others(self.independent, number, self.known)


def progress(tables: Tables, people: Sequence[Person], plan: Plan, now: datetime) -> Progress:
    """Everything that the owner's page shows of the work done so far."""
    numbers = {rater.id: number for number, rater in enumerate(tables.raters)}
    known = None if plan.gold is None else numbers.get(plan.gold)
    yardsticks = _Yardsticks(numbers, known, readings(tables), readings(tables.independent()))
    records = [_record(tables, person, yardsticks) for person in people]
    raters = [record for record in records if record.member.role == "rater"]
    of_person = _units_by_person(tables, known)
    here = {person.member.rater for person in people}
    return Progress(
        _reached(tables, people, plan, of_person),
        {name: len(units) for name, units in of_person.items() if name not in here},
        records,
        {one.member.rater: hints(one, [other for other in raters if other is not one], plan, now) for one in raters},
    )


def _record(tables: Tables, person: Person, yardsticks: _Yardsticks) -> Record:
    trials = [trial for _, trial in person.trials]
    repeats = with_self(tables.protocol, person.diary.values, trials)
    training = with_examples(tables.protocol, trials)
    return Record(
        member=person.member,
        counts=person.counts,
        diary=person.diary,
        pace=pace(person.diary),
        known=yardsticks.to_known(person.member),
        repeats=repeats if repeats.units else None,
        training=training if training.units else None,
        others=yardsticks.to_others(person.member),
    )


def _reached(tables: Tables, people: Sequence[Person], plan: Plan, of_person: Mapping[str, IntArray]) -> Reached:
    members = [person for person in people if person.member.role == "rater"]
    raters = [person for person in members if person.member.rater != plan.gold]
    wanted = plan.overlap or max(len(raters), 1)
    rated = np.zeros(tables.n_units, dtype=np.bool_)
    for units in of_person.values():
        rated[units] = True
    if plan.overlap is None:
        # Everybody here is asked for everything; with an overlap, people who rated elsewhere count among the K.
        here = {person.member.rater for person in raters}
        of_person = {name: units for name, units in of_person.items() if name in here}
    of_units, of_items = np.zeros(tables.n_units, dtype=np.int64), np.zeros(tables.n_items, dtype=np.int64)
    without_value = {person.member.rater: person.counts.own_done for person in raters}
    for name, units in of_person.items():
        items = units if tables.clusters is None else np.unique(tables.clusters[units])
        of_units[units] += 1
        of_items[items] += 1
        without_value[name] = without_value.get(name, 0) - len(items)
    # Items with known answers go to everybody, so some have more ratings than they need.
    given = int(np.minimum(of_items, wanted).sum()) + sum(max(left, 0) for left in without_value.values())
    return Reached(
        items=tables.n_items,
        units=tables.n_units,
        people=len(members),
        units_rated=int(rated.sum()),
        units_done=int((of_units >= wanted).sum()),
        items_wanted=tables.n_items * wanted,
        items_given=min(given, tables.n_items * wanted),
    )


def _units_by_person(tables: Tables, known: int | None) -> Mapping[str, IntArray]:
    """The units on which each person gave a value, adjudicators and the rater with the known answers apart."""
    cells = [table.rater * tables.n_units + table.unit for table in tables.tables.values()]
    both = np.unique(np.concatenate(cells)) if cells else np.zeros(0, dtype=np.int64)
    raters, units = np.divmod(both, max(tables.n_units, 1))
    ends = np.searchsorted(raters, np.arange(len(tables.raters) + 1))
    return {
        tables.raters[number].id: units[ends[number] : ends[number + 1]]
        for number in tables.people()
        if number != known and ends[number] < ends[number + 1]
    }
