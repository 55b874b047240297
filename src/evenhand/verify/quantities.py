"""A claim's numbers and dates held against those of the passage."""

import math
from collections.abc import Sequence

from evenhand.verify.dates import Date
from evenhand.verify.facts import Facts, counts_of
from evenhand.verify.numbers import Number
from evenhand.verify.scene import MOST_CLAIMED, MOST_SHOWN, Finding, Scene
from evenhand.verify.tokens import following, meaning
from evenhand.verify.units import base, dimension

_REACH = 6
_CONVERTED = 0.03
_ABOUT = 0.06
_ROUNDED = 0.1
_SURE = 0.35
_FOUND = 0.3
_DOUBT = 0.15
_ELSEWHERE = 0.4


def numbers_checked(scene: Scene) -> Finding:
    """Each number of the claim: shown, another one shown for the same thing, or nowhere in the article."""
    claimed = scene.claimed.numbers[:MOST_CLAIMED]
    if not claimed:
        return Finding()
    agrees = conflicts = missing = 0.0
    notes: list[str] = []
    everywhere = counts_of(scene.article.text)[0]
    for number in claimed:
        equal, other, shown = _best_number(scene, number)
        absent = not equal and not any(_can_equal(number, one) for one in everywhere)
        against = _against(equal, other, absent)
        agrees, conflicts = agrees + equal, max(conflicts, against)
        if shown is not None and against >= _SURE:
            notes.append(f"the claim says {_words(scene.claimed, number)}, the evidence {_words(scene.shown, shown)}")
        elif absent:
            notes.append(f"“{scene.claim[number.start : number.end]}” is nowhere in the evidence")
        # Two or three may be the claim's own counting of what the evidence names one by one.
        missing += absent * (0.3 if number.value <= 3 and not number.unit else 1.0)
    return Finding(agrees / len(claimed), min(1.0, conflicts), missing / len(claimed), tuple(notes[:2]))


def _against(equal: float, other: float, absent: bool) -> float:
    """How far another number or date stands in the claimed one's place; less where the claimed one is to be found."""
    if equal:
        return max(0.0, other - equal - _DOUBT)
    return other if absent else _ELSEWHERE * other


def _best_number(scene: Scene, number: Number) -> tuple[float, float, Number | None]:
    """How surely the passage shows this number, how surely another one for the same thing, and that other one."""
    equal, other, shown = 0.0, 0.0, None
    for one in scene.shown.numbers[:MOST_SHOWN]:
        alike = _alike(scene, number, one)
        verdict = number_holds(number, one)
        if verdict is None:
            continue
        if verdict:
            equal = max(equal, _FOUND + (1 - _FOUND) * alike)
        elif alike > other:
            other, shown = alike, one
    return equal, other, shown


def _alike(scene: Scene, one: Number, two: Number) -> float:
    """How surely two numbers are of the same thing: their unit, the noun behind them, the words around."""
    near = scene.kin((one.first, one.last), (two.first, two.last), _REACH)
    if dimension(one.unit) != dimension(two.unit):
        return 0.5 * near
    ours, theirs = following(scene.claimed.row, one.last, 2), following(scene.shown.row, two.last, 2)
    head = bool(ours and theirs and (ours[0] in theirs or theirs[0] in ours))
    if one.unit != two.unit and not _same_size(one, two):
        return 0.3 * near
    if ours and theirs and not head and not one.unit:
        return 0.4 * near
    return min(1.0, (0.25 if one.unit else 0.0) + (0.35 if head else 0.0) + 0.6 * near)


def _same_size(one: Number, two: Number) -> bool:
    """Whether two measures are within a factor of a hundred: a depth in metres is no rival of a length in km."""
    small, large = sorted((abs(base(one.value, one.unit)), abs(base(two.value, two.unit))))
    return large <= 100 * small


def number_holds(number: Number, shown: Number) -> bool | None:
    """Whether a shown number bears a claimed one out; None where they cannot be compared."""
    if dimension(number.unit) != dimension(shown.unit):
        return True if _bare_equal(number, shown) else None
    low, high = base(shown.value, shown.unit), base(shown.high, shown.unit)
    value, top = base(number.value, number.unit), base(number.high, number.unit)
    if shown.value != shown.high or number.value != number.high:
        return _ranges_meet(number, shown, (value, top), (low, high))
    if value == low:
        return {number.bound, shown.bound} != {"over", "under"}
    if number.bound in ("over", "under") and shown.bound != number.bound:
        return (low > value) == (number.bound == "over") and shown.bound != ("under" if low > value else "over")
    if _can_equal(number, shown):
        return True
    if shown.bound in ("over", "under") and not number.bound:
        # “Over 500” bears out 512, not 5,000.
        return (value > low) == (shown.bound == "over") and max(value, low) <= 1.25 * min(value, low)
    return False


def _bare_equal(number: Number, shown: Number) -> bool:
    """Whether two numbers of which one is without a unit, an hour or in pounds say the same."""
    units = {number.unit, shown.unit}
    if units == {"", "clock"}:
        clock, hour = (number, shown) if number.unit == "clock" else (shown, number)
        return clock.value / 60 % 12 == hour.value % 12
    return ("" in units or units == {"pound", "sterling"}) and _same_value(number, shown, number.value, shown.value)


def _ranges_meet(number: Number, shown: Number, ours: tuple[float, float], theirs: tuple[float, float]) -> bool:
    if number.value != number.high and shown.value != shown.high:
        return math.isclose(ours[0], theirs[0], rel_tol=_CONVERTED) and math.isclose(
            ours[1], theirs[1], rel_tol=_CONVERTED
        )
    inner, outer = (ours, theirs) if number.value == number.high else (theirs, ours)
    return outer[0] * (1 - _CONVERTED) <= inner[0] <= outer[1] * (1 + _CONVERTED)


