"""Plans and the current one: every plan stays, the last one counts."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Connection, ScalarSelect, func, insert, literal_column, select

from evenhand.assignment import Plan
from evenhand.store.schema import adoptions, meta, plans


def _last(seq: Column[Any]) -> ScalarSelect[Any]:
    # Otherwise SQLAlchemy takes the table for that of the query around.
    return select(func.max(seq)).correlate(None).scalar_subquery()


_IN_FORCE = select(
    select(adoptions.c.protocol).where(adoptions.c.seq == _last(adoptions.c.seq)).scalar_subquery(),
    select(plans.c.document).where(plans.c.seq == _last(plans.c.seq)).scalar_subquery(),
    select(meta.c.value).where(meta.c.key == literal_column("'queue'")).scalar_subquery(),
)


@dataclass(frozen=True, slots=True)
class InForce:
    """The protocol's number, the plan, and for what the queue was made, where there is one."""

    protocol: int
    plan: Plan
    queue: str | None


def read_in_force(connection: Connection) -> InForce:
    row = connection.execute(_IN_FORCE).one()
    return InForce(row[0], Plan() if row[1] is None else _parsed(row[1]), row[2])


def write_plan(connection: Connection, plan: Plan, at: int) -> None:
    seq = connection.execute(select(func.coalesce(func.max(plans.c.seq), 0))).scalar_one() + 1
    connection.execute(insert(plans).values(seq=seq, at=at, document=plan.model_dump_json()))


@lru_cache(maxsize=32)
def _parsed(document: str) -> Plan:
    """The plan is read with every task that is given out, and seldom changes."""
    return Plan.model_validate_json(document)
