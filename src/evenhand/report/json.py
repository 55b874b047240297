"""The report's figures as JSON, in the shapes that scripts rely on.

A statistic is always `{"value", "ci", "n", "why"}`. Coefficients that do not fit a criterion's level are absent.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel

from evenhand.analysis.agreement import Agreement
from evenhand.analysis.figures import Figure
from evenhand.analysis.overlap_scores import OverlapScore
from evenhand.report.build import GENERATOR, Report
from evenhand.statistics import Estimate

Json = dict[str, Any]


def agree_json(report: Report) -> Json:
    """What `evenhand agree --json` prints."""
    source = report.source
    strata = [
        {"stratum": found.stratum, "criterion": found.criterion, **plain(_criterion(found))}
        for found in report.by_stratum
    ]
    return {
        "protocol": source.protocol.name,
        "digest": source.protocol.digest,
        "raters": [{"id": rater.id, "kind": str(rater.kind)} for rater in report.raters],
        "criteria": {name: plain(_criterion(found)) for name, found in report.agreements.items()},
        **({"combined": plain(report.combined)} if report.combined else {}),
        **({"strata": strata} if strata else {}),
        **({"scores": [_score(found) for found in report.scores]} if report.scores else {}),
        "targets": [target.to_dict() for target in report.targets],
        "left_out": {"earlier_protocols": dict(source.left_out), "adjudicators": list(source.adjudicators)},
    }


def measures_json(report: Report) -> Json:
    """What `evenhand measures --json` prints."""
    protocol = report.source.protocol
    figures = [figure.to_dict() for figure in report.measures]
    combined = {"combined": plain(report.combined)} if report.combined else {}
    return {"protocol": protocol.name, "digest": protocol.digest, "measures": figures, **combined}


def report_json(report: Report) -> Json:
    """The whole report as plain values, with the mark of its generator first."""
    return {"generator": f"{GENERATOR} {report.source.version}", **plain(report)}


def report_json_text(report: Report) -> str:
    """The whole report as one JSON document."""
    return json_text(report_json(report)) + "\n"


def json_text(document: object) -> str:
    """A document as JSON for people and programs to read."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)


def plain(value: object) -> Any:
    """Values as plain JSON: an estimate as a statistic, dataclasses without the fields that are marked as `words`."""
    return json.loads(json.dumps(value, default=_plainer, allow_nan=False))


def _plainer(value: object) -> object:
    if isinstance(value, Estimate):
        return value.to_dict()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        entries = {entry.name: getattr(value, entry.name) for entry in fields(value) if "words" not in entry.metadata}
        return {"name": entries.pop("statistic"), **entries} if isinstance(value, Figure) else entries
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Iterable):
        return list(cast("Iterable[object]", value))
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def _criterion(found: Agreement) -> Json:
    shares = dict(zip(found.labels, found.spread.shares, strict=True)) if found.spread else {}
    sides, rest = ("a", "b", "kind", "n"), ("per_label", "labels", "confusion")
    baseline, votes = found.baseline, found.majority.votes
    # Which of the forms that go by one name each figure is.
    forms = {"alpha": f"Krippendorff, {found.level} metric", "ac": "Gwet AC1", "fleiss": "Fleiss, identity weights"}
    if found.level != "nominal":
        forms["ac"] = f"Gwet AC2, quadratic weights{', 101 whole percents' if found.level == 'interval' else ''}"
        forms["icc"] = "ICC(2,1): two-way random, single rater, absolute agreement"
    return {
        **_some(found, ("level", "n_units", "percent", "alpha", "ac", "fleiss")),
        **({"icc": found.icc} if found.icc else {}),
        "forms": forms,
        "majority": {
            **_some(votes, ("n", "full", "majority", "none")),
            "by_count": found.majority.by_count,
            "per_rater": {rater: estimate.value for rater, estimate in found.majority.plain.items()},
            "with_others": found.majority.others,
        },
        "ceiling": {"percent": found.ceiling, "alpha": found.ceiling_alpha},
        "baseline": {"label": found.labels[baseline.commonest], "share": baseline.baseline} if baseline else None,
        "shares": shares,
        **_some(found, ("specific", "rare", "warnings")),
        **({"values": found.values} if found.values else {}),
        "pairs": [{**_some(pair, sides), **pair.statistics, **_some(pair, rest)} for pair in found.pairs],
        "pairs_without_shared_units": found.unpaired,
        "pairs_left_out": found.omitted,
        "status": found.statuses,
    }


def _score(found: OverlapScore) -> Json:
    whole, *parts = found.means
    strata = [{"stratum": one.stratum, "mean": one.estimate} for one in parts]
    rest = plain({"status": found.statuses, "strata": strata, "correlations": found.correlations})
    return {**_some(found, ("score", "rater")), "mean": whole.estimate.to_dict(), **rest}


def _some(of: object, names: Iterable[str]) -> Json:
    return {name: getattr(of, name) for name in names}
