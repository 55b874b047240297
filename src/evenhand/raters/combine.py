"""Several votes on one unit → one judgement: for a model asked several times, and for a jury.

Each categorical criterion gets the distribution of its votes and their mode. Where two values have the same share, the
level nearest to the mean is taken, the lower of two as near; of labels, the one that the protocol names first. A free
text is the one that most gave, a percentage the mean. A judgement is a failure unless more than half of the votes can
be used.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from evenhand.errors import RaterFailure
from evenhand.protocol.model import Criterion, Protocol
from evenhand.raters.base import Answer, Judgement
from evenhand.records import Unit, Value
from evenhand.scales import Nominal, Ordinal, Percent

T = TypeVar("T")
Distribution = tuple[tuple[Value, float], ...]


def combined(protocol: Protocol, unit: Unit, votes: Sequence[Judgement], noun: str) -> Judgement:
    """One judgement from several; `noun` says what the votes are, for the reason of a failure."""
    usable = [vote for vote in votes if vote.failure is None]
    if 2 * len(usable) <= len(votes):
        reasons = Counter(vote.failure.reason for vote in votes if vote.failure is not None)
        common = reasons.most_common(1)[0][0]
        raw = next((vote.failure.raw for vote in votes if vote.failure and vote.failure.reason == common), None)
        failure = RaterFailure(f"{len(usable)} of {len(votes)} {noun} usable; most often: {common}", raw)
        return Judgement(unit, failure=failure)
    answers: list[Answer] = []
    values: dict[str, Value] = {}
    for criterion in protocol.criteria:
        if not protocol.asked(criterion, values):
            continue
        given = [answer for vote in usable for answer in vote.answers if answer.criterion == criterion.id]
        if given:
            answer = _agreed(criterion, given)
            answers.append(answer)
            values[criterion.id] = criterion.scale.read(answer.value)
    confidences = [answer.confidence for vote in usable for answer in vote.answers if answer.confidence is not None]
    if confidences and answers:
        lead = next((n for n, answer in enumerate(answers) if answer.criterion == protocol.lead.id), 0)
        answers[lead] = replace(answers[lead], confidence=sum(confidences) / len(confidences))
    seconds = [vote.seconds for vote in votes if vote.seconds is not None]
    first = next((criterion for criterion in protocol.criteria if criterion.id in values), protocol.criteria[0])
    reply = _spokesman(first, usable, values.get(first.id))
    # What is beyond one may be answered by another; an answer goes first.
    beyond = {criterion: why for vote in usable for criterion, why in vote.beyond.items()}
    return Judgement(unit, answers, seconds=sum(seconds) if seconds else None, reply=reply, beyond=beyond)


async def all_of(votes: Iterable[Awaitable[T]]) -> Sequence[T]:
    """What all of them give, once all have ended: a vote that fails must not leave the others' calls alone."""
    results = await asyncio.gather(*votes, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def _spokesman(criterion: Criterion, usable: Sequence[Judgement], value: object) -> str | None:
    """The reply of the first vote for this value: the one whose rationale was taken."""
    for vote in usable:
        for answer in vote.answers:
            if answer.criterion == criterion.id and criterion.scale.read(answer.value) == value:
                return vote.reply
    return usable[0].reply


def _agreed(criterion: Criterion, given: Sequence[Answer]) -> Answer:
    scale = criterion.scale
    read = [scale.read(answer.value) for answer in given]
    if isinstance(scale, Percent):
        numbers = [value for value in read if not isinstance(value, str)]
        return replace(given[0], value=sum(numbers) / len(numbers), confidence=None)
    if isinstance(scale, Ordinal | Nominal):
        shares = {value: read.count(value) / len(read) for value in read}
        value = mode(shares, scale)
        distribution: Distribution = tuple((level, shares[level]) for level in scale.values if shares.get(level))
    else:
        value, distribution = Counter(read).most_common(1)[0][0], ()
    spoken = next((answer for answer, said in zip(given, read, strict=True) if said == value), given[0])
    return replace(spoken, value=value, confidence=None, distribution=distribution)


def mode(shares: dict[Value, float], scale: Ordinal | Nominal) -> Value:
    """The value with the largest share; see above for two that are alike."""
    most = max(shares.values())
    # Shares are sums of fractions: what differs by rounding alone is alike.
    best = [value for value in scale.values if shares.get(value, 0.0) >= most - 1e-9]
    if isinstance(scale, Nominal):
        return best[0]
    mean = sum(value * share for value, share in shares.items() if isinstance(value, int))
    return min(best, key=lambda value: (abs(float(value) - mean), value))
