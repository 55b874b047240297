"""Trust in plain sentences, for the terminal and the page: what was found, how sure it is, and what is not known."""

from collections.abc import Iterator

from evenhand.analysis.trust import MEAN, Against, Confidence, ModelTrust, Powered, Standing, Trust
from evenhand.records import Kind
from evenhand.statistics import Comparison, Estimate, PredictionPowered
from evenhand.text import counted, sentence

MOST_NAMED = 5
"""Raters whom the summary speaks of by name; with more it counts them."""
MOST_LISTED = 10
"""Raters whose severity is listed one by one; with more, some are conspicuous by chance alone."""
FEWEST_CHECKED = 10
"""Units below which nothing is said of a rater's confidence; the figures are there all the same."""


def in_words(trust: Trust) -> list[str]:
    """The summary of one criterion, each sentence on its own."""
    return list(_sentences(trust))


def _sentences(trust: Trust) -> Iterator[str]:
    for why in dict.fromkeys(trust.why[part] for part in ("people", "models") if part in trust.why):
        yield sentence(why)
    for model in trust.models:
        yield from _powered(model.rater, model.powered)
        yield model.stand_in.meaning
        if model.stand_in.note and model.stand_in.took_part:
            yield sentence(model.stand_in.note)
        yield _standing(model.standing, "people")
        yield from _against(model)
    yield from (told for one in trust.rivals if (told := _pair(one, "the people")) is not None)
    if not trust.models:
        yield from (_standing(person, "other people") for person in trust.people[:MOST_NAMED])
    named, known = trust.confidences, trust.confidences
    if len(known) > MOST_NAMED:
        named = [one for one in known if one.kind is not Kind.PERSON]
    yield from map(_confidence, named)
    others = [one.calibration.overconfidence for one in known if one not in named and one.calibration is not None]
    if others:
        over = sum(_clear(one) and (one.value or 0.0) > 0 for one in others)
        yield f"Of {len(others)} people whose confidence can be checked, {over} are overconfident."
    yield from _severities(trust)
    if trust.silent:
        yield f"Without a rating here: {', '.join(trust.silent)}."


def _powered(name: str, found: Powered) -> Iterator[str]:
    if found.labelled == 0:
        yield f"{name} cannot be corrected: {found.why}."
        return
    if found.further == 0:
        yield f"{name} adds nothing to the people's own figures: it rated no units beyond theirs."
    else:
        parts: list[str] = []
        for of, one in found.estimates.items():
            combined, people, model = (_shown(x, of != MEAN) for x in (one.combined, one.human_only, one.model_only))
            what = "a mean of" if of == MEAN else of
            parts.append(f"{what} {combined}; from people alone {people}; from the model alone {model}")
        yield (
            f"If the {counted(found.labelled, 'unit')} with both ratings are a fair sample, {name}'s ratings of "
            f"{found.further:,} more, corrected by them, give {' · '.join(parts)}."
        )
        yield from _bias(name, found)
    left = [
        f"{counted(found.tied, 'unit')} without a majority label of the people" if found.tied else "",
        f"{counted(found.people_only, 'unit')} that people rated and {name} did not" if found.people_only else "",
    ]
    if any(left):
        yield f"Left out of this: {' and '.join(part for part in left if part)}."


def _bias(name: str, found: Powered) -> Iterator[str]:
    biased = [of for of, one in found.estimates.items() if _apart(one)]
    if biased:
        which = "mean" if biased == [MEAN] else f"share of {' and '.join(biased)}"
        yield f"On its own, {name} is biased: its {which} lies outside the range that the people's ratings allow."
    widths = [(_width(one.combined), _width(one.human_only)) for one in found.estimates.values()]
    if all(ours is not None and theirs is not None and ours >= theirs for ours, theirs in widths):
        yield f"Here {name} adds no precision: use the people's own figures."


def _width(found: Estimate) -> float | None:
    return None if found.low is None or found.high is None else found.high - found.low


def _apart(one: PredictionPowered) -> bool:
    """Whether the model's own interval and the corrected one have nothing in common."""
    own, combined = one.model_only, one.combined
    if own.low is None or own.high is None or combined.low is None or combined.high is None:
        return False
    return own.high < combined.low or own.low > combined.high


def _standing(found: Standing, whose: str) -> str:
    match, units = found.match, counted(found.match.n, "unit")
    if match.value is None:
        return f"{found.rater}'s match with the {whose}'s majority is unknown: {match.why}."
    return f"{found.rater} gives the {whose}'s majority label on {_shown(match)} of the {units} that have one."


def _against(model: ModelTrust) -> Iterator[str]:
    known = [one for one in model.against if one.n]
    if not known:
        yield f"What people reach among themselves is unknown: no unit has {model.rater} and two people."
    elif len(known) <= MOST_NAMED:
        yield from (told for one in known if (told := _pair(one, "the other people")) is not None)
    else:
        told = [_told(one) for one in known]
        yield (
            f"Compared with the other people on the same units, {model.rater} is closer to them than "
            f"{told.count('closer')} of {len(known)} people, further than {told.count('further')}; "
            f"for {told.count('open')} the difference is not clear."
        )
    if model.people_left_out:
        yield f"{model.rater} was not compared with {model.people_left_out:,} people who rated fewer units."


