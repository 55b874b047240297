"""What the people would have said of every unit, from their few ratings and a model's many."""

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.analysis.tables import Table
from evenhand.statistics import PredictionPowered, Resampling, ppi_labels, ppi_mean

MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Powered:
    """Prediction-powered estimates: the `mean` score, or the share of each label.

    `labelled` units have the people's value and the model's, `further` the model's alone. Left out: `tied` units, whose
    people have no majority label, and `people_only` ones, which the model did not rate. `why` says what keeps the model
    from adding anything.
    """

    estimates: Mapping[str, PredictionPowered]
    labelled: int
    further: int
    tied: int
    people_only: int
    why: str | None = None


def powered(table: Table, model: int, plan: Resampling) -> Powered:
    """One model's estimates. A unit's people value is their majority label, or their mean score."""
    units = table.units_of(model)
    people = table.people_at(units)
    rated = people.count > 0
    known = rated if table.scores is not None else people.majority >= 0
    clusters, others = table.clusters_of(units[known]), table.clusters_of(units[~rated])
    codes = table.codes_at(model, units)
    if table.scores is not None:
        values = table.scores[codes]
        mean = ppi_mean(people.mean[known], values[known], values[~rated], "auto", clusters, others, plan.level)
        estimates = {MEAN: mean}
    else:
        shares = ppi_labels(
            people.majority[known],
            codes[known],
            codes[~rated],
            len(table.labels),
            "auto",
            clusters,
            others,
            plan.level,
        )
        estimates = {str(label): share for label, share in zip(table.labels, shares, strict=True)}
    labelled, further = int(known.sum()), int((~rated).sum())
    return Powered(
        estimates=estimates,
        labelled=labelled,
        further=further,
        tied=int((rated & ~known).sum()),
        people_only=table.rated_by_people - int(rated.sum()),
        why=_why(table, labelled, further),
    )


def _why(table: Table, labelled: int, further: int) -> str | None:
    if not table.people:
        return "no person rated this criterion: nothing says how wrong the model is"
    if labelled == 0:
        return "no unit has both the people's value and the model's: nothing says how wrong the model is"
    if further == 0:
        return "the model rated no further units: there is nothing to gain from it"
    return None
