"""The statistics of two raters, by name, from one confusion table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from evenhand.statistics.confusion import Cross, macro_f1, pair_percent, pair_within_one
from evenhand.statistics.correlation import spearman
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.intervals.bootstrap import DEFAULT, Resampling
from evenhand.statistics.kappa import cohen_kappa, pair_ac
from evenhand.statistics.percentages import percentage_kappa, percentage_pair_ac

_STATISTICS: Mapping[str, Callable[..., Estimate]] = {
    "percent": pair_percent,
    "kappa": cohen_kappa,
    "kappa_linear": partial(cohen_kappa, weighting="linear"),
    "kappa_quadratic": partial(cohen_kappa, weighting="quadratic"),
    "within_one": pair_within_one,
    "spearman": spearman,
    "ac": pair_ac,
    "macro_f1": macro_f1,
}
PAIR_STATISTICS = tuple(_STATISTICS)
_ORDERED_ONLY = ("kappa_linear", "kappa_quadratic", "within_one", "spearman")
_OF_PERCENTAGES: Mapping[str, Callable[..., Estimate]] = {
    "percent": pair_percent,
    "kappa_quadratic": percentage_kappa,
    "within_one": pair_within_one,
    "spearman": spearman,
    "ac": percentage_pair_ac,
}
"""Without those that compare labels: few percentages are equal, and there may be thousands of different ones."""


def pair_statistics(
    pair: Cross, plan: Resampling | None = DEFAULT, names: Sequence[str] | None = None, *, percentages: bool = False
) -> dict[str, Estimate]:
    """The named statistics of two raters, or all that fit the scale: only labels with scores have an order.

    `percentages` says that the scores are those of a scale from 0 to 100, which has no labels.
    """
    if percentages:
        return {name: statistic(pair, plan=plan) for name, statistic in _OF_PERCENTAGES.items()}
    if names is None:
        names = [name for name in _STATISTICS if pair.ordered or name not in _ORDERED_ONLY]
    return {name: _STATISTICS[name](pair, plan=plan) for name in names}
