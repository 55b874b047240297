"""Runs: one row for each, brought up to date as the run goes on."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update

from evenhand.errors import StudyError
from evenhand.store.base import Run
from evenhand.store.rows import decode, encode, storable
from evenhand.store.schema import runs


def write_run(connection: Connection, location: str, run: Run) -> None:
    if not storable(run.id) or not storable(run.rater):
        raise StudyError(f"{location}: the run {run.id!r} of {run.rater!r} has a character that cannot be stored")
    values = {
        "rater": run.rater,
        "started": run.started.isoformat(),
        "ended": run.ended.isoformat() if run.ended else None,
        "state": run.state,
        "settings": encode(dict(run.settings)),
        "counts": encode(dict(run.counts)),
    }
    if not connection.execute(update(runs).where(runs.c.id == run.id).values(**values)).rowcount:
        seq = connection.execute(select(func.coalesce(func.max(runs.c.seq), 0))).scalar_one() + 1
        connection.execute(insert(runs).values(seq=seq, id=run.id, **values))


def read_runs(connection: Connection) -> Sequence[Run]:
    """Every run in order of its start; of those that started together, the one saved first comes first."""
    found = [
        Run(
            id=run_id,
            rater=rater,
            started=datetime.fromisoformat(started),
            ended=datetime.fromisoformat(ended) if ended else None,
            state=state,
            settings=decode(settings),
            counts=decode(counts),
        )
        for _, run_id, rater, started, ended, state, settings, counts in connection.execute(
            select(runs).order_by(runs.c.seq)
        )
    ]
    return sorted(found, key=lambda run: run.started.timestamp())
