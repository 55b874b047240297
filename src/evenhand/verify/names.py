"""Names in a text: runs of capitalised words, acronyms and initials, and when two of them mean the same."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand.verify.dates import MONTHS, WEEKDAYS
from evenhand.verify.stems import STOP
from evenhand.verify.tokens import Token, at, glued

_INSIDE = frozenset(
    ("of", "the", "de", "la", "le", "van", "von", "der", "den", "del", "da", "du", "di", "al", "bin", "and")
)
_TITLES = frozenset(
    """mr mrs ms dr prof professor sir lord lady president king queen prince princess saint captain general
    senator judge minister pope emperor""".split()
)
# In capitals these are names, in small letters they are among the commonest words.
_LIKE_STOPS = frozenset(("US", "IT", "WHO"))
_NEVER = frozenset(("i", "i'm", "i've", "ok", "am", "pm", *WEEKDAYS, *MONTHS))
# The first word of a sentence is capitalised whatever it is: with these endings it is taken for a common word.
_COMMON_ENDINGS = ("ing", "ly", "tion", "tions", "ment", "ments", "ness", "ists", "ers", "ors", "ies", "ings", "ed")
_COMMON_FIRST = frozenset(
    """around about approximately roughly nearly almost over under above below fewer less more half either neither
    both each everything something anything someone anyone whoever whatever whether unless if because when while
    where what who why how only just not nor so then there here such rather although though however therefore
    thus since despite unlike according meanwhile moreover additionally furthermore instead finally today
    yesterday tomorrow people many several another every everyone nobody nothing none never always often
    sometimes later earlier now once perhaps maybe still yet even like please yes well among within without upon
    overall first second third last next new old most much two three four five six seven eight nine ten dozens
    hundreds thousands men women children scientists researchers critics experts authorities officials police
    students patients doctors workers companies products customers sales revenue profits profit prices water air
    food light heat iron gold silver oil gas coal steel glass bread milk sugar salt scores results studies data
    evidence research work life history music art law language health education science war peace time money""".split()
)
_PEOPLES = {
    word: names[0]
    for names in (
        line.split()
        for line in """america american americans usa us u.s.
britain british uk u.k. briton britons
england english
scotland scottish scots
ireland irish
france french frenchman
germany german germans
italy italian italians
spain spanish spaniard
portugal portuguese
netherlands dutch holland
belgium belgian
sweden swedish swede
norway norwegian
denmark danish dane
finland finnish finn
poland polish pole
russia russian russians
ukraine ukrainian
greece greek greeks
turkey turkish turk
china chinese
japan japanese
korea korean
india indian indians
pakistan pakistani
israel israeli
egypt egyptian
brazil brazilian
mexico mexican
canada canadian canadians
australia australian
argentina argentine argentinian
switzerland swiss
austria austrian
hungary hungarian
iran iranian persian
iraq iraqi
europe european europeans eu
africa african
asia asian
rome roman romans""".split("\n")
    )
    for word in names
}
_WHOLE_NAMES = {
    "united states": "america", "united states of america": "america", "united kingdom": "britain",
    "great britain": "britain", "european union": "europe", "soviet union": "ussr", "new york city": "nyc",
    "united nations": "un", "los angeles": "la",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, its telling words in lower case, and its places (characters, tokens).

    Not `sure` is a single word that opens its sentence: it may be capitalised for that alone.
    """

    text: str
    words: tuple[str, ...]
    start: int
    end: int
    first: int
    last: int
    sure: bool


def names(row: Sequence[Token], starts: Iterable[int], taken: Iterable[tuple[int, int]] = ()) -> list[Name]:
    """The names of a text, in order. `starts` are the tokens that open a sentence; `taken` ranges are left out.

    Nothing in a text whose words are nearly all capitalised, such as a heading: there, capitals tell nothing.
    """
    words = [token for token in row if token.text[0].isalpha() and token.low not in STOP]
    if len(words) > 3 and sum(token.text[0].isupper() for token in words) > 0.85 * len(words):
        return []
    opening = set(starts)
    skip = {place for first, last in taken for place in range(first, last)}
    found: list[Name] = []
    place = 0
    while place < len(row):
        last = _run(row, place, skip, opening)
        name = _name(row, place, last, opening) if last > place else None
        if name:
            found.append(name)
        place = max(last, place + 1)
    return found


