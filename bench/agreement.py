"""How fast the intervals are, as ratios to other packages' point values, measured in one run.

Run with OMP_NUM_THREADS=1 for a fair comparison of single threads: python -m bench agreement
"""

import time
from collections.abc import Callable

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from evenhand.statistics import FloatArray, IntArray, Resampling, cohen_kappa, count_wide, cross, krippendorff_alpha

LABELS = 5


def simulate(units: int, raters: int, missing: float, seed: int = 1) -> IntArray:
    """Five-point ratings of a hidden quality, some missing."""
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=(units, 1))
    noise = 0.8 * generator.normal(size=(units, raters))
    codes = np.clip(np.round(2.0 + quality + noise), 0, LABELS - 1).astype(np.int64)
    codes[generator.random(codes.shape) < missing] = -1
    return codes


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """The least time of several rounds, in seconds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def as_scores(codes: IntArray) -> FloatArray:
    return np.where(codes >= 0, codes, np.nan)


def package_alpha(scores: FloatArray) -> float:
    return float(krippendorff.alpha(reliability_data=scores.T, level_of_measurement="ordinal"))


def alpha_at_scale() -> None:
    codes = simulate(100_000, 5, 0.1)
    scores = as_scores(codes)
    theirs = best(lambda: package_alpha(scores))
    ours = best(lambda: krippendorff_alpha(count_wide(codes, LABELS), "ordinal"))
    point = best(lambda: krippendorff_alpha(count_wide(codes, LABELS), "ordinal", None))
    print("ordinal alpha, 100,000 units x 5 raters, 10 % missing")
    print(f"  krippendorff, point value                  {1000 * theirs:9.1f} ms")
    print(f"  evenhand, point value                      {1000 * point:9.1f} ms   {point / theirs:6.2f} x")
    print(f"  evenhand, with 2,000-replicate interval    {1000 * ours:9.1f} ms   {ours / theirs:6.2f} x   (goal <= 1)")


def kappas_at_scale() -> None:
    codes = simulate(100_000, 5, 0.1)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    shared = [(codes[:, i] >= 0) & (codes[:, j] >= 0) for i, j in pairs]
    columns = [(codes[both, i], codes[both, j]) for both, (i, j) in zip(shared, pairs, strict=True)]
    theirs = best(lambda: [cohen_kappa_score(a, b) for a, b in columns])
    ours = best(lambda: [cohen_kappa(cross(codes[:, i], codes[:, j], LABELS)) for i, j in pairs])
    print("kappa of all ten pairs, same table")
    print(f"  scikit-learn, ten point values             {1000 * theirs:9.1f} ms")
    print(f"  evenhand, with 2,000-replicate intervals   {1000 * ours:9.1f} ms   {ours / theirs:6.2f} x   (goal <= 1)")


def against_naive(timed: int = 20) -> None:
    codes = simulate(10_000, 5, 0.1)
    scores = as_scores(codes)
    generator = np.random.default_rng(0)

    def naive(point: Callable[[IntArray], object]) -> float:
        start = time.perf_counter()
        for _ in range(timed):
            point(generator.integers(0, len(codes), size=len(codes)))
        return (time.perf_counter() - start) / timed * Resampling().replicates

    package = naive(lambda drawn: package_alpha(scores[drawn]))
    own = naive(lambda drawn: krippendorff_alpha(count_wide(codes[drawn], LABELS), "ordinal", None))
    ours = best(lambda: krippendorff_alpha(count_wide(codes, LABELS), "ordinal"))
    print(f"ordinal alpha interval, 10,000 x 5, 2,000 replicates (naive: {timed} replicates timed, extrapolated)")
    print(f"  evenhand                                   {1000 * ours:9.1f} ms")
    print(f"  resample rows, krippendorff package        {package:9.1f} s    {package / ours:6.0f} x   (goal >= 500)")
    print(f"  resample rows, evenhand's own point value  {own:9.1f} s    {own / ours:6.0f} x")


def main() -> None:
    alpha_at_scale()
    kappas_at_scale()
    against_naive()


if __name__ == "__main__":
    main()
