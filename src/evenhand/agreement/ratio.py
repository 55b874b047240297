"""Ratios that are NaN where they are undefined, without NumPy's warnings."""

import numpy as np

from evenhand.agreement.arrays import FloatArray


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """`top / bottom`, NaN where `bottom` is 0."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def first_over_second(sums: FloatArray) -> FloatArray:
    """The first sum over the second: the statistic of every plain share and mean."""
    return ratio(sums[..., 0], sums[..., 1])
