"""Other implementations, as typed functions: test oracles only, never imported by the package."""

import warnings

import numpy as np

from evenhand.statistics.estimate import AnyInts, FloatArray
from tests.later import Later

krippendorff = Later("krippendorff")
pandas = Later("pandas")
pingouin = Later("pingouin")
stats = Later("scipy.stats")
metrics = Later("sklearn.metrics")
regression = Later("statsmodels.api")
inter_rater = Later("statsmodels.stats.inter_rater")
multitest = Later("statsmodels.stats.multitest")
proportion = Later("statsmodels.stats.proportion")
weighted = Later("statsmodels.stats.weightstats")


def alpha(codes: AnyInts, scores: FloatArray, metric: str) -> float:
    """The krippendorff package; floats in, since it is wrong on unsigned integers."""
    data = np.where(codes >= 0, scores[codes], np.nan)
    return float(krippendorff.alpha(reliability_data=data.T, value_domain=list(scores), level_of_measurement=metric))


def kappa(a: AnyInts, b: AnyInts, labels: int, weights: str | None) -> float:
    """scikit-learn; without `labels` its weights are wrong when a level was never used."""
    return float(metrics.cohen_kappa_score(a, b, labels=list(range(labels)), weights=weights))


def macro_f1(reference: AnyInts, other: AnyInts) -> float:
    return float(metrics.f1_score(reference, other, average="macro", zero_division=0.0))


def brier(right: FloatArray, sure: FloatArray) -> float:
    return float(metrics.brier_score_loss(right, sure))


def area_under_curve(right: FloatArray, sure: FloatArray) -> float:
    return float(metrics.roc_auc_score(right, sure))


def kappa_errors(table: AnyInts, weights: FloatArray | None) -> tuple[float, float]:
    """statsmodels' κ and its large-sample standard error; weights are disagreements."""
    found = inter_rater.cohens_kappa(table, weights=weights)
    return float(found.kappa), float(found.std_kappa)


def fleiss(table: AnyInts) -> float:
    return float(inter_rater.fleiss_kappa(table))


def icc(scores: FloatArray) -> dict[str, tuple[float, float, float]]:
    """pingouin's six forms with their 95 % intervals."""
    n, k = map(int, scores.shape)
    frame = pandas.DataFrame(
        {"unit": np.repeat(np.arange(n), k), "rater": np.tile(np.arange(k), n), "score": scores.reshape(-1)}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pingouin.intraclass_corr(frame, targets="unit", raters="rater", ratings="score")
    names = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")
    interval = next(column for column in found.columns if str(column).startswith("CI"))
    return {
        name: (float(value), float(ends[0]), float(ends[1]))
        for name, value, ends in zip(names, found["ICC"], found[interval], strict=True)
    }


def correlation(x: FloatArray, y: FloatArray, method: str) -> float:
    functions = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return float(functions[method](x, y)[0])


def share_interval(successes: int, n: int, method: str) -> tuple[float, float]:
    ends = proportion.proportion_confint(successes, n, method=method)
    return float(ends[0]), float(ends[1])


def mean_interval(values: FloatArray) -> tuple[float, float]:
    low, high = stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
    return float(low), float(high)


def cluster_error(values: FloatArray, clusters: AnyInts) -> float:
    """The cluster-robust standard error of a mean: a regression on a constant; its own factor is (n - 1) / (n - 1)."""
    model = regression.OLS(values, np.ones(len(values)))
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True})
    return float(fitted.bse[0])


def slope_hc3(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    model = regression.OLS(y, np.stack((np.ones(len(x)), x), axis=1))
    fitted = model.fit(cov_type="HC3")
    return float(fitted.params[1]), float(fitted.bse[1])


def paired_t(first: FloatArray, second: FloatArray) -> float:
    found = stats.ttest_rel(first, second)
    return float(found.pvalue)


def less_than_zero(values: FloatArray) -> float:
    found = stats.ttest_1samp(values, 0.0, alternative="less")
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
    found = stats.bootstrap((values,), np.mean, n_resamples=replicates, method="BCa", rng=generator)
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
