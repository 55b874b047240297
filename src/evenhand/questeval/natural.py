"""What an English question in plain words asks for, and the stretches of a sentence that are of that sort."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from evenhand.questeval import words
from evenhand.questeval.likeness import likeness
from evenhand.questeval.passages import Text
from evenhand.questeval.persons import is_agent, without_title
from evenhand.questeval.phrases import Phrase, phrases
from evenhand.questeval.roots import PAST_FORMS, root
from evenhand.questeval.wanted import DATE, NUMBER, Wanted, lead_word
from evenhand.verify.stems import stem

Sort = Literal["date", "count", "often", "measure", "person", "place", "noun", "thing"]
_LIKE = 0.6
_HAVE = r"(?:has|have|had|will|would|can|could|may|might|must|also|now|first|once|then|later|[a-z]+ly)"
_NO_NOUN = "is|was|are|were|did|does|do|has|have|had|will|can|may|would|could|of"
_NOUN = re.compile(
    rf"\b(?:which|what)\s((?:(?!(?:{_NO_NOUN})\s)[a-z-]+\s){{0,2}}?(?!(?:{_NO_NOUN})\s)[a-z-]+)(?=\s(?:{_NO_NOUN})\s)"
    rf"|\bwhich\s(?!(?:{_NO_NOUN})\s)([a-z-]+)\s",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\bhow\smany\s(?:(?:new|other|more|different|people's)\s)?([a-z-]+)", re.IGNORECASE)
_VERB = re.compile(rf"(?:\w+\s)??(?:who|what|(?:which|what|how\smany)\s[a-z-]+)\s(?:{_HAVE}\s){{0,3}}([a-z]+)", re.I)
_AUXILIARY = re.compile(r"\b(?:did|does|do|was|were|is|are|has|have|had|will|can|may|could|would)\s", re.IGNORECASE)
_UNTIL = re.compile(r"\A(?:until|till|up to|by)\s(?:when|(?:which|what)\s)", re.IGNORECASE)
_SINCE = re.compile(r"\A(?:since|from)\s(?:when|(?:which|what)\s(?:date|year|day|month|time))", re.IGNORECASE)
_LED_UNTIL = frozenset("until till through to by before".split())
_LED_SINCE = frozenset("since from after".split())
_PLACED = frozenset("in at near on inside outside under behind beside above below along around into to from".split())
_EXTENT = re.compile(r"\Ahow long (?:is|are|was|were) [\w' -]*?([a-z]+)\??\Z", re.IGNORECASE)
_TIMES = (
    "second|minute|hour|day|night|week|fortnight|month|season|year|decade|century|centurie|morning|evening|summer"
    "|winter"
)
_NUMERAL = rf"(?:\d+(?:[.,]\d+)*|{'|'.join(sorted(words.NUMBER_WORDS))}|several|many|a few)"
_OFTEN = re.compile(
    rf"\b(?:(?:every|each)\s(?:(?:other|second|third|{_NUMERAL})\s)?(?:{_TIMES}|{words.WEEKDAYS})s?"
    rf"|(?:once|twice|(?:{_NUMERAL}|three|two)\stimes)\s(?:(?:a|an|per|each|every|in)\s)(?:{_NUMERAL}\s)?(?:{_TIMES})s?"
    rf"|hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually|on\s(?:{words.WEEKDAYS})s)\b"
)
_LASTING = re.compile(
    rf"\b(?:(?:up\sto|half)\s)?(?:an?|one|several|many|a\sfew|half\san?|{_NUMERAL}(?:\sand\sa\shalf)?)\s(?:{_TIMES})s?\b"
    r"(?!\sold|\sago|\slater)|\bovernight\b"
)
_MOMENT = re.compile(
    rf"\b(?:{_NUMERAL}\so['’]clock|noon|midnight|midday|dawn|dusk|sunset|sunrise|Easter|Christmas|yesterday|tomorrow"
    rf"|(?:next|last|this)\s(?:{_TIMES}|spring|autumn|{words.WEEKDAYS}|{words.MONTHS})"
    rf"|{_NUMERAL}\s(?:{_TIMES})s\s(?:later|ago|earlier))\b"
)
_BEFORE_DATE = re.compile(r"(?:the\s(?:end|start|beginning|middle)\sof|early|late|mid)[\s-]\Z")
_PART = re.compile(r"\b(?:(?:an?|one|two|three)\s(?:third|quarter|fifth|tenth)s?|half)\b")
_AFTER_NUMBER = re.compile(r"[\s-]([a-z-]+)(?:\s([a-z-]+))?(?:\s([a-z-]+))?")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_UP_TO = re.compile(r"\bup\sto\s\Z")
_NO_VERBS = frozenset(("today", "now", "first", "last", "still", "long", "often", "far", "old", "part", "time"))
_LOOSE = frozenset("place thing part kind sort type material name title reason way".split())


class Stretch(NamedTuple):
    """A stretch that may answer, and how well its sort fits, from 0 to 1."""

    start: int
    end: int
    fit: float


@dataclass(frozen=True)
class Ask:
    """A question in plain words: the sort of its answer, the noun it names that by, and its verb."""

    asked: Wanted

    @cached_property
    def sort(self) -> Sort:
        low = self.asked.question.lower()
        if re.search(r"\bhow\s(?:often|frequently)\b", low):
            return "often"
        if self.asked.kinds is DATE or _UNTIL.match(low) or _SINCE.match(low):
            return "date"
        if re.search(r"\bhow\smany\b", low):
            return "count"
        if self.asked.kinds is NUMBER:
            return "measure"
        if re.search(r"\bwho(?:m|se)?\b", low):
            return "person"
        if re.search(r"\bwhere\b", low):
            return "place"
        return "noun" if self.noun else "thing"

    @cached_property
    def noun(self) -> str:
        """The noun of `which` and `what` (its last word), or of `how many`."""
        found = _COUNTED.search(self.asked.question) or _NOUN.search(self.asked.question)
        return (found[1] or found[2]).split()[-1].lower() if found else ""

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The stem of what is done: after `who`; where a subject stands before it, any word that is not a name."""
        found = _VERB.search(self.asked.question)
        if found and not _AUXILIARY.match(found[1] + " ") and found[1] not in words.LEADS:
            return frozenset((stem(found[1].lower()),))
        given = {word.stem for word in self.asked.words} - self.asked.names - {stem(self.noun)} - _NO_VERBS
        return frozenset(given)

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(root(verb) for verb in self.verbs)

    @cached_property
    def of_subject(self) -> bool:
        """Whether the answer is who or what does it: no other subject stands between the question word and the verb."""
        found = _VERB.search(self.asked.question)
        return found is not None and not _AUXILIARY.match(found[1] + " ")

    def is_verb(self, word: str) -> bool:
        return root(stem(word.lower())) in self._roots


