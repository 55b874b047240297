"""Lessons in which words alone decide nothing: the wrong number, date or name stands in the same text as the right one.

A text says "It admitted women in 1897, and a school of medicine was added in 1912"; the claim that women were admitted
in 1912 has all its words there. The network learns what belongs to what from sentences of real texts in which a thing
was changed for another of its kind nearby, and from sentences of one text told of another's subject.
"""

import re
from collections.abc import Iterable, Sequence
from random import Random

from evenhand.nlp.sentences import sentences
from evenhand.verify.stems import stems_of
from training.lessons import Lesson, lesson, read_against
from training.sets import CONTRADICTED, NO_EVIDENCE, SUPPORTED, Pair
from training.swaps import MONTHS, NUMBER, denial, name_swap, names_in, opposite, reworded, ring

_MONTH = "|".join(MONTHS)
_DATE = re.compile(rf"\b(?P<how>on|On) (?P<day>\d{{1,2}}) (?P<month>{_MONTH})(?P<year>,? \d{{4}})?\b")
_DATE_US = re.compile(rf"\b(?P<how>on|On) (?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?P<year>, \d{{4}})?\b")
_LATE = re.compile(rf"^(?P<rest>.+?),? (?P<when>(?:in|since|during) (?:(?:{_MONTH}) )?\d{{4}})\.$")
_TAIL = re.compile(r",? (?:which|who|where|while|although|but|and|with|after|before|because|as|when)\b|[,;]")
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|can|will|would|could|does|did|may|\w{3,}(?:ed|es))\b")
_PRONOUN = re.compile(r"^(?:It|He|She|They) (?=(?:is|was|has|had|were|are|have|\w+ed|\w+s)\b)")
_ARTICLES = frozenset("The A An This These Those Its It In On At After Before He She They His Her Their".split())
_LONGEST = 1500
_MOST_NAMES = 8


def bound(texts: Iterable[str], most: int, random: Random) -> list[Lesson]:
    """Claims made of sentences of the texts, as they stand and with a thing changed for another of the same text."""
    pool = sorted({text[:_LONGEST] for text in texts})
    random.shuffle(pool)
    lessons: list[Lesson] = []
    for text in pool * 3:
        if len(lessons) >= most:
            break
        own = [text[start:end] for start, end in sentences(text) if 6 <= len(text[start:end].split()) <= 45]
        if own:
            lessons += _of(text, random.choice(own), random)
    return lessons[:most]


def _of(text: str, one: str, random: Random) -> list[Lesson]:
    said = _subject_named(text, told(one, random))
    against = read_against(text, said, random)
    made = [lesson(against, said, SUPPORTED)]
    false = mistaken(said, text, random)
    if false is None:
        return made if random.random() < 0.3 else []
    made.append(lesson(against, false, CONTRADICTED))
    if random.random() < 0.3 and one in text:
        rest = text.replace(one, " ")
        if len(rest.split()) > 20:
            made.append(lesson(read_against(rest, said, random), said, NO_EVIDENCE))
    return made


def misbound(pairs: Sequence[Pair], most: int, random: Random) -> list[Lesson]:
    """Supported claims with a thing changed for another of its kind that the evidence has."""
    lessons: list[Lesson] = []
    for pair in random.sample(pairs, len(pairs)):
        if len(lessons) >= most:
            break
        false = mistaken(pair.claim, pair.evidence, random) if pair.label == SUPPORTED else None
        if false is not None:
            against = read_against(pair.evidence, pair.claim, random)
            lessons += [lesson(against, pair.claim, SUPPORTED), lesson(against, false, CONTRADICTED)]
    return lessons


def unsaid(pairs: Sequence[Pair], most: int, random: Random) -> list[Lesson]:
    """What one evidence says of its subject, said of another evidence's subject: no evidence, whatever names agree."""
    lessons: list[Lesson] = []
    while len(lessons) < most:
        told_of, other = random.sample(pairs, 2)
        names, subjects = names_in(other.claim) or _leading(other.claim), _leading(told_of.claim)
        if not names or not subjects or subjects[0] not in told_of.claim:
            continue
        claim = told_of.claim.replace(subjects[0], names[0], 1)
        numbers = NUMBER.findall(other.evidence)
        if numbers and random.random() < 0.5 and NUMBER.search(claim):
            claim = NUMBER.sub(random.choice(numbers), claim, count=1)
        rest = set(stems_of(claim)) - set(stems_of(names[0]))
        if names[0] in other.evidence and len(rest & set(stems_of(other.evidence))) < 0.4 * len(rest):
            lessons.append(lesson(read_against(other.evidence, claim, random), claim, NO_EVIDENCE))
    return lessons


