"""The report as data, and how it is built from a study's tables. `text`, `json` and `html` only render it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from evenhand.analysis.agreement import Agreement, criterion_agreement
from evenhand.analysis.combined import parse_combination, selections
from evenhand.analysis.disagreements import Disputed, disputed
from evenhand.analysis.figures import Figure
from evenhand.analysis.measures import measures
from evenhand.analysis.overlap_scores import OverlapScore, overlap_scores
from evenhand.analysis.strata import Stratum, strata
from evenhand.analysis.tables import ALL, Tables
from evenhand.analysis.targets import TargetResult, targets
from evenhand.analysis.trust import Trust, trust
from evenhand.errors import UserError
from evenhand.protocol.model import Combination, Protocol
from evenhand.records import Item, Kind, Rating, Status, Unit, Value
from evenhand.statistics import DEFAULT, Resampling
from evenhand.text import counted, listed, quoted, unknown
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
    own_output: Mapping[str, int] = field(default_factory=dict[str, int])
    """Models that rated what they had written themselves, each with the number of such units."""
    groups: Sequence[str] = field(default=(), metadata={"words": True})
    """A sentence on the groups of items that intervals are computed over, if items are grouped."""


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
class FigureOptions:
    """What figures are asked for beyond the protocol's own.

    `by`: the fields by which results are broken down, several for their combinations. `combine`: raters taken as one,
    by name. `together`: criteria on which agreement is also measured as on one.
    """

    by: Sequence[Sequence[str]] = ()
    combine: Mapping[str, Combination] = field(default_factory=dict[str, Combination])
    together: Sequence[str] = ()


def figure_options(tables: Tables, by: Sequence[str], combine: Sequence[str], together: str | None) -> FigureOptions:
    """What figures are asked for beyond the protocol's own, from how it is written."""
    comparable = list(tables.compared().tables) if together is not None or combine else []
    criteria = [] if together is None else comparable if together == "all" else _names(together)
    for name in criteria:
        if name not in comparable:
            raise UserError(unknown("criterion to compare", name, comparable))
    if len(criteria) == 1:
        raise UserError(f"{criteria[0]} is only one criterion: there is nothing to take together")
    fields = [_names(given) for given in by]
    for name in dict.fromkeys(name for names in fields for name in names):
        if name in tables.labels and not any(tables.labels[name]):
            raise UserError(f"no item has a value in the field {name!r}, so nothing can be broken down by it")
    parsed = list(map(parse_combination, combine))
    combinations = dict(parsed)
    if len(combinations) < len(parsed):
        raise UserError(f"each combination of raters needs a name of its own: {listed([name for name, _ in parsed])}")
    for name, how in combinations.items():
        if wrong := how.misfit([tables.tables[one].criterion.scale for one in comparable]):
            raise UserError(f"{name}: {wrong}")
    return FigureOptions(fields, combinations, criteria)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) < len(names):
        raise UserError(f"the same name appears twice in {quoted(text)}")
    return names


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows, in the order it shows it. A single result is a report with one part filled in."""

    source: Provenance
    raters: Sequence[RaterRow]
    measures: Sequence[Figure] = ()
    targets: Sequence[TargetResult] = ()
    agreements: Mapping[str, Agreement] = field(default_factory=dict[str, Agreement])
    by_stratum: Sequence[Agreement] = ()
    combined: Mapping[str, Combination] = field(default_factory=dict[str, Combination])
    distributions: Sequence[Distribution] = ()
    trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    cases: Sequence[Case] = ()
    scores: Sequence[OverlapScore] = ()
    titles: Mapping[str, str] = field(default_factory=dict[str, str], metadata={"words": True})


Fetch = Callable[[Sequence[int]], Sequence[tuple[Item, Unit, Sequence[Rating]]]]
"""Units by their numbers, each with its item and its ratings."""


def build(
    tables: Tables,
    location: str,
    fetch: Fetch,
    plan: Resampling = DEFAULT,
    models: Mapping[str, Collection[str]] | None = None,
) -> Report:
    """The whole report; `fetch` gets the texts of disputed units, `models` names the models of each rater."""
    measured = _measured(tables, plan, FigureOptions())
    view = tables.compared()
    categorical = [name for name, table in view.tables.items() if table.criterion.scale.values]
    heading = _heading(tables, location, plan)
    return replace(
        heading,
        source=replace(heading.source, own_output=own_output(tables, models or {})),
        measures=measured,
        targets=targets(tables, measured, plan),
        agreements=_agreements(view, _combined(view, FigureOptions()), plan),
        distributions=[_distribution(view, name) for name in categorical],
        trust={name: trust(view, name, plan) for name in categorical},
        cases=_cases(view, categorical, fetch),
        scores=overlap_scores(view, plan) if view.scores else (),
    )


def agreement_report(
    tables: Tables,
    location: str = "",
    plan: Resampling = DEFAULT,
    criterion: str | None = None,
    options: FigureOptions = FigureOptions(),
) -> Report:
    """Agreement, on one criterion or on all on which raters can be compared, and the targets."""
    heading = _heading(tables, location, plan, options)
    every = tables.compared()
    view = every if criterion is None else replace(every, tables={criterion: every.tables[criterion]})
    views = [view, *([every.joined(options.together)] if options.together else [])]
    agreements: dict[str, Agreement] = {}
    by_stratum: list[Agreement] = []
    for one in views:
        combined = _combined(one, options)
        agreements |= _agreements(one, combined, plan)
        for part in strata(one, options.by) if options.by else ():
            by_stratum += _agreements(one, combined, plan, part).values()
    return replace(
        heading,
        agreements=agreements,
        titles={ALL: f"{listed(options.together)} together"} if 0 < len(options.together) < len(every.tables) else {},
        by_stratum=by_stratum,
        scores=overlap_scores(view, plan, options.by or None) if view.scores else (),
        targets=targets(tables, plan=plan),
    )


def _combined(tables: Tables, options: FigureOptions) -> Sequence[Tables]:
    how = {**tables.protocol.combine, **options.combine}
    return list(selections(tables, how)) if how else []


def _agreements(
    tables: Tables, combined: Sequence[Tables], plan: Resampling, part: Stratum | None = None
) -> dict[str, Agreement]:
    """The agreement on each criterion, over all units or in one stratum."""
    found: dict[str, Agreement] = {}
    for name in tables.tables:
        used = [of.tables[name] if part is None else of.tables[name].within(part.units) for of in (tables, *combined)]
        found[name] = replace(criterion_agreement(used[0], plan, used[1:]), stratum=part and part.of)
    return found


def _measured(tables: Tables, plan: Resampling, options: FigureOptions) -> list[Figure]:
    """The protocol's measures, then those about combined raters."""
    every = [tables, *_combined(tables, options)]
    return [one for of in every for one in measures(of, plan, by=options.by or None, together=options.together)]


