"""Features → calibrated probabilities: two logistic models, fitted on labelled development sets by `training.fit`.

The first says whether a claim is supported, the second whether one that is not is contradicted or merely without
evidence: most sets with labels by people tell only the first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp

from evenhand.verify.network import FOLDER, Reading

Weights = Mapping[str, float]
"""Of each feature by its name, and a constant."""


@dataclass(frozen=True, slots=True)
class Calibrator:
    supported: Weights
    contradicted: Weights

    def probabilities(self, features: Mapping[str, float]) -> Reading:
        """How likely a claim with these features is supported, contradicted, or neither."""
        supported = _probability(self.supported, features)
        contradicted = (1 - supported) * _probability(self.contradicted, features)
        return Reading(supported, contradicted, 1 - supported - contradicted)


def _probability(weights: Weights, features: Mapping[str, float]) -> float:
    known = {**features, "constant": 1.0}
    return 1 / (1 + exp(-sum(weight * known[name] for name, weight in weights.items())))


@cache
def shipped() -> Calibrator:
    """The calibration that comes with the network."""
    content = json.loads((FOLDER / "calibration.json").read_text(encoding="utf-8"))
    return Calibrator(**content)
