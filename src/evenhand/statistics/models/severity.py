"""How severe each rater is, and whether that moves while rating."""

from dataclasses import dataclass

import numpy as np

from evenhand.statistics.estimate import AnyInts, Estimate, FloatArray, IntArray, undefined
from evenhand.statistics.intervals.analytic import mean
from evenhand.statistics.intervals.distributions import NORMAL, t_quantile

_MOST_WORK = 20_000


@dataclass(frozen=True)
class Severities:
    """Each rater's severity in logits (0 is the raters' mean, positive gives lower ratings), and the scale's steps.

    `steps[x]` is how hard the step to the next used label is. Every severity is undefined if there is no solution.
    """

    raters: tuple[Estimate, ...]
    steps: tuple[float, ...]


def leniency(scores: FloatArray, rater: int, clusters: AnyInts | None = None, level: float = 0.95) -> Estimate:
    """A rater's mean score less the mean of the other raters of the same units, in points of the scale.

    Level: interval. Positive is lenient. `scores` is units × raters, NaN missing. The t interval is over units or
    clusters. Undefined where the rater shares no unit with another.
    """
    gap, used = _gap(scores, rater)
    if gap.size == 0:
        return undefined("this rater shares no unit with another")
    return mean(gap, None if clusters is None else clusters[used], level)


def drift(scores: FloatArray, rater: int, position: FloatArray, level: float = 0.95) -> Estimate:
    """How much more lenient a rater is at the end of the work than at its beginning, in points of the scale.

    `position` orders the rater's units in time (any increasing numbers). The value is the least-squares slope of the
    gap to the other raters over that order, from first to last unit; the interval is t with residuals that may vary in
    spread (HC3). Positive: grew lenient. Undefined with fewer than three shared units, or all at one time.
    """
    gap, used = _gap(scores, rater)
    n = int(gap.size)
    if n < 3:
        return undefined("fewer than three units shared with another rater", n)
    when = position[used].astype(np.float64)
    span = float(when.max() - when.min())
    if span <= 0:
        return undefined("all units have one position in time", n)
    x = (when - when.mean()) / span
    spread = float(x @ x)
    slope = float(x @ gap) / spread
    residual = gap - gap.mean() - slope * x
    leverage = 1.0 / n + x**2 / spread
    firm = leverage < 1.0 - 1e-9
    error = float(np.sqrt(((x[firm] * residual[firm] / (1.0 - leverage[firm])) ** 2).sum())) / spread
    if error <= 1e-12:
        return Estimate(value=slope, n=n, note="no interval: the gap to the others lies on a line")
    reach = t_quantile(0.5 + 0.5 * level, n - 2) * error
    return Estimate(value=slope, low=slope - reach, high=slope + reach, n=n)


def _gap(scores: FloatArray, rater: int) -> tuple[FloatArray, IntArray]:
    present = ~np.isnan(scores)
    filled = np.where(present, scores, 0.0)
    count = present.sum(axis=1) - present[:, rater]
    used = np.flatnonzero(present[:, rater] & (count > 0))
    others = (filled.sum(axis=1) - filled[:, rater])[used] / count[used]
    return filled[used, rater] - others, used


def severities(codes: AnyInts, level: float = 0.95) -> Severities:
    """Severity on an ordinal scale: the rating-scale Rasch model, raters as its items, by conditional likelihood.

    `codes` is units × raters, -1 missing. A unit's own quality drops out because the likelihood is conditional on its
    total, so nothing is assumed of how quality is spread. Level: ordinal. Labels nobody used are closed up. Intervals
    are normal, from the information. Undefined where raters are not linked by shared units, where the ratings leave a
    severity unbounded, or where raters come in too many different sets (use `leniency`).
    """
    raters = codes.shape[1]
    kept = codes[(codes >= 0).sum(axis=1) >= 2]
    used = np.unique(kept[kept >= 0])
    n = len(kept)
    if n == 0 or raters < 2 or used.size < 2:
        why = "no unit was rated twice" if n == 0 or raters < 2 else "every rating is the same label"
        return _nothing(why, raters, n)
    dense = np.where(kept >= 0, np.searchsorted(used, np.maximum(kept, 0)), -1)
    model = _Conditional(dense, int(used.size))
    if model.work > _MOST_WORK:
        return _nothing("raters come in too many different sets", raters, n)
    found = model.fit()
    if found is None:
        why = "the ratings leave a severity unbounded, or the raters are not linked by shared units"
        return _nothing(why, raters, n)
    parameters, covariance = found
    spread = np.vstack((np.eye(raters - 1), -np.ones(raters - 1)))
    values = spread @ parameters[: raters - 1]
    errors = np.sqrt(np.diag(spread @ covariance[: raters - 1, : raters - 1] @ spread.T))
    z = NORMAL.inv_cdf(0.5 + 0.5 * level)
    rated = (kept >= 0).sum(axis=0)
    estimates = tuple(
        Estimate(value=float(v), low=float(v - z * e), high=float(v + z * e), n=int(m))
        for v, e, m in zip(values, errors, rated, strict=True)
    )
    cumulative = np.concatenate(([0.0], parameters[raters - 1 :], [0.0]))
    return Severities(raters=estimates, steps=tuple(np.diff(cumulative).tolist()))


