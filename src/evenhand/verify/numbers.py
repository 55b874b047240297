"""Numbers as English writes them, in figures and in words, with their units, bounds and ranges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evenhand.verify.tokens import Token, at, glued
from evenhand.verify.units import CURRENCIES, MONEY_SIGNS, UNITS

_ONES = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0, "k": 1e3,
    "mn": 1e6, "mln": 1e6, "bn": 1e9, "tn": 1e12, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
_SHORT_SCALES = {"m": 1e6, "b": 1e9, "t": 1e12}
_ORDINALS = {
    word: float(value)
    for value, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        start=1,
    )
}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5,
    "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "eighth": 8, "eighths": 8, "ninth": 9, "tenth": 10,
    "tenths": 10,
}  # fmt: skip
_TIMES = {"once": 1.0, "twice": 2.0, "thrice": 3.0, "doubled": 2.0, "tripled": 3.0, "trebled": 3.0, "quadrupled": 4.0}
_BOUNDS = {
    "over": "over", "above": "over", "exceeding": "over", "exceeded": "over", "beyond": "over", "under": "under",
    "below": "under", "about": "about", "around": "about", "approximately": "about", "roughly": "about",
    "nearly": "about", "almost": "about", "some": "about", "circa": "about", "~": "about", "≈": "about",
    ">": "over", "<": "under", "≥": "over", "≤": "under",
}  # fmt: skip
_BOUND_PAIRS = {
    ("more", "than"): "over", ("greater", "than"): "over", ("higher", "than"): "over", ("at", "least"): "over",
    ("minimum", "of"): "over", ("longer", "than"): "over", ("less", "than"): "under", ("fewer", "than"): "under",
    ("lower", "than"): "under", ("at", "most"): "under", ("up", "to"): "under", ("maximum", "of"): "under",
    ("shorter", "than"): "under", ("close", "to"): "about", ("just", "over"): "over", ("just", "under"): "under",
}  # fmt: skip
_OPENING = frozenset((*_ONES, *_TENS, *_TIMES, *_ORDINALS, "a", "an", "half", "quarter"))
_DASHES = frozenset("-–—−")
_NOT_COUNTED = frozenset(("of", "another", "or", "who", "that", "which", "such", "is", "was", "could", "can", "would"))
_LONGEST = 25


@dataclass(frozen=True, slots=True)
class Number:
    """A number and what it counts; `high` differs from `value` for a range.

    `unit` is a name of `units.UNITS`, or "ordinal", "clock" (minutes of the day) or "" for a plain count; `also` is a
    second reading ("2.1m" is metres or millions). `figures` are the significant figures it is written with. `bound` is
    "over", "under", "about" or "". `start` and `end` are characters of the text, `first` and `last` its tokens, the
    last one excluded.
    """

    value: float
    high: float
    unit: str
    also: float | None
    figures: int
    bound: str
    start: int
    end: int
    first: int
    last: int


@dataclass(slots=True)
class _Read:
    """What has been read of a number so far."""

    value: float
    figures: int
    last: int
    unit: str = ""
    also: float | None = None
    words: bool = False


def numbers(row: Sequence[Token], taken: Iterable[tuple[int, int]] = ()) -> list[Number]:
    """The numbers of a text, in order, except within the token ranges that are taken (its dates)."""
    skip = dict(taken)
    found: list[Number] = []
    place = 0
    while place < len(row):
        if place in skip:
            place = skip[place]
            continue
        low = row[place].low
        read = _read(row, place) if (low in _OPENING and not _in_a_name(row, place)) or low[0].isdecimal() else None
        if read is None:
            place += 1
            continue
        found.append(_number(row, place, read))
        place = read.last
    return _with_ranges(row, found)


def _in_a_name(row: Sequence[Token], place: int) -> bool:
    """Whether a number in words is a part of a name, as in "Nine Lanterns"; "Two Germans" may open a sentence."""
    named = row[place].text[0].isupper() and at(row, place + 1).text[:1].isupper()
    return named and at(row, place - 1).text not in ("", ".", "!", "?", ":")


def _read(row: Sequence[Token], place: int) -> _Read | None:
    low = row[place].low
    if low[:1].isdecimal():
        read = _from_figures(row, place)
    elif low in _ONES or low in _TENS or low in ("a", "an", "half", "quarter"):
        read = _from_words(row, place)
    elif low in _TIMES:
        return _Read(_TIMES[low], 1, place + 1, "times")
    else:
        return _ordinal_word(row, place)
    if read is None or read.unit:
        return read
    return _share(row, read) or _with_unit(row, place, read)


def _from_figures(row: Sequence[Token], place: int) -> _Read | None:
    text = row[place].text
    if not _is_number(row, place):
        return None
    value = _value(text)
    if value is None:
        return None
    after = at(row, place + 1)
    if glued(row, place + 1) and after.low in ("st", "nd", "rd", "th"):
        return _Read(value, 2, place + 2, "ordinal")
    if after.text == ":" and glued(row, place + 1) and glued(row, place + 2) and len(at(row, place + 2).text) == 2:
        return _clock(row, place, value)
    if after.low in ("am", "pm") or (after.low in ("a", "p") and at(row, place + 3).low == "m"):
        return _half_day(row, place + 1, value * 60)
    return _scaled(row, _Read(value, _figures(text), place + 1))


def _is_number(row: Sequence[Token], place: int) -> bool:
    """Not the tail of a code such as `COVID-19` or `B12`."""
    if not glued(row, place):
        return True
    before = row[place - 1]
    if before.text in _DASHES:
        return not (glued(row, place - 1) and row[place - 2].text.isalpha())
    return not before.text[-1:].isalpha() or before.low in CURRENCIES


def _value(text: str) -> float | None:
    whole, _, rest = text.partition(".")
    head, *groups = whole.split(",")
    if len(text) > _LONGEST or "." in rest or "," in rest:
        return None
    if any(len(group) != 3 for group in groups):
        return float(head)
    return float("".join((head, *groups)) + (f".{rest}" if rest else ""))


def _figures(text: str) -> int:
    digits = text.replace(",", "").replace(".", "").lstrip("0")
    return len(digits) if "." in text else len(digits.rstrip("0")) or 1


def _clock(row: Sequence[Token], place: int, hours: float) -> _Read | None:
    minutes = at(row, place + 2).text
    if not minutes.isdecimal() or hours > 24:
        return None
    return _half_day(row, place + 3, hours * 60 + int(minutes))


def _half_day(row: Sequence[Token], place: int, minutes: float) -> _Read | None:
    """Minutes of the day, with `p.m.` counted in. Without it, the other half of the day is as good a reading."""
    low = at(row, place).low
    if low not in ("am", "pm", "a", "p"):
        return _Read(minutes, 4, place, "clock", also=minutes + 720)
    late = low[0] == "p"
    last = place + (1 if len(low) == 2 else 3)
    return _Read(minutes % 720 + (720 if late else 0), 4, last, "clock")


def _from_words(row: Sequence[Token], place: int) -> _Read | None:
    """`two hundred and fifty thousand`, `twenty-five`, `half a million`, `a dozen`, `three`."""
    low = row[place].low
    if low in ("half", "quarter"):
        return _part_of_scale(row, place)
    if low in ("a", "an"):
        if at(row, place + 1).low in _SCALES and len(at(row, place + 1).low) > 2:
            return _scaled(row, _Read(1.0, 1, place + 1, words=True))
        return _one_part(row, place)
    total, current, after = 0.0, 0.0, place
    while True:
        word = at(row, after).low
        if word in _ONES or word in _TENS:
            current += _ONES.get(word, _TENS.get(word, 0))
        elif word == "hundred" and current:
            current *= 100
        elif word in ("thousand", "million", "billion", "trillion") and current:
            total, current = total + current * _SCALES[word], 0.0
        else:
            break
        after += 1
        joint = at(row, after).text in ("-", "and") and _goes_on(row, after, word)
        after += 1 if joint else 0
    value = total + current
    if value == 1 and not _counts(row, place, after):
        return None
    if at(row, after).low == "and" and at(row, after + 1).low == "a" and at(row, after + 2).low == "half":
        value, after = value + 0.5, after + 3
    figures = len(f"{value:.15g}".replace(".", "").rstrip("0")) or 1
    return _scaled(row, _Read(value, figures, after, words=True))


def _goes_on(row: Sequence[Token], place: int, before: str) -> bool:
    """Whether `-` or `and` joins two parts of one number in words."""
    word = at(row, place + 1).low
    if row[place].text == "-":
        return before in _TENS and word in _ONES and 0 < _ONES[word] < 10
    return before in ("hundred", "thousand", "million") and (word in _ONES or word in _TENS)


def _counts(row: Sequence[Token], place: int, after: int) -> bool:
    """Whether `one` counts something, and is not a pronoun (`no one`, `the one who`, `one of the oldest`)."""
    if at(row, place - 1).low in ("no", "the", "this", "that", "any", "every", "each", "which"):
        return False
    word = at(row, after).low
    return word.isalpha() and word not in _NOT_COUNTED


def _part_of_scale(row: Sequence[Token], place: int) -> _Read | None:
    """`half a million`, `half of`, `half the`."""
    share = 0.5 if row[place].low == "half" else 0.25
    one, two = at(row, place + 1).low, at(row, place + 2).low
    if one == "a" and two in ("million", "billion", "dozen", "century", "mile", "hour"):
        value = share * _SCALES.get(two, 1.0)
        return _Read(value, 1, place + (3 if two in _SCALES else 2), words=True)
    if row[place].low == "half" and one in ("of", "the", "its", "their", "his", "her", "all"):
        return _Read(50.0, 1, place + 1, "percent")
    return None


def _one_part(row: Sequence[Token], place: int) -> _Read | None:
    """`a third of`, `a quarter of`."""
    part = _PARTS.get(at(row, place + 1).low)
    if part and at(row, place + 2).low == "of":
        return _Read(100 / part, 2, place + 2, "percent")
    return None


def _share(row: Sequence[Token], read: _Read) -> _Read | None:
    """`two-thirds`, `three quarters`, `one in five`, `nine out of ten`: percent."""
    after = read.last
    place = after + 1 if at(row, after).text in _DASHES else after
    part = _PARTS.get(at(row, place).low)
    if part and read.words and read.value < part and (read.value > 1 or at(row, place + 1).low == "of"):
        return _Read(100 * read.value / part, 2, place + 1, "percent")
    step = (
        1 if at(row, after).low == "in" else 2 if (at(row, after).low, at(row, after + 1).low) == ("out", "of") else 0
    )
    if not step or read.value > 1000:
        return None
    token = at(row, after + step)
    whole = _ONES.get(token.low, _TENS.get(token.low)) or (int(token.text) if token.text in _ROUND else None)
    if not whole or read.value >= whole or (step == 1 and at(row, after + 2).low in UNITS):
        return None
    return _Read(100 * read.value / whole, 2, after + step + 1, "percent")


_ROUND = frozenset(("2", "3", "4", "5", "6", "7", "8", "9", "10", "20", "50", "100", "1000"))


def _scaled(row: Sequence[Token], read: _Read) -> _Read:
    """`2.1 million`, `5k`, `$3bn`; several scales in a row (`2 hundred thousand`) all count."""
    while True:
        low = at(row, read.last).low
        joined = at(row, read.last).text == "-" and at(row, read.last + 1).low in ("million", "billion", "thousand")
        if joined:
            low = at(row, read.last + 1).low
        if low not in _SCALES or (len(low) <= 2 and not glued(row, read.last) and low == "k"):
            break
        read.value *= _SCALES[low]
        read.last += 2 if joined else 1
    low = at(row, read.last).low
    if low in _SHORT_SCALES and glued(row, read.last):
        read.also = read.value * _SHORT_SCALES[low]
    return read


def _with_unit(row: Sequence[Token], place: int, read: _Read) -> _Read | None:
    """The unit before the number (money) or behind it, also with a hyphen (`a 10-mile run`)."""
    before = at(row, place - 1)
    if before.text in MONEY_SIGNS or (before.low in CURRENCIES and before.text.isupper()):
        read.unit = MONEY_SIGNS.get(before.text) or CURRENCIES[before.low]
        if read.also is not None:
            read.value, read.also, read.last = read.also, None, read.last + 1
        return read
    after = read.last + 1 if at(row, read.last).text == "-" else read.last
    for length in (3, 2, 1):
        name = " ".join(at(row, after + step).low for step in range(length))
        unit = UNITS.get(name)
        if unit and not (len(name) == 1 and name.isalpha() and not _is_short_unit(row, after)):
            read.unit, read.last = unit.name, after + length
            return read
    if at(row, after).low in CURRENCIES:
        read.unit, read.last = CURRENCIES[at(row, after).low], after + 1
    elif read.also is not None and at(row, read.last).low in ("b", "t"):
        read.value, read.also, read.last = read.also, None, read.last + 1
    return read


def _is_short_unit(row: Sequence[Token], place: int) -> bool:
    """A single letter is a unit where it is glued to the number, or stands alone before a space or a sign."""
    return glued(row, place) or not glued(row, place + 1) or at(row, place + 1).text in ".,;)/"


def _ordinal_word(row: Sequence[Token], place: int) -> _Read | None:
    low = row[place].low
    if low not in _ORDINALS:
        return None
    before, after = at(row, place - 1).low, at(row, place + 1).low
    if (low == "first" and (before == "at" or after == ",")) or (low == "second" and before in ("per", "a", "every")):
        return None
    return _Read(_ORDINALS[low], 2, place + 1, "ordinal")


def _number(row: Sequence[Token], place: int, read: _Read) -> Number:
    first = place - 1 if at(row, place - 1).text in MONEY_SIGNS else place
    value = -read.value if _is_negative(row, first) else read.value
    bound = _bound(row, first) or ("over" if at(row, read.last).text == "+" else "")
    if at(row, read.last).low == "or" and at(row, read.last + 1).low in ("more", "fewer", "less"):
        bound = "over" if at(row, read.last + 1).low == "more" else "under"
    end = row[read.last - 1].end
    return Number(value, value, read.unit, read.also, read.figures, bound, row[first].start, end, first, read.last)


def _is_negative(row: Sequence[Token], place: int) -> bool:
    """A minus glued to the number and to nothing before it."""
    before = at(row, place - 1)
    if before.low == "minus":
        return True
    return before.text in ("-", "−") and glued(row, place) and not glued(row, place - 1)


def _bound(row: Sequence[Token], first: int) -> str:
    one, two = at(row, first - 1).low, at(row, first - 2).low
    pair = _BOUND_PAIRS.get((two, one), "")
    if pair and at(row, first - 3).low in ("no", "not"):
        return "under" if pair == "over" else "over"
    if pair or one != "a":
        return pair or _BOUNDS.get(one, "")
    return _BOUNDS.get(two, "")


def _with_ranges(row: Sequence[Token], found: Sequence[Number]) -> list[Number]:
    """`10 to 15 km`, `10–15%`, `between 10 and 15`: one number with two ends, in the unit of the second."""
    whole: list[Number] = []
    for number in found:
        last = whole[-1] if whole else None
        if last and last.value == last.high and _is_range(row, last, number):
            scale = number.value / last.value if last.value else 1.0
            low = last.value * 1e6 if number.value >= 1e6 and scale > 1e5 else last.value
            low = low * 1e9 if number.value >= 1e9 and last.value < 1000 and low == last.value else low
            whole[-1] = replace(
                number, value=low, high=number.value, bound=last.bound, start=last.start, first=last.first
            )
        else:
            whole.append(number)
    return whole


def _is_range(row: Sequence[Token], one: Number, two: Number) -> bool:
    joint = row[one.last : two.first]
    if len(joint) != 1 or one.value >= two.value or (one.unit and one.unit != two.unit):
        return False
    before = at(row, one.first - 1).low
    if joint[0].text in _DASHES:
        return two.unit != "ordinal"
    return (joint[0].low == "to" and before not in ("fell", "rose")) or (joint[0].low == "and" and before == "between")
