"""Judgements → ratings: the one place where a failure becomes a record.

A rater that fails, leaves a required criterion out, or gives a value or a confidence that is not on its scale, leaves
`failed` ratings with the reason, never a score. What is beyond a rater by its nature is `cannot_assess`.
"""

from collections.abc import Callable, Sequence
from functools import partial

from evenhand.protocol.model import Protocol
from evenhand.raters.base import Answer, Judgement
from evenhand.records import Rating, Status, Value
from evenhand.scales import PERCENT, Ordinal


def ratings_of(protocol: Protocol, rater_id: str, judgement: Judgement) -> Sequence[Rating]:
    """One rater's ratings of one unit: one for each criterion, whatever the rater did."""
    rating_of = partial(
        Rating,
        unit=judgement.unit.id,
        rater=rater_id,
        digest=protocol.digest,
        seconds=judgement.seconds,
        reply=judgement.reply,
    )
    if judgement.failure is not None:
        failed = partial(rating_of, status=Status.FAILED, reason=judgement.failure.reason, raw=judgement.failure.raw)
        return [failed(criterion=criterion.id) for criterion in protocol.criteria]
    answers = {answer.criterion: answer for answer in judgement.answers}
    ratings: list[Rating] = []
    values: dict[str, Value] = {}
    for criterion in protocol.criteria:
        answer = answers.get(criterion.id)
        if not protocol.asked(criterion, values):
            ratings.append(rating_of(criterion=criterion.id, status=Status.NOT_ASKED))
        elif answer is not None:
            rating = _rated(protocol, rating_of, answer)
            ratings.append(rating)
            if rating.value is not None:
                values[criterion.id] = rating.value
        elif criterion.id in judgement.beyond:
            reason = judgement.beyond[criterion.id]
            ratings.append(rating_of(criterion=criterion.id, status=Status.CANNOT_ASSESS, reason=reason))
        elif criterion.required:
            reason = "the rater gave no answer on this criterion"
            ratings.append(rating_of(criterion=criterion.id, status=Status.FAILED, reason=reason))
        else:
            ratings.append(rating_of(criterion=criterion.id, status=Status.SKIPPED))
    return ratings


def _rated(protocol: Protocol, rating_of: Callable[..., Rating], answer: Answer) -> Rating:
    scale = protocol.criterion(answer.criterion).scale
    failed = partial(rating_of, criterion=answer.criterion, status=Status.FAILED)
    try:
        value = scale.read(answer.value)
    except ValueError as error:
        return failed(reason=f"not on the scale: {error}", raw=str(answer.value))
    try:
        confidence = None if answer.confidence is None else PERCENT.read(answer.confidence)
    except ValueError as error:
        return failed(reason=f"confidence: {error}", raw=str(answer.confidence))
    return rating_of(
        criterion=answer.criterion,
        value=value,
        rationale=answer.rationale,
        confidence=confidence,
        notes=answer.notes,
        evidence=answer.evidence,
        misquoted=answer.misquoted,
        distribution=answer.distribution,
        mean=_mean(answer) if isinstance(scale, Ordinal) else None,
    )


def _mean(answer: Answer) -> float | None:
    """The mean of the levels under the answer's distribution, where it has one."""
    levels = [(value, share) for value, share in answer.distribution if isinstance(value, int | float)]
    return sum(value * share for value, share in levels) if levels else None
