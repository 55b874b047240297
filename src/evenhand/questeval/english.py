"""Names, numbers, dates and noun phrases of a text, by rules.

Made for English. Names, numbers and dates in digits are found in other languages with spaces between words too; noun
phrases are not looked for there. Every pattern is matched at most once at each place and repeats one class of
characters, so that the work is linear in the text's length.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evenhand.questeval import words

Kind = Literal["name", "number", "date", "phrase"]


class Mention(NamedTuple):
    """A stretch of the text that names something."""

    start: int
    end: int
    kind: Kind


class _Token(NamedTuple):
    start: int
    end: int
    text: str


_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d|20)\d\d"
_DATE = re.compile(
    rf"""(?<![\w.,$€£¥-])(?:
        (?:(?:{words.WEEKDAYS}),?\s)?(?:
            (?:{_DAY})\s(?:of\s)?(?:{words.MONTHS})\b\.?(?:,?\s{_YEAR}\b)?
          | (?:{words.MONTHS})\b\.?\s(?:\d{{1,2}}(?:st|nd|rd|th)?\b(?![,.]\d{{3}})(?:,?\s{_YEAR}\b)?|{_YEAR}\b)
        )
      | (?:{words.WEEKDAYS})\b
      | \d{{4}}-\d{{2}}-\d{{2}}\b
      | \d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b
      | \d{{1,4}}\s(?:BCE|BC|AD|CE)\b
      | (?:early|mid|late)?[\s-]?{_YEAR}s\b
      | \d{{1,2}}(?:st|nd|rd|th)[\s-]century\b
      | \d{{1,2}}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.)
      | \d{{1,2}}:\d\d\b
      | {_YEAR}\s?[–-]\s?(?:{_YEAR}|\d\d)\b(?![,.]?\d)
      | {_YEAR}\b(?![,.]\d|%|[–-]\w)
      | (?:January|February|March|April|June|July|August|September|October|November|December)\b
    )""",
    re.VERBOSE,
)
_WHOLE_MONTH = re.compile(r"\b(?:May|\w{5,}|June|July)\.\Z")
_SEASON = re.compile(rf"\b(?:spring|summer|autumn|fall|winter)\s(?:of\s)?{_YEAR}\b")
_FIGURE = re.compile(
    rf"""(?<![\w.,-])(?:[$€£¥]\s?)?{_NUMBER}(?:\s?[–-]\s?{_NUMBER}|\sto\s{_NUMBER})?
    (?:\s?%|(?:st|nd|rd|th)\b|(?:\s?(?:{words.SCALES})\b)?(?:[\s-]?(?:{words.UNITS})(?!\w))?(?:\sper\s[a-z]+)?)(?![^\W\d_]|-[^\W\d_])""",
    re.VERBOSE,
)
_UNIT_AFTER_WORDS = re.compile(rf"[\s-](?:{words.UNITS})(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:['’&.-][^\W_]+)*")
_COUNTED = re.compile(rf"\s?(?:{words.UNITS}|{words.SCALES}|people|[a-z]+s)(?!\w)")
_QUOTED = re.compile(r"[“\"«]([^“”\"«»\n]{2,80})[”\"»]")
_ADJECTIVE = re.compile(r"(?:ish|ese|ian|ean|can|nch|tch|eek|wiss|man)\Z")
_JOINING = re.compile(r"\s|\.\s|")
_LONGEST_PHRASE = 4
_LONGEST_NAME = 8


@dataclass(frozen=True, slots=True)
class Capitals:
    """What a text tells of its own capitals: words that have one in mid-sentence, and words seen without."""

    inside: frozenset[str]
    small: frozenset[str]

    @classmethod
    def of(cls, text: str, sentences: Sequence[tuple[int, int]]) -> "Capitals":
        inside, small = set[str](), set[str]()
        for start, end in sentences:
            for place, word in enumerate(_WORD.finditer(text, start, end)):
                if word[0].islower():
                    small.add(word[0])
                elif place and word[0][0].isupper():
                    inside.add(word[0])
        return cls(frozenset(inside), frozenset(small))


def mentions(text: str, start: int, end: int, capitals: Capitals, phrases: bool = True) -> list[Mention]:
    """What one sentence of a text mentions, in order, without overlaps."""
    found = [*_dates(text, start, end)]
    taken = _Taken(found)
    for kind in (_figures(text, start, end), _number_words(text, start, end)):
        found += taken.free(kind)
    tokens = [_Token(*word.span(), word[0]) for word in _WORD.finditer(text, start, end)]
    found += taken.free(_names(text, tokens, capitals, taken))
    if phrases:
        found += taken.free(_phrases(text, tokens, taken))
    return sorted(found)


class _Taken:
    """The stretches that are spoken for."""

    def __init__(self, found: Sequence[Mention]) -> None:
        self.places = {place for mention in found for place in range(mention.start, mention.end)}

    def __contains__(self, token: _Token) -> bool:
        return token.start in self.places or token.end - 1 in self.places

    def free(self, found: Iterator[Mention]) -> list[Mention]:
        kept: list[Mention] = []
        for mention in found:
            if self.places.isdisjoint(range(mention.start, mention.end)):
                self.places.update(range(mention.start, mention.end))
                kept.append(mention)
        return kept


def _dates(text: str, start: int, end: int) -> Iterator[Mention]:
    seasons = [season.span() for season in _SEASON.finditer(text, start, end)]
    yield from (Mention(*season, "date") for season in seasons)
    for date in _DATE.finditer(text, start, end):
        if any(first < date.end() and date.start() < last for first, last in seasons):
            continue
        if re.fullmatch(_YEAR, date[0]) and not _is_year(text, date.end()):
            continue
        lead = len(date[0]) - len(date[0].lstrip(" -"))
        yield Mention(date.start() + lead, _without_stop(text, date), "date")


def _without_stop(text: str, date: re.Match[str]) -> int:
    """Where a date ends: a full stop after a whole word, or at the end of the text, is not its own."""
    whole = date[0].endswith(".") and (_WHOLE_MONTH.search(date[0]) or not text[date.end() :].strip())
    return date.end() - 1 if whole and not date[0].endswith("m.") else date.end()


def _is_year(text: str, end: int) -> bool:
    """Whether four digits are a year: not where they count something ("2000 people", "1500 workers")."""
    following = _COUNTED.match(text, end)
    return following is None or following[0].strip() in words.BREAKS


def _figures(text: str, start: int, end: int) -> Iterator[Mention]:
    for figure in _FIGURE.finditer(text, start, end):
        yield Mention(*figure.span(), "number")


def _number_words(text: str, start: int, end: int) -> Iterator[Mention]:
    run: list[_Token] = []
    for word in _WORD.finditer(text, start, end):
        token = _Token(*word.span(), word[0].lower())
        numeral = all(part in words.NUMBER_WORDS or part == "one" for part in token.text.split("-"))
        joins = bool(run) and text[run[-1].end : token.start].isspace()
        if numeral and (joins or not run):
            run.append(token)
            continue
        yield from _numeral(text, run)
        run = [token] if numeral or token.text in words.BEFORE_NUMBERS else []
    yield from _numeral(text, run)


def _numeral(text: str, run: Sequence[_Token]) -> Iterator[Mention]:
    if not any(part in words.NUMBER_WORDS for token in run for part in token.text.split("-")):
        return
    if run[0].text in words.BEFORE_NUMBERS and run[1].text not in (
        "hundred",
        "thousand",
        "million",
        "billion",
        "dozen",
    ):
        run = run[1:]
    unit = _UNIT_AFTER_WORDS.match(text, run[-1].end)
    yield Mention(run[0].start, unit.end() if unit else run[-1].end, "number")


def _names(text: str, tokens: Sequence[_Token], capitals: Capitals, taken: _Taken) -> Iterator[Mention]:
    for quoted in _QUOTED.finditer(text, tokens[0].start - 1, tokens[-1].end + 2) if tokens else ():
        if quoted[1][0].isupper() and quoted[1][-1].isalnum():
            yield Mention(*quoted.span(1), "name")
    place = 0
    while place < len(tokens):
        run = _name_run(text, tokens, place, taken)
        place += max(1, len(run))
        run = _without_opener(tokens, run, capitals)
        if run and not _describes(text, run, tokens[place] if place < len(tokens) else None):
            last = run[-1]
            trimmed = re.sub(r"['’]s?\Z", "", last.text)
            yield Mention(run[0].start, last.start + len(trimmed), "name")


def _name_run(text: str, tokens: Sequence[_Token], place: int, taken: _Taken) -> list[_Token]:
    """The tokens of the name that begins here: capitals, and small words between them."""
    run: list[_Token] = []
    waiting: list[_Token] = []
    for token in tokens[place : place + _LONGEST_NAME + 3]:
        before = (waiting or run)[-1:]
        if token in taken or (before and not _adjoins(text, before[0], token)):
            break
        if token.text[0].isupper() or (run and token.text[0].isdigit() and not waiting):
            run += [*waiting, token]
            waiting = []
            if token.text.endswith(("'s", "’s")):
                break
        elif run and _may_join(run[-1], token) and len(waiting) < 2:
            waiting.append(token)
        else:
            break
    return run


def _adjoins(text: str, one: _Token, other: _Token) -> bool:
    between = text[one.end : other.start]
    if between == ". ":
        return one.text in words.TITLES or len(one.text) == 1 or (len(one.text) == 3 and one.text[1] == ".")
    return _JOINING.fullmatch(between) is not None and "." not in between


def _may_join(name: _Token, token: _Token) -> bool:
    if token.text == "for":
        return name.text in words.OFFICES
    if token.text == "and":
        return name.text in ("Science", "Arts", "Food", "Health", "Trinidad", "Bosnia", "Rise", "War", "Crime", "Law")
    return token.text in words.BETWEEN_NAMES - words.ON_UNDER


def _without_opener(tokens: Sequence[_Token], run: Sequence[_Token], capitals: Capitals) -> Sequence[_Token]:
    """A run without the capital that only its place gave: a sentence's first word, or one after a quotation mark."""
    while run and (run[0].text.lower() in words.OPENERS or run[0].text in ("The", "A")):
        if run[0].text in capitals.inside and run[0].text not in ("The", "A", "I") and run[0] is not tokens[0]:
            break
        run = run[1:]
    if not run or run[0] is not tokens[0]:
        return run
    first = run[0].text.removesuffix("'s").removesuffix("’s")
    if len(run) > 1:
        return run[1:] if first.endswith(("ly", "ing")) or first.lower() in capitals.small else run
    if first in capitals.inside or not first[1:].islower():
        return run
    return () if first.lower() in capitals.small or not _is_subject(tokens) or first.endswith(("ly", "ing")) else run


