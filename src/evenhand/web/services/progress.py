"""The progress of a study, computed once for everyone who watches it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.analysis.tables import Tables
from evenhand.assignment import Plan
from evenhand.monitoring.activity import ActivityLog
from evenhand.monitoring.progress import Participant, Progress, progress
from evenhand.protocol.model import Protocol
from evenhand.records import Rating, now
from evenhand.store.people.access import Member
from evenhand.store.people.tasks import TaskCounts
from evenhand.study import Study
from evenhand.web.dependencies import Services

NAME = "progress"


@dataclass(frozen=True, slots=True)
class _Team:
    """The members, their tasks and the plan; quick to read."""

    members: Sequence[Member]
    counts: Mapping[str, TaskCounts]
    plan: Plan


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """Progress at one moment, under this protocol and plan."""

    progress: Progress
    protocol: Protocol
    plan: Plan
    at: datetime


def current_progress(services: Services) -> ProgressReport:
    """How far the study and each member are.

    It is computed again when a rating, a task, a member or the plan has changed, and once a minute, because inactivity
    depends on the time alone.
    """
    snapshot = services.cache.snapshot()
    with services.read() as study:
        people = study.store.people
        team = _Team(people.members(), people.tasks.count(), people.tasks.plan())
    at = now()

    def compute() -> ProgressReport:
        with services.read() as study:
            return _report(services, study, snapshot.tables, team, at)

    version = snapshot.version, team, at.replace(second=0, microsecond=0)
    return services.cache.get(NAME, lambda: version, compute, patient=True)


def forget_progress(services: Services) -> None:
    """Compute the progress again: the owner has changed something and wants to see it."""
    services.cache.forget(NAME)


def _report(services: Services, study: Study, tables: Tables, team: _Team, at: datetime) -> ProgressReport:
    # Set aside while it is updated: a log that a failure left incomplete must not be used again.
    log, services.activity = services.activity, None
    if log is None or log.protocol.digest != tables.protocol.digest:
        log = ActivityLog(tables.protocol)
    activities = log.update(study.store, [member.rater for member in team.members])
    services.activity = log
    trials: dict[str, list[Rating]] = {}
    for _, trial in study.store.people.trials.all():
        trials.setdefault(trial.rater, []).append(trial)
    people = [
        Participant(
            member,
            team.counts.get(member.rater, TaskCounts()),
            activities[member.rater],
            trials.get(member.rater, ()),
        )
        for member in team.members
    ]
    return ProgressReport(progress(tables, people, team.plan, at), tables.protocol, team.plan, at)
