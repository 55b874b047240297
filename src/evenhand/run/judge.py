"""Let raters rate the units of a study that they have not rated yet, until all is done or something ends the run."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from evenhand.errors import UserError
from evenhand.raters.options import RATER_DEFAULTS, RUN_DEFAULTS, RaterOptions, RunOptions
from evenhand.raters.registry import RaterSource
from evenhand.run.progress import LOG, Outcome
from evenhand.run.recorded_chat import Recorder
from evenhand.run.worker import RatingWorker, run_workers
from evenhand.store.store import Store
from evenhand.units import DERIVED

MAKERS = ("questions(", "claims(")
"""The rater of a run that makes questions or claims begins with one of these."""


def judge(
    store: Store,
    sources: Sequence[RaterSource],
    options: RaterOptions = RATER_DEFAULTS,
    run: RunOptions = RUN_DEFAULTS,
    *,
    log: str | Path | None = None,
    progress: bool = False,
) -> Outcome:
    """Rate what these raters have not rated yet. Every reply and rating is stored as it comes, however the run ends.

    The events of the run are added to the file `log`; `progress` shows a progress bar. Raises UserError, with nothing
    rated, if a rater of the same name has rated here with other settings. If other processes rate with the same rater,
    this one shares their work and their cap. Works in a notebook too, where an event loop is already running.
    """
    with _logged_to(log):
        if store.protocol.rule.of in DERIVED:  # no other units are made by runs
            check_idle(store, MAKERS)
        recorder = Recorder(store, run)
        workers = map(partial(RatingWorker, recorder), recorder.raters(sources, options))
        run_workers(recorder, list(workers), progress=progress)
    return Outcome(recorder.counters, recorder.stopped)


def check_idle(store: Store, raters: tuple[str, ...] = ("",)) -> None:
    """Raise UserError if a run of a rater whose id begins with one of `raters` is under way.

    If questions or claims changed while they are rated, the ratings would go to some that the rater never saw.
    """
    noun = store.protocol.rule.of
    for run in store.work.runs():
        if run.state == "running" and run.rater.startswith(raters):
            doing = f"making {noun}s" if run.rater.startswith(MAKERS) else "rating"
            raise UserError(
                f"{store.location}: {run.rater!r} is {doing} since {run.started:%H:%M} UTC, and the {noun}s must "
                f"not change meanwhile; wait for it, or stop it: evenhand runs {store.location} --stop {run.id}. "
                "Nothing was changed"
            )


@contextmanager
def _logged_to(path: str | Path | None) -> Generator[None]:
    """Add the events of a run to a file."""
    if path is None:
        yield
        return
    try:
        handler = logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: the log cannot be written: {error.strerror or error}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
    before = LOG.level
    LOG.setLevel(logging.INFO)
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(before)
        handler.close()
