"""What every program that rates has in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol as Interface

from evenhand.protocol.model import Protocol
from evenhand.records import Item, RaterRef, Span, Unit


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater says on one criterion, as it says it; whether the value fits the scale is checked by `run`."""

    criterion: str
    value: object
    rationale: str | None = None
    confidence: float | None = None
    notes: str | None = None
    evidence: tuple[Span, ...] = ()


class Rater(Interface):
    """Rates one unit at a time."""

    @property
    def ref(self) -> RaterRef: ...

    def rate(self, protocol: Protocol, item: Item, unit: Unit) -> Sequence[Answer]:
        """Answers for the unit. Raises RaterFailure where it has none; it never makes one up."""
        ...
