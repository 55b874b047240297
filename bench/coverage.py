"""How often the 95 % intervals hold the truth: simulated data whose truth is known, 1,000 runs each; prints a table.

python -m bench.coverage [runs [text]]: with a text, only the rows whose statistic or data has it, such as `fives` for
skewed five-point ratings. The coverage is that of the runs with an interval; `none` counts the others. A row with an
interval in fewer than a tenth of the runs is not marked. The standard error of a coverage of 95 % over 1,000 runs is
0.7 points.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import NormalDist

import numpy as np

from evenhand.statistics import (
    Estimate,
    FloatArray,
    IntArray,
    Resampling,
    Weight,
    cohen_kappa,
    count_wide,
    cross,
    gwet_ac,
    icc,
    krippendorff_alpha,
    macro_f1,
    mean,
    ppi_mean,
    ppi_proportion,
    proportion,
)

Generator = np.random.Generator
Trial = Callable[[Generator, int], Estimate]


@dataclass(frozen=True)
class Row:
    """One line of the table: what is estimated, from data of what kind, with how many blocks."""

    name: str
    data: str
    n: int
    truth: float
    trial: Trial
    checked: bool = True


def five_point(
    g: Generator, n: int, raters: int, middle: float = 2.0, noise: float = 0.8, missing: float = 0.1
) -> IntArray:
    """Five-point ratings of a hidden quality; a middle near 4 piles them up at the top."""
    quality = g.normal(size=(n, 1))
    codes = np.clip(np.round(middle + quality + noise * g.normal(size=(n, raters))), 0, 4).astype(np.int64)
    codes[g.random(codes.shape) < missing] = -1
    return codes


def three_way(g: Generator, n: int, raters: int, shares: tuple[float, float, float], right: float) -> IntArray:
    """Three labels; a rater gives the true one with chance `right`, else one by the labels' shares."""
    true = g.choice(3, size=(n, 1), p=shares)
    other = g.choice(3, size=(n, raters), p=shares)
    return np.where(g.random((n, raters)) < right, true, other).astype(np.int64)


def by_quality(fives: float, noise: float = 0.8) -> Callable[[Generator, int, int], IntArray]:
    """Five-point ratings of a hidden quality that reaches the top level with chance `fives`."""
    middle = 3.5 + np.sqrt(1.0 + noise**2) * NormalDist().inv_cdf(fives)
    return lambda g, n, raters: five_point(g, n, raters, middle, noise, missing=0.0)


def by_share(fives: float, right: float = 0.8) -> Callable[[Generator, int, int], IntArray]:
    """Five-point ratings: the true level with chance `right`, otherwise any level by its share; the lowest are rare."""
    shares = [0.05 * (1.0 - fives), 0.1 * (1.0 - fives), 0.25 * (1.0 - fives), 0.6 * (1.0 - fives), fives]

    def rate(g: Generator, n: int, raters: int) -> IntArray:
        true, other = g.choice(5, size=(n, 1), p=shares), g.choice(5, size=(n, raters), p=shares)
        return np.where(g.random((n, raters)) < right, true, other).astype(np.int64)

    return rate


