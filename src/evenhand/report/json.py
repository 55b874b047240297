"""The report's figures as JSON, in the shapes that scripts rely on.

A statistic is always `{"value", "ci", "n", "why"}`. Coefficients that do not fit a criterion's level are absent.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel

from evenhand.analysis.agreement import Agreement, Pair
from evenhand.analysis.figures import Figure
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import TargetResult
from evenhand.records import RaterRef, Value
from evenhand.report.data import GENERATOR, Report
from evenhand.statistics import Estimate, Spread

Json = dict[str, Any]


def agree_json(tables: Tables, agreements: Mapping[str, Agreement], targets: Sequence[TargetResult]) -> Json:
    """What `evenhand agree --json` prints."""
    return {
        "protocol": tables.protocol.name,
        "digest": tables.protocol.digest,
        "raters": [_rater(rater) for rater in tables.raters],
        "criteria": {name: _criterion(found) for name, found in agreements.items()},
        "targets": [target.to_dict() for target in targets],
        "left_out": {"earlier_protocols": dict(tables.left_out), "adjudicators": tables.ruled()},
    }


def measures_json(tables: Tables, figures: Sequence[Figure]) -> Json:
    """What `evenhand measures --json` prints."""
    return {
        "protocol": tables.protocol.name,
        "digest": tables.protocol.digest,
        "measures": [figure.to_dict() for figure in figures],
    }


def _rater(rater: RaterRef) -> Json:
    return {"id": rater.id, "kind": str(rater.kind)}


def _criterion(found: Agreement) -> Json:
    optional = {"icc": found.icc}
    return {
        "level": found.level,
        "n_units": found.n_units,
        "percent": found.percent.to_dict(),
        "alpha": found.alpha.to_dict(),
        "ac": found.ac.to_dict(),
        "fleiss": found.fleiss.to_dict(),
        **{name: estimate.to_dict() for name, estimate in optional.items() if estimate is not None},
        "forms": _forms(found),
        "majority": _majority(found),
        "ceiling": {"percent": found.ceiling.to_dict(), "alpha": found.ceiling_alpha.to_dict()},
        "baseline": _baseline(found.baseline, found.labels),
        "shares": _shares(found.spread, found.labels),
        "specific": {label: estimate.to_dict() for label, estimate in found.specific.items()},
        "rare": found.rare.to_dict(),
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
        "with_others": {rater: estimate.to_dict() for rater, estimate in found.majority.others.items()},
    }


def _baseline(found: Spread | None, labels: Sequence[Value]) -> Json | None:
    return None if found is None else {"label": labels[found.commonest], "share": found.baseline}


def _shares(found: Spread | None, labels: Sequence[Value]) -> Json:
    return {} if found is None else {str(label): share for label, share in zip(labels, found.shares, strict=True)}


def _pair(pair: Pair) -> Json:
    return {
        "a": pair.a,
        "b": pair.b,
        "kind": pair.kind,
        "n": pair.n,
        **{name: found.to_dict() for name, found in pair.statistics.items()},
        "per_label": {label: estimate.to_dict() for label, estimate in pair.per_label.items()},
        "labels": list(pair.labels),
        "confusion": [list(row) for row in pair.confusion],
    }


def report_json_text(report: Report) -> str:
    """The whole report as one JSON document."""
    return json.dumps(report_json(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def report_json(report: Report) -> Json:
    """The whole report as plain values, with the mark of its generator first."""
    return {"generator": f"{GENERATOR} {report.source.version}", **plain(report)}


def plain(value: object) -> Any:
    """Dataclasses, enums, mappings, sequences and dates as plain JSON values; an estimate as a statistic."""
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Figure):
        entries = {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
        return {"name": entries.pop("statistic"), **entries}
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
