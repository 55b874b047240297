"""Numbers and dates of an English text as values that can be compared, whatever their spelling."""

import math
import re
from typing import NamedTuple

_SMALL = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
} | {word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0, "k": 1e3,
    "mn": 1e6, "bn": 1e9, "m": 1e6, "b": 1e9,
}  # fmt: skip
_ORDINALS = {
    word: value
    for value, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
MONTHS = {
    name: number
    for number, names in enumerate(
        """january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|
        november nov|december dec""".split("|"),
        1,
    )
    for name in names.split()
}
_UNITS = {
    "%": "percent", "per cent": "percent", "percent": "percent", "$": "$", "£": "£", "€": "€", "dollar": "$",
    "dollars": "$", "euro": "€", "euros": "€", "pounds": "£",
}  # fmt: skip

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:1\d|20|21)\d\d"
_COUNT = "|".join(_SMALL)
_DATE = re.compile(
    rf"""\b(?:
    (?P<iso>{_YEAR})-(?P<iso_month>[01]\d)-(?P<iso_day>[0-3]\d)\b
    |(?:(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s(?:of\s)?)?(?P<month>{_MONTH})\b\.?
        (?:\s(?P<day_after>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:%]|[.,]\d))?(?:,?\s(?:of\s)?(?P<year>{_YEAR})\b)?
    |(?P<decade>{_YEAR})['’]?s\b
    |(?P<century>\d\d?)(?:st|nd|rd|th)[\s-]century\b
    |(?P<alone>{_YEAR})(?:[–-](?P<until>{_YEAR}|\d\d))?(?![\w%]|[.,]\d|\s(?:percent|per\scent|people|men|women|miles|km|kg|m|feet|metres|meters|patients|participants)\b)
    )""",
    re.X | re.I,
)
_NUMBER = re.compile(
    rf"""(?:(?P<money>[$£€])\s?)?(?<![\w.])(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d])
        (?:(?P<ordinal>st|nd|rd|th)\b)?
        (?:(?P<scale>[\s-]?(?:hundred|thousand|million|billion|trillion|dozen|bn|mn)|[kmb])\b)?
        (?:\s?(?P<unit>%|per\s?cent\b|dollars?\b|euros?\b|pounds\b))?
    |\b(?P<words>(?:{_COUNT}|a(?=\s(?:hundred|thousand|million|billion|dozen)))
        (?:(?:\sand\s|[\s-])(?:{_COUNT}|hundred|thousand|million|billion|trillion|dozen)\b)*)\b
        (?:\s(?P<word_unit>per\s?cent|dollars?|euros?)\b)?
    |\b(?P<rank>{"|".join(_ORDINALS)})\b""",
    re.X | re.I,
)
_CODE = re.compile(r"[A-Za-z][-–]?$")
_ABOUT = re.compile(
    r"(?:about|around|roughly|approximately|nearly|almost|some|circa|over|under|more than|less than|at least|at most"
    r"|up to|fewer than|close to)\s$", re.I,
)  # fmt: skip
_LONGEST = 20  # digits: what is longer is a code
_ROUGH = 0.1  # how far a rough number may be from the exact one


class Value(NamedTuple):
    """A number or a date, and its characters in the text. A date has `years`, `month` and `day` as far as it tells."""

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
    """The dates and numbers of a text, in order; a date's own numbers are not counted again."""
    dates = [date for found in _DATE.finditer(text) if (date := _date(found, text))]
    taken = {place for date in dates for place in range(date.start, date.end)}
    numbers = [_number(found, text) for found in _NUMBER.finditer(text) if found.start() not in taken]
    return sorted([*dates, *(number for number in numbers if number and number.end - 1 not in taken)])


