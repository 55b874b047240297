"""What the sentences of a text mention: names, numbers, dates and noun phrases, by rules.

The rules are made for English. In other languages with spaces between words they find names, numbers and dates in
digits; Chinese has rules of its own. Patterns start at a word's first character and repeat one class at a time, so that
the work is linear in the length of the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from evenhand.nlp import chinese
from evenhand.nlp.sentences import word_set
from evenhand.nlp.words import STOP, is_chinese

Kind = Literal["name", "number", "date", "phrase"]


class Mention(NamedTuple):
    """A range of the text that names something."""

    start: int
    end: int
    kind: Kind


class _Token(NamedTuple):
    start: int
    end: int
    text: str


_DAY, _YEAR = r"\d{1,2}(?:st|nd|rd|th)?", r"(?:1\d|20)\d\d"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_SHORT_MONTH = r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
_WEEKDAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_SCALE = "hundred|thousand|million|billion|trillion|dozen|bn|mn"
_UNIT = (
    r"(?:(?:square|cubic)\s|light-)?(?:kilo|centi|milli|nano|micro|mega|giga|tera)?"
    r"(?:met(?:re|er)|gram|lit(?:re|er)|watt|volt|hertz|byte|bit|joule|calorie|mile|yard|acre|hectare|tonne|ton|ounce"
    r"|gallon|barrel|second|minute|hour|day|week|month|year|decade|dollar|euro|pound|rupee|franc|peso|cent)s?"
    r"|(?:square\s)?feet|foot|inch(?:es)?|centuries|degrees(?:\s(?:Celsius|Fahrenheit))?|per\scent|percent"
    r"|percentage\spoints?|yen|yuan|km/h|km[²2]?|cm|mm|nm|μm|m[²³]?|mph|kg|mg|μg|g|[GMk]Wh?|[GMk]?Hz|[GMTk]B|ml|°[CF]"
    r"|ft|lb|ha"
)
_COUNT = (
    "(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion"
    r"|trillion|dozen)\b"
)
_DATE = re.compile(
    rf"""(?<![\w.,$€£¥-])(?:
        (?:{_WEEKDAY},?\s)?(?:
            {_DAY}\s(?:of\s)?(?:{_MONTH}|{_SHORT_MONTH})(?:,?\s{_YEAR})?
          | (?:{_MONTH}|{_SHORT_MONTH})\s(?:{_DAY}(?![,.]?\d)(?:,?\s{_YEAR})?|{_YEAR}))
      | {_WEEKDAY} | (?!May\b)(?:{_MONTH})
      | \d{{4}}-\d\d-\d\d | \d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}
      | \d{{1,4}}\s(?:BCE|BC|AD|CE)
      | (?:(?:early|mid|late)[\s-])?{_YEAR}s
      | (?:spring|summer|autumn|fall|winter)\s(?:of\s)?{_YEAR}
      | \d{{1,2}}(?:st|nd|rd|th)[\s-]century
      | \d{{1,2}}(?::\d\d)?\s?(?:am|pm|[ap]\.m\.) | \d{{1,2}}:\d\d
      | {_YEAR}\s?[–-]\s?(?:{_YEAR}|\d\d)
      # A year, unless it counts something: "2000 workers".
      | {_YEAR}(?![,.]\d|%|[–-]\w|\s(?:{_UNIT}|{_SCALE}|people|(?!(?:is|was|as|has|its|his|this)\b)[a-z]+s)\b)
    )(?!\w)""",
    re.VERBOSE,
)
_FIGURE = r"\d++(?:,\d{3}(?!\d))*+(?:\.\d++)?+"
_NUMBER = re.compile(
    rf"""(?<![\w.,-])(?:
        (?:[$€£¥]\s?)?{_FIGURE}(?:(?:\s?[–-]\s?|\sto\s){_FIGURE})?(?:\s?%|st\b|nd\b|rd\b|th\b|m\b|[\s-]?(?:{_SCALE})\b)?+
      | (?:(?:a|one|half\sa)\s(?={_SCALE}))?{_COUNT}(?:(?:[\s-]|\sand\s)(?:{_COUNT}|one\b))*+
    )(?:[\s-]?(?:{_UNIT})(?![\w²³]))?+(?:\sper\s[a-z]++)?+(?!\w|-[^\W\d_])""",
    re.VERBOSE | re.IGNORECASE,
)
_TITLE = re.compile(r"(?<=[“\"«])[^\W\d_a-z][^“”\"«»\n]{0,78}\w(?=[”\"»])")
_WORD = re.compile(r"[^\W_]+(?:['’&.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_ADJECTIVE = re.compile(r"(?:ish|ese|ian|ean|can|nch|tch|eek|wiss|man)\Z|-[a-z]")
_TAKEN = "\x00"
_LONGEST_NAME, _LONGEST_PHRASE = 8, 4


_IN_NAMES = word_set("of the de la le du des van von der den del della di da dos al el bin ibn y zu")
_OFFICES = word_set("Center Centre Institute Department Society Fund Council Agency Office Campaign Committee Ministry")
_TITLES = word_set("Dr Mr Mrs Ms Prof St Gen Col Capt Lt Sgt Rev Sen Rep Gov Mt Ft Jr No")
_DETERMINERS = word_set("a an the this that these those its his her their our my your each every no another some any")
_LEADS = _DETERMINERS | word_set(
    """such both all of in on at by for from with without into onto over under between among through during about
    against as than near via per and or including like toward towards across along within upon despite"""
)
# A sentence's first word is not a name if it is one of these.
_OPENERS = word_set(
    """without since although though yet however thus therefore moreover furthermore nevertheless meanwhile instead many
    several every none another others now today later finally even around despite within once unlike like according
    following including given born known named called designed built founded made located based situated written
    published released opened yesterday tomorrow early late earlier overall together near almost throughout off per
    whereas whether yes less much still always often sometimes first second third last next previous former new old
    sure note see let please half hundreds thousands millions everyone someone something nothing"""
)
# Verbs and adverbs that no ending gives away: they end a noun phrase.
_VERBS = word_set(
    """said says say told tell asked ask wrote write made make makes took take takes taken gave give gives given got get
    came come comes went go goes gone saw see sees seen found find finds left led held kept brought began begin begun
    grew grow grows grown knew know thought think felt became become becomes ran run runs won lost spent sent met paid
    sold bought built rose risen fell fallen broke broken chose chosen drew drawn drove driven ate fought flew spoke
    stood stand stands sat lay lies lie taught caught wore shot struck hit put puts set sets cut let cost costs show
    shows shown use uses include includes contain contains remains seems according due must instead together away back
    ago already almost rather quite once twice even still now later however yet since without"""
)


def mentions(text: str, places: Sequence[tuple[int, int]], language: str = "en") -> list[list[Mention]]:
    """What each sentence mentions, in order, without overlaps. `places` are the sentences' character ranges."""
    if is_chinese(text, language):
        return [_of_chinese(text[start:end], start) for start, end in places]
    spoken = language.split("-")[0].lower() == "en"
    capitals = _Capitals(text, places)
    return [_of_sentence(text[start:end], start, capitals, phrases=spoken) for start, end in places]


