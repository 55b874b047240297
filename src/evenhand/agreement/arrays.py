"""The arrays that the statistics speak of."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyInts = npt.NDArray[np.signedinteger[Any]]

MISSING = -1
"""The code of a cell that holds no rating."""


def label_scores(labels: int, scores: FloatArray | None) -> FloatArray:
    """The labels' positions on their scale: as given, else 0, 1, 2, …"""
    positions = np.arange(labels, dtype=np.float64) if scores is None else np.asarray(scores, dtype=np.float64)
    if positions.shape != (labels,):
        raise ValueError(f"{labels} labels need {labels} scores, not {positions.size}")
    return positions
