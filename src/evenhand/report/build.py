"""Tables → report. Pure: the texts of disputed units are fetched through a function that the caller gives."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from evenhand.analysis.agreement import Agreement, criterion_agreement
from evenhand.analysis.disagreements import disputed
from evenhand.analysis.measures import measures
from evenhand.analysis.tables import Tables
from evenhand.analysis.targets import targets
from evenhand.analysis.trust import trust
from evenhand.records import Item, Rating, Status, Unit
from evenhand.report.data import Case, Distribution, RaterRow, Report, Source
from evenhand.statistics import DEFAULT, Resampling
from evenhand.version import __version__

Fetch = Callable[[Sequence[int]], Sequence[tuple[Item, Unit, Sequence[Rating]]]]
"""Units by their numbers, each with its item and its ratings."""

MOST_CASES = 20


def agreements(tables: Tables, plan: Resampling = DEFAULT) -> dict[str, Agreement]:
    """Agreement on every criterion on which raters can be compared."""
    return {name: criterion_agreement(table, plan) for name, table in tables.compared().tables.items()}


def build(tables: Tables, location: str, made: datetime, fetch: Fetch, plan: Resampling = DEFAULT) -> Report:
    """The whole report."""
    measured = measures(tables, plan)
    view = tables.compared()
    return replace(
        heading(tables, location, made, plan),
        measures=measured,
        targets=targets(tables, measured, plan),
        agreements=agreements(tables, plan),
        distributions=_distributions(view),
        trust={name: trust(view, name, plan) for name, table in view.tables.items() if table.categorical},
        cases=_cases(view, fetch),
    )


def heading(tables: Tables, location: str, made: datetime, plan: Resampling = DEFAULT) -> Report:
    """A report that has its source and raters, but no figures yet."""
    source = Source(
        location=location,
        protocol=tables.protocol,
        version=__version__,
        made=made,
        seed=plan.seed,
        replicates=plan.replicates,
        n_items=tables.n_items,
        n_units=tables.n_units,
        left_out=tables.left_out,
        adjudicators=tables.ruled(),
    )
    return Report(source, _raters(tables))


def _raters(tables: Tables) -> list[RaterRow]:
    rows: list[RaterRow] = []
    for number, rater in enumerate(tables.raters):
        statuses = {
            status: sum(table.statuses[number].get(status, 0) for table in tables.tables.values()) for status in Status
        }
        rows.append(RaterRow(rater.id, rater.kind, rater.version, statuses, tables.failures.get(rater.id, {})))
    return rows


def _distributions(tables: Tables) -> list[Distribution]:
    found: list[Distribution] = []
    for name, table in tables.tables.items():
        if not table.categorical:
            continue
        by_rater = {
            rater.id: np.bincount(table.code[table.rater == number], minlength=len(table.values)).tolist()
            for number, rater in enumerate(tables.raters)
            if (table.rater == number).any()
        }
        found.append(Distribution(name, table.values, by_rater))
    return found


def _cases(tables: Tables, fetch: Fetch) -> list[Case]:
    """The most disputed units of each criterion, the worst first, as many as a person will read."""
    categorical = [name for name, table in tables.tables.items() if table.categorical]
    each = max(3, MOST_CASES // max(len(categorical), 1))
    worst = [(name, one) for name in categorical for one in disputed(tables, name, most=each)]
    texts = fetch([one.unit for _, one in worst])
    return [
        Case(name, one, item, unit, [rating for rating in ratings if rating.criterion == name])
        for (name, one), (item, unit, ratings) in zip(worst, texts, strict=True)
    ]
