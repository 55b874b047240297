"""The array types that the statistics speak of."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyInts = npt.NDArray[np.signedinteger[Any]]

MISSING = -1
"""The code of a cell that holds no rating."""
