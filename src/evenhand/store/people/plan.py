"""The plan of who rates what: every plan stays, the last one counts."""

from functools import lru_cache

from sqlalchemy import Connection, func, select

from evenhand.assignment import Plan, Purpose
from evenhand.errors import StudyError
from evenhand.protocol.model import Protocol
from evenhand.store.database import insert_rows, microseconds, next_seq
from evenhand.store.people.item_order import is_made, make_queue, strata
from evenhand.store.protocols import Versions
from evenhand.store.ratings import find_rater
from evenhand.store.schema import assignments, plans

_PLAN = select(plans.c.document).where(plans.c.seq == select(func.max(plans.c.seq)).correlate(None).scalar_subquery())
# The plan is read with every task that is given out, and seldom changes.
_parsed = lru_cache(maxsize=32)(Plan.model_validate_json)


def read_plan(connection: Connection) -> Plan:
    return _parsed(connection.execute(_PLAN).scalar() or "{}")


def set_plan(connection: Connection, versions: Versions, plan: Plan) -> None:
    """Make a plan the current one; StudyError as in `Tasks.set_plan`."""
    number, protocol, before = versions.current_number, versions.current, read_plan(connection)
    _check_plan(connection, plan, protocol)
    given = select(assignments.c.number).where(assignments.c.protocol == number)
    work = given.where(assignments.c.purpose != Purpose.TRAINING.value).limit(1)
    too_late = _too_late(plan, before, protocol)
    if too_late and connection.execute(work).first() is not None:
        raise StudyError(too_late)
    if plan == before:
        return
    insert_rows(connection, plans, [(next_seq(connection, plans), microseconds(), plan.model_dump_json())])
    if is_made(connection):
        # The person who changes the plan waits for what that takes, not the next rater.
        make_queue(connection, number, protocol, plan)


def _check_plan(connection: Connection, plan: Plan, protocol: Protocol) -> None:
    """Raise StudyError if a plan does not fit the study."""
    labels = [name for name, spec in protocol.item.fields.items() if spec.kind == "label"]
    wrong = [name for name in plan.by or () if name not in labels]
    if wrong:
        valid = ", ".join(labels) or "none: no field of this protocol is a label"
        raise StudyError(f"batches cannot be balanced by {wrong[0]!r}; valid are {valid}")
    if plan.gold is not None and find_rater(connection, plan.gold) is None:
        raise StudyError(
            f"there is no rater {plan.gold!r} whose ratings could be the known answers; import them first, or "
            "choose another rater"
        )


def _too_late(plan: Plan, before: Plan, protocol: Protocol) -> str | None:
    """Why a plan cannot replace another when work, not only training, was given out; None if it can."""
    fixed = [name for name in ("seed", "batch") if getattr(plan, name) != getattr(before, name)]
    fixed += ["by"] if strata(protocol, plan) != strata(protocol, before) else []
    if fixed:
        return f"{' and '.join(fixed)} of the plan cannot change any more: work was given out in the order they fix"
    if before.reveal != "never" and plan.reveal == "never":
        return (
            "what others said was open to raters already, and answers given before that are final; reveal can no "
            "longer be 'never'"
        )
    return None