def measures_report(
    tables: Tables, location: str = "", plan: Resampling = DEFAULT, options: FigureOptions = FigureOptions()
) -> Report:
    """The protocol's own measures."""
    return replace(_heading(tables, location, plan, options), measures=_measured(tables, plan, options))


def trust_report(tables: Tables, location: str, criterion: str, plan: Resampling = DEFAULT) -> Report:
    """Trust in each rater on one criterion."""
    return replace(_heading(tables, location, plan), trust={criterion: trust(tables.compared(), criterion, plan)})


def _heading(tables: Tables, location: str, plan: Resampling, options: FigureOptions = FigureOptions()) -> Report:
    raters: list[RaterRow] = []
    for number, rater in enumerate(tables.raters):
        counts = [table.statuses[number] for table in (*tables.tables.values(), *tables.scores.values())]
        statuses = {status: sum(count.get(status, 0) for count in counts) for status in Status}
        raters.append(RaterRow(rater.id, rater.kind, rater.version, statuses, tables.failures.get(rater.id, {})))
    groups: list[str] = []
    if tables.documents is not None:
        number = counted(len(np.unique(tables.documents)), "group")
        groups = [f"Intervals are computed over {number} of items with the same {tables.protocol.cluster}."]
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
        groups=groups,
    )
    return Report(source, raters, combined={**tables.protocol.combine, **options.combine})


def own_output(tables: Tables, models: Mapping[str, Collection[str]]) -> Mapping[str, int]:
    """Raters that rated what their models had written, by the label `model` of the items, and how many units."""
    labels, found = tables.labels.get("model"), dict[str, int]()
    written = tables.by_unit(labels) if labels else ()
    for number, rater in enumerate(tables.raters) if written else ():
        own = models.get(rater.id, ())
        units = {unit for table in tables.tables.values() for unit in table.units_of(number).tolist()} if own else ()
        if count := sum(written[unit] in own for unit in units):
            found[rater.id] = count
    return found


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
