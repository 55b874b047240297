"""Measures and targets as JSON would hold them: numbers or null, never NaN."""

from collections.abc import Sequence

from evenhand.agreement.result import Estimate
from evenhand.measures.goals import TargetResult
from evenhand.measures.record import Measure
from evenhand.table import Tables


def measures_json(tables: Tables, measured: Sequence[Measure]) -> dict[str, object]:
    """The document that `evenhand measures --json` prints."""
    return {
        "protocol": tables.protocol.name,
        "digest": tables.protocol.digest,
        "measures": [_measure(measure) for measure in measured],
    }


def targets_json(results: Sequence[TargetResult]) -> list[dict[str, object]]:
    """Targets as `agree --json` lists them."""
    return [
        {
            "measure": result.measure,
            "goal": result.goal,
            "criterion": result.criterion,
            "a": result.a,
            "b": result.b,
            "label": result.label,
            **statistic(result.estimate),
            "verdict": result.verdict,
            "met": result.met,
            "more_items": result.more_items,
        }
        for result in results
    ]


def _measure(measure: Measure) -> dict[str, object]:
    return {
        "name": measure.name,
        "kind": measure.kind,
        "criterion": measure.criterion,
        "rater": measure.rater,
        "against": measure.against,
        "stratum": None if measure.stratum is None else dict(measure.stratum),
        "label": measure.label,
        **statistic(measure.estimate),
        "detail": None if measure.detail is None else dict(measure.detail),
        "left_out": dict(measure.left_out),
    }


def statistic(found: Estimate) -> dict[str, object]:
    """A statistic as every JSON document has it; its note, where it has one, says why there is no interval."""
    interval = None if found.low is None or found.high is None else [found.low, found.high]
    note = {} if found.note is None else {"note": found.note}
    return {"value": found.value, "ci": interval, "n": found.n, "why": found.why, **note}
