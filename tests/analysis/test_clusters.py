"""Units that belong together: whatever has an interval, it is that of the documents and not that of their units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import cast

import numpy as np
import pytest

from evenhand.analysis.agreement import criterion_agreement
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.analysis.trust import trust
from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Value
from evenhand.statistics import Estimate, Resampling
from tests.measured import custom, study

QUICK = Resampling(replicates=300)
DOCUMENTS, EACH = 60, 5
PERCENT = custom(
    "{id: sure, question: How sure, scale: {type: percent}}",
    "{name: mean, kind: mean, criteria: [sure]}, {name: match, kind: percent_match, criteria: [sure], between: all}",
)


def estimates(thing: object, path: str = "") -> Iterator[tuple[str, Estimate]]:
    """Every estimate in a result, however deep, with where it stands."""
    if isinstance(thing, Estimate):
        yield path, thing
    elif is_dataclass(thing) and not isinstance(thing, type):
        for each in fields(thing):
            yield from estimates(getattr(thing, each.name), f"{path}.{each.name}")
    elif isinstance(thing, Mapping):
        for key, value in cast("Mapping[object, object]", thing).items():
            yield from estimates(value, f"{path}.{key}")
    elif isinstance(thing, list | tuple):
        for place, value in enumerate(cast("Sequence[object]", thing)):
            yield from estimates(value, f"{path}.{place}")


def figures(tables: Tables) -> dict[str, Estimate]:
    found: list[object] = [criterion_agreement(table, QUICK) for table in tables.compared().tables.values()]
    named = {
        f"{m.statistic} {m.criterion} {m.rater} {m.against} {m.label}": m.estimate
        for m in measures(tables, QUICK, by=())
    }
    return dict(estimates([found, named, [trust(tables, name, QUICK) for name in tables.tables]]))


@pytest.mark.parametrize("protocol", [load_protocol("halo-support"), load_protocol("neureg-qa"), PERCENT])
def test_every_interval_is_over_documents(protocol: Protocol):
    generator = np.random.default_rng(4)
    values: Sequence[Value] = list(protocol.criteria[0].scale.values) or [10.0, 20.0, 20.5, 30.0]
    true = generator.integers(0, len(values), size=DOCUMENTS)
    ratings: dict[str, dict[str, Sequence[Value | None]]] = {}
    for rater in ("ann", "ben", "cem", "auto1", "auto2"):
        code = np.where(generator.random(DOCUMENTS) < 0.7, true, generator.integers(0, len(values), size=DOCUMENTS))
        said: list[Value] = [values[one] for one in np.repeat(code, EACH).tolist()]
        # People rate two thirds of the documents: the models' other ratings make prediction-powered estimates.
        nothing: list[Value | None] = [None] * (20 * EACH)
        part = said if rater.startswith("auto") else [*said[: 40 * EACH], *nothing]
        ratings[rater] = {criterion.id: part for criterion in protocol.criteria[:2]}
    # Every document is five times the same unit: taken as independent, they make intervals √5 = 2.2 times narrower.
    alone = study(protocol, ratings, DOCUMENTS * EACH)
    narrow, wide = figures(alone), figures(replace(alone, documents=np.repeat(np.arange(DOCUMENTS), EACH)))
    assert narrow.keys() == wide.keys()
    compared = 0
    for name, one in narrow.items():
        other = wide[name]
        if one.low is None or one.high is None or other.low is None or other.high is None:
            continue
        compared += 1
        if not name.endswith("drift"):
            assert (other.high - other.low) / (one.high - one.low) > 1.5, name
    assert compared > 20