def _pair(one: Against, others: str) -> str | None:
    """Two raters on the same units, with both figures: by distance where there are scores, else by match."""
    told, measured = _told(one), one.distance or one.match
    if told is None or measured is None or measured.first is None or measured.second is None:
        return None
    units = counted(measured.difference.n, "unit")
    if one.distance is not None:
        both = f"{one.first} is {measured.first:.2f} points away and {one.second} {measured.second:.2f}"
    else:
        both = f"{one.first} matches {measured.first:.0%} and {one.second} {measured.second:.0%}"
    closer = {"closer": f"{one.first} is closer", "further": f"{one.second} is closer"}
    return f"Compared with {others} on the same {units}, {both}: {closer.get(told, 'neither is shown to be closer')}."


def _told(one: Against) -> str | None:
    """Whether the first is closer, further, or neither for sure: by distance where there are scores, else by match."""
    measured: Comparison | None = one.distance or one.match
    if measured is None or measured.difference.value is None:
        return None
    low, high = measured.difference.low, measured.difference.high
    if low is None or high is None or low <= 0.0 <= high:
        return "open"
    return "closer" if (high < 0.0) == (one.distance is not None) else "further"


def _confidence(found: Confidence) -> str:
    if found.calibration is None:
        return f"{found.rater}'s stated confidence cannot be checked: {found.why}."
    over, tells, n = found.calibration.overconfidence, found.calibration.discrimination, found.calibration.n
    if n < FEWEST_CHECKED or over.value is None:
        return f"{found.rater}'s stated confidence can be checked on {counted(n, 'unit')} only: too few to say."
    size = f"{abs(over.value) * 100:.0f} points{_points_interval(over)}"
    if not _clear(over):
        way = "more" if over.value > 0 else "less"
        gap = f"{found.rater} is {size} {way} confident than accurate, which may be chance"
    elif over.value > 0:
        gap = f"{found.rater} is overconfident by {size}"
    else:
        gap = f"{found.rater} is underconfident by {size}"
    if tells.low is None:
        return f"On {counted(n, 'unit')} {gap}."
    helps = "goes with" if tells.low > 0.5 else "is not shown to go with"
    return f"On {counted(n, 'unit')} {gap}; higher confidence {helps} being right."


def _severities(trust: Trust) -> Iterator[str]:
    known = [one for one in trust.severities if one.leniency.value is not None]
    if trust.severities and not known:
        yield "Whether any rater is lenient or severe is unknown: no two raters share a unit."
    clear, moved = [one for one in known if _clear(one.leniency)], [one for one in known if _clear(one.drift)]
    if len(known) > MOST_LISTED:
        chance = (1.0 - trust.coverage) * len(known)
        yield (
            f"Of {len(known)} raters {len(clear)} rate clearly higher or lower than the others, and {len(moved)} "
            f"changed over time; chance alone would give about {chance:.0f} of either."
        )
        return
    for one in clear:
        way = "higher" if (one.leniency.value or 0.0) > 0 else "lower"
        yield f"{one.rater} rates {_size(one.leniency)} {way} than the other {one.beside} on the same units."
    if known and not clear:
        yield "No rater is shown to be more lenient or more severe than the others."
    for one in moved:
        way = "lenient" if (one.drift.value or 0.0) > 0 else "severe"
        yield f"{one.rater} became more {way} over time, by {_size(one.drift)}, compared with the other {one.beside}."


def _clear(found: Estimate) -> bool:
    return found.low is not None and found.high is not None and not found.low <= 0.0 <= found.high


def _size(found: Estimate) -> str:
    assert found.value is not None
    low, high = sorted((abs(found.low or 0.0), abs(found.high or 0.0)))
    return f"{abs(found.value):.2f} points ({low:.2f} to {high:.2f})"


def _points_interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return ""
    sign = 1.0 if (found.value or 0.0) >= 0 else -1.0
    low, high = sorted(100.0 * min(1.0, max(-1.0, sign * end)) for end in (found.low, found.high))
    return f" ({low:z.0f} to {high:z.0f})".replace("-", "−")


def _shown(found: Estimate, share: bool = True) -> str:
    """A share as a percentage, anything else to two places, with the interval."""
    if found.value is None:
        return f"unknown ({found.why})"
    value = f"{found.value:.0%}" if share else f"{found.value:.2f}"
    if found.low is None or found.high is None:
        return f"{value} ({found.note or 'no interval'})"
    ends = f"{found.low * 100:.0f} to {found.high:.0%}" if share else f"{found.low:.2f} to {found.high:.2f}"
    return f"{value} ({ends})"
