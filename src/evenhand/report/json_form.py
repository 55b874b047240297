"""The report's figures as JSON, in the shapes that scripts rely on.

A statistic is always `{"value", "ci", "n", "why"}`. Coefficients that do not fit a criterion's level are absent.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel

from evenhand.agreement.labels import Spread
from evenhand.agreement.result import Estimate
from evenhand.matrix import Agreement, Pair
from evenhand.measures import TargetResult, statistic, targets_json
from evenhand.records import RaterRef, Value
from evenhand.report.data import Report
from evenhand.table import Tables

Json = dict[str, Any]


def agree_json(tables: Tables, agreements: Mapping[str, Agreement], targets: Sequence[TargetResult]) -> Json:
    """What `evenhand agree --json` prints."""
    return {
        "protocol": tables.protocol.name,
        "digest": tables.protocol.digest,
        "raters": [_rater(rater) for rater in tables.raters],
        "criteria": {name: _criterion(found) for name, found in agreements.items()},
        "targets": targets_json(targets),
        "left_out": {"earlier_protocols": dict(tables.left_out), "adjudicators": tables.ruled()},
    }


def _rater(rater: RaterRef) -> Json:
    return {"id": rater.id, "kind": str(rater.kind)}


def _criterion(found: Agreement) -> Json:
    optional = {"icc": found.icc}
    return {
        "level": found.level,
        "n_units": found.n_units,
        "percent": statistic(found.percent),
        "alpha": statistic(found.alpha),
        "ac": statistic(found.ac),
        "fleiss": statistic(found.fleiss),
        **{name: statistic(estimate) for name, estimate in optional.items() if estimate is not None},
        "forms": _forms(found),
        "majority": _majority(found),
        "ceiling": {"percent": statistic(found.ceiling), "alpha": statistic(found.ceiling_alpha)},
        "baseline": _baseline(found.baseline, found.labels),
        "shares": _shares(found.spread, found.labels),
        "specific": {label: statistic(estimate) for label, estimate in found.specific.items()},
        "rare": statistic(found.rare),
        "warnings": list(found.warnings),
        "pairs": [_pair(pair) for pair in found.pairs],
        "status": {str(status): count for status, count in found.statuses.items()},
    }


def _forms(found: Agreement) -> Json:
    """Which of the forms that go by one name each figure is."""
    ordered = found.level != "nominal"
    forms = {
        "alpha": f"Krippendorff, {found.level} metric",
        "ac": "Gwet AC2, quadratic weights" if ordered else "Gwet AC1",
        "fleiss": "Fleiss, identity weights",
    }
    return {**forms, "icc": "ICC(2,1): two-way random, single rater, absolute agreement"} if ordered else forms


def _majority(found: Agreement) -> Json:
    votes = found.majority.votes
    return {
        "n": votes.n,
        "full": votes.full,
        "majority": votes.majority,
        "none": votes.none,
        "per_rater": {rater: estimate.value for rater, estimate in found.majority.plain.items()},
        "with_others": {rater: statistic(estimate) for rater, estimate in found.majority.others.items()},
    }


def _baseline(found: Spread | None, labels: Sequence[Value]) -> Json | None:
    return None if found is None else {"label": labels[found.commonest], "share": found.baseline}


def _shares(found: Spread | None, labels: Sequence[Value]) -> Json:
    return {} if found is None else {str(label): share for label, share in zip(labels, found.shares, strict=True)}


def _pair(pair: Pair) -> Json:
    optional = {
        "kappa_linear": pair.kappa_linear,
        "kappa_quadratic": pair.kappa_quadratic,
        "within_one": pair.within_one,
        "spearman": pair.spearman,
    }
    return {
        "a": pair.a,
        "b": pair.b,
        "kind": pair.kind,
        "n": pair.n,
        "percent": statistic(pair.percent),
        "kappa": statistic(pair.kappa),
        **{name: statistic(estimate) for name, estimate in optional.items() if estimate is not None},
        "ac": statistic(pair.ac),
        "macro_f1": statistic(pair.macro_f1),
        "per_label": {label: statistic(estimate) for label, estimate in pair.per_label.items()},
        "labels": list(pair.labels),
        "confusion": [list(row) for row in pair.confusion],
    }


def report_json_text(report: Report) -> str:
    """The whole report as one JSON document."""
    return json.dumps(plain(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def plain(value: object) -> Any:
    """Dataclasses, enums, mappings, sequences and dates as plain JSON values; an estimate as a statistic."""
    if isinstance(value, Estimate):
        return statistic(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in cast("Mapping[object, object]", value).items()}
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Iterable):
        return [plain(entry) for entry in cast("Iterable[object]", value)]
    raise TypeError(f"{type(value).__name__} has no JSON form here")
