"""What a question asks for: a name, a number, a date or a phrase, by its question word or by what is around its gap."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.nlp.sentences import sentences
from evenhand.nlp.words import is_chinese
from evenhand.questeval import words as lists
from evenhand.questeval.chinese import MEASURES, word_class
from evenhand.questeval.english import Capitals, Kind, mentions
from evenhand.questeval.passages import Word, words_at
from evenhand.verify.statements import statement
from evenhand.verify.stems import stem

GAP = re.compile(r"_{2,}|＿{2,}")

BREAK = re.compile(r"[,;:，；：]|\s[–—-]\s|\s(?:and|but|which|who|while|because|although|whereas|where|when)\s")
NAME_WEIGHT = 2.0
OTHER_CLAUSE = 0.5
OTHER_SENTENCE = 0.3
FADES = 60.0
_TAIL = re.compile(r"[,;，；]|\s(?:and|but|which|who|while|because|although|whereas)\s")
_CHINESE_NAMES = frozenset(("nr", "ns", "nt", "nz", "nrt", "nrfg"))

Kinds = Mapping[Kind, float]
ANY: Kinds = {"name": 0.8, "phrase": 0.7, "number": 0.6, "date": 0.5}
NAME: Kinds = {"name": 1.0, "phrase": 0.4, "number": 0.0, "date": 0.0}
PLACE: Kinds = {"name": 1.0, "phrase": 0.6, "number": 0.0, "date": 0.0}
NUMBER: Kinds = {"number": 1.0, "phrase": 0.1, "name": 0.0, "date": 0.1}
DATE: Kinds = {"date": 1.0, "phrase": 0.1, "name": 0.1, "number": 0.1}
THING: Kinds = {"name": 0.8, "phrase": 1.0, "number": 0.2, "date": 0.1}
WHEN_OR_WHERE: Kinds = {"date": 1.0, "name": 0.9, "phrase": 0.6, "number": 0.4}
OPENING: Kinds = {"name": 1.0, "phrase": 0.8, "number": 0.4, "date": 0.2}

_ASKED: Sequence[tuple[re.Pattern[str], Kinds]] = [
    (re.compile(pattern, re.IGNORECASE), kinds)
    for pattern, kinds in (
        (r"\bwhen\b|\b(?:what|which)\s(?:year|date|day|month|century|decade|time|season)\b|\bhow long ago\b", DATE),
        (r"\bhow\s(?:many|much|long|tall|high|old|far|big|large|fast|heavy|wide|deep|often|hot|cold|few)\b", NUMBER),
        (
            r"\b(?:what|which)\s(?:percentage|percent|share|proportion|number|amount|fraction|price|size|height|length"
            r"|weight|speed|temperature|distance|age|population|sum)\b",
            NUMBER,
        ),
        (
            r"\bwhat\s(?:is|was|were|are)\s(?:the|its|his|her|their)\s(?:[a-z]+\s){0,2}(?:percentage|share|proportion"
            r"|number|amount|price|cost|size|height|length|weight|speed|temperature|distance|age|population|area|depth"
            r"|width|budget|revenue|rate|mass|salary|fine|capacity|diameter|fee)\b",
            NUMBER,
        ),
        (r"\bwho(?:m|se)?\b", NAME),
        (
            r"\bwhere\b|\b(?:what|which)\s(?:city|country|town|place|state|region|river|continent|village|island)\b",
            PLACE,
        ),
        (r"什么时候|何时|哪[一]?年|哪[一]?天|几月|几号|哪个月|哪个世纪|什么时间|哪[一]?届", DATE),
        (r"多少|几[个名位人家座次年天岁种条项所辆艘部]|多[长高大远重久深宽快]|几成|百分之几", NUMBER),
        (r"谁|哪位|何人|什么人", NAME),
        (r"哪里|哪儿|何地|何处|在哪|哪[个座]?(?:城市|国家|省|地方|地区|县|市)|什么地方", PLACE),
        (r"\b(?:what|which)\b|什么|哪[个家所座些种本部项]?", THING),
    )
]
_NUMBER_LEFT = frozenset(
    """about approximately nearly almost over roughly around some only cost costs costing rose fell grew weighs weighed
    measures measured least most than worth paid least up exactly just totalling totaling averaged scored""".split()
)
_DATE_OR_PLACE_LEFT = frozenset("in since until from during before after between by late early".split())
_MEASURE_LEFT = re.compile(
    r"\b(?:height|depth|length|width|area|distance|age|weight|cost|price|population|speed|temperature|lasted|lasts|took"
    r"|takes|total|rate|share|capacity|altitude)(?:\s(?:is|was|of|at|to|stands|stood|about|some|up)){0,3}\s*\Z"
)
_NUMBER_LEFT_CHINESE = re.compile(
    r"(?:约|近|达|达到|超过|超|共|增长|下降|长|高|重|耗资|投资|总投资|有|为|逾|仅|年仅|面积|第)\Z"
)
_NUMBER_RIGHT_CHINESE = re.compile(f"[%％万亿]|(?:{MEASURES})")
_PLACED = frozenset("in at near from to of on into around outside inside 在 于 至 到".split())
_DATED = frozenset("in on since during by until from at 在 于 自 从".split())
_LEADS = _PLACED | _DATED | frozenset("with for about over between after before as against under than".split())
_LEAD_CHINESE = frozenset("在于至到自从由被与和对向为是达约共的有任")
_NO_PERSON = re.compile(
    r"\b(?:Prize|Award|Medal|University|Museum|Institute|Park|Treaty|Lake|River|Mount|Road|Street|City|Bank|Company"
    r"|Foundation|Council|School|College|Church|Party|Act|Court|Bridge|Stadium|League|Cup|Marathon|Foods|Motors)\b"
)
_UNIT = re.compile(rf"\s?-?(?:{lists.UNITS}|{lists.SCALES}|%|per cent|people)(?!\w)")
_COUNTED = re.compile(r"\s([a-z]+s|people|children|men|women)\b")
_QUESTION_WORDS = frozenset("many much year date come happen".split())
_YES_OR_NO = re.compile(
    r"\s*(?:is|are|was|were|did|does|do|has|have|had|can|could|will|would|should)\s|.*[吗嘛][？?]?\s*\Z", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"(?:\w+\s){1,4}?(?:is|was|are|were|did|does|do|has|have|had|will|can)\s(?:(?:the|a|an|this|its|their)\s)?([a-z]{3,})\b"
)
_OBJECT = re.compile(
    r"(?:who|what|which\s[a-z]+)\s(?:(?:has|have|had|will|first)\s)?(?!is\s|was\s|are\s|were\s|did\s|does\s|do\s)[a-z]+\s"
    r"(?:(?:for|to|on|off|up|over|down|in|out)\s)?(?:the|a|an|this|its)\s(?:[a-z]+\s){0,2}?([a-z]{3,})"
    r"(?=[?\s]*\Z|\s(?:of|in|on|at|for|from|to|with|near|by)\s)",
    re.IGNORECASE,
)
_WHAT_NOUN = re.compile(r"\b(?:what|which|how\smuch)\s([a-z]{3,})\s", re.IGNORECASE)
# Nouns that an answer need not stand with: a text says Slovakia without calling it a country.
_ANY_SORT = frozenset(
    stem(word)
    for word in """country city town place state region continent person man woman people company firm team year date
    month day time century decade organization organisation material language kind type sort name number percentage
    share proportion amount price temperature height length age is was are were did does do other part money will has
    have can would could the""".split()
)
_NOUN_ASKED = re.compile(
    r"\b(?:what|which|how many)\s([a-z]+)|(?:哪[个家所座位条]|什么|多少[个名位家座条]?)(\w)", re.IGNORECASE
)
JOINT = re.compile(
    r"[\s,，:：“《\"]*(?:(?:of|is|was|are|the|a|by|at|in|to|called|named|为|是|由|叫|达|有|在|于|的)[\s“《]*){0,3}"
)
_YEAR_ONLY = re.compile(r"\b(?:what|which)\syear\b|哪[一]?年", re.IGNORECASE)
_MEASURED: Mapping[str, str] = {
    "tall": "length", "high": "length", "far": "length", "wide": "length", "deep": "length", "height": "length",
    "length": "length", "distance": "length", "depth": "length", "old": "time", "age": "time", "long": "length time",
    "heavy": "weight", "weight": "weight", "much": "money weight share", "cost": "money", "price": "money",
    "budget": "money", "revenue": "money", "percentage": "share", "percent": "share", "share": "share",
    "proportion": "share", "fast": "speed", "speed": "speed", "temperature": "heat", "hot": "heat", "cold": "heat",
    "area": "area", "many": "count", "population": "count", "number": "count", "fine": "money", "salary": "money",
    "rate": "share", "width": "length", "capacity": "count volume weight", "fee": "money", "diameter": "length",
    "多长": "length time", "多高": "length", "多远": "length", "多重": "weight", "多久": "time", "多大": "area time",
    "多少钱": "money", "多少元": "money", "面积": "area", "百分之": "share",
}  # fmt: skip
_OF_UNIT: Sequence[tuple[str, re.Pattern[str]]] = [
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("area", r"square|acre|hectare|km²|m²|平方|公顷|亩"),
        ("volume", r"cubic|lit(?:re|er)|gallon|barrel|立方|升"),
        ("speed", r"km/h|mph|per hour|per second|时速"),
        ("money", r"[$€£¥]|dollar|euro|pounds|yen|yuan|rupee|franc|kron|peso|元|英镑|人民币"),
        ("share", r"%|per ?cent|percent|％|百分"),
        ("length", r"met(?:re|er)|mile|feet|foot|inch|yard|km|\dcm|\dmm| cm| mm| m\b|light-year|公里|[千厘毫]?米|海里"),
        ("weight", r"gram|tonne|ton\b|tons|pounds|ounce|kg|吨|公斤|千?克"),
        ("time", r"year|month|week|day|hour|minute|second|decade|centur|年|个月|天|小时|分钟|秒|周|岁"),
        ("heat", r"degree|°|kelvin|度"),
        ("power", r"watt|kW|MW|GW|volt|千瓦"),
    )
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question, taken apart. `words` are those it gives, each with its weight; `gap` is where its gap stands."""

    question: str
    kinds: Kinds
    words: tuple[Word, ...]
    weights: tuple[float, ...]
    names: frozenset[str]
    gap: tuple[int, int] | None
    measured: str
    year_only: bool
    beside: Word | None
    """The word that the answer should stand next to: next to the gap, or the noun of `which` and `what`."""

    def stated(self, answer: str) -> str:
        """A natural question and its answer as a statement; the sentence of a cloze with the answer in its gap.

        What a cloze says after the clause of its gap is left out: it may well be wrong where the answer is right.
        """
        if self.gap is None:
            return statement(self.question, answer)
        sentence = gap_sentence(self.question)[0]
        gap = GAP.search(sentence)
        end = _TAIL.search(sentence, gap.end()) if gap else None
        if end is not None:
            sentence = f"{sentence[: end.start()]}."
        return GAP.sub(lambda _: answer, sentence)

    def fits(self, kind: Kind, answer: str) -> float:
        """How well something of this kind answers, from 0 to 1.

        A measure of the wrong sort hardly does; neither does a prize where a person is asked for.
        """
        fit = self.kinds[kind]
        if kind == "name" and self.kinds is NAME:
            return fit if not _NO_PERSON.search(answer) else 0.3 * fit
        if kind != "number" or not self.measured:
            return fit
        sort = next((sort for sort, pattern in _OF_UNIT if pattern.search(answer)), "count")
        if sort in self.measured.split():
            return fit
        return fit * (0.5 if sort == "count" else 0.2)

    def led_by(self, before: str) -> bool:
        """Whether a stretch follows such a word as the answer should: the gap's own, or one of place or time."""
        if self.gap is None:
            return before in (_PLACED if self.kinds is PLACE else _DATED if self.kinds is DATE else ())
        return bool(before) and before == lead_word(self.question, self.gap[0])


