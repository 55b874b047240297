"""Whether raters are right as often as they say they are sure."""

from dataclasses import dataclass

import numpy as np

from evenhand.agreement.bootstrap import Plan
from evenhand.agreement.calibration import Calibration, calibration
from evenhand.records import Kind
from evenhand.table import FloatArray
from evenhand.trust.reading import NO_MAJORITY, Reading

_FINE = 102
NOT_STATED = "no rater stated a confidence"


@dataclass(frozen=True, slots=True)
class Confidence:
    """A rater's stated confidence against matching the majority of the other people.

    `stated` ratings have a confidence; `lent` of them had it from the leading criterion's rating of the same unit,
    since it is asked once for a unit. Without a calibration `why` is the reason.
    """

    rater: str
    kind: Kind
    stated: int
    lent: int
    calibration: Calibration | None
    why: str | None = None


def confidence(reading: Reading, rater: int, plan: Plan) -> Confidence | None:
    """One rater's calibration; None for a rater who stated no confidence."""
    part = reading.part(rater)
    sure = _whole(reading.confidence[part])
    said = ~np.isnan(sure)
    if not said.any():
        return None
    ref, units = reading.raters[rater], reading.unit[part][said]
    majority = reading.people_at(units, (rater,)).majority
    right = np.where(majority >= 0, (reading.code[part][said] == majority).astype(np.float64), np.nan)
    counts = int(said.sum()), int((reading.lent[part] & said).sum())
    if np.isnan(right).all():
        why = NO_MAJORITY if not reading.labels else "no unit with a confidence has a majority of other people"
        return Confidence(ref.id, ref.kind, *counts, None, why)
    found = calibration(sure[said], right, reading.clusters_of(units), plan=plan)
    return Confidence(ref.id, ref.kind, *counts, found)


def _whole(sure: FloatArray) -> FloatArray:
    """Confidences as they are, or to the whole percent where hardly two are alike: nobody is sure to a tenth of one."""
    return sure if np.unique(sure).size <= _FINE else np.rint(sure * 100.0) / 100.0