def agree(one: Value, other: Value) -> bool | None:
    """Whether two values can be the same; None where they are of different kinds."""
    if one.is_date != other.is_date:
        return None
    if one.is_date:
        return _dates_agree(one, other)
    if one.unit != other.unit and "" not in (one.unit, other.unit):
        return None
    if "rank" in (one.unit, other.unit) and one.unit != other.unit:
        return None
    assert one.number is not None and other.number is not None
    if one.number == other.number:
        return True
    tolerance = _ROUGH if one.rough or other.rough else 0.0
    coarse, fine = sorted((one, other), key=lambda value: value.figures)
    if coarse.figures < fine.figures and fine.number:
        digits = coarse.figures - 1 - math.floor(math.log10(abs(fine.number)))
        if abs(fine.number) >= 100 or fine.number % 1:
            return math.isclose(round(fine.number, digits), coarse.number or 0, rel_tol=max(1e-9, tolerance))
    return math.isclose(one.number, other.number, rel_tol=tolerance) if tolerance else False


def _dates_agree(one: Value, other: Value) -> bool | None:
    known = False
    if one.years and other.years:
        known = True
        if one.years[1] < other.years[0] or other.years[1] < one.years[0]:
            return False
    for ours, theirs in ((one.month, other.month), (one.day, other.day)):
        if ours is not None and theirs is not None:
            known = True
            if ours != theirs:
                return False
    return True if known else None


def _date(found: re.Match[str], text: str) -> Value | None:
    part = found.groupdict()
    start, end = found.span()
    if part["iso"]:
        year = int(part["iso"])
        return Value(start, end, years=(year, year), month=int(part["iso_month"]), day=int(part["iso_day"]))
    if part["month"]:
        day = part["day"] or part["day_after"]
        alone = not day and not part["year"]
        if alone and (not part["month"][0].isupper() or part["month"].lower() in ("may", "mar", "march", "jan", "sep")):
            return None
        years = (int(part["year"]), int(part["year"])) if part["year"] else None
        return Value(start, end, years=years, month=MONTHS[part["month"].lower()], day=int(day) if day else None)
    if part["decade"]:
        year = int(part["decade"])
        return Value(start, end, years=(year, year + (99 if year % 100 == 0 else 9)))
    if part["century"]:
        last = 100 * int(part["century"])
        return Value(start, end, years=(last - 99, last))
    if _CODE.search(text[max(0, start - 2) : start]) or text[max(0, start - 1) : start] in tuple("$£€#/.,"):
        return None
    year, until = int(part["alone"]), part["until"]
    last = year if not until else int(until) if len(until) == 4 else year // 100 * 100 + int(until)
    return Value(start, end, years=(year, max(year, last)))


def _number(found: re.Match[str], text: str) -> Value | None:
    part, (start, end) = found.groupdict(), found.span()
    rough = bool(_ABOUT.search(text[max(0, start - 14) : start]))
    if part["rank"]:
        return Value(start, end, float(_ORDINALS[part["rank"].lower()]), "rank", 2)
    if part["words"]:
        number = _spelled(part["words"].lower())
        unit = _UNITS.get((part["word_unit"] or "").lower(), "")
        return None if number == 1 else Value(start, end, number, unit, _figures(f"{number:.15g}"), rough)
    digits = part["digits"].replace(",", "")
    if len(digits) > _LONGEST or _CODE.search(text[max(0, found.start("digits") - 2) : found.start("digits")]):
        return None
    scale = _SCALES[part["scale"].strip(" -").lower()] if part["scale"] else 1.0
    unit = _UNITS.get(part["money"] or " ".join((part["unit"] or "").lower().split()), "")
    return Value(start, end, float(digits) * scale, "rank" if part["ordinal"] else unit, _figures(digits), rough)


def _figures(digits: str) -> int:
    """Significant figures, as far as the spelling tells."""
    plain = digits.replace(".", "").lstrip("0")
    return len(plain if "." in digits else plain.rstrip("0")) or 1


def _spelled(words: str) -> float:
    """`two hundred and fifty thousand` as a number."""
    total = current = 0.0
    for word in re.findall(r"[a-z]+", words):
        if word in _SMALL or word == "a":
            current += _SMALL.get(word, 1)
        elif word in ("hundred", "dozen"):
            current = (current or 1) * _SCALES[word]
        elif word in _SCALES:
            total, current = total + (current or 1) * _SCALES[word], 0.0
    return total + current