def lead_word(text: str, start: int) -> str:
    """The small word right before a place, articles aside; empty where there is none."""
    before = text[max(0, start - 30) : start].lower()
    if before[-1:] in _LEAD_CHINESE:
        return before[-1:]
    found = [word for word in re.findall(r"[^\W_]+|[^\w\s]", before) if word not in ("the", "a", "an", "“", '"')]
    return found[-1] if found and found[-1] in _LEADS else ""


def gap_sentence(question: str) -> tuple[str, int]:
    """The sentence of a cloze that has the gap, and where it begins: the others are what it leans on."""
    for start, end in sentences(question):
        if GAP.search(question, start, end):
            return question[start:end], start
    return question, 0


def wanted(question: str, language: str = "en") -> Wanted:
    """Take a question apart."""
    chinese_text = is_chinese(question, language)
    gap = GAP.search(question)
    found = [word for word in words_at(question, 0, len(question), chinese_text) if "_" not in word.stem]
    if gap is None:
        found = [word for word in found if word.stem not in _QUESTION_WORDS]
    kinds = _kinds_of_gap(question, *gap.span(), chinese_text) if gap else _kinds_asked(question)
    names = _names(question, found, chinese_text)
    return Wanted(
        question=question,
        kinds=kinds,
        words=tuple(found),
        weights=tuple(_weight(question, word, gap, word.stem in names) for word in found),
        names=names,
        gap=gap.span() if gap else None,
        measured="" if gap else _measured(question),
        year_only=_YEAR_ONLY.search(question) is not None,
        beside=_beside(question, [word for word in found if word.stem not in names], gap),
    )


