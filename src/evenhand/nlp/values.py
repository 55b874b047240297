"""The numbers and dates that an English text mentions, as values that can be compared whatever their spelling."""

import math
import re
from typing import NamedTuple

from evenhand.nlp.mentions import Mention, mentions
from evenhand.nlp.words import stem

_SMALL = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
} | {word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0, "m": 1e6,
    "mn": 1e6, "bn": 1e9,
}  # fmt: skip
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_UNITS = {"%": "percent", "per cent": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen"} | dict.fromkeys(
    ("st", "nd", "rd", "th"), "rank"
)
_WORD = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+|[%$€£¥]")
_YEAR = re.compile(r"(?<!\d)(1\d|20)(\d\d)(?!\d)")
_ROUGHLY = re.compile(
    r"(?:about|around|roughly|approximately|nearly|almost|some|circa|over|under|more than|less than|at least|at most"
    r"|up to|fewer than|close to)\s$", re.I,
)  # fmt: skip
_ROUGH = 0.1  # how far a rough number may be from the exact one
_ROUNDED = 0.05  # how far rounding may take a number
_SHORT_UNIT = 2  # letters: °C, km and the like may be the abbreviation of any unit that is written out
_LONGEST = 20  # characters of a figure: a longer one is a code


class Value(NamedTuple):
    """A number with its unit, or a date as far as it is told, and its characters in the text."""

    start: int
    end: int
    number: float | None = None
    unit: str = ""
    figures: int = 0
    rough: bool = False
    years: tuple[int, int] | None = None
    month: int | None = None
    day: int | None = None

    @property
    def is_date(self) -> bool:
        return self.number is None


def values(text: str) -> list[Value]:
    """The values of a sentence, in order."""
    (found,) = mentions(text, [(0, len(text))])
    read = [_date(text, one) if one.kind == "date" else _number(text, one) for one in found if one.kind != "phrase"]
    return [value for value in read if value is not None]


def agree(one: Value, other: Value) -> bool | None:
    """Whether two values can be the same; None if they are of different kinds."""
    if one.number is None or other.number is None:
        return _dates_agree(one, other) if one.is_date and other.is_date else None
    if one.number == other.number:
        return one.unit == other.unit or min(len(one.unit), len(other.unit)) <= _SHORT_UNIT
    if one.unit != other.unit:
        return None
    if one.rough or other.rough:
        return math.isclose(one.number, other.number, rel_tol=_ROUGH)
    coarse, fine = sorted((one, other), key=lambda value: value.figures)
    assert coarse.number is not None
    assert fine.number is not None
    if coarse.figures == fine.figures or (abs(fine.number) < 100 and fine.number % 1 == 0):
        return False
    digits = coarse.figures - 1 - math.floor(math.log10(abs(fine.number) or 1))
    rounded = math.isclose(round(fine.number, digits), coarse.number, rel_tol=1e-9)
    return rounded and math.isclose(fine.number, coarse.number, rel_tol=_ROUNDED)


def same(claimed: Value, given: Value) -> bool | None:
    """Whether two values are equal; False if they cannot be the same, or if more figures are claimed than are given;
    None if one may stand for the other."""
    verdict = agree(claimed, given)
    if not verdict or (claimed.number, claimed.rough, *claimed[-3:]) == (given.number, given.rough, *given[-3:]):
        return verdict
    return False if claimed.figures > given.figures and not claimed.rough and not given.rough else None


def _dates_agree(one: Value, other: Value) -> bool | None:
    known = [ours == theirs for ours, theirs in zip(one[-2:], other[-2:], strict=True) if None not in (ours, theirs)]
    if one.years and other.years:
        known.append(one.years[0] <= other.years[1] and other.years[0] <= one.years[1])
    return all(known) if known else None


def _date(text: str, mention: Mention) -> Value | None:
    said = text[mention.start : mention.end].lower()
    if iso := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", said):
        year, month, day = map(int, iso.groups())
        return Value(mention.start, mention.end, years=(year, year), month=month, day=day)
    years = [int(found[0]) for found in _YEAR.finditer(said)]
    span = (years[0], years[-1]) if years else None
    if years and re.search(r"\ds\b", said):
        span = (years[0], years[0] + (99 if years[0] % 100 == 0 else 9))
    elif "century" in said and (number := re.match(r"\d+", said)):
        span = (100 * int(number[0]) - 99, 100 * int(number[0]))
    elif len(years) == 1 and (short := re.search(r"\d\s?[–-]\s?(\d\d)$", said)):
        span = (years[0], years[0] // 100 * 100 + int(short[1]))
    month = next((place for place, name in enumerate(_MONTHS, 1) if re.search(rf"\b{name}", said)), None)
    day = re.search(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b", said) if month else None
    if span is None and month is None:
        return None
    return Value(mention.start, mention.end, years=span, month=month, day=int(day[1]) if day else None)


def _number(text: str, mention: Mention) -> Value | None:
    """The first number of a mention, with the scale and the unit that follow it."""
    if mention.kind != "number":
        return None
    said = [found[0].lower() for found in _WORD.finditer(text, mention.start, mention.end)]
    words = [word for word in said if word not in "$€£¥"]
    total = current = 0.0
    figures = 0
    while words:
        word = words[0]
        if word[0].isdigit() and figures == 0 and len(word) <= _LONGEST:
            current, figures = float(word.replace(",", "")), _figures(word)
        elif word in _SMALL or word in ("a", "half"):
            current += _SMALL.get(word, 0.5 if word == "half" else 1)
        elif word in ("hundred", "dozen") and current:
            current *= _SCALES[word]
        elif word in _SCALES and current:
            total, current = total + current * _SCALES[word], 0.0
        elif word != "and":
            break
        words.pop(0)
    unit = next((word for word in said if word in _UNITS), " ".join(words[:2]) if words[:1] == ["per"] else "")
    unit = _UNITS.get(unit, unit) or (stem(words[0]) if words else "")
    rough = bool(_ROUGHLY.search(text[max(0, mention.start - 15) : mention.start]))
    number = total + current
    return Value(mention.start, mention.end, number, unit, figures or _figures(f"{number:.15g}"), rough)


def _figures(digits: str) -> int:
    """Significant figures, as far as the spelling tells."""
    plain = digits.replace(".", "").replace(",", "").lstrip("0")
    return len(plain if "." in digits else plain.rstrip("0")) or 1