def _can_equal(number: Number, shown: Number) -> bool:
    if number.value == shown.value and number.unit == shown.unit:
        return True
    if {number.unit, shown.unit} == {"", "clock"}:
        return _bare_equal(number, shown)
    if "" in (number.unit, shown.unit) or number.unit == shown.unit:
        readings = ((one, two) for one in _readings(number) for two in _readings(shown))
        return any(_same_value(number, shown, one, two) for one, two in readings)
    if dimension(number.unit) != dimension(shown.unit):
        return False
    one, two = base(number.value, number.unit), base(shown.value, shown.unit)
    # Exact sizes (90 minutes, 1.5 hours) must meet; those between systems are rounded.
    return math.isclose(one, two, rel_tol=_CONVERTED, abs_tol=1.0 if dimension(number.unit) == "temperature" else 0.0)


def _readings(number: Number) -> tuple[float, ...]:
    return (number.value,) if number.also is None else (number.value, number.also)


def _same_value(number: Number, shown: Number, one: float, two: float) -> bool:
    """Equal, or the one is the other rounded to fewer figures, or within six percent of an `about`."""
    if one == two:
        return True
    about = "about" in (number.bound, shown.bound)
    if about and math.isclose(one, two, rel_tol=_ABOUT):
        return True
    rounder, finer, figures = (
        (one, two, number.figures) if number.figures < shown.figures else (two, one, shown.figures)
    )
    exact = number.figures == shown.figures or "ordinal" in (number.unit, shown.unit)
    if exact or not math.isfinite(finer) or not math.isclose(rounder, finer, rel_tol=_ROUNDED):
        return False
    if abs(finer) < 100 and finer == int(finer) and not about:
        return False
    return math.isclose(round(finer, figures - 1 - math.floor(math.log10(abs(finer)))), rounder, rel_tol=1e-9)


def _words(facts: Facts, number: Number) -> str:
    """A number as its text has it, with the noun behind it."""
    row = facts.row[number.first : number.last]
    after = [token.text for token in facts.row[number.last : number.last + 1] if not number.unit and meaning(token)]
    shown = "".join(
        (" " if place and row[place - 1].end != token.start else "") + token.text for place, token in enumerate(row)
    )
    return " ".join([*filter(None, (number.bound,)), shown, *after])


def dates_checked(scene: Scene) -> Finding:
    """Each date of the claim: shown, another one shown for the same thing, or nowhere in the article."""
    claimed = scene.claimed.dates[:MOST_CLAIMED]
    if not claimed:
        return Finding()
    agrees = conflicts = missing = 0.0
    notes: list[str] = []
    everywhere = counts_of(scene.article.text)[1]
    for date in claimed:
        equal, other, shown = _best_date(scene, date)
        absent = not equal and not any(date_holds(date, one) for one in everywhere)
        against = _against(equal, other, absent)
        agrees, conflicts, missing = agrees + equal, max(conflicts, against), missing + absent
        if shown is not None and against >= _SURE:
            ours, theirs = scene.claim[date.start : date.end], scene.window[shown.start : shown.end]
            notes.append(
                f"the claim says {date.placed} {ours}, the evidence {shown.placed} {theirs}".replace("  ", " ")
            )
    return Finding(agrees / len(claimed), min(1.0, conflicts), missing / len(claimed), tuple(notes[:2]))


def _best_date(scene: Scene, date: Date) -> tuple[float, float, Date | None]:
    equal, other, shown = 0.0, 0.0, None
    for one in scene.shown.dates[:MOST_SHOWN]:
        verdict = date_holds(date, one)
        if verdict is None:
            continue
        near = scene.kin((date.first, date.last), (one.first, one.last), _REACH)
        if verdict:
            least = _FOUND if None in (date.years, date.month) or None in (one.years, one.month) else 0.6
            equal = max(equal, least + (1 - least) * near)
        elif 0.15 + 0.85 * near > other:
            other, shown = 0.15 + 0.85 * near, one
    return equal, other, shown


def date_holds(date: Date, shown: Date) -> bool | None:
    """Whether a shown date bears a claimed one out; None where they say nothing of one another."""
    if date.weekday is not None or shown.weekday is not None:
        return date.weekday == shown.weekday if None not in (date.weekday, shown.weekday) else None
    if date.years and shown.years:
        placed = _placed_holds(date, shown)
        if placed is not None:
            return placed
        (first, last), (begin, end) = date.years, shown.years
        if last < begin or end < first:
            return False
    elif not _share_a_part(date, shown):
        return None
    return _parts_fit(date, shown)


def _placed_holds(date: Date, shown: Date) -> bool | None:
    """`before 1990` is borne out by 1985, not by 1995; None where neither date is placed."""
    if not date.years or not shown.years or not (date.placed or shown.placed):
        return None
    if date.placed and shown.placed:
        return date.placed == shown.placed and _parts_fit(date, shown) and date.years == shown.years
    if date.placed:
        return shown.years[0] <= date.years[1] if date.placed == "before" else shown.years[1] >= date.years[0]
    return date.years[0] <= shown.years[1] if shown.placed == "before" else date.years[1] >= shown.years[0]


def _share_a_part(date: Date, shown: Date) -> bool:
    return (date.month is not None and shown.month is not None) or (date.day is not None and shown.day is not None)


def _parts_fit(date: Date, shown: Date) -> bool:
    pairs: Sequence[tuple[int | None, int | None]] = ((date.month, shown.month), (date.day, shown.day))
    return all(ours is None or theirs is None or ours == theirs for ours, theirs in pairs)
