"""Estimates, what every statistic returns: a number with its interval, or the reason why there is none. Array types."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyInts = npt.NDArray[np.signedinteger[Any]]

MISSING = -1
"""The code of a cell that holds no rating."""

NO_RATINGS = "there are no ratings"
NO_OVERLAP = "no unit was rated twice"
NO_SHARED = "no unit was rated by both"
ONE_LABEL = "every rating is the same label: expected disagreement is 0"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval and the number of units behind it.

    `value` is None exactly if the statistic is undefined, and then `why` is the reason. A value without an interval has
    `low` and `high` None and the reason in `note`; a value with one may carry a remark there (resamples left out).
    No field ever holds NaN or an infinity.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str | None = None
    note: str | None = None

    def to_dict(self) -> dict[str, object]:
        """The estimate as every JSON document has it; `note` only if there is one."""
        interval = None if self.low is None or self.high is None else [self.low, self.high]
        note = {} if self.note is None else {"note": self.note}
        return {"value": self.value, "ci": interval, "n": self.n, "why": self.why, **note}


def undefined(why: str, n: int = 0) -> Estimate:
    """The answer of a statistic that has no value here."""
    return Estimate(value=None, n=n, why=why)
