"""English verbs: their forms, and whether a stretch of words has a finite one."""

import re
from collections.abc import Sequence
from functools import cache

_IRREGULAR = """arise arose arisen|awake awoke awoken|bear bore born|beat beat beaten|become became become|begin began
begun|bend bent bent|bet bet bet|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|break broke
broken|breed bred bred|bring brought brought|build built built|burn burned burned|buy bought bought|catch caught
caught|choose chose chosen|come came come|cost cost cost|creep crept crept|cut cut cut|deal dealt dealt|dig dug dug|do
did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt
felt|fight fought fought|find found found|flee fled fled|fly flew flown|forbid forbade forbidden|forget forgot
forgotten|freeze froze frozen|get got got|give gave given|go went gone|grow grew grown|hang hung hung|have had had|hear
heard heard|hide hid hidden|hit hit hit|hold held held|hurt hurt hurt|keep kept kept|know knew known|lay laid laid|lead
led led|leave left left|lend lent lent|let let let|lie lay lain|lose lost lost|make made made|mean meant meant|meet met
met|overcome overcame overcome|overthrow overthrew overthrown|pay paid paid|put put put|read read read|ride rode
ridden|ring rang rung|rise rose risen|run ran run|say said said|see saw seen|seek sought sought|sell sold sold|send
sent sent|set set set|shake shook shaken|shine shone shone|shoot shot shot|show showed shown|shrink shrank shrunk|sing
sang sung|sink sank sunk|sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|spin spun spun|split split
split|spread spread spread|stand stood stood|steal stole stolen|stick stuck stuck|strike struck struck|swear swore
sworn|sweep swept swept|swim swam swum|take took taken|teach taught taught|tear tore torn|tell told told|think thought
thought|throw threw thrown|undergo underwent undergone|understand understood understood|wake woke woken|wear wore
worn|win won won|withdraw withdrew withdrawn|write wrote written"""

_REGULAR = """absorb accept accompany account achieve acquire act activate adapt add adopt affect agree allow announce
appear apply appoint approve argue arrest arrive ask assassinate attack attend attract avoid award base
believe belong boil borrow burst calculate call carry cause celebrate change charge circulate claim climb
close collapse collect combine command commit compare compete complete compose conclude condense conduct
confirm connect conquer conserve consider consist consume contain continue contract contribute control
convert convict cover crash create cross cultivate cure date debut decide declare decline decompose
decrease defeat define deliver demand deny depend derive describe design destroy detect determine develop
diagnose die differ direct disappear discover dissolve divide divorce donate earn elect eliminate emerge
emigrate emit employ enable encode encourage end enjoy enter erode erupt escape establish estimate
evaporate evolve exceed execute exhibit exist expand expect expel experience explain explode explore
export express extend face fail feature ferment file filter finance finish fit flow focus follow force
form found function fund gain generate govern graduate graze guarantee handle happen hatch help hibernate
host hunt identify ignore import improve include increase indicate infect influence inhabit inherit
inhibit inject injure inspire install introduce invade invent invest investigate invite involve issue
join judge jump kill lack land last launch learn like link list live locate look love lower maintain
manage manufacture mark marry mate measure melt mention merge metabolize migrate mine move murder name
need nest nominate note obtain occupy occur offer open operate oppose orbit order organise organize
originate own oxidize paint participate pass patent perform permit place plan plant play point pollinate
possess power praise predict prefer prepare present preserve prevent print process produce prohibit
promise promote propose protect prove provide publish pull pump purchase pursue push qualify rain raise
rank reach react receive recognise recognize recommend record recover recycle reduce refer reflect refuse
regulate reign reject relate release rely remain remove rename replace report represent reproduce require
rescue resemble resign respond result retain retire return reuse reveal rotate rule sail save score
secrete seem separate serve settle share sign signal signify snow solve sponsor stabilize star start
state stay stop store study succeed suffer suggest summarise summarize supply support suppose surrender
survive sustain swap symbolise symbolize talk taste terminate test touch tour trace trade train transfer
transform translate transmit transport travel treat trigger try turn unite use vaccinate vary vibrate
view visit volunteer vote walk want warm warn wash watch weigh work worship yield""".split()

_FORMS = {base: (past, participle) for base, past, participle in (line.split() for line in _IRREGULAR.split("|"))}
_BASES = frozenset(_REGULAR) | _FORMS.keys()

BE = frozenset("is are was were am".split())
DO = frozenset("do does did".split())
HAVE = frozenset("has have had".split())
MODALS = frozenset("can could will would should may might must shall".split())
AUXILIARIES = BE | DO | HAVE | MODALS