def _leading(claim: str) -> list[str]:
    """The name that a claim begins with."""
    found = re.match(r"(?:[A-Z][\w'’.-]*(?:\s(?:of|the|de|van)\s(?=[A-Z])|\s)?){1,4}", claim)
    name = found[0].strip() if found else ""
    return [name] if name and name not in _ARTICLES else []


def mistaken(claim: str, text: str, random: Random) -> str | None:
    """The claim with a number, month or name of it changed for another that the text has, or else another change."""
    ways = [_other_number, _other_number, _other_month, _other_name, _other_name]
    random.shuffle(ways)
    for way in ways:
        changed = way(claim, text, random)
        if changed is not None and changed != claim:
            return changed
    for turn in random.sample([ring, opposite, denial], 3):
        changed = turn(claim, random)
        if changed is not None and changed != claim:
            return changed
    return None


def _other_number(claim: str, text: str, random: Random) -> str | None:
    mine = list(NUMBER.finditer(claim))
    if not mine:
        return None
    spot = random.choice(mine)
    there = {found for found in NUMBER.findall(text) if found not in claim and _year(found) == _year(spot[0])}
    if not there:
        return None
    return claim[: spot.start()] + random.choice(sorted(there)) + claim[spot.end() :]


def _year(number: str) -> bool:
    return len(number) == 4 and number.isdigit() and "1400" < number < "2100"


def _other_month(claim: str, text: str, random: Random) -> str | None:
    mine, there = _months(claim), _months(text)
    others = sorted(there - mine)
    if not mine or not others:
        return None
    return re.sub(rf"\b{sorted(mine)[0]}\b", random.choice(others), claim, count=1)


def _months(text: str) -> set[str]:
    return set(re.findall(rf"\b(?:{_MONTH})\b(?=,? \d|$)|(?<=\d )(?:{_MONTH})\b|(?<=\bin )(?:{_MONTH})\b", text))


def _other_name(claim: str, text: str, random: Random) -> str | None:
    """Texts with many names are mostly lists, of which another member is as true as the first."""
    there = names_in(text)
    return name_swap(claim, there, random) if len(there) <= _MOST_NAMES else None


def told(sentence: str, random: Random) -> str:
    """The sentence as a claim would have it: shorter, a date less exact, the year first."""
    said = reworded(sentence, random)
    if random.random() < 0.5:
        said = _shorter(said, random)
    if random.random() < 0.6:
        said = _DATE_US.sub(_coarser, _DATE.sub(_coarser, said))
    late = _LATE.match(said)
    if late and random.random() < 0.4:
        rest = late["rest"]
        first = rest.split(" ", 1)[0]
        rest = rest[0].lower() + rest[1:] if first in _ARTICLES else rest
        said = f"{late['when'][0].upper()}{late['when'][1:]} {rest}."
    return said


def _coarser(spot: re.Match[str]) -> str:
    how = "in" if spot["how"] == "on" else "In"
    return f"{how} {spot['month']}{(spot['year'] or '').replace(',', '')}"


def _shorter(sentence: str, random: Random) -> str:
    """The sentence up to where a further clause begins, if that says something by itself."""
    ends = [spot.start() for spot in _TAIL.finditer(sentence)]
    fit = [end for end in ends if len(sentence[:end].split()) >= 6 and _VERB.search(sentence[:end])]
    return f"{sentence[: random.choice(fit)].rstrip(' ,;')}." if fit else sentence


def _subject_named(text: str, said: str) -> str:
    """ "It was founded in 1811" becomes a claim that names what was founded, where the text begins with its name."""
    name = _leading(text)
    return _PRONOUN.sub(f"{name[0]} ", said) if name and name[0] not in said else said
