"""Prediction-powered estimates: few human ratings correct the mean of many model ratings."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.statistics.estimate import AnyInts, Estimate, FloatArray, undefined
from evenhand.statistics.intervals.analytic import error_of_mean, mean, proportion
from evenhand.statistics.intervals.distributions import t_quantile

Weight = Literal["auto", "classical", "tuned"]
NO_HUMAN = "there are no human ratings"
FEWEST_TO_TUNE = 100
"""Human labels below which the weight is not tuned.

Tuned on 20 skewed labels the interval covers 80 to 87 %, not 95 %.
"""
FEWEST_FURTHER = 30
"""Further units of the model below which it is given no weight: the spread of so few says too little.

With 60 human labels and a model that is mostly right, the interval held the truth in 46 % of runs with 2 further units,
91 % with 5 and 95 % with 30.
"""
FEWEST_OF_A_SIDE = 20
"""Labels of the rarer side that tuning a proportion's weight also needs."""


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
) -> PredictionPowered:
    """A mean score. `human` and `model` rated the same units; `model_only` the rest. Level: interval.

    The interval is t with Satterthwaite's degrees of freedom, over clusters if given. Undefined without human ratings.
    """
    chosen, tuned, note = _choose(human, model, model_only, weight, FEWEST_TO_TUNE)
    people = mean(human, clusters, level)
    machine = mean(np.concatenate((model, model_only)), _join(clusters, model_clusters), level)
    if human.size == 0:
        return PredictionPowered(undefined(NO_HUMAN), people, machine, chosen, tuned, note)
    error, df = error_of_mean(human - chosen * model, clusters)
    value, other, other_df = float(human.mean()), 0.0, 0
    if chosen:
        value += chosen * (float(model_only.mean()) - float(model.mean()))
        other, other_df = error_of_mean(model_only, model_clusters)
    combined = _combine(value, error, df, chosen * other, other_df, int(human.size), level)
    return PredictionPowered(combined, people, machine, chosen, tuned, note)


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
    rare = min(float(human.sum()), human.size - float(human.sum())) if human.size else 0.0
    fewest = FEWEST_TO_TUNE if rare >= FEWEST_OF_A_SIDE else 10**12
    chosen, tuned, note = _choose(human, model, model_only, weight, fewest)
    people = proportion(human, clusters, level)
    machine = proportion(np.concatenate((model, model_only)), _join(clusters, model_clusters), level)
    if human.size == 0:
        return PredictionPowered(undefined(NO_HUMAN), people, machine, chosen, tuned, note)
    if not chosen:
        return PredictionPowered(people, people, machine, 0.0, tuned, note)
    n, further = int(human.size), float(model_only.mean())
    value = float(human.mean()) + chosen * (further - float(model.mean()))
    centre, error, df = _softened(human - chosen * model, chosen, clusters)
    other, other_df = error_of_mean(model_only, model_clusters)
    around = _combine(centre + chosen * further, error, df, chosen * other, other_df, n, level)
    low = None if around.low is None else min(max(0.0, around.low), max(0.0, value))
    high = None if around.high is None else max(min(1.0, around.high), min(1.0, value))
    combined = Estimate(value=min(1.0, max(0.0, value)), low=low, high=high, n=n, note=around.note)
    return PredictionPowered(combined, people, machine, chosen, tuned, note)


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


def _softened(residual: FloatArray, weight: float, clusters: AnyInts | None) -> tuple[float, float, int]:
    """Mean, standard error and degrees of freedom of the corrections with half a unit added for each kind of error."""
    n = residual.size + 1.0
    centre = (float(residual.sum()) + 0.5 * (1.0 - weight)) / n
    square = (float(residual @ residual) + 0.5 * (1.0 + weight**2)) / n
    error = math.sqrt(max(0.0, square - centre**2) / (n - 1.0))
    grouped, df = error_of_mean(residual, clusters)
    return centre, max(error, grouped) if clusters is not None else error, df


def _choose(
    human: FloatArray, model: FloatArray, model_only: FloatArray, weight: Weight | float, fewest: int
) -> tuple[float, bool, str | None]:
    if human.shape != model.shape:
        raise ValueError("human and model must rate the same units")
    if model_only.size == 0:
        return 0.0, False, "the model rated no further units: people alone"
    if not isinstance(weight, str):
        return float(weight), False, None
    if weight == "auto" and model_only.size < FEWEST_FURTHER:
        return 0.0, False, f"the model rated only {model_only.size} further units: people alone"
    if weight == "tuned" or (weight == "auto" and human.size >= fewest):
        return tuned_weight(human, model, model_only), True, None
    return 1.0, False, None if weight == "classical" else "too few human labels to tune the weight: classical"


def _join(clusters: AnyInts | None, others: AnyInts | None) -> AnyInts | None:
    return None if clusters is None or others is None else np.concatenate((clusters, others))


def _combine(value: float, error: float, df: int, other: float, other_df: int, n: int, level: float) -> Estimate:
    variance = error**2 + other**2
    if df == 0 or variance <= 0.0:
        note = "no interval: the human ratings leave nothing to estimate it from"
        return Estimate(value=value, n=n, note=note)
    bottom = error**4 / df + (other**4 / other_df if other_df else 0.0)
    reach = t_quantile(0.5 + 0.5 * level, variance**2 / bottom) * math.sqrt(variance)
    return Estimate(value=value, low=value - reach, high=value + reach, n=n)
