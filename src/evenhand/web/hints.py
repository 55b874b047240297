"""Who needs help: rules that hold a person's figures against fixed bounds and against the other people's.

Each rule gives a sentence with the figure in it, or nothing. A share counts against somebody only where its whole
interval lies below the bound, and nothing is said from fewer than five cases: a page that cries wolf is not read.

| rule | fires where |
| --- | --- |
| known answers | the interval's upper end lies below what the others reach together; for somebody alone, below 0.7 |
| repeated items | the upper end of the share of same answers lies below 0.7 |
| the others | the upper end of the match with the others' majority lies below the median of the rest's |
| quick | the median of seconds per unit is under a third of the others' median, from 10 units on |
| silent | items in hand, and nothing heard for longer than the claim time |
| leaves out | more than 30 % of what must be answered is skipped or cannot be assessed, from 10 units on |
| training | less than half right |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from evenhand.assign import Plan
from evenhand.errors import counted
from evenhand.store.people import Member, TaskCounts
from evenhand.web.diary import Diary
from evenhand.web.matching import Match
from evenhand.web.pace import Pace

FEWEST_CASES = 5
FEWEST_UNITS = 10
GOOD_ENOUGH = 0.7
QUICK = 1 / 3
MUCH_LEFT_OUT = 0.3
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Record:
    """One person as the rules see them. What does not apply is None."""

    member: Member
    counts: TaskCounts
    diary: Diary
    pace: Pace
    known: Match | None
    repeats: Match | None
    training: Match | None
    others: Match | None


def hints(person: Record, rest: Sequence[Record], plan: Plan, now: datetime) -> Sequence[str]:
    """What somebody should look at in one person's work; `rest` are the other people who rate."""
    found = (
        _known(person, rest),
        _repeats(person),
        _others(person, rest),
        _quick(person, rest),
        _silent(person, plan, now),
        _leaves_out(person),
        _training(person),
    )
    return [hint for hint in found if hint is not None]


def _known(person: Record, rest: Sequence[Record]) -> str | None:
    if person.known is None or not _enough(person.known):
        return None
    reached = [one.known.same for one in rest if one.known is not None and _enough(one.known)]
    answers = sum(found.n for found in reached)
    bound = sum((found.value or 0.0) * found.n for found in reached) / answers if answers else GOOD_ENOUGH
    if not _below(person.known, bound):
        return None
    others = f"the others reach {_percent(bound)}" if answers else f"less than {_percent(bound)}"
    return f"Gives the known answer {_share(person.known)}; {others}."


def _repeats(person: Record) -> str | None:
    if person.repeats is None or not _below(person.repeats, GOOD_ENOUGH):
        return None
    return f"Answers repeated items the same way {_share(person.repeats)}; less than {_percent(GOOD_ENOUGH)}."


def _others(person: Record, rest: Sequence[Record]) -> str | None:
    values = [one.others.same.value for one in rest if one.others is not None and _enough(one.others)]
    known = [value for value in values if value is not None]
    if person.others is None or not known or not _below(person.others, median(known)):
        return None
    return f"Is of one mind with the others {_share(person.others)}; the rest reach {_percent(median(known))}."


def _quick(person: Record, rest: Sequence[Record]) -> str | None:
    own = _median_seconds(person)
    known = [seconds for one in rest if (seconds := _median_seconds(one)) is not None]
    if own is None or not known or own >= QUICK * median(known):
        return None
    return f"Is unusually quick: {own:.3g} seconds per unit; the others take {median(known):.3g}."


def _median_seconds(person: Record) -> float | None:
    return person.pace.seconds_per_unit if person.pace.units >= FEWEST_UNITS else None


def _silent(person: Record, plan: Plan, now: datetime) -> str | None:
    away = now - person.member.seen
    if person.member.paused or not person.counts.open or away <= timedelta(minutes=plan.claim_minutes):
        return None
    return f"Has {counted(person.counts.open, 'item')} in hand and was last here {_ago(away)} ago."


def _leaves_out(person: Record) -> str | None:
    diary = person.diary
    if diary.units < FEWEST_UNITS or diary.left_out <= MUCH_LEFT_OUT * diary.asked:
        return None
    share = _percent(diary.left_out / diary.asked)
    return f"Skips or cannot assess {diary.left_out:,} of {counted(diary.asked, 'answer')} ({share})."


def _training(person: Record) -> str | None:
    found = None if person.training is None else person.training.same
    if found is None or found.value is None or found.n < FEWEST_CASES or found.value >= HALF:
        return None
    return f"Got {round(found.value * found.n)} of {found.n} answers right in training."


def _enough(match: Match) -> bool:
    return match.same.value is not None and match.units >= FEWEST_CASES


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
