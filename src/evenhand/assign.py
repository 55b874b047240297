"""Who rates what next: overlap, strata, seeded order, gold and repeats. Pure; `store` keeps who has what.

The study's items are put in one order, seeded and, where the plan says so, balanced by strata, and cut into batches.
Raters go through the batches in this order, each within a batch in an order of their own. So a batch fills up to its
overlap while it is worked on, and agreement can be computed early.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from evenhand.scales import Strict


class Purpose(StrEnum):
    """Why somebody is given something to rate. Raters see the difference between training and the rest only."""

    TRAINING = "training"
    RATE = "rate"
    GOLD = "gold"
    REPEAT = "repeat"


class Plan(Strict):
    """How a study is shared out among people."""

    overlap: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="how many people rate each item; empty: everybody rates every item"
    )
    share: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="the most items one person is given; empty: no limit"
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="fixes the order of the items and of each rater's batches")
    batch: int = Field(default=20, ge=1, le=1000, description="items in a batch")
    by: tuple[str, ...] | None = Field(
        default=None, description="label fields by which batches are balanced; empty: the protocol's strata"
    )
    claim_minutes: float = Field(
        default=60, gt=0, le=60 * 24 * 30, description="an item without any answer for so long goes back to the others"
    )
    training: Literal["off", "offered", "required"] = Field(
        default="offered", description="whether newcomers rate the protocol's worked examples first"
    )
    gold: str | None = Field(
        default=None, min_length=1, description="the rater whose ratings are the known answers, hidden among the items"
    )
    gold_every: int = Field(default=10, ge=2, le=1000, description="every so many items one with a known answer")
    repeat_every: int = Field(
        default=0, ge=0, le=1000, description="every so many items one that the rater has rated before; 0: never"
    )
    repeat_after: int = Field(default=10, ge=1, le=1000, description="items between an item and its repeat, at least")
    reveal: Literal["never", "models", "all"] = Field(
        default="never", description="whose ratings a rater may see once their own of that item are final"
    )
    paused: bool = Field(default=False, description="whether nobody is given anything new")
    completion: Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$", max_length=500)] | None = Field(
        default=None, description="an https:// address for raters who are done, such as Prolific's"
    )


TaskState = Literal["open", "done", "returned"]


@dataclass(frozen=True, slots=True)
class Task:
    """An item, or a worked example, in one rater's hands.

    `number` counts a rater's tasks from 1. `item` is the item's id; of training, None, and `example` is the place of
    the worked example in the protocol, from 0. An open task that was not touched until `expires` goes back: it is then
    `returned`, and its rater may still finish it.
    """

    rater: str
    number: int
    purpose: Purpose
    item: str | None
    example: int | None
    state: TaskState
    opened: datetime
    touched: datetime
    expires: datetime
    finished: datetime | None = None


def in_batches(items: Iterable[tuple[int, tuple[str, ...]]], plan: Plan) -> Sequence[Sequence[int]]:
    """Items (number, stratum) → batches of item numbers: shuffled by the plan's seed, each batch in proportion to the
    strata as far as whole numbers go. The same items, seed and size give the same batches on any machine."""
    raise NotImplementedError


def own_order(batch: Sequence[int], rater: str, seed: int) -> Sequence[int]:
    """A batch in the order of one rater."""
    raise NotImplementedError


def purpose_of(number: int, plan: Plan, *, gold_left: bool, repeat_left: bool) -> Purpose:
    """Why a rater is given the `number`th thing after training, from 1."""
    raise NotImplementedError