def _kinds_asked(question: str) -> Kinds:
    if _YES_OR_NO.match(question):
        return {}
    return next((kinds for pattern, kinds in _ASKED if pattern.search(question)), ANY)


def _kinds_of_gap(question: str, start: int, end: int, chinese_text: bool) -> Kinds:
    before, after = question[:start].rstrip(), question[end:]
    if chinese_text:
        return _kinds_of_chinese_gap(before, after)
    left = re.findall(r"[\w'%$]+", before[-40:])[-1:]
    word = left[0].lower() if left and before[-1:] not in ".!?:;" else ""
    if _UNIT.match(after) or word in _NUMBER_LEFT:
        return NUMBER
    if _COUNTED.match(after) and word not in lists.DETERMINERS:
        return {**ANY, "number": 1.0}
    if _MEASURE_LEFT.search(before[-60:]):
        return {**ANY, "number": 1.0, "phrase": 0.4, "name": 0.4}
    if re.search(r"\bbetween\s\S+\sand\Z", before[-40:]):
        return {**WHEN_OR_WHERE, "number": 1.0}
    if word == "at":
        return PLACE
    if word == "on":
        return {**WHEN_OR_WHERE, "phrase": 0.8}
    if word in _DATE_OR_PLACE_LEFT:
        return WHEN_OR_WHERE if word != "by" else {**NAME, "phrase": 0.8, "number": 0.8, "date": 0.4}
    if word in lists.DETERMINERS:
        return THING
    return OPENING if not word else ANY


