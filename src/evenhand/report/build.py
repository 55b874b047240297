"""The report as data, and how it is built from a study's tables. `text`, `json` and `html` only render it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from evenhand.analysis.agreement import Agreement, criterion_agreement
from evenhand.analysis.disagreements import Disputed, disputed
from evenhand.analysis.figures import Figure
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import TargetResult, targets
from evenhand.analysis.trust import Trust, trust
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, Rating, Status, Unit, Value
from evenhand.statistics import DEFAULT, Resampling
from evenhand.version import __version__

MOST_CASES = 20
GENERATOR = "report by Evenhand"
"""The mark in every rendering: a file that has it may be replaced by a newer report."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the figures come from, so that they can be had again."""

    location: str
    protocol: Protocol
    version: str
    made: datetime
    seed: int
    replicates: int
    n_items: int
    n_units: int
    left_out: Mapping[str, int]
    """Ratings under other protocol digests, which no figure here counts."""
    adjudicators: Sequence[str] = ()
    """Raters who saw what others had said: in their own figures, but in no agreement."""


@dataclass(frozen=True, slots=True)
class RaterRow:
    """One rater: how many ratings of each status, all criteria together, and failures by reason."""

    id: str
    kind: Kind
    version: str
    statuses: Mapping[Status, int]
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Distribution:
    """How often each rater gave each value of one criterion, in the scale's order."""

    criterion: str
    values: Sequence[Value]
    by_rater: Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Case:
    """A unit on which raters disagree, with its texts and what each rater said of it."""

    criterion: str
    disputed: Disputed
    item: Item
    unit: Unit
    ratings: Sequence[Rating]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows, in the order it shows it. A single result is a report with one part filled in."""

    source: Provenance
    raters: Sequence[RaterRow]
    measures: Sequence[Figure] = ()
    targets: Sequence[TargetResult] = ()
    agreements: Mapping[str, Agreement] = field(default_factory=dict[str, Agreement])
    distributions: Sequence[Distribution] = ()
    trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    cases: Sequence[Case] = ()


Fetch = Callable[[Sequence[int]], Sequence[tuple[Item, Unit, Sequence[Rating]]]]
"""Units by their numbers, each with its item and its ratings."""


def build(tables: Tables, location: str, fetch: Fetch, plan: Resampling = DEFAULT) -> Report:
    """The whole report; `fetch` gets the texts of disputed units."""
    measured = measures(tables, plan)
    view = tables.compared()
    categorical = [name for name, table in view.tables.items() if table.criterion.scale.values]
    return replace(
        _heading(tables, location, plan),
        measures=measured,
        targets=targets(tables, measured, plan),
        agreements={name: criterion_agreement(table, plan) for name, table in view.tables.items()},
        distributions=[_distribution(view, name) for name in categorical],
        trust={name: trust(view, name, plan) for name in categorical},
        cases=_cases(view, categorical, fetch),
    )


def agreement_report(
    tables: Tables, location: str = "", plan: Resampling = DEFAULT, criterion: str | None = None
) -> Report:
    """Agreement, on one criterion or on all on which raters can be compared, and the targets."""
    heading, compared = _heading(tables, location, plan), tables.compared().tables
    chosen = compared if criterion is None else {criterion: compared[criterion]}
    agreements = {name: criterion_agreement(table, plan) for name, table in chosen.items()}
    return replace(heading, agreements=agreements, targets=targets(tables, plan=plan))


def measures_report(tables: Tables, location: str = "", plan: Resampling = DEFAULT) -> Report:
    """The protocol's own measures."""
    return replace(_heading(tables, location, plan), measures=measures(tables, plan))


def trust_report(tables: Tables, location: str, criterion: str, plan: Resampling = DEFAULT) -> Report:
    """Trust in each rater on one criterion."""
    return replace(_heading(tables, location, plan), trust={criterion: trust(tables.compared(), criterion, plan)})


def _heading(tables: Tables, location: str, plan: Resampling) -> Report:
    raters: list[RaterRow] = []
    for number, rater in enumerate(tables.raters):
        counts = [table.statuses[number] for table in tables.tables.values()]
        statuses = {status: sum(count.get(status, 0) for count in counts) for status in Status}
        raters.append(RaterRow(rater.id, rater.kind, rater.version, statuses, tables.failures.get(rater.id, {})))
    source = Provenance(
        location=location,
        protocol=tables.protocol,
        version=__version__,
        made=datetime.now(UTC),
        seed=plan.seed,
        replicates=plan.replicates,
        n_items=tables.n_items,
        n_units=tables.n_units,
        left_out=tables.left_out,
        adjudicators=tables.ruled(),
    )
    return Report(source, raters)


def _distribution(view: Tables, name: str) -> Distribution:
    table = view.tables[name]
    counts = {
        rater.id: np.bincount(table.code[table.rater == number], minlength=len(table.values)).tolist()
        for number, rater in enumerate(view.raters)
    }
    return Distribution(name, table.values, {rater: found for rater, found in counts.items() if any(found)})


def _cases(view: Tables, categorical: Sequence[str], fetch: Fetch) -> list[Case]:
    """The most disputed units of each criterion, the worst first, as many as a person will read."""
    each = max(3, MOST_CASES // max(len(categorical), 1))
    worst = [(name, one) for name in categorical for one in disputed(view, name, most=each)]
    texts = fetch([one.unit for _, one in worst])
    return [
        Case(name, one, item, unit, [rating for rating in ratings if rating.criterion == name])
        for (name, one), (item, unit, ratings) in zip(worst, texts, strict=True)
    ]
