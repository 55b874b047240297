"""Prediction-powered estimates: few human ratings correct the mean of many model ratings."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.statistics.estimate import AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.analytic import error_of_mean, few_differ, mean, proportion, reach_of_mean, within
from evenhand.statistics.intervals.distributions import t_quantile

Weight = Literal["auto", "classical", "tuned"]
NO_HUMAN = "there are no human ratings"
FEWEST_TO_TUNE = 100
"""Human labels below which the weight is not tuned.

Tuned on 20 skewed labels the interval covers 80 to 87 %, not 95 %.
"""
FEWEST_DIFFERENT = 20
"""Human labels off the commonest one that tuning also needs."""
FEWEST_FURTHER = 30
"""Further units of the model below which it is given no weight: the spread of so few says too little.

With 60 human labels and a model that is mostly right, the interval held the truth in 46 % of runs with 2 further units,
91 % with 5 and 95 % with 30.
"""


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """The combined estimate beside those from people alone and from the model alone.

    `weight` is how far the model is trusted: 0 is people alone, 1 the classical form. The model-only interval knows
    nothing of the model's bias. `tuned` says whether the weight was fitted; `note` why not, where it was asked for.
    """

    combined: Estimate
    human_only: Estimate
    model_only: Estimate
    weight: float
    tuned: bool
    note: str | None = None


def tuned_weight(human: FloatArray, model: FloatArray, model_only: FloatArray) -> float:
    """The weight that makes the combined estimate's variance least, kept between 0 and 1; 0 for a constant model."""
    n, more = human.size, model_only.size
    pooled = np.concatenate((model, model_only))
    spread = float(pooled.var(ddof=1)) if pooled.size > 1 else 0.0
    if spread <= 0.0 or n < 2 or more == 0:
        return 0.0
    together = float(((human - human.mean()) * (model - model.mean())).sum()) / (n - 1)
    return min(1.0, max(0.0, together / ((1.0 + n / more) * spread)))


def ppi_mean(
    human: FloatArray,
    model: FloatArray,
    model_only: FloatArray,
    weight: Weight | float = "auto",
    clusters: AnyInts | None = None,
    model_clusters: AnyInts | None = None,
    level: float = 0.95,
    ends: tuple[float, float] = (-math.inf, math.inf),
) -> PredictionPowered:
    """A mean score. `human` and `model` rated the same units; `model_only` the rest. Level: interval.

    The intervals are those of `mean`, over clusters if given, cut off at the scale's `ends`. Undefined without human
    ratings; no interval if too few corrections differ from the commonest, in either direction if people's has none.
    """

    def correction(residual: FloatArray, _: float) -> Estimate:
        few = few_differ(human, clusters) and few_differ(np.abs(residual), clusters)
        return replace(mean(residual, clusters, level), low=None) if few else mean(residual, clusters, level)

    return _powered(mean, correction, human, model, model_only, weight, clusters, model_clusters, level, ends)


def ppi_proportion(
    human: FloatArray,
    model: FloatArray,
    model_only: FloatArray,
    weight: Weight | float = "auto",
    clusters: AnyInts | None = None,
    model_clusters: AnyInts | None = None,
    level: float = 0.95,
) -> PredictionPowered:
    """The share of ones; arguments as `ppi_mean`, all values 0 or 1. Range 0 to 1. Level: nominal.

    With few labels and a model that is mostly right, the corrections are nearly all 0 and their spread is badly told:
    the interval of the correction is taken after adding half a unit of each of the two errors (Bonett and Price add a
    whole one, and cover too much). Where errors are rarer still it covers more than it says.
    """

    def correction(residual: FloatArray, weight: float) -> Estimate:
        return _softened(residual, weight, clusters, level)

    return _powered(
        proportion, correction, human, model, model_only, weight, clusters, model_clusters, level, (0.0, 1.0)
    )