class _Capitals:
    """The words that a text capitalises in mid-sentence, and those it has in small letters."""

    def __init__(self, text: str, places: Sequence[tuple[int, int]]) -> None:
        found = [list(map(re.Match[str].group, _WORD.finditer(text, *place))) for place in places]
        self.inside = frozenset(word for sentence in found for word in sentence[1:] if word[0].isupper())
        self.small = frozenset(word for sentence in found for word in sentence if word.islower())


def _of_sentence(sentence: str, offset: int, capitals: _Capitals, *, phrases: bool) -> list[Mention]:
    found: list[Mention] = []
    left = _take(sentence, _DATE, "date", found)
    left = _take(left, _NUMBER, "number", found)
    left = _take(left, _TITLE, "name", found)
    tokens = [_Token(*word.span(), word[0]) for word in _WORD.finditer(left)]
    named = [_mention(run, "name") for run in _names(left, tokens, capitals)]
    if phrases:
        taken = {place for name in named for place in range(name.start, name.end)}
        found += (_mention(run, "phrase") for run in _phrases(left, tokens, taken))
    return _placed([*found, *named], offset)


def _of_chinese(sentence: str, offset: int) -> list[Mention]:
    found: list[Mention] = []
    left = _take(sentence, chinese.DATE, "date", found)
    left = _take(left, chinese.TITLE, "name", found)
    left = _take(left, chinese.NUMBER, "number", found)
    found += (Mention(start, end, "name" if named else "phrase") for start, end, named in chinese.nouns(left))
    return _placed(found, offset)


def _take(sentence: str, pattern: re.Pattern[str], kind: Kind, found: list[Mention]) -> str:
    """Add what a pattern matches to what is found; the sentence with it blanked out, so that no other rule takes it."""

    def blank(match: re.Match[str]) -> str:
        found.append(Mention(*match.span(), kind))
        return _TAKEN * len(match[0])

    return pattern.sub(blank, sentence)


