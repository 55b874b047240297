"""The arrays that the statistics read, and the few operations that all of them share."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyInts = npt.NDArray[np.signedinteger[Any]]

MISSING = -1
"""The code of a cell that holds no rating."""

Weighting = Literal["identity", "linear", "quadratic", "ordinal"]


def check_codes(codes: AnyInts, labels: int) -> None:
    """Raise ValueError for a code that is neither missing nor one of the labels."""
    if codes.size and (int(codes.max()) >= labels or int(codes.min()) < MISSING):
        raise ValueError(f"codes must lie between -1 (missing) and {labels - 1}")


def label_scores(labels: int, scores: FloatArray | None) -> FloatArray:
    """The labels' positions on their scale: as given, else 0, 1, 2, …"""
    positions = np.arange(labels, dtype=np.float64) if scores is None else np.asarray(scores, dtype=np.float64)
    if positions.shape != (labels,):
        raise ValueError(f"{labels} labels need {labels} scores, not {positions.size}")
    return positions


def one_hot(codes: AnyInts, labels: int) -> FloatArray:
    """A row for each code, with 1 in the column of its label."""
    return (codes[:, None] == np.arange(labels)).astype(np.float64)


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """`top / bottom`, NaN where `bottom` is 0, without NumPy's warnings."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def first_over_second(sums: FloatArray) -> FloatArray:
    """The first sum over the second: the statistic of every plain share and mean."""
    return ratio(sums[..., 0], sums[..., 1])


def agreement_weights(weighting: Weighting | FloatArray, scores: FloatArray) -> FloatArray:
    """How much two labels agree: a labels × labels matrix with 1 for full and 0 for no agreement.

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
