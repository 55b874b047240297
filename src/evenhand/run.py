"""Drive raters over the units they have not rated yet: the only place where raters meet the store.

This is also the one place where a failure becomes a record: a rater that raises RaterFailure, leaves a required
criterion out, or gives a value or a confidence that is not on its scale, leaves `failed` ratings with the reason, never
a score.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from evenhand.errors import RaterFailure
from evenhand.protocol.model import Protocol
from evenhand.raters.base import Answer, Rater
from evenhand.records import Item, Rating, Status, Unit, Value
from evenhand.scales import PERCENT
from evenhand.study import Study

BATCH = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did: units taken up, ratings by status, failures by reason."""

    units: int
    statuses: Mapping[Status, int] = field(default_factory=dict[Status, int])
    failures: Mapping[str, int] = field(default_factory=dict[str, int])


def rate(study: Study, rater: Rater, *, limit: int | None = None) -> Outcome:
    """Rate the units that this rater has no rating for yet, at most `limit` of them, and store batch by batch."""
    pending = _pending(study, rater.ref.id)
    units, statuses, failures = 0, Counter[Status](), Counter[str]()
    while batch := list(islice(pending, BATCH if limit is None else min(BATCH, limit - units))):
        ratings = [rating for item, unit in batch for rating in rate_unit(study.protocol, rater, item, unit)]
        study.store.add_ratings(ratings, raters=[rater.ref])
        units += len(batch)
        statuses.update(rating.status for rating in ratings)
        failures.update(rating.reason for rating in ratings if rating.reason is not None)
    return Outcome(units, statuses, failures)


def rate_unit(protocol: Protocol, rater: Rater, item: Item, unit: Unit) -> Sequence[Rating]:
    """One rater's ratings of one unit: one for each criterion, whatever the rater did."""
    try:
        answers = {answer.criterion: answer for answer in rater.rate(protocol, item, unit)}
    except RaterFailure as failure:
        return _failed(protocol, rater, unit, failure)
    ratings: list[Rating] = []
    values: dict[str, Value] = {}
    for criterion in protocol.criteria:
        rating_of = partial(Rating, unit=unit.id, criterion=criterion.id, rater=rater.ref.id, digest=protocol.digest)
        answer = answers.get(criterion.id)
        if not protocol.asked(criterion, values):
            ratings.append(rating_of(status=Status.NOT_ASKED))
        elif answer is not None:
            rating = _rated(protocol, rating_of, answer)
            ratings.append(rating)
            if rating.value is not None:
                values[criterion.id] = rating.value
        elif criterion.required:
            ratings.append(rating_of(status=Status.FAILED, reason="the rater gave no answer on this criterion"))
        else:
            ratings.append(rating_of(status=Status.SKIPPED))
    return ratings


def _rated(protocol: Protocol, rating_of: Callable[..., Rating], answer: Answer) -> Rating:
    try:
        value = protocol.criterion(answer.criterion).scale.read(answer.value)
    except ValueError as error:
        return rating_of(status=Status.FAILED, reason=f"not on the scale: {error}", raw=str(answer.value))
    try:
        confidence = None if answer.confidence is None else PERCENT.read(answer.confidence)
    except ValueError as error:
        return rating_of(status=Status.FAILED, reason=f"confidence: {error}", raw=str(answer.confidence))
    return rating_of(
        value=value,
        rationale=answer.rationale,
        confidence=confidence,
        notes=answer.notes,
        evidence=answer.evidence,
    )


def _failed(protocol: Protocol, rater: Rater, unit: Unit, failure: RaterFailure) -> Sequence[Rating]:
    return [
        Rating(
            unit=unit.id,
            criterion=criterion.id,
            rater=rater.ref.id,
            digest=protocol.digest,
            status=Status.FAILED,
            reason=failure.reason,
            raw=failure.raw,
        )
        for criterion in protocol.criteria
    ]


def _pending(study: Study, rater_id: str) -> Iterator[tuple[Item, Unit]]:
    done = {rating.unit for rating in study.ratings(rater=rater_id)}
    return ((item, unit) for item, unit in study.work() if unit.id not in done)
