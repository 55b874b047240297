"""An adjudicator's answers into the study: a unit with what everybody said of it, and a ruling in place of another.

Each function reads, decides and writes in one turn of the desk. What it answers is what was stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import HTTPException

from evenhand.errors import ConflictError
from evenhand.protocol.guideline import field_text
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Rating, Status, Unit
from evenhand.study import Study
from evenhand.web.answers import Ratings, closing
from evenhand.web.checking import check, rating_of, says_the_same
from evenhand.web.forms import rating_shape
from evenhand.web.shapes import AnswerShape, SavedShape
from evenhand.web.showing import standing_of

CHANGED = "This ruling was changed in the meantime. Look at what is there now."
NOT_NEW = "This ruling was not saved: its id is not new. Send it again under another one."


@dataclass(frozen=True, slots=True)
class Case:
    """A unit as an adjudicator sees it: their own ratings in force by criterion, and those of everybody else."""

    item: Item
    unit: Unit
    own: Ratings
    others: Sequence[Rating]

    @property
    def visible(self) -> tuple[str, ...]:
        """Whose ratings are shown."""
        return tuple(sorted({rating.rater for rating in self.others}))


def case_of(study: Study, unit_id: str, adjudicator: str | None) -> Case:
    """A unit with everything that was said of it; 404 where there is none of that id."""
    unit = study.store.unit(unit_id)
    item = study.store.item(unit.item) if unit else None
    if unit is None or item is None:
        raise HTTPException(404, "There is no such unit in this study.")
    ratings = [rating for rating in study.store.ratings(item=item.id) if rating.unit == unit.id]
    return Case(
        item,
        unit,
        {rating.criterion: rating for rating in ratings if rating.rater == adjudicator},
        [rating for rating in ratings if rating.rater != adjudicator],
    )


def rule(
    study: Study, adjudicator: str, unit_id: str, criterion: str, answer: AnswerShape, in_force: str | None
) -> SavedShape:
    """Save one ruling in place of the one whose id is `in_force`, and settle what is not asked after it."""
    protocol, case = study.protocol, case_of(study, unit_id, adjudicator)
    if not protocol.has(criterion):
        raise HTTPException(404, "There is no such criterion in this protocol.")
    ruling = rating_of(protocol.criterion(criterion), answer, _blank(protocol, case, adjudicator, criterion, in_force))
    check(protocol, case.own, ruling, lambda: _texts(protocol, case.item))
    present = case.own.get(criterion)
    if present is not None and present.id == ruling.id:
        if not says_the_same(present, ruling):
            raise _conflict(NOT_NEW, present)
        return SavedShape(rating=rating_shape(present), unit=standing_of(study, case.own))
    if (present.id if present else None) != in_force:
        raise _conflict(CHANGED, present)
    try:
        study.store.add_ratings([ruling, *_not_asked(protocol, case, ruling)], if_current=True)
    except ConflictError:
        raise _conflict(CHANGED, case_of(study, unit_id, adjudicator).own.get(criterion)) from None
    stored = case_of(study, unit_id, adjudicator).own
    if criterion not in stored or stored[criterion].id != ruling.id:
        # The store passes over an id that it knows, and whose it is, is nobody else's business.
        raise _conflict(NOT_NEW, stored.get(criterion))
    return SavedShape(rating=rating_shape(stored[criterion]), unit=standing_of(study, stored))


def _not_asked(protocol: Protocol, case: Case, ruling: Rating) -> Sequence[Rating]:
    """The follow-ups of a criterion that are not asked after this ruling on it, and the follow-ups of those."""
    if ruling.status is not Status.RATED:
        return []
    settled = {name for name, status in closing(protocol, {**case.own, ruling.criterion: ruling})
               if status is Status.NOT_ASKED}  # fmt: skip
    hanging, found = {ruling.criterion}, list[Rating]()
    for criterion in protocol.criteria:
        if criterion.when is not None and criterion.when.criterion in hanging:
            hanging.add(criterion.id)
            if criterion.id in settled:
                before = case.own.get(criterion.id)
                found.append(_blank(protocol, case, ruling.rater, criterion.id, before.id if before else None))
    return found


def _blank(protocol: Protocol, case: Case, adjudicator: str, criterion: str, replaces: str | None) -> Rating:
    return Rating(
        unit=case.unit.id,
        criterion=criterion,
        rater=adjudicator,
        digest=protocol.digest,
        status=Status.NOT_ASKED,
        visible=case.visible,
        supersedes=replaces,
    )


def _texts(protocol: Protocol, item: Item) -> Mapping[str, str]:
    return {name: field_text(item.fields[name]) for name in protocol.shown_fields() if name in item.fields}


def _conflict(what: str, present: Rating | None) -> HTTPException:
    return HTTPException(409, {"error": what, "present": rating_shape(present).model_dump() if present else None})
