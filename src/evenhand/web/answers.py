"""What a unit still lacks, and what finishing it writes. Pure: a protocol and one rater's ratings of one unit in.

People and models are held to the same: a rationale is owed for a value on a scale, never for free text; confidence
and notes stand on the rating of the lead criterion or, where that has no value, on the first that has one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.protocol.model import Criterion, Protocol
from evenhand.raters.schema import asks_rationale
from evenhand.records import Rating, Status, Value
from evenhand.scales import Nominal, Ordinal, Percent

TAKEN_BACK = "taken back"
"""The reason of a rating that stands for no answer any more."""

SKIPPED = "skipped by the rater"
"""The reason given for a rater who skips an item and gives none."""

Ratings = Mapping[str, Rating]
"""One rater's ratings in force of one unit, by criterion."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something a unit lacks; without a criterion it is about the unit as a whole. `what` says what to do."""

    criterion: str | None
    what: str


def is_answer(rating: Rating) -> bool:
    """Whether a rating says anything: one that was taken back or has failed does not."""
    return rating.status is not Status.FAILED and not is_taken_back(rating)


def is_taken_back(rating: Rating) -> bool:
    return rating.status is Status.SKIPPED and rating.reason == TAKEN_BACK


def values_of(protocol: Protocol, ratings: Ratings) -> Mapping[str, Value]:
    """The values that count: those of criteria that are asked, given the values before them."""
    values: dict[str, Value] = {}
    for criterion in protocol.criteria:
        rating = ratings.get(criterion.id)
        if rating is not None and rating.value is not None and protocol.asked(criterion, values):
            values[criterion.id] = rating.value
    return values


def carrier(protocol: Protocol, values: Mapping[str, Value]) -> str | None:
    """The criterion whose rating carries confidence and notes; None where no criterion has a value."""
    return protocol.lead.id if protocol.lead.id in values else next(iter(values), None)


def missing(protocol: Protocol, ratings: Ratings) -> Sequence[Missing]:
    """What must be given before the unit can be finished. A unit of an item that was skipped lacks nothing."""
    values = values_of(protocol, ratings)
    asked = [criterion for criterion in protocol.criteria if protocol.asked(criterion, values)]
    if any(_was_skipped(criterion, ratings) for criterion in asked):
        return []
    found: list[Missing] = []
    for criterion in asked:
        rating = ratings.get(criterion.id)
        if criterion.id in values and rating is not None:
            found += _missing_beside(protocol, criterion, rating)
        elif criterion.required and not _is_settled(rating):
            found.append(Missing(criterion.id, _wanted(criterion)))
    return [*found, *_missing_once(protocol, ratings, values)]


def closing(protocol: Protocol, ratings: Ratings) -> Sequence[tuple[str, Status]]:
    """The criteria that finishing settles, with their status: not asked, or optional and left out.

    A follow-up that was answered before its condition turned false is among them: it was not asked after all.
    """
    values = values_of(protocol, ratings)
    settled: list[tuple[str, Status]] = []
    for criterion in protocol.criteria:
        rating = ratings.get(criterion.id)
        if not protocol.asked(criterion, values):
            if not _stays_unasked(criterion, rating, values):
                settled.append((criterion.id, Status.NOT_ASKED))
        elif not criterion.required and not _is_settled(rating):
            settled.append((criterion.id, Status.SKIPPED))
    return settled


def skipping(protocol: Protocol, ratings: Ratings) -> Sequence[tuple[str, Status]]:
    """The criteria that skipping the item settles, with their status: skipped, or not asked where that is known."""
    values = values_of(protocol, ratings)
    settled: list[tuple[str, Status]] = []
    for criterion in protocol.criteria:
        rating = ratings.get(criterion.id)
        if protocol.asked(criterion, values):
            if not _is_settled(rating):
                settled.append((criterion.id, Status.SKIPPED))
        elif criterion.when is not None and not _stays_unasked(criterion, rating, values):
            known = criterion.when.criterion in values
            settled.append((criterion.id, Status.NOT_ASKED if known else Status.SKIPPED))
    return settled


def is_finished(protocol: Protocol, ratings: Ratings) -> bool:
    """Whether every criterion has an answer in force, with all that is required beside it."""
    return not missing(protocol, ratings) and not closing(protocol, ratings)


def _is_settled(rating: Rating | None) -> bool:
    """Whether a criterion that is asked has been answered: `not_asked` is no answer once the condition holds again."""
    return rating is not None and is_answer(rating) and rating.status is not Status.NOT_ASKED


def _was_skipped(criterion: Criterion, ratings: Ratings) -> bool:
    """Whether a required criterion was skipped, which only happens where the whole item was."""
    rating = ratings.get(criterion.id)
    return criterion.required and rating is not None and rating.status is Status.SKIPPED and is_answer(rating)


def _stays_unasked(criterion: Criterion, rating: Rating | None, values: Mapping[str, Value]) -> bool:
    """Whether the record of a criterion that is not asked may stand as it is: also where it was skipped with the item,
    as long as nobody knows whether it would have been asked."""
    if rating is None or criterion.when is None:
        return False
    if rating.status is Status.SKIPPED and is_answer(rating):
        return criterion.when.criterion not in values
    return rating.status is Status.NOT_ASKED


def _wanted(criterion: Criterion) -> str:
    scale = criterion.scale
    if isinstance(scale, Ordinal):
        return "choose a level"
    if isinstance(scale, Nominal):
        return "choose a label"
    return "give a percentage" if isinstance(scale, Percent) else "write an answer"


def _missing_beside(protocol: Protocol, criterion: Criterion, rating: Rating) -> Sequence[Missing]:
    found: list[Missing] = []
    if protocol.ask.rationale == "required" and asks_rationale(protocol, criterion) and not rating.rationale:
        found.append(Missing(criterion.id, "say why"))
    if protocol.ask.evidence == "required" and not (rating.evidence or rating.misquoted):
        found.append(Missing(criterion.id, "mark the evidence"))
    return found


def _missing_once(protocol: Protocol, ratings: Ratings, values: Mapping[str, Value]) -> Sequence[Missing]:
    """Confidence and notes, where the unit has any value to be sure of."""
    where = carrier(protocol, values)
    if where is None:
        return []
    # Notes may have been left on the lead although it could not be assessed.
    bearing = [ratings[name] for name in (where, protocol.lead.id) if name in ratings]
    found: list[Missing] = []
    if protocol.ask.confidence == "required" and all(rating.confidence is None for rating in bearing):
        found.append(Missing(None, "say how sure you are"))
    if protocol.ask.notes == "required" and not any(rating.notes for rating in bearing):
        found.append(Missing(None, "write a note"))
    return found
