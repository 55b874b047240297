"""One name, one set-up: a judge goes on only with the settings it began with."""

from collections.abc import Iterable, Mapping, Sequence

from evenhand.errors import UserError
from evenhand.raters.base import Judge
from evenhand.store.base import Store


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
        if before is None or not before.config or before.config == judge.ref.config:
            continue
        if next(iter(store.ratings(rater=judge.ref.id)), None) is None:
            continue
        earlier = [run.settings for run in store.runs() if run.rater == judge.ref.id]
        difference = _difference(earlier[-1], judge.settings) if earlier else ""
        raise UserError(
            f"{store.location}: {judge.ref.id!r} has rated here with other settings{difference}. Use the same settings "
            "to go on, or give this set-up a name of its own: --rater NAME=" + str(judge.settings.get("spec", "SPEC"))
        )


def _difference(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    keys: Iterable[str] = dict.fromkeys([*before, *now])
    changed = [f"{key} {before.get(key)!s} → {now.get(key)!s}" for key in keys if before.get(key) != now.get(key)]
    return f" ({', '.join(changed)})" if before and changed else ""