def ppi_labels(
    human: AnyInts,
    model: AnyInts,
    model_only: AnyInts,
    labels: int,
    weight: Weight | float = "auto",
    clusters: AnyInts | None = None,
    model_clusters: AnyInts | None = None,
    level: float = 0.95,
) -> tuple[PredictionPowered, ...]:
    """The share of each label, from codes. With one fixed weight for all labels the shares sum to 1 before clipping."""
    shares: list[PredictionPowered] = []
    for label in range(labels):
        own, its, more = ((codes == label).astype(np.float64) for codes in (human, model, model_only))
        shares.append(ppi_proportion(own, its, more, weight, clusters, model_clusters, level))
    return tuple(shares)


def _powered(
    estimate: Callable[[FloatArray, AnyInts | None, float], Estimate],
    correction: Callable[[FloatArray, float], Estimate],
    human: FloatArray,
    model: FloatArray,
    model_only: FloatArray,
    weight: Weight | float,
    clusters: AnyInts | None,
    model_clusters: AnyInts | None,
    level: float,
    ends: tuple[float, float],
) -> PredictionPowered:
    """The three estimates. `correction` estimates the mean of what people's ratings exceed the weighted model's by."""
    chosen, tuned, note = _choose(human, model, model_only, weight)
    together = None if clusters is None or model_clusters is None else np.concatenate((clusters, model_clusters))
    combined = people = estimate(human, clusters, level)
    machine = estimate(np.concatenate((model, model_only)), together, level)
    if human.size == 0:
        combined = undefined(NO_HUMAN)
    elif chosen:
        further = float(model_only.mean())
        value = float(human.mean()) + chosen * (further - float(model.mean()))
        around = correction(human - chosen * model, chosen)
        little = "no interval: the human ratings leave too little to go by"
        combined = Estimate(value=value, n=int(human.size), note=little)
        if around.value is not None and around.low is not None and around.high is not None:
            # The two parts are independent: their reaches below and above add up as the errors of a sum do.
            below, above = (chosen * reach for reach in reach_of_mean(model_only, model_clusters, level))
            centre = around.value + chosen * further
            low = min(value, centre - math.hypot(around.value - around.low, below))
            high = max(value, centre + math.hypot(around.high - around.value, above))
            combined = replace(combined, low=low, high=high, note=None)
    combined, people, machine = (within(one, *ends) for one in (combined, people, machine))
    return PredictionPowered(combined, people, machine, chosen, tuned, note)


def _softened(residual: FloatArray, weight: float, clusters: AnyInts | None, level: float) -> Estimate:
    """The mean of the corrections with half a unit added for each kind of error."""
    n = residual.size + 1.0
    centre = (float(residual.sum()) + 0.5 * (1.0 - weight)) / n
    square = (float(residual @ residual) + 0.5 * (1.0 + weight**2)) / n
    error = math.sqrt(max(0.0, square - centre**2) / (n - 1.0))
    grouped, df = error_of_mean(residual, clusters)
    if df == 0:
        return Estimate(value=centre)
    reach = t_quantile(0.5 + 0.5 * level, df) * (error if clusters is None else max(error, grouped))
    return Estimate(value=centre, low=centre - reach, high=centre + reach)


def _choose(
    human: FloatArray, model: FloatArray, model_only: FloatArray, weight: Weight | float
) -> tuple[float, bool, str | None]:
    if human.shape != model.shape:
        raise ValueError("human and model must rate the same units")
    if model_only.size == 0:
        return 0.0, False, "the model rated no further units: people alone"
    if not isinstance(weight, str):
        return float(weight), False, None
    if weight == "auto" and model_only.size < FEWEST_FURTHER:
        return 0.0, False, f"the model rated only {model_only.size} further units: people alone"
    different = human.size - int(np.unique(human, return_counts=True)[1].max(initial=0))
    if weight == "tuned" or (weight == "auto" and human.size >= FEWEST_TO_TUNE and different >= FEWEST_DIFFERENT):
        return tuned_weight(human, model, model_only), True, None
    return 1.0, False, None if weight == "classical" else "too few human labels to tune the weight: classical"
