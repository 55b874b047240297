"""Dates as English writes them: days, months, years, decades, centuries and spans of years."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.verify.tokens import Token, at, glued

MONTHS = {
    name: place
    for place, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Months that are also common words are months only beside a number or behind a word such as "in".
_DOUBTFUL = frozenset(("may", "march", "mar", "jan", "sep", "dec", "jun"))
_DECADES = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80,
    "nineties": 90,
}  # fmt: skip
_CENTURIES = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "twenty": 20,
}  # fmt: skip
_IN = frozenset(
    ("in", "since", "until", "till", "during", "by", "of", "from", "before", "after", "to", "early", "late")
)
_YEAR_BEFORE = frozenset(
    "in since until till during year circa spring summer autumn fall winter early late mid".split()
)
_PLACED = {
    "before": "before", "until": "before", "till": "before", "by": "before", "after": "after", "since": "after",
    "following": "after",
}  # fmt: skip
_NOT_NOUNS = frozenset(("was", "is", "has", "as", "this", "its", "his", "hers", "thus", "across", "does", "always"))
_ORDINAL_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_DASHES = frozenset("-–—−")
_OPENING = frozenset((*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *_DECADES, *_CENTURIES))
_EARLIEST, _LATEST = 1000, 2099


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month, a year or a span of years; what is not said is None.

    `placed` is "before" or "after" where the text says so of the date, otherwise "". `start` and `end` are characters
    of the text, `first` and `last` its tokens, the last one excluded.
    """

    years: tuple[int, int] | None
    month: int | None
    day: int | None
    weekday: int | None
    placed: str
    start: int
    end: int
    first: int
    last: int


def dates(row: Sequence[Token]) -> list[Date]:
    """The dates of a text, in order, none inside another."""
    found: list[Date] = []
    place = 0
    while place < len(row):
        low = row[place].low
        date = _date_at(row, place) if low in _OPENING or low[0].isdecimal() else None
        if date is None:
            place += 1
        else:
            found.append(date)
            place = date.last
    return found


def _date_at(row: Sequence[Token], place: int) -> Date | None:
    low = row[place].low
    if low in MONTHS:
        return _month_first(row, place)
    if low[:1].isdecimal():
        return (
            _figures(row, place) or _day_first(row, place) or _century(row, place) or _decade(row, place)
            or _year_or_span(row, place)
        )  # fmt: skip
    if low.removesuffix("s") in WEEKDAYS:
        return _made(row, place, place + 1, weekday=WEEKDAYS.index(low.removesuffix("s")))
    if low in _CENTURIES:
        return _century(row, place) or _day_first(row, place)
    if at(row, place - 1).low in ("the", "nineteen", "-"):
        return _made(row, place, place + 1, years=(1900 + _DECADES[low], 1909 + _DECADES[low]))
    return None


def _month_first(row: Sequence[Token], place: int) -> Date | None:
    """`July 20, 1969`, `July 1969`, `July 20`, `July`."""
    month, after = MONTHS[row[place].low], place + 1
    if at(row, after).text == "." and row[place].low not in ("may", "march", "june", "july"):
        after += 1
    if not row[place].text[:1].isupper():
        return None
    day = _day(row, after)
    if day is not None:
        number, after = day
        year = _year_after(row, after)
        return _made(row, place, year[1] if year else after, year[0] if year else None, month, number)
    year = _year_after(row, after)
    if year:
        return _made(row, place, year[1], year[0], month)
    if row[place].low in _DOUBTFUL and at(row, place - 1).low not in _IN:
        return None
    return _made(row, place, place + 1, month=month)


def _day_first(row: Sequence[Token], place: int) -> Date | None:
    """`20 July 1969`, `the 20th of July`."""
    day = _day(row, place)
    if day is None:
        return None
    number, after = day
    if at(row, after).low == "of":
        after += 1
    token = at(row, after)
    if token.low not in MONTHS or not token.text[:1].isupper():
        return None
    after += 2 if at(row, after + 1).text == "." and token.low not in ("may", "march", "june", "july") else 1
    year = _year_after(row, after)
    return _made(row, place, year[1] if year else after, year[0] if year else None, MONTHS[token.low], number)


def _figures(row: Sequence[Token], place: int) -> Date | None:
    """`1969-07-20`, `20/07/1969`, `7/20/1969`. Where day and month could be either, neither is taken."""
    parts = [row[place], at(row, place + 2), at(row, place + 4)]
    signs = at(row, place + 1).text, at(row, place + 3).text
    if signs[0] != signs[1] or signs[0] not in ("-", "/", ".") or not all(part.text.isdecimal() for part in parts):
        return None
    if not all(glued(row, place + step) for step in range(1, 5)) or any(len(part.text) > 4 for part in parts):
        return None
    one, two, three = (int(part.text) for part in parts)
    if len(parts[0].text) == 4 and 1 <= two <= 12 and 1 <= three <= 31:
        return _made(row, place, place + 5, (one, one), two, three)
    if len(parts[2].text) != 4 or not (1 <= min(one, two) <= 12 and max(one, two) <= 31):
        return None
    if one == two or max(one, two) > 12:
        return _made(row, place, place + 5, (three, three), min(one, two), max(one, two))
    return _made(row, place, place + 5, (three, three))