def _is_subject(tokens: Sequence[_Token]) -> bool:
    """Whether a sentence's first word is followed as a name is: by a verb in the singular, or by a name's own."""
    if tokens[0].text.endswith(("'s", "’s")):
        return True
    following = tokens[1].text if len(tokens) > 1 else ""
    singular = following in ("is", "was", "has", "had", "became") or following.endswith(("ed", "s"))
    return singular and not tokens[0].text.endswith("s")


def _describes(text: str, run: Sequence[_Token], following: _Token | None) -> bool:
    """Whether a lone capital only qualifies the noun after it ("the French president", "a Polish-born physicist")."""
    if len(run) > 1 or following is None or text[run[0].end : following.start] != " ":
        return False
    if not _ADJECTIVE.search(run[0].text) and not run[0].text.partition("-")[2].islower():
        return False
    return following.text[0].islower() and following.text not in words.BREAKS and following.text not in words.LEADS


def _phrases(text: str, tokens: Sequence[_Token], taken: _Taken) -> Iterator[Mention]:
    place = 0
    while place < len(tokens):
        led = place == 0 or tokens[place - 1].text.lower() in words.LEADS
        run = _phrase_run(text, tokens, place, taken) if led else []
        place += max(1, len(run))
        if run and (len(run) > 1 or _stands_alone(tokens, place - len(run))):
            trimmed = re.sub(r"['’]s?\Z", "", run[-1].text)
            yield Mention(run[0].start, run[-1].start + len(trimmed), "phrase")