def _mention(run: Sequence[_Token], kind: Kind) -> Mention:
    return Mention(run[0].start, run[-1].start + len(_POSSESSIVE.sub("", run[-1].text)), kind)


def _placed(found: Iterable[Mention], offset: int) -> list[Mention]:
    return sorted(Mention(offset + start, offset + end, kind) for start, end, kind in found)


def _names(text: str, tokens: Sequence[_Token], capitals: _Capitals) -> Iterator[Sequence[_Token]]:
    place = 0
    while place < len(tokens):
        run = _name_run(text, tokens[place : place + _LONGEST_NAME])
        place += max(1, len(run))
        following = tokens[place] if place < len(tokens) else None
        if run and run[0] is tokens[0]:
            run = _without_opener(run, following, capitals)
        if run and run[0].text.lower() == "yes" and text[: run[0].start].rstrip().endswith((".", "?", "!", ":")):
            run = run[1:]
        while run and run[0].text.lower() in _DETERMINERS:
            run = run[1:]
        if run and not _is_adjective(text, run, following):
            yield run


def _name_run(text: str, tokens: Sequence[_Token]) -> Sequence[_Token]:
    """The tokens of the name that begins here: capitals, and small words between them."""
    length = 0
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else token
        between = text[before.end : token.start] if place else " "
        abbreviated = between == ". " and (before.text in _TITLES or len(before.text) == 1 or before.text[1:2] == ".")
        if (between != " " and not abbreviated) or (place and before.text.endswith(("'s", "’s"))):
            break
        if token.text[0].isupper() or (length == place > 0 and token.text[0].isdigit()):
            length = place + 1
        elif not length or not (token.text in _IN_NAMES or (token.text == "for" and before.text in _OFFICES)):
            break
    return tokens[:length]


def _without_opener(run: Sequence[_Token], following: _Token | None, capitals: _Capitals) -> Sequence[_Token]:
    """A sentence's first name without the word that has its capital only from being first."""
    first = _POSSESSIVE.sub("", run[0].text)
    low, certain = first.lower(), first in capitals.inside or not first[1:].islower()
    if low in STOP or low in _OPENERS or low in capitals.small or (not certain and low.endswith(("ly", "ing"))):
        return run[1:]
    after = "" if following is None else following.text
    acts = after in ("is", "was", "has", "had", "became") or after.endswith(("ed", "s"))
    return run if len(run) > 1 or certain or first != run[0].text or (acts and low[-1] != "s") else ()


def _is_adjective(text: str, run: Sequence[_Token], following: _Token | None) -> bool:
    """Whether a lone capital only qualifies the noun after it ("the French president", "a Polish-born physicist")."""
    if len(run) > 1 or following is None or not _ADJECTIVE.search(run[0].text):
        return False
    return text[run[0].end : following.start] == " " and following.text.islower() and _in_phrase(following.text)


def _phrases(text: str, tokens: Sequence[_Token], taken: set[int]) -> Iterator[Sequence[_Token]]:
    """Noun phrases as far as they show without a grammar: after a determiner or a preposition, up to what ends them."""
    run: list[_Token] = []
    for place, token in enumerate(tokens):
        before = tokens[place - 1].text.lower() if place else ""
        after = tokens[place + 1].text.lower() if place + 1 < len(tokens) else ""
        joins = run and text[run[-1].end : token.start] == " " and len(run) < _LONGEST_PHRASE
        if token.start in taken or not _in_phrase(token.text) or (joins and _is_verb(token.text, after)):
            yield from _nouns(run, tokens)
            run = []
        elif joins:
            run.append(token)
        else:
            yield from _nouns(run, tokens)
            run = [token] if before in _LEADS or not place else []
    yield from _nouns(run, tokens)


def _nouns(run: list[_Token], tokens: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    """The phrase if it is one: a lone word is not if it begins the sentence or is short."""
    while run and run[-1].text.endswith(("ed", "ly")):
        run.pop()
    if len(run) > 1 or (run and run[0] is not tokens[0] and len(run[0].text) > 3):
        yield run


def _in_phrase(word: str) -> bool:
    low = word.lower()
    return not (low in STOP or low in _LEADS or low in _VERBS or low.endswith("ly") or low[0].isdigit())


def _is_verb(word: str, after: str) -> bool:
    """A guess from the ending and the next word: "bridge joins the station", "team discovered a"."""
    if word.endswith(("ed", "ing")):
        return not after or not _in_phrase(after)
    return word.endswith("s") and not word.endswith(("ss", "us")) and after in _DETERMINERS