def by_document(fives: float, size: int, noise: float = 0.8) -> Callable[[Generator, int, int], IntArray]:
    """As `by_quality`; the units of a document share half of the quality's variance."""
    bottom = 3.5 + math.sqrt(1.0 + noise**2) * NormalDist().inv_cdf(fives)

    def rate(g: Generator, n: int, raters: int) -> IntArray:
        shared: FloatArray = np.repeat(g.normal(size=(n // size, 1)), size, axis=0)
        quality: FloatArray = np.sqrt(0.5) * (shared + g.normal(size=(n, 1)))
        return np.clip(np.round(bottom + quality + noise * g.normal(size=(n, raters))), 0, 4).astype(np.int64)

    return rate


def clustered(g: Generator, clusters: int, size: int, middle: float) -> tuple[FloatArray, IntArray]:
    """Zeros and ones whose chance varies from cluster to cluster (logit-normal)."""
    chance = 1.0 / (1.0 + np.exp(-(middle + g.normal(size=(clusters, 1)))))
    hits = (g.random((clusters, size)) < chance).astype(np.float64)
    return hits.reshape(-1), np.repeat(np.arange(clusters), size)


def judged(g: Generator, n: int, share: float, miss: float, false: float) -> tuple[FloatArray, FloatArray]:
    """Zeros and ones by people, and a model that misses ones and sees false ones."""
    human = (g.random(n) < share).astype(np.float64)
    luck = g.random(n)
    return human, np.where(human == 1.0, luck >= miss, luck < false).astype(np.float64)


def value(estimate: Estimate) -> float:
    assert estimate.value is not None
    return estimate.value


def agreement_rows() -> Iterator[Row]:
    big = np.random.default_rng(99)
    for middle, kind in ((2.0, "five-point, even"), (3.6, "five-point, skewed")):
        crowd = count_wide(five_point(big, 2_000_000, 3, middle), 5)
        for metric in ("nominal", "ordinal", "interval"):
            truth = value(krippendorff_alpha(crowd, metric, None))
            for n in (30, 50, 100, 200):

                def trial(
                    g: Generator, seed: int, n: int = n, metric: str = metric, middle: float = middle
                ) -> Estimate:
                    assert metric in ("nominal", "ordinal", "interval")
                    return krippendorff_alpha(count_wide(five_point(g, n, 3, middle), 5), metric, Resampling(seed=seed))

                yield Row(f"alpha {metric}", f"{kind}, 3 raters, 10 % missing", n, truth, trial)
        truth = value(gwet_ac(crowd, "quadratic", None))

        def coefficient(g: Generator, seed: int, middle: float = middle) -> Estimate:
            return gwet_ac(count_wide(five_point(g, 100, 3, middle), 5), "quadratic", Resampling(seed=seed))

        yield Row("AC2 quadratic", f"{kind}, 3 raters, 10 % missing", 100, truth, coefficient)


def clustered_rows() -> Iterator[Row]:
    """Five units to a cluster that share half of their quality: the bootstrap draws clusters."""
    size = 5

    def ratings(g: Generator, clusters: int) -> IntArray:
        shared: FloatArray = np.repeat(g.normal(size=(clusters, 1)), size, axis=0)
        quality: FloatArray = np.sqrt(0.5) * (shared + g.normal(size=(clusters * size, 1)))
        noise = 0.8 * g.normal(size=(clusters * size, 3))
        return np.clip(np.round(2.0 + quality + noise), 0, 4).astype(np.int64)

    truth = value(krippendorff_alpha(count_wide(ratings(np.random.default_rng(95), 400_000), 5), "ordinal", None))
    for n in (30, 100):

        def trial(g: Generator, seed: int, n: int = n) -> Estimate:
            counts = count_wide(ratings(g, n), 5, clusters=np.repeat(np.arange(n), size))
            return krippendorff_alpha(counts, "ordinal", Resampling(seed=seed))

        yield Row("alpha ordinal", "five-point, clusters of 5, 3 raters", n, truth, trial)


def pair_rows() -> Iterator[Row]:
    big = np.random.default_rng(98)
    for shares, right, kind in (
        ((0.4, 0.35, 0.25), 0.8, "three labels, even"),
        ((0.8, 0.12, 0.08), 0.8, "three labels, skewed"),
        ((0.96, 0.02, 0.02), 0.0, "96/2/2, agreement by chance"),
        ((0.96, 0.02, 0.02), 0.5, "96/2/2, some agreement"),
        ((0.4, 0.35, 0.25), 0.95, "three labels, near agreement"),
    ):
        many = three_way(big, 2_000_000, 2, shares, right)
        pair = cross(many[:, 0], many[:, 1], 3)
        kappa, f1 = value(cohen_kappa(pair, plan=None)), value(macro_f1(pair, None))
        for n in (50, 100, 200):

            def trial(
                g: Generator, seed: int, n: int = n, shares: tuple[float, float, float] = shares, right: float = right
            ) -> Estimate:
                codes = three_way(g, n, 2, shares, right)
                return cohen_kappa(cross(codes[:, 0], codes[:, 1], 3), plan=Resampling(seed=seed))

            yield Row("kappa", kind, n, kappa, trial)

        def score(
            g: Generator, seed: int, shares: tuple[float, float, float] = shares, right: float = right
        ) -> Estimate:
            codes = three_way(g, 200, 2, shares, right)
            return macro_f1(cross(codes[:, 0], codes[:, 1], 3), Resampling(seed=seed))

        yield Row("macro-F1", kind, 200, f1, score)
    many = five_point(big, 2_000_000, 2, missing=0.0)
    truth = value(cohen_kappa(cross(many[:, 0], many[:, 1], 5), "quadratic", None))
    for n in (50, 100, 200):

        def weighted(g: Generator, seed: int, n: int = n) -> Estimate:
            codes = five_point(g, n, 2, missing=0.0)
            return cohen_kappa(cross(codes[:, 0], codes[:, 1], 5), "quadratic", Resampling(seed=seed))

        yield Row("kappa quadratic", "five-point, even", n, truth, weighted)


def mean_rows() -> Iterator[Row]:
    big = np.random.default_rng(97)
    for middle, kind in ((2.0, "five-point, even"), (3.6, "five-point, skewed")):
        truth = float(five_point(big, 4_000_000, 1, middle, missing=0.0).mean())
        for n in (30, 100):

            def trial(g: Generator, seed: int, n: int = n, middle: float = middle) -> Estimate:
                return mean(five_point(g, n, 1, middle, missing=0.0)[:, 0].astype(np.float64))

            yield Row("mean", kind, n, truth, trial)
    for share in (0.5, 0.9):
        for n in (30, 100):

            def counted(g: Generator, seed: int, n: int = n, share: float = share) -> Estimate:
                return proportion((g.random(n) < share).astype(np.float64))

            yield Row("proportion", f"share {share}", n, share, counted)
    for middle in (0.0, 2.0):
        truth = float(clustered(big, 400_000, 6, middle)[0].mean())
        for n in (30, 100):

            def grouped(g: Generator, seed: int, n: int = n, middle: float = middle) -> Estimate:
                return proportion(*clustered(g, n, 6, middle))

            yield Row("proportion", f"clusters of 6, share {truth:.2f}", n, truth, grouped)


def powered_rows() -> Iterator[Row]:
    big = np.random.default_rng(96)
    many = five_point(big, 4_000_000, 1, 3.6, missing=0.0)
    truth = float(many.mean())
    for n in (20, 50, 200):
        for weight in ("classical", "auto", "tuned"):

            def trial(g: Generator, seed: int, n: int = n, weight: Weight = weight) -> Estimate:
                codes = five_point(g, n + 1000, 2, 3.6, missing=0.0).astype(np.float64)
                return ppi_mean(codes[:n, 0], codes[:n, 1], codes[n:, 1], weight).combined

            yield Row(
                f"PPI mean, {weight}",
                "five-point, skewed, 1,000 judged",
                n,
                truth,
                trial,
                weight != "tuned" or n >= 100,
            )
    for share, miss, false in ((0.6, 0.1, 0.3), (0.8, 0.2, 0.2), (0.9, 0.1, 0.3), (0.95, 0.02, 0.5)):
        wrong = share * miss + (1.0 - share) * false
        for n in (20, 50, 200):
            for weight in ("classical", "auto", "tuned"):

                def counted(
                    g: Generator,
                    seed: int,
                    n: int = n,
                    weight: Weight = weight,
                    share: float = share,
                    miss: float = miss,
                    false: float = false,
                ) -> Estimate:
                    human, model = judged(g, n + 1000, share, miss, false)
                    return ppi_proportion(human[:n], model[:n], model[n:], weight).combined

                data = f"share {share}, model wrong {100 * wrong:.0f} %"
                yield Row(f"PPI proportion, {weight}", data, n, share, counted, weight != "tuned")


def fives_rows() -> Iterator[Row]:
    """Skewed five-point ratings, also over documents: ICC, means by people alone and with a model, and macro-F1."""
    for fives in (0.8, 0.9, 0.95):
        kinds = {"hidden quality": by_quality(fives), "shares": by_share(fives), "weak agreement": by_share(fives, 0.3)}
        for kind, rate in kinds.items():
            data = f"{100 * fives:.0f} % fives, {kind}"
            many = rate(np.random.default_rng(94), 2_000_000, 3)
            coefficient, middle = value(icc(many.astype(np.float64), plan=None)), float(many.mean())
            f1 = value(macro_f1(cross(many[:, 0], many[:, 1], 5), None))
            for n in (160, 1000):
                yield Row("ICC, 3 raters", data, n, coefficient, partial(_icc, rate=rate, n=n))
            for n in (100, 200):
                yield Row("mean", data, n, middle, partial(_mean, rate=rate, n=n))
                yield Row("PPI mean, auto", f"{data}, 1,000 judged", n, middle, partial(_powered, rate=rate, n=n))
            for n in (200, 1000):
                yield Row("macro-F1", data, n, f1, partial(_macro_f1, rate=rate, labels=5, n=n))
        for kind, right in (("fives or not", 0.8), ("fives or not, weak agreement", 0.3)):
            two = by_share(fives, right)
            many = np.maximum(two(np.random.default_rng(93), 2_000_000, 2) - 3, 0)
            f1 = value(macro_f1(cross(many[:, 0], many[:, 1], 2), None))
            data = f"{100 * fives:.0f} % {kind}"
            yield Row("macro-F1", data, 300, f1, partial(_macro_f1, rate=two, labels=2, n=300))
    rate = by_share(0.9)
    units = value(icc(rate(np.random.default_rng(92), 2_000_000, 3).astype(np.float64), plan=None))
    yield Row("ICC, 3 raters", "90 % fives, each unit five times", 160, units, partial(_icc, rate=rate, n=160, times=5))
    for fives, (documents, size) in product((0.8, 0.9, 0.95), ((40, 5), (200, 5), (50, 20))):
        rate, n = by_document(fives, size), documents * size
        many = rate(np.random.default_rng(91), 2_000_000, 3)
        coefficient, middle = value(icc(many.astype(np.float64), plan=None)), float(many.mean())
        binary = np.maximum(many - 3, 0)
        f1 = value(macro_f1(cross(binary[:, 0], binary[:, 1], 2), None))
        data = f"{100 * fives:.0f} % fives, documents of {size}"
        yield Row("ICC, 3 raters", data, documents, coefficient, partial(_icc, rate=rate, n=n, size=size))
        powered = partial(_powered, rate=rate, n=n, size=size)
        yield Row("PPI mean, auto", f"{data}, 1,000 judged", documents, middle, powered)
        yield Row(
            "macro-F1, fives or not", data, documents, f1, partial(_macro_f1, rate=rate, labels=2, n=n, size=size)
        )


Rate = Callable[[Generator, int, int], IntArray]


def _icc(g: Generator, seed: int, rate: Rate, n: int, times: int = 1, size: int = 1) -> Estimate:
    scores: FloatArray = np.repeat(rate(g, n, 3).astype(np.float64), times, axis=0)
    return icc(scores, _documents(n * times, size * times), Resampling(seed=seed))


def _documents(n: int, size: int) -> IntArray | None:
    return np.arange(n) // size if size > 1 else None


def _mean(g: Generator, seed: int, rate: Rate, n: int) -> Estimate:
    return mean(rate(g, n, 1)[:, 0].astype(np.float64))


def _powered(g: Generator, seed: int, rate: Rate, n: int, size: int = 1) -> Estimate:
    codes = rate(g, n + 1000, 2).astype(np.float64)
    known, further = _documents(n, size), _documents(1000, size)
    return ppi_mean(codes[:n, 0], codes[:n, 1], codes[n:, 1], clusters=known, model_clusters=further).combined


def _macro_f1(g: Generator, seed: int, rate: Rate, labels: int, n: int, size: int = 1) -> Estimate:
    codes = np.maximum(rate(g, n, 2) - (5 - labels), 0)
    pair = cross(codes[:, 0], codes[:, 1], labels, clusters=_documents(n, size))
    return macro_f1(pair, Resampling(seed=seed))


def run(row: Row, runs: int) -> tuple[float, float, int]:
    """Coverage and mean width of the intervals, and how many runs have none."""
    generator = np.random.default_rng(7)
    held, absent, widths = 0, 0, 0.0
    for seed in range(runs):
        found = row.trial(generator, seed)
        if found.low is None or found.high is None:
            absent += 1
            continue
        held += found.low <= row.truth <= found.high
        widths += found.high - found.low
    found = max(1, runs - absent)
    return held / found, widths / found, absent


def main(runs: int = 1000, only: str = "") -> None:
    print(f"{'statistic':26} {'data':42} {'n':>4} {'truth':>7} {'cover':>6} {'width':>6} {'none':>4}")
    for row in (*mean_rows(), *powered_rows(), *agreement_rows(), *clustered_rows(), *pair_rows(), *fives_rows()):
        if only not in f"{row.name} {row.data}":
            continue
        coverage, width, absent = run(row, runs)
        outside = runs - absent > 0.1 * runs and not 0.93 <= coverage <= 0.98
        mark = "" if not outside else "  outside 93-98" if row.checked else "  outside, shown for comparison"
        print(
            f"{row.name:26} {row.data:42} {row.n:4} {row.truth:7.3f} "
            f"{100 * coverage:5.1f}% {width:6.3f} {absent:4}{mark}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, sys.argv[2] if len(sys.argv) > 2 else "")
