"""The alternative-annotator test (Calderon, Reichart and Dror 2025): may a model stand in for one of the people?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.statistics.arrays import FloatArray
from evenhand.statistics.intervals.distributions import t_cdf

Scoring = Literal["accuracy", "neg_rmse"]


@dataclass(frozen=True, slots=True)
class Duel:
    """The model against one person, both compared with the other people.

    `advantage` is the share of units on which the model is at least as close to the others as the person is. `p` tests
    that the person's own share is less than ε above it. `won` after the Benjamini–Yekutieli correction. A person with
    too few shared units has none of these, and `why`.
    """

    rater: int
    n: int
    advantage: float | None
    p: float | None
    won: bool
    why: str | None = None


@dataclass(frozen=True, slots=True)
class AltTest:
    """`winning_rate`.

    The share of people that the model replaces; the test is passed at 0.5 or more. None if no duel.
    """

    winning_rate: float | None
    advantage: float | None
    passed: bool | None
    duels: tuple[Duel, ...]
    why: str | None = None


@dataclass(frozen=True, slots=True)
class BesideConstant:
    """The model's test, and that of a rater who always gives the people's commonest score.

    Where the constant passes too, passing says nothing about the model: the labels are too skewed for this test.
    """

    model: AltTest
    constant: AltTest
    constant_score: float | None


def alt_test(
    people: FloatArray,
    model: FloatArray,
    scoring: Scoring = "accuracy",
    epsilon: float = 0.2,
    q: float = 0.05,
    fewest: int = 30,
) -> AltTest:
    """The test on a units × people table of scores and the model's scores, NaN where missing.

    `accuracy` counts the others who gave the same score (nominal); `neg_rmse` takes the root mean square distance
    (interval). `epsilon` is how much cheaper the model must be thought to be (0.2 expert, 0.15 trained, 0.1 crowd
    raters). A duel uses units that the person, the model and at least one other person rated, at least `fewest` of
    them.
    """
    duels = [_duel(people, model, rater, _closeness(scoring), epsilon, fewest) for rater in range(people.shape[1])]
    tested = [i for i, duel in enumerate(duels) if duel.p is not None]
    if not tested:
        why = f"no person shares {fewest} units with the model and another person"
        return AltTest(winning_rate=None, advantage=None, passed=None, duels=tuple(duels), why=why)
    for place in _rejected([duels[i].p or 0.0 for i in tested], q):
        duel = duels[tested[place]]
        duels[tested[place]] = Duel(duel.rater, duel.n, duel.advantage, duel.p, won=True)
    rate = sum(duel.won for duel in duels) / len(tested)
    advantage = sum(duels[i].advantage or 0.0 for i in tested) / len(tested)
    return AltTest(winning_rate=rate, advantage=advantage, passed=rate >= 0.5, duels=tuple(duels))


def alt_test_beside_constant(
    people: FloatArray,
    model: FloatArray,
    scoring: Scoring = "accuracy",
    epsilon: float = 0.2,
    q: float = 0.05,
    fewest: int = 30,
) -> BesideConstant:
    """The model's test with that of a constant rater beside it, on the same units."""
    tested = alt_test(people, model, scoring, epsilon, q, fewest)
    values, times = np.unique(people[~np.isnan(people)], return_counts=True)
    if values.size == 0:
        return BesideConstant(model=tested, constant=tested, constant_score=None)
    score = float(values[times.argmax()])
    constant = np.where(np.isnan(model), np.nan, score)
    return BesideConstant(
        model=tested, constant=alt_test(people, constant, scoring, epsilon, q, fewest), constant_score=score
    )


def _closeness(scoring: Scoring) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """How close one score is to the others of its unit (NaN missing); larger is closer."""

    def accuracy(own: FloatArray, others: FloatArray) -> FloatArray:
        present = ~np.isnan(others)
        return ((others == own[:, None]) & present).sum(axis=1) / present.sum(axis=1)

    def neg_rmse(own: FloatArray, others: FloatArray) -> FloatArray:
        present = ~np.isnan(others)
        squares = np.where(present, (others - own[:, None]) ** 2, 0.0)
        return -np.sqrt(squares.sum(axis=1) / present.sum(axis=1))

    return accuracy if scoring == "accuracy" else neg_rmse


def _duel(
    people: FloatArray,
    model: FloatArray,
    rater: int,
    closeness: Callable[[FloatArray, FloatArray], FloatArray],
    epsilon: float,
    fewest: int,
) -> Duel:
    others = np.delete(people, rater, axis=1)
    used = ~np.isnan(people[:, rater]) & ~np.isnan(model) & (~np.isnan(others)).any(axis=1)
    n = int(used.sum())
    if n < max(2, fewest):
        return Duel(rater, n, None, None, won=False, why=f"{n} shared units, fewer than {max(2, fewest)}")
    theirs, its = closeness(people[used, rater], others[used]), closeness(model[used], others[used])
    model_wins, person_wins = (its >= theirs).astype(np.float64), (theirs >= its).astype(np.float64)
    gap = person_wins - model_wins - epsilon
    error = float(gap.std(ddof=1)) / math.sqrt(n)
    centre = float(gap.mean())
    p = t_cdf(centre / error, n - 1) if error > 1e-15 else float(centre >= 0.0)
    return Duel(rater, n, float(model_wins.mean()), p, won=False)


def _rejected(p_values: list[float], q: float) -> list[int]:
    """The places that Benjamini and Yekutieli's procedure rejects at false discovery rate `q`."""
    m = len(p_values)
    harmonic = sum(1.0 / i for i in range(1, m + 1))
    order = sorted(range(m), key=p_values.__getitem__)
    passing = [place for place, i in enumerate(order, start=1) if p_values[i] <= place * q / (m * harmonic)]
    return order[: max(passing)] if passing else []
