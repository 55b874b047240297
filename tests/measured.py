"""Small studies in memory for the tests of the measures."""

from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.analysis.figures import Figure
from evenhand.analysis.tables import TableBuilder, Tables
from evenhand.protocol.load import load_protocol, read_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Kind, RaterRef, Status, Value

Said = Value | Status | None
Ratings = Mapping[str, Mapping[str, Sequence[Said]]]
CANNOT = "Can't confidently assess or no claim"


def study(
    protocol: Protocol | str,
    ratings: Ratings,
    items: Sequence[int] | int,
    labels: Mapping[str, Sequence[str | None]] | None = None,
    references: Sequence[str | None] | None = None,
) -> Tables:
    """Tables from what each rater said of each unit; `items` counts them, or gives each unit's item.

    A rater whose name begins with `auto` is a model, with `rule` a rule.
    """
    protocol = load_protocol(protocol) if isinstance(protocol, str) else protocol
    kinds = {"auto": Kind.MODEL, "rule": Kind.RULE}
    raters = [RaterRef(name, kinds.get(name[:4], Kind.PERSON)) for name in ratings]
    n_units = items if isinstance(items, int) else len(items)
    builders = {criterion.id: TableBuilder(criterion, n_units, len(raters)) for criterion in protocol.criteria}
    for number, of_rater in enumerate(ratings.values()):
        for criterion, column in of_rater.items():
            for unit, said in enumerate(column):
                if isinstance(said, Status):
                    builders[criterion].add(unit, number, said, None)
                elif said is not None:
                    builders[criterion].add(unit, number, Status.RATED, said)
    return Tables(
        protocol,
        raters,
        items if isinstance(items, int) else max(items) + 1,
        n_units,
        {name: builder.build() for name, builder in builders.items()},
        None if isinstance(items, int) else np.array(items, dtype=np.int64),
        labels or {},
        references,
    )


def one(measured: Sequence[Figure], name: str, rater: str | None = None, **wanted: object) -> Figure:
    """The one figure with this address; the figure over all units unless a stratum is named."""
    wanted = {"stratum": None, "rater": rater, **wanted}
    found = [
        m for m in measured if m.statistic == name and all(getattr(m, key) == value for key, value in wanted.items())
    ]
    assert len(found) == 1, f"{len(found)} figures {name} {wanted}"
    return found[0]


def interval(measure: Figure) -> tuple[float | None, float | None]:
    return measure.estimate.low, measure.estimate.high


def custom(criteria: str, listed: str) -> Protocol:
    head = 'name: mine\nversion: "1"\ntitle: Mine\nitem: {fields: {text: {role: rated}}}\n'
    return read_protocol(f"{head}criteria: [{criteria}]\nmeasures: [{listed}]\n", "mine.yaml")
