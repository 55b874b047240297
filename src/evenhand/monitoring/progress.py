"""How far a study and each person in it are, and who needs help. Pure: what was read goes in, figures come out.

People who need help are found by rules that compare a person's figures with fixed bounds and with the other people's.
Each rule is one function that returns one sentence with the figure in it, or nothing. A share counts against a person
only if its whole interval is below the bound, and no rule fires on fewer than five cases: people stop reading a page
that raises false alarms.

| rule | fires if |
| --- | --- |
| known answers | the upper end of the interval is below what the others reach together; for a single rater, below 0.7 |
| repeated items | the upper end of the share of equal answers is below 0.7 |
| the others | the upper end of the match with the others' majority is below the median of the rest |
| fast | the median seconds per unit is under a third of the others' median, from 10 units on |
| inactive | the person has open items and was last active longer ago than the claim time |
| leaves out | more than 30 % of the required answers are skipped or cannot be assessed, from 10 units on |
| training | less than half of the answers are correct |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

import numpy as np

from evenhand.analysis.tables import Tables
from evenhand.assignment import Plan
from evenhand.monitoring.activity import Activity, Speed, speed
from evenhand.monitoring.quality import (
    Match,
    comparable_criteria,
    match_with_examples,
    match_with_known,
    match_with_others,
    match_with_self,
)
from evenhand.protocol.model import Protocol
from evenhand.records import Rating
from evenhand.statistics import IntArray
from evenhand.store.people.access import Member
from evenhand.store.people.tasks import TaskCounts
from evenhand.text import counted

MIN_CASES = 5
MIN_UNITS = 10
GOOD_SHARE = 0.7
FAST_RATIO = 1 / 3
MANY_LEFT_OUT = 0.3
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Participant:
    """A member with what was read about them: task counts, activity and current trials."""

    member: Member
    counts: TaskCounts = field(default_factory=TaskCounts)
    activity: Activity = field(default_factory=Activity)
    trials: Sequence[Rating] = ()


@dataclass(frozen=True, slots=True)
class RaterRecord:
    """The figures of one person. What does not apply is None."""

    member: Member
    counts: TaskCounts
    activity: Activity
    speed: Speed
    known: Match | None
    repeats: Match | None
    training: Match | None
    others: Match | None


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
    """The study, and each member in order of arrival with the hints about them.

    `elsewhere` are the people who rated only in another way, such as in a spreadsheet, with the number of units that
    have a value from them.
    """

    study: StudyProgress
    elsewhere: Mapping[str, int]
    records: Sequence[RaterRecord]
    hints: Mapping[str, Sequence[str]]


def progress(tables: Tables, people: Sequence[Participant], plan: Plan, now: datetime) -> Progress:
    """Everything that the owner's page shows about the work done so far."""
    numbers = {rater.id: number for number, rater in enumerate(tables.raters)}
    known = None if plan.gold is None else numbers.get(plan.gold)
    everyone, independent = comparable_criteria(tables), comparable_criteria(tables.independent())
    records: list[RaterRecord] = []
    for person in people:
        number = numbers.get(person.member.rater) if person.member.role == "rater" else None
        with_known = None
        if number is not None and known is not None and number != known:
            with_known = match_with_known(everyone, number, known)
        with_others = None if number is None else match_with_others(independent, number, known)
        records.append(_record(tables.protocol, person, with_known, with_others))
    raters = [record for record in records if record.member.role == "rater"]
    of_person = _units_by_person(tables, known)
    here = {person.member.rater for person in people}
    return Progress(
        _study_progress(tables, people, plan, of_person),
        {name: len(units) for name, units in of_person.items() if name not in here},
        records,
        {one.member.rater: hints(one, [other for other in raters if other is not one], plan, now) for one in raters},
    )


def _record(protocol: Protocol, person: Participant, known: Match | None, others: Match | None) -> RaterRecord:
    repeats = match_with_self(protocol, person.activity.values, person.trials)
    training = match_with_examples(protocol, person.trials)
    return RaterRecord(
        member=person.member,
        counts=person.counts,
        activity=person.activity,
        speed=speed(person.activity),
        known=known,
        repeats=repeats if repeats.units else None,
        training=training if training.units else None,
        others=others,
    )