def _nothing(why: str, raters: int, n: int) -> Severities:
    return Severities(raters=tuple(undefined(why, n) for _ in range(raters)), steps=())


class _Conditional:
    """The conditional likelihood: free parameters are all but the last severity, and the inner cumulative steps."""

    def __init__(self, codes: IntArray, labels: int) -> None:
        self._labels = labels
        self._raters = codes.shape[1]
        present = codes >= 0
        masks, group = np.unique(present, axis=0, return_inverse=True)
        totals = np.where(present, codes, 0).sum(axis=1)
        self._groups = [
            (
                np.flatnonzero(mask),
                np.bincount(totals[group.reshape(-1) == g], minlength=int(mask.sum()) * (labels - 1) + 1),
            )
            for g, mask in enumerate(masks)
        ]
        self._observed = np.stack([(codes == x).sum(axis=0) for x in range(labels)], axis=1).astype(np.float64)
        self.work = sum(len(members) for members, _ in self._groups)

    def _gap(self, parameters: FloatArray) -> FloatArray:
        """The gradient: expected less observed sufficient statistics."""
        labels, free = self._labels, self._raters - 1
        severity = np.append(parameters[:free], -parameters[:free].sum())
        steps = np.concatenate(([0.0], parameters[free:], [0.0]))
        terms: FloatArray = np.exp(-severity[:, None] * np.arange(labels) - steps)
        expected = np.zeros((self._raters, labels))
        for members, counts in self._groups:
            expected[members] += _expected(terms[members], counts.astype(np.float64))
        gap = expected - self._observed
        by_rater = gap @ np.arange(labels)
        return np.concatenate((by_rater[:-1] - by_rater[-1], gap.sum(axis=0)[1:-1]))

    def fit(self) -> tuple[FloatArray, FloatArray] | None:
        """Newton's method with the information by differences; None where it does not settle."""
        size = self._raters - 1 + self._labels - 2
        point = np.zeros(size)
        for _ in range(60):
            gap = self._gap(point)
            information = np.empty((size, size))
            for i in range(size):
                shift = np.zeros(size)
                shift[i] = 1e-4
                information[i] = (self._gap(point - shift) - self._gap(point + shift)) / 2e-4
            information = 0.5 * (information + information.T)
            if np.linalg.cond(information) > 1e10:
                return None
            step = np.linalg.solve(information, gap)
            point = point + step * min(1.0, 1.0 / max(1e-12, float(np.abs(step).max())))
            if float(np.abs(point).max()) > 20.0:
                return None
            if float(np.abs(step).max()) < 1e-9:
                return point, np.linalg.inv(information).astype(np.float64)
        return None


def _expected(terms: FloatArray, counts: FloatArray) -> FloatArray:
    """How often each rater of a group is expected to give each label, given how many units have each total."""
    before: list[FloatArray] = [np.ones(1)]
    after: list[FloatArray] = [np.ones(1)]
    for first, last in zip(terms, terms[::-1], strict=True):
        before.append(_convolve(before[-1], first))
        after.append(_convolve(after[-1], last))
    weight = counts / before[-1]
    out = np.empty_like(terms)
    for rater in range(len(terms)):
        rest = _convolve(before[rater], after[len(terms) - 1 - rater])
        for label in range(terms.shape[1]):
            out[rater, label] = terms[rater, label] * float(rest @ weight[label : label + rest.size])
    return out


def _convolve(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.convolve(a, b), dtype=np.float64)