def stretches(ask: Ask, place: int, read: Text) -> list[Stretch]:
    """The stretches of a sentence that are of the sort asked for."""
    found = {
        "date": _dates,
        "count": _counts,
        "often": _often,
        "measure": _measures,
        "person": _persons,
        "place": _places,
        "noun": _named_so,
        "thing": _things,
    }[ask.sort](ask, place, read)
    return [stretch for stretch in found if stretch.fit > 0]


def _dates(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    question, sentence = ask.asked.question, read.sentences[place]
    moments = [found.span() for found in _MOMENT.finditer(read.text, sentence.start, sentence.end)]
    dates = [mention[:2] for mention in read.mentions(place) if mention.kind == "date"]
    clear = [date for date in dates if all(date[1] <= start or end <= date[0] for start, end in moments)]
    for start, end in [*moments, *clear]:
        before = _BEFORE_DATE.search(read.text, max(sentence.start, start - 20), start)
        begin = before.start() if before else start
        led = lead_word(read.text, begin)
        fit = 0.6 if ask.asked.year_only and not _YEAR.search(read.text, start, end) else 1.0
        if _UNTIL.match(question):
            fit *= 1.0 if led in _LED_UNTIL else 0.1
        elif _SINCE.match(question):
            fit *= 1.0 if led in _LED_SINCE else 0.4 if led in _LED_UNTIL else 0.7
        yield Stretch(begin if not ask.asked.year_only else start, end, fit)


def _counts(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    sentence = read.sentences[place]
    for start, end, kind in read.mentions(place):
        if kind == "number":
            figure = re.match(r"[\d.,]*\d|\S+", read.text[start:end])
            unit = re.search(r"[a-z]+\Z", read.text[start:end])
            counted = unit is not None and likeness(stem(unit[0]), stem(ask.noun)) >= _LIKE
            stop = start + len(figure[0]) if counted and figure else end
            yield Stretch(start, stop, _counts_so(ask.noun, read.text[stop : sentence.end]))


def _counts_so(noun: str, after: str) -> float:
    """Whether a number counts what is asked for, by the words after it; a number alone may."""
    following = _AFTER_NUMBER.match(after)
    for word in following.groups() if following else ():
        if word is None or word in words.BREAKS or word in words.LEADS:
            break
        if likeness(stem(word), stem(noun)) >= _LIKE or (noun == "people" and is_agent(word)):
            return 1.0
    alone = following is None or following[1] in words.BREAKS or following[1] in words.LEADS
    return 0.5 if alone else 0.1


def _often(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    sentence = read.sentences[place]
    yield from (Stretch(*found.span(), 1.0) for found in _OFTEN.finditer(read.text, sentence.start, sentence.end))


def _measures(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    sentence, question = read.sentences[place], ask.asked.question.lower()
    taken = [found.span() for found in _OFTEN.finditer(read.text, sentence.start, sentence.end)]
    lasting = "how long" in question
    if lasting or re.search(r"\bhow much time\b", question):
        times = [found.span() for found in _LASTING.finditer(read.text, sentence.start, sentence.end)]
        extent = _EXTENT.search(question)
        done = extent is None or extent[1].endswith("ed") or extent[1] in PAST_FORMS
        fit = 1.0 if done else 0.3
        yield from (Stretch(*time, fit) for time in times if not _overlaps(time, taken))
        taken += times
    elif "how much" in question or ask.noun in ("share", "proportion", "percentage", "part"):
        yield from (Stretch(*found.span(), 0.9) for found in _PART.finditer(read.text, sentence.start, sentence.end))
    for start, end, kind in read.mentions(place):
        if kind != "number" or _overlaps((start, end), taken):
            continue
        before = _UP_TO.search(read.text, sentence.start, start)
        yield Stretch(before.start() if before else start, end, ask.asked.fits("number", read.text[start:end]))


def _overlaps(one: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(start < one[1] and one[0] < end for start, end in others)


def _persons(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    """Names of persons and bodies, and phrases for such. Owners are for `whose` only, places never."""
    text, whole = read.text, _phrases(ask, place, read)
    for start, end, kind in read.mentions(place):
        if kind != "name":
            continue
        around = next((one for one in whole if one.start <= start and end <= one.end), None)
        fit = ask.asked.fits("name", text[start:end])
        if re.match("['’]s?(?!\\w)", text[end:]):
            fit *= "whose" in ask.asked.question.lower()
        elif around and not around.joined and re.match(r"\s[a-z]", text[end : around.end]):
            fit = 0.8 if is_agent(around.head) else 0.0
            end = around.end
        elif text[start:end] in read.place_names:
            fit *= 0.2
        joined = around is not None and around.joined and text[start:end].split()[0] in text[around.start :][:20]
        if around and joined and around.start == start:
            end = around.end
        yield Stretch(without_title(text, start, end), end, fit)
    for one in whole:
        if text[one.start].islower() or one.start == read.sentences[place].start:
            yield Stretch(one.start, one.end, 0.75 * is_agent(one.head))


def _places(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    for one in _single(ask, place, read):
        led = lead_word(read.text, one.start) in _PLACED
        name = read.text[one.start].isupper() and one.start > read.sentences[place].start
        number = not read.text[one.start].isalpha()
        yield Stretch(
            one.start, one.end, (1.0 if name and led else 0.85 if led else 0.4 if name else 0.2) * (not number)
        )


def _named_so(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    """Phrases whose head is the noun asked for, names that it stands by, and names where any would do."""
    text, noun = read.text, stem(ask.noun)
    names = [mention for mention in read.mentions(place) if mention.kind == "name"]
    for one in _single(ask, place, read):
        inside = next((name for name in names if one.start <= name.start and name.end <= one.end), None)
        before = re.search(r"([a-z-]+)\s(?:of\s(?:the\s)?)?\Z", text[one.start : inside.start]) if inside else None
        if inside and before and inside.end == one.end and likeness(stem(before[1]), noun) >= _LIKE:
            yield Stretch(inside.start, inside.end, 1.0)
        elif likeness(stem(one.head), noun) >= _LIKE:
            yield Stretch(one.start, one.end, 1.0)
        elif inside and inside.end == one.end:
            yield Stretch(
                without_title(text, inside.start, inside.end), inside.end, _fit_of_name(ask, inside[:2], read)
            )
        else:
            yield Stretch(one.start, one.end, 0.75 if ask.noun in _LOOSE else 0.3)


def _fit_of_name(ask: Ask, name: tuple[int, int], read: Text) -> float:
    text = read.text
    apposed = re.search(r"([a-z-]+)(?:\sof\s[\w\s]{1,30})?,\s\Z", text[max(0, name[0] - 60) : name[0]])
    behind = re.match(r",\s(?:an?|the)\s(?:[a-z-]+\s){0,2}?([a-z-]+)\b", text[name[1] : name[1] + 60])
    if any(found and likeness(stem(found[1]), stem(ask.noun)) >= _LIKE for found in (apposed, behind)):
        return 1.0
    if re.match("['’]s?(?!\\w)", text[name[1] :]) or (is_agent(ask.noun) and text[slice(*name)] in read.place_names):
        return 0.2
    return 0.75


def _things(ask: Ask, place: int, read: Text) -> Iterator[Stretch]:
    for one in _phrases(ask, place, read):
        figure = re.fullmatch(r"[\d.,%£$€]+(?:\s\w+)?", read.text[one.start : one.end])
        yield Stretch(one.start, one.end, 0.2 if figure else 1.0)


def _phrases(ask: Ask, place: int, read: Text) -> list[Phrase]:
    sentence = read.sentences[place]
    dates = [mention for mention in read.mentions(place) if mention.kind == "date"]
    found = phrases(read.text, sentence.start, sentence.end, ask.is_verb)
    return [one for one in found if not any(date.start <= one.start < date.end for date in dates)]


def _single(ask: Ask, place: int, read: Text) -> list[Phrase]:
    """The phrases with lists taken apart where only one thing is asked for."""
    sentence = read.sentences[place]
    whole = _phrases(ask, place, read)
    if not any(one.joined for one in whole):
        return whole
    single = phrases(read.text, sentence.start, sentence.end, ask.is_verb, lists=False)
    places = [(one.start, one.end) for one in whole]
    return [one for one in single if _overlaps((one.start, one.end), places)]