def _kinds_of_chinese_gap(before: str, after: str) -> Kinds:
    if _NUMBER_LEFT_CHINESE.search(before) or _NUMBER_RIGHT_CHINESE.match(after):
        return {**ANY, "number": 1.0}
    if before.endswith(("在", "于", "自", "从")):
        return WHEN_OR_WHERE
    if before.endswith(("由", "被", "与", "和", "对", "向")):
        return {**NAME, "phrase": 0.8}
    if not before or before[-1] in "。！？":
        return {**OPENING, "date": 0.8}
    return ANY


def _beside(question: str, found: Sequence[Word], gap: re.Match[str] | None) -> Word | None:
    if gap is None:
        noun = _NOUN_ASKED.search(question)
        return next((word for word in found if noun and word.start == noun.start(1)), None)
    close = [word for word in found if word.end <= gap.start() and JOINT.fullmatch(question, word.end, gap.start())]
    return (close or [word for word in found if word.start - gap.end() in (0, 1)] or [None])[-1]


def _weight(question: str, word: Word, gap: re.Match[str] | None, name: bool) -> float:
    """How much a word tells: names more; in a cloze the nearer to the gap the more, and other clauses less."""
    weight = NAME_WEIGHT if name else 1.0
    if gap is None:
        return weight
    start, end = sorted((word.end, gap.start())) if word.end <= gap.start() else (gap.end(), word.start)
    breaks = len(BREAK.findall(question, start, end))
    _, first = gap_sentence(question)
    if word.start < first:
        return weight * OTHER_SENTENCE
    return weight * OTHER_CLAUSE ** min(breaks, 2) / (1 + (end - start) / FADES)


def _names(question: str, found: Sequence[Word], chinese_text: bool) -> frozenset[str]:
    """The stems of a question that single something out: names, figures, a natural question's matter and its noun."""
    if chinese_text:
        return frozenset(
            word.stem for word in found if word_class(word.stem) in _CHINESE_NAMES or word.stem[0].isdigit()
        )
    subject = _OBJECT.match(question) or _SUBJECT.match(question) if not GAP.search(question) else None
    asked = _WHAT_NOUN.search(question)
    places = sentences(question)
    capitals = Capitals.of(question, places)
    named = [mention for place in places for mention in mentions(question, *place, capitals) if mention.kind == "name"]
    return frozenset(
        word.stem
        for word in found
        if question[word.start].isdigit()
        or (subject and word.start == subject.start(1))
        or (asked and word.start == asked.start(1) and word.stem not in _ANY_SORT)
        or any(start <= word.start < end for start, end, _ in named)
    )


def _measured(question: str) -> str:
    low = question.lower()
    return " ".join(sort for word, sort in _MEASURED.items() if re.search(rf"(?<![a-z]){word}(?![a-z])", low))
