"""One name, one set-up: a judge goes on only with the settings it began with."""

import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evenhand.errors import UserError
from evenhand.raters.base import Judge
from evenhand.records import Status
from evenhand.store.base import Run, Store


def check_settled(store: Store, judges: Sequence[Judge]) -> None:
    """Raise UserError where two judges share a name, or one has rated here under this protocol with other settings.

    Ratings of one rater id are compared as one rater's; two set-ups under one name would be mixed unseen.
    """
    names = [judge.ref.id for judge in judges]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"two raters are called {twice[0]!r}: give each a name of its own, as in --rater NAME=SPEC")
    known = {rater.id: rater for rater in store.raters()}
    for judge in judges:
        before = known.get(judge.ref.id)
        if before is None:
            continue
        if before.kind != judge.ref.kind:
            raise UserError(
                f"{store.location}: {judge.ref.id!r} is known here as a {before.kind} and cannot rate as a "
                f"{judge.ref.kind}; choose another name: --rater NAME=SPEC"
            )
        if before.config == judge.ref.config or not has_rated(store, judge.ref.id):
            continue
        earlier = [run.settings for run in store.runs() if run.rater == judge.ref.id]
        difference = (
            _difference(earlier[-1], judge.settings) if earlier else ", its ratings were brought in from a file"
        )
        raise UserError(
            f"{store.location}: {judge.ref.id!r} has rated here with other settings{difference}. Use the same settings "
            "to go on, or give this set-up a name of its own: --rater NAME=" + str(judge.settings.get("spec", "SPEC"))
        )


def here() -> Mapping[str, object]:
    """Who is at work: what a run is saved with while it goes on."""
    return {"host": socket.gethostname(), "pid": os.getpid()}


def check_alone(store: Store, judges: Sequence[Judge]) -> None:
    """Raise UserError where another process of this machine is at the work of one of these judges: both would ask, and
    pay for, the same."""
    names = {judge.ref.id for judge in judges}
    for run, pid in _at_work(store):
        if run.rater in names and pid != os.getpid():
            raise UserError(
                f"{store.location}: process {pid} is rating as {run.rater!r} since {run.started:%H:%M} UTC; wait for "
                "it, or end it, lest both pay for the same"
            )


def check_idle(store: Store) -> None:
    """Raise UserError where a process of this machine is rating here: its answers would go to questions that it never
    saw."""
    for run, pid in _at_work(store):
        raise UserError(
            f"{store.location}: process {pid} is rating as {run.rater!r} since {run.started:%H:%M} UTC, and the "
            "questions must not change under its hands; wait for it, or end it. Nothing was changed"
        )


def _at_work(store: Store) -> Iterator[tuple[Run, int]]:
    """Runs that go on, each with its process. One that was killed does not; one on another machine cannot be told from
    here."""
    for run in store.runs():
        pid = run.counts.get("pid")
        local = run.state == "running" and run.counts.get("host") == socket.gethostname()
        if local and isinstance(pid, int) and _alive(pid):
            yield run, pid


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def has_rated(store: Store, rater: str) -> bool:
    """Whether there is anything under the protocol in force that a rater said; failures alone say nothing."""
    return any(rating.status is not Status.FAILED for rating in store.ratings(rater=rater))


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    keys: Iterable[str] = dict.fromkeys([*before, *now])
    changed = [f"{key} {before.get(key)!s} → {now.get(key)!s}" for key in keys if before.get(key) != now.get(key)]
    return f" ({', '.join(changed)})" if before and changed else ""
