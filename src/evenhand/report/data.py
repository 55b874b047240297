"""The report as data. `build` makes it, `text`, `json_form` and `html` render it; rendering decides nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from evenhand.analysis.agreement import Agreement
from evenhand.analysis.disagreements import Disputed
from evenhand.analysis.figures import Figure
from evenhand.analysis.targets import TargetResult
from evenhand.analysis.trust import Trust
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Kind, Rating, Status, Unit, Value

GENERATOR = "report by Evenhand"
"""The mark in every rendering: a file that has it may be replaced by a newer report."""


@dataclass(frozen=True, slots=True)
class Source:
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

    source: Source
    raters: Sequence[RaterRow]
    measures: Sequence[Figure] = ()
    targets: Sequence[TargetResult] = ()
    agreements: Mapping[str, Agreement] = field(default_factory=dict[str, Agreement])
    distributions: Sequence[Distribution] = ()
    trust: Mapping[str, Trust] = field(default_factory=dict[str, Trust])
    cases: Sequence[Case] = ()
