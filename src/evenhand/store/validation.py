"""Whether a rating fits its protocol: a store keeps nothing that no statistic could read.

Labels and levels arrive by the million and are few, so what was found good once is remembered. Texts and percentages
are not: they are many, and quick to check.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import TypeGuard

from evenhand.protocol.model import Criterion
from evenhand.records import Rating, Value
from evenhand.scales import PERCENT, Nominal, Ordinal, Percent

TOLERANCE = 1e-6
"""How far the sum of probabilities may be from 1."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The values found good so far, each with its protocol's digest and criterion."""

    _good: set[tuple[str, str, type, Value]] = field(default_factory=set[tuple[str, str, type, Value]])

    def wrong(self, rating: Rating, criterion: Criterion) -> str | None:
        """What does not fit, and what would; None where all is well."""
        why = self._why(rating, criterion)
        return f"unit {rating.unit!r}, criterion {rating.criterion!r}: {why}" if why else None

    def _why(self, rating: Rating, criterion: Criterion) -> str | None:
        if rating.confidence is not None and not _is_percentage(rating.confidence):
            return f"the confidence {rating.confidence!r} is not {PERCENT.describe()}"
        if rating.mean is not None and (why := _no_mean(rating.mean, criterion)):
            return why
        if rating.distribution and (why := self._no_distribution(rating, criterion)):
            return why
        return None if rating.value is None else self._misread(rating.digest, rating.value, criterion)

    def _misread(self, digest: str, value: Value, criterion: Criterion) -> str | None:
        known = (digest, criterion.id, type(value), value)
        if known in self._good:
            return None
        why = _misread(value, criterion)
        if why is None and isinstance(criterion.scale, Ordinal | Nominal):
            self._good.add(known)
        return why

    def _no_distribution(self, rating: Rating, criterion: Criterion) -> str | None:
        for value, _ in rating.distribution:
            if why := self._misread(rating.digest, value, criterion):
                return f"the distribution: {why}"
        return _bad_odds(rating.distribution)


def _bad_odds(distribution: Sequence[tuple[Value, float]]) -> str | None:
    """Why values with their probabilities are no distribution."""
    for value, probability in distribution:
        if not _is_number(probability) or not 0 <= probability <= 1:
            return (
                f"the distribution gives {value!r} the probability {probability!r}, which is not a number from 0 to 1"
            )
    if len({value for value, _ in distribution}) < len(distribution):
        return "the distribution names a value twice"
    total = fsum(probability for _, probability in distribution)
    if abs(total - 1) > TOLERANCE:
        return f"the probabilities of the distribution sum to {total:.7g}, not to 1"
    return None


def _no_mean(mean: object, criterion: Criterion) -> str | None:
    scale = criterion.scale
    if not isinstance(scale, Ordinal | Percent):
        return f"the mean {mean!r} appears with values that are not numbers"
    lowest, highest = (scale.values[0], scale.values[-1]) if isinstance(scale, Ordinal) else (0, 100)
    # Probabilities may miss 1 by the tolerance, and their mean the end of the scale with them.
    slack = TOLERANCE * max(abs(lowest), abs(highest))
    if not _is_number(mean) or not lowest - slack <= mean <= highest + slack:
        return f"the mean {mean!r} is not a number from {lowest} to {highest}"
    return None


def _misread(value: Value, criterion: Criterion) -> str | None:
    """Why a value is not the very one that its scale reads: `4` is a level, `"4"` and `4.0` are not."""
    try:
        read = criterion.scale.read(value)
    except ValueError:
        return f"the value {value!r} is not {criterion.scale.describe()}"
    if type(read) is type(value) and read == value:
        return None
    return f"the value {value!r} must be given as {read!r}, {criterion.scale.describe()}"


def _is_percentage(confidence: object) -> bool:
    return _is_number(confidence) and 0 <= confidence <= 100


def _is_number(number: object) -> TypeGuard[float]:
    """A truth value is none, and neither are NaN and infinity."""
    return isinstance(number, int | float) and not isinstance(number, bool) and isfinite(number)
