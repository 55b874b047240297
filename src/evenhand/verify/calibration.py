"""Features → calibrated probabilities: a logistic model, fitted on labelled development sets by `training.fit`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evenhand.verify.features import FEATURES
from evenhand.verify.network import FOLDER, Reading


@dataclass(frozen=True, slots=True)
class Calibration:
    """`weights`: a row of three for each feature, and a last row that is always added."""

    weights: NDArray[np.float64]
    threshold: float
    """How likely support must be for a claim to be called supported."""

    def probabilities(self, features: Sequence[float]) -> Reading:
        """Supported, contradicted, neither."""
        scores = np.array([*features, 1.0]) @ self.weights
        odds = np.exp(scores - scores.max())
        return Reading(*map(float, odds / odds.sum()))

    def is_supported(self, found: Reading) -> bool:
        """Whether support is likely enough, and no less likely than contradiction."""
        return found.supported >= max(self.threshold, found.contradicted)


@cache
def shipped() -> Calibration:
    """The calibration that comes with the network."""
    content = json.loads((FOLDER / "calibration.json").read_text(encoding="utf-8"))
    if list(content["weights"]) != [*FEATURES, "constant"]:
        raise RuntimeError("calibration.json was fitted with other features: run training.fit")
    return Calibration(np.array(list(content["weights"].values())), content["threshold"])
