"""Rank correlations: intervals from exact resamples and to the first order, their coverage, and the time they take.

python -m bench correlation
"""

import math
import time
from collections.abc import Callable

import numpy as np

from evenhand.statistics import Cross, Estimate, FloatArray, IntArray, correlation, cross_scores, kendall, spearman

RUNS, COMMON = 400, 0.5
METHODS: dict[str, Callable[[Cross], Estimate]] = {"rho": spearman, "tau": kendall}
TRUTH = {"rho": 6 / math.pi * math.asin(COMMON / 2), "tau": 2 / math.pi * math.asin(COMMON)}
"""Of two normal scores whose correlation is `COMMON`."""


def main() -> None:
    for levels in (0, 5):
        for clusters in (None, np.repeat(np.arange(200), 3)):
            x, y = scores(600, 1, levels)
            for name in METHODS:
                apart = ends_apart(name, x, y, clusters)
                kind = f"{levels or 'no'} levels, {'units' if clusters is None else 'clusters'}"
                print(f"600 units, {kind}: {name}'s ends differ by at most {apart:.4f} from exact resamples")
    for units in (50, 200, 600):
        for name, method in METHODS.items():
            held = [holds(method(cross_scores(*scores(units, seed))), TRUTH[name]) for seed in range(RUNS)]
            print(f"{units} units: the interval of {name} holds the truth in {np.mean(held):.1%} of {RUNS} runs")
    for units in (300, 3_000, 10_000, 100_000):
        pair = cross_scores(*scores(units, 1))
        print(
            f"{units:,} units: "
            + ", ".join(f"{name} {seconds(method, pair):.2f} s" for name, method in METHODS.items())
        )


def scores(units: int, seed: int, levels: int = 0) -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(seed)
    x, other = generator.normal(size=units), generator.normal(size=units)
    y: FloatArray = COMMON * x + math.sqrt(1 - COMMON**2) * other
    return x, np.clip(np.round(y + 0.5 * levels), 1, levels) if levels else y


def ends_apart(name: str, x: FloatArray, y: FloatArray, clusters: IntArray | None) -> float:
    kept, found = correlation.EXACT, list[Estimate]()
    for limit in (x.size, 0):
        correlation.EXACT = limit
        found.append(METHODS[name](cross_scores(x, y, clusters)))
    correlation.EXACT = kept
    ends = np.array([(one.low, one.high) for one in found], dtype=np.float64)
    return float(np.abs(ends[0] - ends[1]).max())


def holds(found: Estimate, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def seconds(method: Callable[[Cross], Estimate], pair: Cross) -> float:
    start = time.perf_counter()
    method(pair)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
