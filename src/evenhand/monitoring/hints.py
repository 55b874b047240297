"""Hints: who needs help.

People who need help are found by rules that compare a person's figures with fixed bounds and with the other people's.
Each rule is one function that returns one sentence with the figure in it, or nothing. A share counts against a person
only if its whole interval is below the bound, and no rule fires on fewer than five cases: people stop reading a page
that raises false alarms.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from evenhand.assignment import Plan
from evenhand.monitoring.activity import Participant
from evenhand.monitoring.quality import Match
from evenhand.text import counted

MIN_CASES = 5
MIN_UNITS = 10
GOOD_SHARE = 0.7
FAST_RATIO = 1 / 3
MANY_LEFT_OUT = 0.3
HALF = 0.5


def hints(person: Participant, rest: Sequence[Participant], plan: Plan, now: datetime) -> Sequence[str]:
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


def _known(person: Participant, rest: Sequence[Participant]) -> str | None:
    if person.known is None or not _enough(person.known):
        return None
    reached = [one.known.same for one in rest if one.known is not None and _enough(one.known)]
    answers = sum(found.n for found in reached)
    bound = sum((found.value or 0.0) * found.n for found in reached) / answers if answers else GOOD_SHARE
    if not _below(person.known, bound):
        return None
    others = f"the others reach {_percent(bound)}" if answers else f"that is less than {_percent(bound)}"
    return f"Gives the known answer {_share(person.known)}; {others}."


def _repeats(person: Participant) -> str | None:
    if person.repeats is None or not _below(person.repeats, GOOD_SHARE):
        return None
    return f"Answers repeated items the same way {_share(person.repeats)}; that is less than {_percent(GOOD_SHARE)}."


def _others(person: Participant, rest: Sequence[Participant]) -> str | None:
    values = [one.others.same.value for one in rest if one.others is not None and _enough(one.others)]
    known = [value for value in values if value is not None]
    if person.others is None or not known or not _below(person.others, median(known)):
        return None
    return f"Agrees with the majority of the others {_share(person.others)}; the rest reach {_percent(median(known))}."


def _fast(person: Participant, rest: Sequence[Participant]) -> str | None:
    own = _median_seconds(person)
    known = [seconds for one in rest if (seconds := _median_seconds(one)) is not None]
    if own is None or not known or own >= FAST_RATIO * median(known):
        return None
    return f"Is unusually fast: {own:.3g} seconds per unit; the others take {median(known):.3g}."


def _median_seconds(person: Participant) -> float | None:
    return person.activity.seconds_per_unit if len(person.activity.seconds) >= MIN_UNITS else None


def _inactive(person: Participant, plan: Plan, now: datetime) -> str | None:
    away = now - person.member.seen
    if person.member.paused or not person.counts.open or away <= timedelta(minutes=plan.claim_minutes):
        return None
    return f"Has {counted(person.counts.open, 'open item')} and was last active {_ago(away)} ago."


def _leaves_out(person: Participant) -> str | None:
    activity = person.activity
    if activity.units < MIN_UNITS or activity.left_out <= MANY_LEFT_OUT * activity.required:
        return None
    share = _percent(activity.left_out / activity.required)
    return f"Skips or cannot assess {activity.left_out:,} of {counted(activity.required, 'answer')} ({share})."


def _training(person: Participant) -> str | None:
    found = None if person.training is None else person.training.same
    if found is None or found.value is None or found.n < MIN_CASES or found.value >= HALF:
        return None
    return (
        f"Scored {_percent(found.value)} on {found.n} training answers; a level next to the expected one counts half."
    )


def _enough(match: Match) -> bool:
    return match.same.value is not None and match.units >= MIN_CASES


def _below(match: Match, bound: float) -> bool:
    return _enough(match) and match.same.high is not None and match.same.high < bound


def _share(match: Match) -> str:
    """`in 4 of 12 answers (33%, interval 14% to 61%)`"""
    found = match.same
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    hits = round(found.value * found.n)
    interval = f"{_percent(found.low)} to {_percent(found.high)}"
    return f"in {hits:,} of {counted(found.n, 'answer')} ({_percent(found.value)}, interval {interval})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _ago(away: timedelta) -> str:
    minutes = int(away.total_seconds() // 60)
    if minutes < 2 * 60:
        return counted(minutes, "minute")
    return counted(minutes // 60, "hour") if minutes < 48 * 60 else counted(minutes // (24 * 60), "day")
