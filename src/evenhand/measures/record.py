"""What a measure of a protocol comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.agreement.result import Estimate
from evenhand.records import Value

PEOPLE = "people"
MAJORITY = "majority"
PEOPLES_MAJORITY = "people's majority"
MAJORITY_OF_OTHERS = "majority of the others"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number without its address.

    `label` names the part of a measure that has several: a label of the scale, or full, majority, none. `detail` holds
    what is no single number, as JSON would: a confusion table, the raters who were taken together.
    """

    estimate: Estimate
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    label: Value | None = None
    detail: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of one measure of the protocol.

    `rater` is whose figure it is, `against` whom or what the rater was compared with, both None where the measure has
    no such side; `criterion` is None where it takes several together or reads no rating. `stratum` is the field and
    value that the units were restricted to, None for all. `left_out` counts ratings that are not in the figure by why;
    ratings without a value are counted by status, in the figures over all units only.
    """

    name: str
    kind: str
    criterion: str | None
    rater: str | None
    against: str | None
    stratum: Mapping[str, str] | None
    estimate: Estimate
    label: Value | None = None
    detail: Mapping[str, object] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])


def placed(
    spec_name: str,
    kind: str,
    figure: Figure,
    *,
    criterion: str | None = None,
    rater: str | None = None,
    against: str | None = None,
    stratum: Mapping[str, str] | None = None,
) -> Measure:
    """A figure with its address."""
    return Measure(
        spec_name,
        kind,
        criterion,
        rater,
        against,
        stratum,
        figure.estimate,
        figure.label,
        figure.detail,
        {why: count for why, count in figure.left_out.items() if count},
    )
