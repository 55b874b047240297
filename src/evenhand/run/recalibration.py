"""A calibrated variant of a rater: its stored probabilities adjusted to people's labels, under a name of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.analysis.figures import PEOPLES_MAJORITY
from evenhand.analysis.tables import Tables
from evenhand.errors import UserError
from evenhand.protocol.model import Criterion
from evenhand.raters.base import digest_of, model_ref
from evenhand.records import Kind, Rating, Value, new_id, now
from evenhand.run.progress import RaterCounters
from evenhand.run.worker import has_rated
from evenhand.scales import Nominal
from evenhand.statistics import IntArray, Resampling
from evenhand.statistics.models.recalibration import FOLDS, Recalibration, recalibrate
from evenhand.store.ratings import Added
from evenhand.store.store import Store
from evenhand.store.work import RunSpec
from evenhand.text import counted, quoted, unknown

LEAST_LABELS = 50
_SPEC = "calibrated("


def calibrate(
    store: Store, rater: str, name: str, labels_by: str | None, criterion: str | None, plan: Resampling
) -> tuple[Mapping[str, object], Recalibration, Added | None]:
    """The variant's settings, how good it is, and what was stored of it: nothing unless it is better.

    Raises UserError, with nothing stored, if the study lacks what it takes, or `name` has other ratings.
    """
    tables = store.tables()
    asked, ratings = _source(store, tables, rater, criterion)
    stated, values = [rating for rating in ratings if rating.distribution], list(asked.scale.values)
    numbers = {unit.id: number for number, unit in enumerate(store.items.units())}
    units = np.array([numbers[rating.unit] for rating in stated])
    truth = _labels(tables, asked.id, labels_by)[units]
    clusters = None if tables.together is None else tables.together[units]
    _check_labels(store, rater, truth, clusters)
    shares = np.array([[dict(rating.distribution).get(value, 0.0) for value in values] for rating in stated])
    given = np.array([values.index(rating.value) for rating in stated if rating.value is not None])
    found = recalibrate(shares, given, truth, clusters, plan)
    labels = {rating.unit: int(code) for rating, code in zip(stated, truth, strict=True) if code >= 0}
    settings: Mapping[str, object] = {
        "spec": f"{_SPEC}{rater})",
        "source": rater,
        "source_config": next(ref.config for ref in tables.raters if ref.id == rater),
        "criterion": asked.id,
        "temperature": found.temperature,
        "offsets": dict(zip(map(str, values), found.offsets, strict=True)),
        "labels": len(labels),
        "labels_by": labels_by or PEOPLES_MAJORITY,
        "labels_digest": digest_of(labels),
        "folds": FOLDS,
        "seed": plan.seed,
    }
    adjusted = {rating.unit: own for rating, own in zip(stated, found.adjusted.tolist(), strict=True)}
    variant = [_variant(rating, name, values, adjusted.get(rating.unit)) for rating in ratings]
    return settings, found, _store(store, name, settings, variant) if found.better else None


def _source(store: Store, tables: Tables, rater: str, criterion: str | None) -> tuple[Criterion, Sequence[Rating]]:
    """The rater's ratings on the criterion, or on the first one with labels on which it stated probabilities."""
    machines = [tables.raters[number].id for number in tables.machines()]
    if rater not in machines:
        raise UserError(f"{store.location}: {unknown('model', rater, machines)}")
    if any(run.rater == rater and str(run.settings.get("spec")).startswith(_SPEC) for run in store.work.runs()):
        raise UserError(f"{rater!r} is calibrated already; to use more labels, calibrate its source under a new --name")
    nominal = {one.id: one for one in store.protocol.criteria if isinstance(one.scale, Nominal)}
    if criterion not in (None, *nominal):
        with_labels = f"criteria with labels: {', '.join(nominal) or 'none'}"
        what = "has no labels" if criterion in store.protocol.by_id else "does not exist"
        raise UserError(f"{store.protocol.name}: the criterion {quoted(criterion)} {what}; {with_labels}")
    for name in nominal if criterion is None else [criterion]:
        ratings = list(store.ratings.all(criterion=name, rater=rater))
        if any(rating.distribution for rating in ratings):
            return nominal[name], ratings
    raise UserError(
        f"{store.location}: {rater!r} has not rated a criterion with labels ({', '.join(nominal) or 'there are none'}) "
        "with probabilities. The verifier states them, language models with evenhand judge --logprobs or --samples K"
    )


def _labels(tables: Tables, criterion: str, labels_by: str | None) -> IntArray:
    """The people's label of every unit, -1 if there is none."""
    if labels_by is None:
        return tables.independent().tables[criterion].of_people.majority
    people = {ref.id: number for number, ref in enumerate(tables.raters) if ref.kind is Kind.PERSON}
    if labels_by not in people:
        raise UserError(unknown("person", labels_by, people))
    return tables.tables[criterion].codes_at(people[labels_by], np.arange(tables.n_units))


def _check_labels(store: Store, rater: str, truth: IntArray, clusters: IntArray | None) -> None:
    labelled = truth >= 0
    n = int(labelled.sum())
    items = n if clusters is None else np.unique(clusters[labelled]).size
    if n < LEAST_LABELS or items < FOLDS:
        raise UserError(
            f"{store.location}: people labelled {counted(n, 'unit')} ({counted(items, 'item')}) of those that "
            f"{rater!r} rated with probabilities; calibration needs at least {LEAST_LABELS} units from {FOLDS} items. "
            "Label more with evenhand serve or evenhand ratings import"
        )


def _variant(rating: Rating, name: str, values: Sequence[Value], shares: Sequence[float] | None) -> Rating:
    """A rating as the variant gives it. One without probabilities, such as a failure, stays as it is."""
    own = replace(rating, rater=name, id=new_id(), at=now(), seconds=None, supersedes=None)
    if shares is None:
        return own
    value = values[shares.index(max(shares))]
    changed = f"Recalibrated from {rating.value}. {rating.rationale or ''}".strip()
    return replace(
        own,
        value=value,
        confidence=round(100 * max(shares), 1),
        rationale=rating.rationale if value == rating.value else changed,
        distribution=tuple(zip(values, shares, strict=True)),
    )


def _store(store: Store, name: str, settings: Mapping[str, object], ratings: Sequence[Rating]) -> Added:
    """Store the ratings that the variant does not have yet, and a run with its settings."""
    ref, worker, counters = model_ref(name, settings), new_id(), RaterCounters(name, cost=0.0)
    for rating in ratings:
        counters.add_ratings([rating])
    with store.transaction():
        known = store.ratings.rater(name)
        if known and known.config != ref.config and (known.kind is not ref.kind or has_rated(store, name)):
            raise UserError(
                f"{store.location}: {name!r} has other ratings here, or is calibrated on other labels; give this "
                "calibration a name of its own: --name NAME. Nothing was changed"
            )
        (run,) = store.work.start_runs([RunSpec(ref, settings)], worker=worker)
        added = store.ratings.add(ratings, raters=[ref], keep_same=True)
        store.work.leave(run, worker, "done", counters.counts(), trace=added.new + added.superseding > 0)
    return added
