"""What a reader makes of a claim beside a piece of evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reading:
    """How likely the evidence supports the claim, contradicts it, or does neither; the three sum to 1."""

    supported: float
    contradicted: float
    neither: float


class Reader(Protocol):
    """Anything that reads pairs of evidence and claim: the network in the box, a larger one."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """A reading for each pair of evidence and claim, in their order."""
        ...
