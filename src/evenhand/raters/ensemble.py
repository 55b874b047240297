"""Several votes on one unit combined into one judgement: a model asked several times, or a jury of raters.

Each categorical criterion gets the distribution of its votes and their mode. If two values have the same share, the
level nearest to the mean wins, the lower of two that are equally near; among labels, the one the protocol lists first.
A free text is the one given most often, a number the mean. A judgement is a failure unless more than half of the
votes can be used.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from evenhand.errors import RaterFailure, UserError
from evenhand.llm.base import Chat
from evenhand.protocol.completion import Judgement, carrier, is_asked
from evenhand.protocol.model import Criterion, Protocol
from evenhand.raters.base import Rater, model_ref
from evenhand.raters.overlap_rater import OverlapRater
from evenhand.raters.registry import RaterContext, rater_of, specs_in
from evenhand.records import Answer, Item, Unit, Value
from evenhand.scales import Nominal, Numeric, Ordinal

T = TypeVar("T")


def combined(protocol: Protocol, unit: Unit, votes: Sequence[Judgement], noun: str) -> Judgement:
    """One judgement from several; `noun` says what the votes are, for the reason of a failure."""
    usable = [vote for vote in votes if vote.failure is None]
    if 2 * len(usable) <= len(votes):
        failures = [vote.failure for vote in votes if vote.failure is not None]
        common = Counter(failure.reason for failure in failures).most_common(1)[0][0]
        raw = next(failure.raw for failure in failures if failure.reason == common)
        reason = f"{len(usable)} of {len(votes)} {noun} usable; most often: {common}"
        return Judgement(unit, failure=RaterFailure(reason, raw))
    answers: list[Answer] = []
    values: dict[str, Value] = {}
    reply = usable[0].reply
    for criterion in protocol.criteria:
        given = [(vote, answer) for vote in usable for answer in vote.answers if answer.criterion == criterion.id]
        if given and is_asked(criterion, values, unit.field):
            answer, spokesman = _agreed(criterion, given)
            # The reply of the vote whose rationale was taken for the first answer.
            reply = reply if answers else spokesman.reply
            answers.append(answer)
            values[criterion.id] = criterion.scale.read(answer.value)
    confidences = [answer.confidence for vote in usable for answer in vote.answers if answer.confidence is not None]
    if confidences:
        lead, mean = carrier(protocol, values), sum(confidences) / len(confidences)
        answers = [replace(one, confidence=mean) if one.criterion == lead else one for one in answers]
    seconds = [vote.seconds for vote in votes if vote.seconds is not None]
    beyond = next((vote.beyond for vote in usable if vote.beyond is not None), None)
    return Judgement(unit, answers, seconds=sum(seconds) if seconds else None, reply=reply, beyond=beyond)


def _agreed(criterion: Criterion, given: Sequence[tuple[Judgement, Answer]]) -> tuple[Answer, Judgement]:
    """The answer of the majority, and the first vote for it."""
    scale, distribution = criterion.scale, ()
    read = [scale.read(answer.value) for _, answer in given]
    if isinstance(scale, Numeric):
        value: Value = sum(number for number in read if not isinstance(number, str)) / len(read)
    elif isinstance(scale, Ordinal | Nominal):
        shares = {value: read.count(value) / len(read) for value in read}
        value = mode(shares, scale)
        distribution = tuple((level, shares[level]) for level in scale.values if shares.get(level))
    else:
        value = Counter(read).most_common(1)[0][0]
    vote, spoken = next((pair for pair, said in zip(given, read, strict=True) if said == value), given[0])
    return replace(spoken, value=value, confidence=None, distribution=distribution), vote


async def all_of(votes: Iterable[Awaitable[T]]) -> Sequence[T]:
    """Their results, once all have ended: if one fails, the calls of the others are still waited for."""
    results = await asyncio.gather(*votes, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def mode(shares: dict[Value, float], scale: Ordinal | Nominal) -> Value:
    """The value with the largest share; see above for ties."""
    most = max(shares.values())
    # Shares are sums of fractions: a difference from rounding is a tie.
    best = [value for value in scale.values if shares.get(value, 0.0) >= most - 1e-9]
    if isinstance(scale, Nominal):
        return best[0]
    mean = sum(value * share for value, share in shares.items() if isinstance(value, int))
    return min(best, key=lambda value: (abs(float(value) - mean), value))


def jury(spec: str, name: str, context: RaterContext) -> Rater:
    """`jury(SPEC, SPEC, …)`."""
    specs = specs_in(spec)
    if len(specs) < 2:
        raise UserError(f"{spec!r} is not a jury: name two raters or more, as in jury(openai:MODEL, gemini:MODEL)")
    members = [rater_of(member, context) for member in specs]
    scores = [member.ref.id for member in members if isinstance(member, OverlapRater)]
    if scores:
        raise UserError(f"{scores[0]} in {spec!r} has no vote: overlap scores are about the item, not the criteria")
    models = [chat.model for member in members for chat in member.chats]
    models += [str(member.settings.get("spec", member.ref.id)) for member in members if not member.chats]
    twice = sorted({model for model in models if models.count(model) > 1})
    if twice:
        raise UserError(f"{twice[0]} is in {spec!r} twice: it would have two votes and one opinion")
    return Jury(name, context.protocol, members)


class Jury(Rater):
    """A rater made of raters: each member rates by itself, and the votes are combined."""

    def __init__(self, name: str, protocol: Protocol, members: Sequence[Rater]) -> None:
        self._protocol = protocol
        self.members = members
        self.chats: Sequence[Chat] = [chat for member in members for chat in member.chats]
        self.together = all(member.together for member in members)
        self.settings: Mapping[str, object] = {
            "spec": f"jury({', '.join(member.ref.id for member in members)})",
            "members": {member.ref.id: dict(member.settings) for member in members},
        }
        self.ref = model_ref(name, self.settings)

    async def rate_units(self, item: Item, units: Sequence[Unit]) -> Sequence[Judgement]:
        votes = await all_of(member.rate_units(item, units) for member in self.members)
        by_unit = zip(units, zip(*votes, strict=True), strict=True)
        return [combined(self._protocol, unit, given, "members") for unit, given in by_unit]
