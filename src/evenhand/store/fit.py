"""Whether a rating fits its protocol: a store keeps nothing that no statistic could read.

Labels and levels come by the million and are few, so what was found good once is remembered. Texts and percentages
are not: they are many, and quick to check.
"""

from dataclasses import dataclass, field

from evenhand.protocol.model import Criterion
from evenhand.records import Rating, Value
from evenhand.scales import PERCENT, Nominal, Ordinal


@dataclass(frozen=True, slots=True)
class Fit:
    """The values found good so far, each with its protocol's digest and criterion."""

    _good: set[tuple[str, str, type, Value]] = field(default_factory=set[tuple[str, str, type, Value]])

    def wrong(self, rating: Rating, criterion: Criterion) -> str | None:
        """What does not fit, and what would; None where all is well."""
        where = f"unit {rating.unit!r}, criterion {rating.criterion!r}"
        if rating.confidence is not None and not _is_percentage(rating.confidence):
            return f"{where}: the confidence {rating.confidence!r} is not {PERCENT.describe()}"
        value = rating.value
        if value is None:
            return None
        known = (rating.digest, criterion.id, type(value), value)
        if known in self._good:
            return None
        if why := _misread(value, criterion):
            return f"{where}: {why}"
        if isinstance(criterion.scale, Ordinal | Nominal):
            self._good.add(known)
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
    """NaN is none: it lies between nothing."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return False
    return 0 <= confidence <= 100