DETERMINERS = frozenset(
    "the a an this that these those his her its their our my your each every some any no both all another".split()
)
PRONOUNS = frozenset("i you he she it we they there this that these those who what someone everyone nobody".split())
PREPOSITIONS = frozenset(
    """about above across after against along among around as at before behind below beneath beside besides between
    beyond by down during for from in inside into near of off on onto out outside over past per since than through
    throughout till to toward towards under until up upon via with within without""".split()
)
_RELATIVES = frozenset("who which that whom whose where when because if while although though".split())
_OPENERS = _RELATIVES | {"since", "as", "after", "before", "until", "unless", "once"}
_ADVERBS = frozenset("not never also only still often always usually first later soon now then once ever just".split())
_NO_SUBJECT = DETERMINERS | PREPOSITIONS | AUXILIARIES | {"and", "or"}
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.,][^\W_]+)*")
_PLURALS = frozenset("people men women children mice geese fish cattle police they we you".split())
_NEGATED = re.compile(r"\w+n['’]t$|cannot$")
_CONTRACTED = re.compile(r"\w+['’](?:re|ve|ll|d|m)$|(?:it|he|she|that|there|here|what|who)['’]s$")
# They look like a past form and are none.
_NO_PAST = frozenset("hundred indeed sacred naked united limited speed breed embed".split())


@cache
def past(base: str) -> str:
    if base in _FORMS:
        return _FORMS[base][0]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ied"
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", base) or base in {"commit", "refer", "occur", "control"}
    return base + (base[-1] if doubled and len(base) > 2 else "") + "ed"


@cache
def third(base: str) -> str:
    """`have` to `has`, `carry` to `carries`, `pass` to `passes`."""
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_PASTS = frozenset(forms[0] for forms in _FORMS.values()) | {past(base) for base in _REGULAR}
_PARTICIPLES = frozenset(forms[1] for forms in _FORMS.values())
_THIRDS = frozenset(third(base) for base in _BASES)


def is_base(word: str) -> bool:
    """Whether it is a verb without ending, among those that questions are often asked with."""
    return word in _BASES


def is_participle(word: str) -> bool:
    """`written`, `made`, `founded`; any word in -ed that is no other word."""
    return word in _PARTICIPLES or (word.endswith("ed") and len(word) > 4 and word not in _NO_PAST)


def is_verb(word: str) -> bool:
    """Whether it can be a finite verb that is no auxiliary."""
    return word in _THIRDS or word in _PASTS or word in _BASES or (is_participle(word) and word.endswith("ed"))


def is_auxiliary(word: str) -> bool:
    return word in AUXILIARIES or bool(_NEGATED.match(word))


def has_finite(text: str) -> bool:
    """Whether a text has a finite verb outside of relative and dependent clauses.

    By rules and without a grammar: auxiliaries are sure, other verbs are believed where an object or a subject stands
    beside them, so that "a tower built in 1889" has none and "Eiffel built the tower" has one.
    """
    words, closed = _main_clause(text), text.rstrip().endswith(".")
    low = [word.lower() for word in words]
    if len(low) < 2:
        return False
    if low[0] in PRONOUNS - {"who", "what"} and (is_auxiliary(low[1]) or is_verb(low[1])):
        return True
    owed = 0
    for place in range(len(low)):
        if place and low[place] in _RELATIVES:
            owed += 1
        elif _is_finite(words, low, place, closed):
            if not owed:
                return True
            owed -= 1
    return False


def _main_clause(text: str) -> list[str]:
    """The words, without a dependent clause that opens the text and ends at a comma."""
    words = _TOKEN.findall(text)
    if words and words[0].lower() in _OPENERS - {"that"}:
        return _TOKEN.findall(text.partition(",")[2])
    return words


def _is_finite(words: Sequence[str], low: Sequence[str], place: int, closed: bool) -> bool:
    word = low[place]
    if _CONTRACTED.match(word) or _NEGATED.match(word):
        return True
    if word == "am" and low[place - 1] != "i":
        return False
    return place > 0 and (word in AUXILIARIES or _is_main_verb(words, low, place, closed))


def _is_main_verb(words: Sequence[str], low: Sequence[str], place: int, closed: bool) -> bool:
    word, before = low[place], low[place - 1]
    after = low[place + 1] if place + 1 < len(low) else ""
    if not is_verb(word) or words[place][0].isupper() or before in _NO_SUBJECT:
        return False
    if word in _PASTS or word not in _BASES | _THIRDS:
        if after in PREPOSITIONS and is_participle(word):
            # "ice formed in 1912" is a phrase as often as a sentence; a name or a full stop makes it one.
            return (closed or words[place - 1][0].isupper()) and low[0] not in {"a", "an"}
        return bool(after) or before in _ADVERBS or closed or words[place - 1][0].isupper()
    if closed and after and after not in {"and", "or"}:
        return word in _THIRDS or _is_plural(before)
    if word in _THIRDS:
        return after in DETERMINERS | PRONOUNS or (after in PREPOSITIONS and after != "of")
    # A plural subject ("bees make honey"); most such words are nouns otherwise.
    return _is_plural(before) and (after in DETERMINERS or place == len(low) - 2)


def _is_plural(word: str) -> bool:
    return word.endswith(("s", "a")) or word in _PLURALS
