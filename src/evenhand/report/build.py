"""Tables → report. Pure: the texts of disputed units are fetched through a function that the caller gives."""

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from evenhand.agreement.bootstrap import DEFAULT, Plan
from evenhand.matrix import Agreement, agreement
from evenhand.measures import measures, targets
from evenhand.records import Item, Rating, Status, Unit
from evenhand.report.data import Case, Distribution, RaterRow, Report, Source
from evenhand.table import Tables
from evenhand.trust import disputed, trust
from evenhand.version import __version__

Fetch = Callable[[Sequence[int]], Sequence[tuple[Item, Unit, Sequence[Rating]]]]
"""Units by their numbers, each with its item and its ratings."""

MOST_CASES = 20


def agreements(tables: Tables, plan: Plan = DEFAULT) -> dict[str, Agreement]:
    """Agreement on every criterion on which raters can be compared."""
    view = tables.compared()
    return {name: agreement(view, name, plan) for name in view.tables}


def build(tables: Tables, location: str, made: datetime, fetch: Fetch, plan: Plan = DEFAULT) -> Report:
    """The whole report."""
    measured = measures(tables, plan=plan)
    view = tables.compared()
    return Report(
        source=Source(
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
        ),
        raters=_raters(tables),
        measures=measured,
        targets=targets(tables, measured),
        agreements=agreements(tables, plan),
        distributions=_distributions(view),
        trust={name: trust(view, name, plan) for name, table in view.tables.items() if table.categorical},
        cases=_cases(view, fetch),
    )


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
