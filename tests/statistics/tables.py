"""Tables of ratings for the tests: drawn by hypothesis, or simulated from a hidden quality."""

import numpy as np
from hypothesis import strategies as st

from evenhand.statistics.estimate import IntArray


@st.composite
def code_tables(
    draw: st.DrawFn, labels: int = 4, most_units: int = 12, most_raters: int = 4, fewest_raters: int = 2
) -> IntArray:
    """A units × raters table of codes, -1 missing, of any degeneracy."""
    units = draw(st.integers(1, most_units))
    raters = draw(st.integers(fewest_raters, most_raters))
    cell = st.integers(-1, labels - 1)
    rows = draw(st.lists(st.lists(cell, min_size=raters, max_size=raters), min_size=units, max_size=units))
    return np.array(rows, dtype=np.int64)


def simulated(units: int, raters: int, missing: float = 0.0, seed: int = 0, labels: int = 5) -> IntArray:
    """Ratings of a hidden quality on a scale of `labels` points."""
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=(units, 1))
    noise = 0.8 * generator.normal(size=(units, raters))
    codes = np.clip(np.round((labels - 1) / 2 + quality + noise), 0, labels - 1).astype(np.int64)
    codes[generator.random(codes.shape) < missing] = -1
    return codes