def _century(row: Sequence[Token], place: int) -> Date | None:
    """`the 19th century`, `the nineteenth century`, `the twenty-first century`."""
    number, after = _CENTURIES.get(row[place].low), place + 1
    if row[place].text.isdecimal() and len(row[place].text) <= 2 and at(row, after).low in _ORDINAL_ENDINGS:
        number, after = int(row[place].text), after + 1
    if number == 20 and row[place].low == "twenty":
        if at(row, after).text != "-" or at(row, after + 1).low != "first":
            return None
        number, after = 21, after + 2
    if at(row, after).text == "-":
        after += 1
    if number is None or at(row, after).low not in ("century", "centuries"):
        return None
    if at(row, after + 1).low in ("bc", "bce"):
        return None
    return _made(row, place, after + 1, ((number - 1) * 100, number * 100))


def _decade(row: Sequence[Token], place: int) -> Date | None:
    """`the 1960s`; `the 60s` and `the '60s` are of the twentieth century."""
    text, last = row[place].text, place + 1
    if at(row, last).text in ("'", "’") and glued(row, last):
        last += 1
    if not text.isdecimal() or at(row, last).low != "s" or not glued(row, last) or not text.endswith("0"):
        return None
    if len(text) == 4 and _EARLIEST <= int(text) <= _LATEST:
        length = 99 if text.endswith("00") and int(text) < 2000 else 9
        return _made(row, place, last + 1, (int(text), int(text) + length))
    if len(text) == 2 and int(text) >= 20:
        return _made(row, place, last + 1, (1900 + int(text), 1909 + int(text)))
    return None


def _year_or_span(row: Sequence[Token], place: int) -> Date | None:
    """A year, or `1914–1918`, `1914-18`, `from 1914 to 1918`, `between 1914 and 1918`."""
    year = _year(row[place])
    if year is None or not _stands_alone(row, place) or not _reads_as_year(row, place):
        return None
    sign, other = at(row, place + 1), at(row, place + 2)
    before = at(row, place - 1).low
    joined = sign.text in _DASHES or (sign.low, before) in (("to", "from"), ("and", "between"), ("until", "from"))
    if joined:
        last = _year(other)
        if last is None and sign.text in _DASHES and len(other.text) == 2 and other.text.isdecimal():
            last = year // 100 * 100 + int(other.text)
        if last is not None and year < last <= year + 999:
            return _made(row, place, place + 3, (year, last))
    return _made(row, place, place + 1, (year, year))


def _reads_as_year(row: Sequence[Token], place: int) -> bool:
    """`in 1969` is a year; `1500 people` and `1200 metres` are not."""
    before, after = at(row, place - 1), at(row, place + 1)
    if after.low in ("percent", "%", "°", "$") or before.text in ("$", "£", "€", "#", "/"):
        return False
    plural = after.low.endswith("s") and len(after.low) > 3 and after.low not in _NOT_NOUNS and after.text.islower()
    if plural or after.low in ("people", "km", "m", "kg", "ft", "mm", "cm", "g", "men", "women", "children", "mph"):
        return before.low in _YEAR_BEFORE and after.low not in (
            "metres",
            "meters",
            "feet",
            "miles",
            "km",
            "m",
            "people",
        )
    return True


def _stands_alone(row: Sequence[Token], place: int) -> bool:
    """Not part of a code such as `B-1946` or `MX2000`."""
    if glued(row, place + 1) and at(row, place + 1).text.isalpha():
        return False
    if not glued(row, place):
        return True
    before = row[place - 1]
    if before.text in _DASHES:
        return not glued(row, place - 1) or at(row, place - 2).low in ("mid", "pre", "post", "early", "late")
    return not before.text.isalnum()


def _year(token: Token) -> int | None:
    if len(token.text) == 4 and token.text.isdecimal() and _EARLIEST <= int(token.text) <= _LATEST:
        return int(token.text)
    return None


def _year_after(row: Sequence[Token], place: int) -> tuple[tuple[int, int], int] | None:
    """The year behind a month or a day, a comma or `of` between them, and the place after it."""
    if at(row, place).text in (",", "of"):
        place += 1
    year = _year(at(row, place))
    return ((year, year), place + 1) if year else None


def _day(row: Sequence[Token], place: int) -> tuple[int, int] | None:
    """The day of a month, and the place after it."""
    text = at(row, place).text
    if text.lower() in _CENTURIES and text.lower() != "twenty":
        return _CENTURIES[text.lower()], place + 1
    if not text.isdecimal() or len(text) > 2 or not 1 <= int(text) <= 31:
        return None
    ended = at(row, place + 1).low in _ORDINAL_ENDINGS and glued(row, place + 1)
    return int(text), place + (2 if ended else 1)


def _made(
    row: Sequence[Token], first: int, last: int, years: tuple[int, int] | None = None, month: int | None = None,
    day: int | None = None, weekday: int | None = None,
) -> Date:  # fmt: skip
    before = at(row, first - 1).low
    if before in ("the", "early", "late", "mid", "-", "around", "about"):
        before = at(row, first - 2).low
    placed = _PLACED.get(before, "")
    return Date(years, month, day, weekday, placed, row[first].start, row[last - 1].end, first, last)
