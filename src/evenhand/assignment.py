"""Who rates what next: overlap, strata, seeded order, gold and repeats. Pure; `store` keeps who has what.

The study's items are put in one order, seeded and, where the plan says so, balanced by strata, and cut into batches.
Raters go through the batches in this order, each within a batch in an order of their own. So a batch fills up to its
overlap while it is worked on, and agreement can be computed early.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import chain, count, repeat
from math import gcd
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from evenhand.scales import Strict


class Purpose(StrEnum):
    """Why an item is assigned to a rater. Raters can tell only training from the rest."""

    TRAINING = "training"
    RATE = "rate"
    GOLD = "gold"
    REPEAT = "repeat"


EXAMPLE = "example:"
"""The id of the unit of a worked example: this and its number in the protocol, from 0."""

_HTTPS = r"^https://[^\s\"'<>]+$"


def _https(text: str) -> str:
    if len(text) > 500 or not re.fullmatch(_HTTPS, text):
        raise ValueError(f"{text[:100]!r} is not an https:// address")
    return text


HttpsAddress = Annotated[
    str, AfterValidator(_https), WithJsonSchema({"type": "string", "pattern": _HTTPS, "maxLength": 500})
]


class Plan(Strict):
    """How a study is shared out among people."""

    overlap: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="how many people rate each item; empty: every rater rates every item"
    )
    share: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="maximum number of items per person; empty: no limit"
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="seed for the order of items and of each rater's batches")
    batch: int = Field(default=20, ge=1, le=1000, description="items per batch")
    by: tuple[str, ...] | None = Field(
        default=None, description="label fields by which batches are balanced; empty: the protocol's strata"
    )
    claim_minutes: float = Field(
        default=60,
        gt=0,
        le=60 * 24 * 30,
        description="minutes without an answer after which an item is assigned to others",
    )
    training: Literal["off", "offered", "required"] = Field(
        default="offered", description="whether new raters rate the protocol's worked examples first"
    )
    gold: str | None = Field(default=None, min_length=1, description="the rater whose ratings serve as known answers")
    gold_every: int = Field(default=10, ge=2, le=1000, description="one in this many items has a known answer")
    repeat_every: int = Field(
        default=0, ge=0, le=1000, description="one in this many items is one that the rater has rated before; 0: none"
    )
    repeat_after: int = Field(default=10, ge=1, le=1000, description="minimum number of items before a repeat")
    reveal: Literal["never", "models", "all"] = Field(
        default="never", description="whose ratings raters see once their own ratings of an item are final"
    )
    paused: bool = Field(default=False, description="whether no more items are assigned")
    completion: HttpsAddress | None = Field(
        default=None, description="the https:// address to which raters are sent when done"
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
    strata: dict[tuple[str, ...], list[int]] = {}
    for number, stratum in items:
        strata.setdefault(stratum, []).append(number)
    mixed = partial(_mixed, plan.seed.to_bytes(8, "big"))
    # Each is taken from its end, so that nothing is moved in memory.
    return _dealt([sorted(strata[stratum], key=mixed, reverse=True) for stratum in sorted(strata)], plan.batch)


def _dealt(piles: Sequence[list[int]], size: int) -> Sequence[Sequence[int]]:
    """Batches from piles, each of which gives its share of every batch rounded down or up.

    The share rounded down is given each time. What is left of the batches is filled with one pile after the other, in
    steps that meet every batch before they meet one again: no pile gives two to one batch, and each is spread out.
    """
    total = sum(map(len, piles))
    full = total // size
    shares = [size * len(pile) // total for pile in piles]
    fractions = [full * (size * len(pile) % total) for pile in piles]
    extras = [fraction // total for fraction in fractions]
    largest = sorted(range(len(piles)), key=lambda which: fractions[which] % total, reverse=True)
    for which in largest[: full * (size - sum(shares)) - sum(extras)]:
        extras[which] += 1
    batches = [[pile.pop() for pile in chain.from_iterable(map(repeat, piles, shares))] for _ in range(full)]
    step = next(step for step in count(1 + full * 3 // 5) if gcd(step, full) == 1)
    for number, pile in enumerate(chain.from_iterable(map(repeat, piles, extras))):
        batches[number * step % full].append(pile.pop())
    rest = [number for pile in piles for number in reversed(pile)]
    return [*batches, rest] if rest else batches


def own_order(batch: Sequence[int], rater: str, seed: int) -> Sequence[int]:
    """A batch in the order of one rater. Whatever is left out of the batch, the rest stays in the same order."""
    return sorted(batch, key=partial(_mixed, _rater_key(rater, seed)))


def own_start(size: int, rater: str, seed: int) -> int:
    """Where one rater begins in a list of this size, from 0."""
    return _mixed(_rater_key(rater, seed), 0) % size


def purposes_due(number: int, plan: Plan) -> Sequence[Purpose]:
    """Why a rater is given the `number`th thing after training, from 1: the first of these for which there is an item.

    Where a known answer and a repeat are due at once, the repeat is the next thing: equal distances starve neither.
    """
    gold, repeat = _is_due(number, plan)
    gold_before, repeat_before = _is_due(number - 1, plan)
    repeat = (repeat and not gold) or (repeat_before and gold_before)
    return [Purpose.GOLD] * gold + [Purpose.REPEAT] * repeat + [Purpose.RATE]


def _is_due(number: int, plan: Plan) -> tuple[bool, bool]:
    """Whether a known answer and a repeat come as the `number`th thing by their distances."""
    gold = plan.gold is not None and number > 0 and number % plan.gold_every == 0
    return gold, plan.repeat_every > 0 and number > 0 and number % plan.repeat_every == 0


def repeats_among(items: int, plan: Plan) -> int:
    """How many repeats a rater gets with this many items, give or take one because of known answers."""
    if not plan.repeat_every:
        return 0
    apart = plan.repeat_after + 1
    if plan.repeat_every == 1:
        # As many come again as are far enough back; then there is nothing to repeat for just as long.
        return max(items - 1, 0) // apart * apart
    first = (apart // plan.repeat_every + 1) * plan.repeat_every
    return max(-(-(items - first + 1) // (plan.repeat_every - 1)), 0)


def _rater_key(rater: str, seed: int) -> bytes:
    return hashlib.blake2b(rater.encode(), digest_size=16, key=seed.to_bytes(8, "big")).digest()


def _mixed(key: bytes, number: int) -> int:
    """A number that looks random and is the same everywhere; Python's own shuffle may change between versions."""
    return int.from_bytes(hashlib.blake2b(number.to_bytes(8, "big"), digest_size=8, key=key).digest(), "big")
