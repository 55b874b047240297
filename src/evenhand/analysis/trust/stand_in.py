"""The stand-in test: whether a model may replace one of the people, and whether a constant rater might too."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.analysis.tables import Table
from evenhand.records import Value
from evenhand.statistics import MISSING, AltTest, FloatArray, IntArray, alt_test_beside_constant
from evenhand.statistics.models.alt_test import FEWEST_UNITS

_MOST_WORK = 1_000_000_000


@dataclass(frozen=True, slots=True)
class StandIn:
    """The alternative-annotator test of a model, with a rater beside it who always says `constant`.

    `people` names the person of each duel, in the order of the duels; `took_part` those with units enough. `epsilon`
    is the lead that a person must have over the model to hold the place, as a share of units. `meaning` says the
    outcome in one sentence. Without a test `why` is the reason.
    """

    epsilon: float
    people: Sequence[str]
    took_part: Sequence[str]
    n_units: int
    model: AltTest | None
    beside: AltTest | None
    constant: Value | None
    meaning: str
    why: str | None = None
    note: str | None = None

    @property
    def convinces(self) -> bool:
        """Whether the model passes where the constant does not."""
        return bool(self.model and self.model.passed and not (self.beside and self.beside.passed))


def stand_in(table: Table, model: int, epsilon: float) -> StandIn:
    """The test, on units that the model and at least two people rated: by distance of scores, or by equal labels."""
    name = table.raters[model].id
    units = table.units_of(model)
    units = units[table.people_at(units).count >= 2]
    people = _sharing(table, units)
    why = _why(table, people, units)
    if why is not None:
        return StandIn(epsilon, [], [], int(units.size), None, None, None, f"{name} could not be tested: {why}.", why)
    scoring = "accuracy" if table.scores is None else "neg_rmse"
    scores = np.stack([_values(table, person, units) for person in people], axis=1)
    tested = alt_test_beside_constant(scores, _values(table, model, units), scoring, epsilon)
    names = [table.raters[person].id for person in people]
    took_part = [names[duel.rater] for duel in tested.model.duels if duel.p is not None]
    constant = _constant(table, tested.constant_score)
    return StandIn(
        epsilon=epsilon,
        people=names,
        took_part=took_part,
        n_units=int(units.size),
        model=tested.model,
        beside=tested.constant,
        constant=constant,
        meaning=_meaning(name, tested.model, tested.constant, constant, epsilon),
        why=tested.model.why,
        note="only two people: each is compared with the other alone; three make a better test"
        if len(took_part) == 2
        else None,
    )


def _sharing(table: Table, units: IntArray) -> list[int]:
    return [person for person in table.people if (table.codes_at(person, units) != MISSING).any()]


def _why(table: Table, people: Sequence[int], units: IntArray) -> str | None:
    if len(table.people) < 2:
        return f"{len(table.people) or 'no'} person rated; the test leaves one out and needs another to compare with"
    if units.size < FEWEST_UNITS:
        return f"{units.size} units were rated by the model and two people, fewer than {FEWEST_UNITS}"
    if units.size * len(people) ** 2 > _MOST_WORK:
        return f"{len(people)} people on {units.size:,} units are too many to compare each with all the others"
    return None


def _values(table: Table, rater: int, units: IntArray) -> FloatArray:
    codes = table.codes_at(rater, units)
    values = codes.astype(np.float64) if table.scores is None else table.scores[codes]
    return np.where(codes == MISSING, np.nan, values)


def _constant(table: Table, score: float | None) -> Value | None:
    if score is None:
        return None
    if table.scores is None:
        return table.labels[int(score)]
    return int(score) if score == int(score) else score


def _meaning(name: str, model: AltTest, beside: AltTest, constant: Value | None, epsilon: float) -> str:
    if model.passed is None:
        return f"{name} could not be tested: {model.why}."
    tested = sum(duel.p is not None for duel in model.duels)
    won = sum(duel.won for duel in model.duels)
    counted = f"it replaces {won} of {tested} people, being forgiven a gap of up to {epsilon * 100:g} points"
    always = f"a rater who always says {constant}"
    if model.passed and beside.passed:
        return f"{name} passes the stand-in test ({counted}), but so does {always}: here passing shows nothing."
    if model.passed:
        return f"{name} passes the stand-in test ({counted}); {always} does not."
    also = f", although {always} does" if beside.passed else f", and neither does {always}"
    return f"{name} does not pass the stand-in test ({counted}){also}."
