"""The statistics of two raters, by name, from one confusion table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evenhand.statistics.confusion import Cross, macro_f1, one_hot, pair_percent, pair_within_one
from evenhand.statistics.correlation import spearman
from evenhand.statistics.counts import Counts
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling
from evenhand.statistics.kappa import cohen_kappa, gwet_ac

_STATISTICS: Mapping[str, Callable[[Cross, Resampling | None], Estimate]] = {
    "percent": pair_percent,
    "kappa": lambda pair, plan: cohen_kappa(pair, "identity", plan),
    "kappa_linear": lambda pair, plan: cohen_kappa(pair, "linear", plan),
    "kappa_quadratic": lambda pair, plan: cohen_kappa(pair, "quadratic", plan),
    "within_one": pair_within_one,
    "spearman": spearman,
    "ac": lambda pair, plan: gwet_ac(_as_counts(pair), "quadratic" if pair.ordered else "identity", plan),
    "macro_f1": macro_f1,
}
_ORDERED_ONLY = ("kappa_linear", "kappa_quadratic", "within_one", "spearman")


def pair_statistics(
    pair: Cross, plan: Resampling | None = DEFAULT, names: Sequence[str] | None = None
) -> dict[str, Estimate]:
    """The named statistics of two raters, or all that fit the scale: only labels with scores have an order."""
    if names is None:
        names = [name for name in _STATISTICS if pair.ordered or name not in _ORDERED_ONLY]
    return {name: _STATISTICS[name](pair, plan) for name in names}


def _as_counts(pair: Cross) -> Counts:
    """The pair as label counts, for the statistics that do not read which rater gave which label."""
    table = one_hot(pair.rows, pair.scores.size) + one_hot(pair.columns, pair.scores.size)
    return Counts(replace(pair.sample, rows=table), pair.scores)