def _study_progress(
    tables: Tables, people: Sequence[Participant], plan: Plan, of_person: Mapping[str, IntArray]
) -> StudyProgress:
    members = [person for person in people if person.member.role == "rater"]
    raters = [person for person in members if person.member.rater != plan.gold]
    wanted = plan.overlap or max(len(raters), 1)
    rated = np.zeros(tables.n_units, dtype=np.bool_)
    for units in of_person.values():
        rated[units] = True
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
        units_rated=int(rated.sum()),
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


# Who needs help


def hints(person: RaterRecord, rest: Sequence[RaterRecord], plan: Plan, now: datetime) -> Sequence[str]:
    """What the owner should look at in one person's work; `rest` are the other people who rate."""
    found = (
        _known(person, rest),
        _repeats(person),
        _others(person, rest),
        _fast(person, rest),
        _inactive(person, plan, now),
        _leaves_out(person),
        _training(person),
    )
    return [hint for hint in found if hint is not None]


def _known(person: RaterRecord, rest: Sequence[RaterRecord]) -> str | None:
    if person.known is None or not _enough(person.known):
        return None
    reached = [one.known.same for one in rest if one.known is not None and _enough(one.known)]
    answers = sum(found.n for found in reached)
    bound = sum((found.value or 0.0) * found.n for found in reached) / answers if answers else GOOD_SHARE
    if not _below(person.known, bound):
        return None
    others = f"the others reach {_percent(bound)}" if answers else f"that is less than {_percent(bound)}"
    return f"Gives the known answer {_share(person.known)}; {others}."


def _repeats(person: RaterRecord) -> str | None:
    if person.repeats is None or not _below(person.repeats, GOOD_SHARE):
        return None
    return f"Answers repeated items the same way {_share(person.repeats)}; that is less than {_percent(GOOD_SHARE)}."


def _others(person: RaterRecord, rest: Sequence[RaterRecord]) -> str | None:
    values = [one.others.same.value for one in rest if one.others is not None and _enough(one.others)]
    known = [value for value in values if value is not None]
    if person.others is None or not known or not _below(person.others, median(known)):
        return None
    return f"Agrees with the majority of the others {_share(person.others)}; the rest reach {_percent(median(known))}."


def _fast(person: RaterRecord, rest: Sequence[RaterRecord]) -> str | None:
    own = _median_seconds(person)
    known = [seconds for one in rest if (seconds := _median_seconds(one)) is not None]
    if own is None or not known or own >= FAST_RATIO * median(known):
        return None
    return f"Is unusually fast: {own:.3g} seconds per unit; the others take {median(known):.3g}."


def _median_seconds(person: RaterRecord) -> float | None:
    return person.speed.seconds_per_unit if person.speed.units >= MIN_UNITS else None


def _inactive(person: RaterRecord, plan: Plan, now: datetime) -> str | None:
    away = now - person.member.seen
    if person.member.paused or not person.counts.open or away <= timedelta(minutes=plan.claim_minutes):
        return None
    return f"Has {counted(person.counts.open, 'open item')} and was last active {_ago(away)} ago."


def _leaves_out(person: RaterRecord) -> str | None:
    activity = person.activity
    if activity.units < MIN_UNITS or activity.left_out <= MANY_LEFT_OUT * activity.required:
        return None
    share = _percent(activity.left_out / activity.required)
    return f"Skips or cannot assess {activity.left_out:,} of {counted(activity.required, 'answer')} ({share})."


def _training(person: RaterRecord) -> str | None:
    found = None if person.training is None else person.training.same
    if found is None or found.value is None or found.n < MIN_CASES or found.value >= HALF:
        return None
    return f"Got {round(found.value * found.n)} of {found.n} training answers right."


def _enough(match: Match) -> bool:
    return match.same.value is not None and match.units >= MIN_CASES


def _below(match: Match, bound: float) -> bool:
    return _enough(match) and match.same.high is not None and match.same.high < bound


def _share(match: Match) -> str:
    """`in 4 of 12 answers (33 %, interval 14 % to 61 %)`"""
    found = match.same
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    hits = round(found.value * found.n)
    interval = f"{_percent(found.low)} to {_percent(found.high)}"
    return f"in {hits:,} of {counted(found.n, 'answer')} ({_percent(found.value)}, interval {interval})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _ago(away: timedelta) -> str:
    minutes = int(away.total_seconds() // 60)
    if minutes < 2 * 60:
        return counted(minutes, "minute")
    return counted(minutes // 60, "hour") if minutes < 48 * 60 else counted(minutes // (24 * 60), "day")
