"""Other implementations, as typed functions: test oracles only, never imported by the package."""

# Their packages ship no types; this file is the one place where that shows.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import warnings
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import statsmodels.api
from scipy import stats
from sklearn import metrics
from statsmodels.stats import inter_rater, multitest, proportion

from evenhand.statistics.estimate import AnyInts, FloatArray


def alpha(codes: AnyInts, scores: FloatArray, metric: str) -> float:
    """The krippendorff package; floats in, since it is wrong on unsigned integers."""
    data = np.where(codes >= 0, scores[codes], np.nan)
    package: Any = krippendorff
    return float(package.alpha(reliability_data=data.T, value_domain=list(scores), level_of_measurement=metric))


def kappa(a: AnyInts, b: AnyInts, labels: int, weights: str | None) -> float:
    """scikit-learn; without `labels` its weights are wrong when a level was never used."""
    return float(metrics.cohen_kappa_score(a, b, labels=list(range(labels)), weights=weights))


def macro_f1(reference: AnyInts, other: AnyInts) -> float:
    package: Any = metrics
    return float(package.f1_score(reference, other, average="macro", zero_division=0.0))


def brier(right: FloatArray, sure: FloatArray) -> float:
    return float(metrics.brier_score_loss(right, sure))


def area_under_curve(right: FloatArray, sure: FloatArray) -> float:
    return float(metrics.roc_auc_score(right, sure))


def kappa_errors(table: AnyInts, weights: FloatArray | None) -> tuple[float, float]:
    """statsmodels' κ and its large-sample standard error; weights are disagreements."""
    found: Any = inter_rater.cohens_kappa(table, weights=weights)
    return float(found.kappa), float(found.std_kappa)


def fleiss(table: AnyInts) -> float:
    return float(inter_rater.fleiss_kappa(table))


def icc(scores: FloatArray) -> dict[str, tuple[float, float, float]]:
    """pingouin's six forms with their 95 % intervals."""
    n, k = scores.shape
    frame = pd.DataFrame(
        {"unit": np.repeat(np.arange(n), k), "rater": np.tile(np.arange(k), n), "score": scores.reshape(-1)}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Any = pingouin.intraclass_corr(frame, targets="unit", raters="rater", ratings="score")
    names = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")
    interval = next(column for column in found.columns if str(column).startswith("CI"))
    return {
        name: (float(value), float(ends[0]), float(ends[1]))
        for name, value, ends in zip(names, found["ICC"], found[interval], strict=True)
    }


def correlation(x: FloatArray, y: FloatArray, method: str) -> float:
    functions: dict[str, Any] = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return float(functions[method](x, y)[0])


def share_interval(successes: int, n: int, method: str) -> tuple[float, float]:
    ends: Any = proportion.proportion_confint(successes, n, method=method)
    return float(ends[0]), float(ends[1])


def mean_interval(values: FloatArray) -> tuple[float, float]:
    low, high = stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
    return float(low), float(high)


def cluster_error(values: FloatArray, clusters: AnyInts) -> float:
    """The cluster-robust standard error of a mean: a regression on a constant; its own factor is (n - 1) / (n - 1)."""
    model: Any = statsmodels.api.OLS(values, np.ones(len(values)))
    fitted: Any = model.fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True})
    return float(fitted.bse[0])


def slope_hc3(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    model: Any = statsmodels.api.OLS(y, np.stack((np.ones(len(x)), x), axis=1))
    fitted: Any = model.fit(cov_type="HC3")
    return float(fitted.params[1]), float(fitted.bse[1])


def paired_t(first: FloatArray, second: FloatArray) -> float:
    found: Any = stats.ttest_rel(first, second)
    return float(found.pvalue)


def less_than_zero(values: FloatArray) -> float:
    found: Any = stats.ttest_1samp(values, 0.0, alternative="less")
    return float(found.pvalue)


def sign_test(gained: int, lost: int) -> float:
    return float(stats.binomtest(gained, gained + lost, 0.5).pvalue)


def rejected_by(p_values: list[float], q: float) -> list[bool]:
    return [bool(one) for one in multitest.multipletests(p_values, alpha=q, method="fdr_by")[0]]


def quantile(law: str, p: float, *shape: float) -> float:
    return float(getattr(stats, law).ppf(p, *shape))


def cdf(law: str, x: float, *shape: float) -> float:
    return float(getattr(stats, law).cdf(x, *shape))


def bca_of_mean(values: FloatArray, replicates: int, seed: int) -> tuple[float, float]:
    generator = np.random.default_rng(seed)
    found: Any = stats.bootstrap((values,), np.mean, n_resamples=replicates, method="BCa", rng=generator)
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