def _stands_alone(tokens: Sequence[_Token], place: int) -> bool:
    """Whether one word makes a phrase: not a sentence's first, nor after "to", where it is likely a verb."""
    return place > 0 and len(tokens[place].text) > 3 and tokens[place - 1].text != "to"


def _phrase_run(text: str, tokens: Sequence[_Token], place: int, taken: _Taken) -> list[_Token]:
    """Words that make a noun phrase, as far as can be told without a grammar: up to four, up to what breaks it."""
    run: list[_Token] = []
    for at in range(place, min(place + _LONGEST_PHRASE, len(tokens))):
        token = tokens[at]
        if token in taken or not _in_phrase(token.text) or (run and text[run[-1].end : token.start] != " "):
            break
        following = tokens[at + 1].text.lower() if at + 1 < len(tokens) else ""
        if run and _is_verb(token.text, following):
            break
        run.append(token)
    while run and run[-1].text.endswith(("ed", "ly")):
        run.pop()
    return run


def _in_phrase(word: str) -> bool:
    low = word.lower()
    return low not in words.BREAKS and low not in words.LEADS and not low.endswith("ly") and not low[0].isdigit()


def _is_verb(word: str, following: str) -> bool:
    """A guess from the ending and from what follows: "bridge joins the station", "team discovered a"."""
    if word.endswith(("ed", "ing")):
        return following in words.LEADS or not following or following in words.BREAKS
    return word.endswith("s") and not word.endswith(("ss", "us")) and following in words.DETERMINERS
