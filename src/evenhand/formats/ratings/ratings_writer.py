"""Ratings → tables: long (a rating in each row), wide (a unit in each row), diagnosis (what was used, and why not).

Everything streams: units and ratings come in the same order of units, as a store gives them.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple
from datetime import datetime
from itertools import groupby

from evenhand.formats.ratings.check_column import CHECK, DIGITS
from evenhand.formats.tables.table import Sheet
from evenhand.protocol.model import SCORES, Protocol, field_text
from evenhand.records import Item, RaterRef, Rating, Status, Unit

PARTS = (
    "status", "value", "rationale", "confidence", "notes", "reason", "evidence", "misquoted", "distribution", "mean",
    "reply", "seconds", "visible", "raw", "at",
)  # fmt: skip
"""What a long file has of a rating, under the same names."""


def long_sheet(units: Iterable[Unit], ratings: Iterable[Rating], raters: Iterable[RaterRef]) -> Sheet:
    """A rating in each row: exactly what `ratings import` reads, so that a study's ratings can be moved to a copy."""
    kinds = {rater.id: str(rater.kind) for rater in raters}
    rows = (
        (
            *(unit.item, unit.position, rating.criterion, rating.rater, kinds[rating.rater]),
            *(_cell(getattr(rating, part)) for part in PARTS),
            rating.digest[:DIGITS],
        )
        for unit, given in joined(units, ratings)
        for rating in given
    )
    return Sheet(("item", "unit", "criterion", "rater", "kind", *PARTS, CHECK), rows)


def wide_sheet(
    protocol: Protocol,
    units: Iterable[Unit],
    items: Iterable[Item],
    ratings: Iterable[Rating],
    raters: Sequence[RaterRef],
    rated: Collection[tuple[str, str]],
) -> Sheet:
    """A unit in each row: the fields by which results are broken down, then a column for each criterion and rater.

    `rated` are the criteria and overlap scores that have ratings, each with its rater. A score has a column for each
    rater who gave it; a rater who gave nothing but scores has no column for a criterion. A cell without a value is
    empty, whatever the reason; the diagnosis has the reasons.
    """
    judges = without_scorers(raters, rated)
    pairs = [(criterion.id, rater.id) for criterion in protocol.criteria for rater in judges]
    pairs += [(score, rater.id) for score in SCORES for rater in raters if (score, rater.id) in rated]
    columns = ["item", "unit", *protocol.strata, *(f"{criterion}:{rater}" for criterion, rater in pairs)]

    def rows() -> Iterator[Sequence[object]]:
        coming = iter(items)
        item: Item | None = None
        for unit, given in joined(units, ratings):
            while item is None or item.id != unit.item:
                item = next(coming)
            strata = [field_text(item.fields[name]) if name in item.fields else None for name in protocol.strata]
            values = {(rating.criterion, rating.rater): _cell(rating.value) for rating in given}
            yield [unit.item, unit.position, *strata, *(values.get(pair) for pair in pairs)]

    return Sheet(columns, rows())


def diagnosis_sheet(
    protocol: Protocol, units: Iterable[Unit], ratings: Iterable[Rating], raters: Sequence[RaterRef]
) -> Sheet:
    """A unit and criterion in each row, a column for each rater, and whether the ratings count, and if not, why.

    Give the current ratings under every digest: those of an earlier protocol are named as such and do not count.
    """
    fixed = ["item", "unit", "criterion", "used", "why_not"]
    names = [rater.id if rater.id not in fixed else f"rater:{rater.id}" for rater in raters]
    ids = [rater.id for rater in raters]
    rows = (
        [unit.item, unit.position, criterion.id, *_diagnosis(protocol, criterion.id, given, ids)]
        for unit, given in joined(units, ratings)
        for criterion in protocol.criteria
    )
    return Sheet([*fixed[:3], *names, *fixed[3:]], rows)


def without_scorers(raters: Iterable[RaterRef], rated: Collection[tuple[str, str]]) -> Sequence[RaterRef]:
    """The raters, without those who gave nothing but overlap scores."""
    scorers = {rater for _, rater in rated} - {rater for name, rater in rated if name not in SCORES}
    return [rater for rater in raters if rater.id not in scorers]


def _diagnosis(protocol: Protocol, criterion: str, given: Sequence[Rating], raters: Sequence[str]) -> list[object]:
    """Each rater's value, then `yes`, `partly` or `no`, then the reasons for what does not count."""
    found: dict[str, Rating] = {}
    for rating in given:
        if rating.criterion == criterion and (rating.digest == protocol.digest or rating.rater not in found):
            found[rating.rater] = rating
    reasons = {rater: _why_not(found.get(rater), protocol.digest) for rater in raters}
    values = [None if reasons[rater] else _cell(found[rater].value) for rater in raters]
    missing = [f"{rater}: {why}" for rater, why in reasons.items() if why]
    used = "no" if len(missing) == len(raters) else "partly" if missing else "yes"
    return [*values, used, "; ".join(missing) or None]


def _why_not(rating: Rating | None, digest: str) -> str | None:
    """Why a rating does not count; None if it does."""
    if rating is None:
        return "not rated"
    if rating.digest != digest:
        said = f"rated {_cell(rating.value)}" if rating.value is not None else rating.status.replace("_", " ")
        return f"{said} under an earlier protocol ({rating.digest[:8]})"
    if rating.status is Status.RATED:
        return None
    status = rating.status.replace("_", " ")
    return f"{status} ({rating.reason})" if rating.reason else status


def joined(units: Iterable[Unit], ratings: Iterable[Rating]) -> Iterator[tuple[Unit, Sequence[Rating]]]:
    """Every unit with its ratings, perhaps none. Both must come in the same order of units."""
    groups = groupby(ratings, key=lambda rating: rating.unit)
    coming = next(groups, None)
    for unit in units:
        given: Sequence[Rating] = ()
        if coming is not None and coming[0] == unit.id:
            given = list(coming[1])
            coming = next(groups, None)
        yield unit, given
    if coming is not None:
        raise ValueError(f"the ratings of {coming[0]!r} are not in the order of the units")


def _cell(value: object) -> object:
    """A number without `.0`, a list as JSON, a time in ISO 8601."""
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False, default=astuple) if value else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.isoformat() if isinstance(value, datetime) else str(value) if isinstance(value, str) else value
