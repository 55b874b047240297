"""Readings and checks → calibrated probabilities: a logistic model, fitted on held-out labels by `training.fit`."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from evenhand.verify.checks import NAMES, Findings
from evenhand.verify.reading import Reading

READ = ("passage supports", "passage contradicts", "best sentence supports", "best sentence contradicts")
FEATURES = (*READ, *NAMES)
_SUREST = 7.0


@dataclass(frozen=True, slots=True)
class Combination:
    """`weights`: a row of three for each feature, and a last one that is always added."""

    weights: NDArray[np.float64]
    threshold: float
    """How likely support must be before a claim is called supported."""

    def probabilities(self, features: Sequence[float]) -> tuple[float, float, float]:
        """Supported, contradicted, neither."""
        scores = np.array([*features, 1.0]) @ self.weights
        odds = np.exp(scores - scores.max())
        supported, contradicted, neither = map(float, odds / odds.sum())
        return supported, contradicted, neither


def features_of(readings: Sequence[Reading], found: Findings) -> tuple[float, ...]:
    """What the combination looks at. The first reading is the passage's, the others are single sentences'."""
    passage, rest = readings[0], readings[1:] or readings
    return (
        _logit(passage.supported),
        _logit(passage.contradicted),
        max(_logit(one.supported) for one in rest),
        max(_logit(one.contradicted) for one in rest),
        *found.features,
    )


@cache
def shipped() -> Combination:
    """The combination that comes with the network. A feature it does not know of would shift all others: refused."""
    content = json.loads((files("evenhand.verify") / "model" / "combine.json").read_text(encoding="utf-8"))
    assert tuple(content["features"]) == FEATURES, "combine.json was fitted with other checks: run training.fit"
    return Combination(np.array(content["weights"]), content["threshold"])


def _logit(share: float) -> float:
    """Log odds, within what a reading can be trusted to tell apart."""
    share = min(max(share, 1e-6), 1 - 1e-6)
    return min(max(math.log(share / (1 - share)), -_SUREST), _SUREST)