def alone(row: Sequence[Token], place: int) -> Name:
    """The token at a place as a name."""
    token = row[place]
    return Name(token.text, (plain(token),), token.start, token.end, place, place + 1, True)


def plain(token: Token) -> str:
    """A name's word without the mark of possession."""
    return token.low.removesuffix("'s").removesuffix("'")


def same(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether two names can be the same: by surname, initials, acronym, or a people and its country."""
    if not one or not two:
        return False
    first, second = canonical(one), canonical(two)
    if first == second or (first[-1] == second[-1] and _forenames_fit(first[:-1], second[:-1])):
        return True
    short, long = sorted((first, second), key=len)
    if len(short) == 1 and len(long) > 1:
        return short[0] in long or short[0].replace(".", "") == "".join(word[0] for word in long)
    return set(short) <= set(long)


def canonical(words: Sequence[str]) -> tuple[str, ...]:
    """A name's words with peoples and countries told by one word (`French`, `France`; `United States`, `US`)."""
    whole = _WHOLE_NAMES.get(" ".join(words))
    if whole:
        return (whole,)
    return tuple(_PEOPLES.get(word, word) for word in words)


def _forenames_fit(one: Sequence[str], two: Sequence[str]) -> bool:
    """`J.` fits `John`; no forename fits any."""
    return all(
        a == b or (len(a) == 1 and b[0] == a) or (len(b) == 1 and a[0] == b) for a, b in zip(one, two, strict=False)
    )


def _run(row: Sequence[Token], place: int, skip: set[int], opening: set[int]) -> int:
    """The place after a run of capitalised words that begins here; the place itself where none does."""
    if not _is_capital(row, place, skip):
        return place
    last = place + 1
    while last < len(row) and last not in opening:
        if _is_capital(row, last, skip) or (row[last].text == "." and _is_initial(row, last)):
            last += 1
        elif (
            row[last].text in ("-", "&")
            and glued(row, last) == glued(row, last + 1)
            and _is_capital(row, last + 1, skip)
        ):
            last += 2
        elif row[last].low in _INSIDE and row[last].low != "and":
            step = 2 if at(row, last + 1).low == "the" else 1
            if not _is_capital(row, last + step, skip):
                break
            last += step + 1
        else:
            break
    return last


def _is_initial(row: Sequence[Token], place: int) -> bool:
    """Whether the point here ends an initial or a title."""
    before = row[place - 1]
    return (len(before.text) == 1 or before.low in _TITLES) and glued(row, place)


def _is_capital(row: Sequence[Token], place: int, skip: set[int]) -> bool:
    if not 0 <= place < len(row) or place in skip:
        return False
    token = row[place]
    if token.text in _LIKE_STOPS:
        return True
    return token.text[0].isupper() and token.low not in _NEVER and token.low.removesuffix("'s") not in STOP


def _name(row: Sequence[Token], first: int, last: int, opening: set[int]) -> Name | None:
    while last > first and row[last - 1].text in ("-", "&"):
        last -= 1
    if first in opening and _is_common(row, first, last):
        first += 1
        while first < last and not row[first].text[0].isupper():
            first += 1
    words = tuple(
        plain(token)
        for token in row[first:last]
        if token.text.isalnum() or "'" in token.low
        if token.low not in _INSIDE and token.low not in _TITLES
    )
    if not words or (len(words) == 1 and len(words[0]) == 1):
        return None
    start, end = row[first].start, row[last - 1].end
    sure = len(words) > 1 or first not in opening or row[first].text.isupper()
    return Name("".join(_spaced(row, first, last)), words, start, end, first, last, sure)


def _spaced(row: Sequence[Token], first: int, last: int) -> Iterable[str]:
    for place in range(first, last):
        if place > first and not glued(row, place):
            yield " "
        yield row[place].text


def _is_common(row: Sequence[Token], first: int, last: int) -> bool:
    """Whether the word that opens a sentence is likely a common word that merely stands first."""
    low = row[first].low
    if row[first].text.isupper() and len(low) > 1:
        return False
    alone = last == first + 1
    # “Paris is”, “Reims has”: no plural.
    many = low.endswith("s") and len(low) > 3 and at(row, last).low not in ("is", "was", "has", "does")
    return low in _COMMON_FIRST or (alone and (low.endswith(_COMMON_ENDINGS) or many))
