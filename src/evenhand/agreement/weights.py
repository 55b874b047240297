"""How much two labels agree: the weights of the weighted coefficients."""

from typing import Literal

import numpy as np

from evenhand.agreement.arrays import FloatArray

Weighting = Literal["identity", "linear", "quadratic", "ordinal"]


def agreement_weights(weighting: Weighting | FloatArray, scores: FloatArray) -> FloatArray:
    """A labels × labels matrix with 1 for full and 0 for no agreement.

    `identity` gives 1 to equal labels only. `linear` and `quadratic` fall with the distance of the labels' scores.
    `ordinal` is Gwet's: it falls with the number of label pairs that lie between two labels, and reads only their
    order. It is not Krippendorff's ordinal metric, which reads how often the labels were used. A matrix is taken as it
    is.
    """
    if not isinstance(weighting, str):
        given = np.asarray(weighting, dtype=np.float64)
        if given.shape != (scores.size, scores.size):
            raise ValueError(f"{scores.size} labels need a {scores.size} × {scores.size} matrix of weights")
        return given
    if weighting == "identity" or scores.size < 2:
        return np.eye(scores.size)
    if weighting == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(scores.size), np.arange(scores.size))).astype(np.float64)
        between = steps * (steps + 1.0) / 2.0
        return 1.0 - between / between.max()
    distance = np.abs(np.subtract.outer(scores, scores))
    if weighting == "quadratic":
        distance = distance**2
    return 1.0 - distance / distance.max() if distance.max() > 0 else np.ones_like(distance)
