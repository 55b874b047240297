"""Which sentences of an answer say something that can be true or false, and which only talk to their reader."""

import re

from evenhand.verify.statements import is_bare, statement
from evenhand.verify.talk import EMPTY, OPENER, TALK
from evenhand.verify.verbs import DETERMINERS, PREPOSITIONS, has_finite

__all__ = ["has_claim", "is_bare", "statement"]

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:[-*+•‣◦▪·]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)]\s+|\(?[a-z][.)]\s+|#{1,6}\s+)")
_ADDRESS = re.compile(r"<?(?:https?://|www\.)\S+>?$", re.I)
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`+")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_CLOSING = r"[\"'”’)\]]*$"
_QUESTION = re.compile(rf"[?？؟]{_CLOSING}")
_TAG = re.compile(
    rf",\s*(?:right|correct|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)n't \w+)\?{_CLOSING}", re.I
)
_COLON = re.compile(rf"[:：]{_CLOSING}")
_ASKED = re.compile(
    r"(?:what|who|whom|whose|which|when|where|why|how)(?: \w+)? "
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|to)\b|how (?:it|they|this|we|you) \w+",
    re.I,
)
# More of them than anybody writes in a row.
_MOST_OPENERS = 8
_MANY, _DIFFERENT = 12, 3
_NUMBERED = re.compile(r"(?:step|part|section|chapter|figure|table|question|example|option|point|note)\s*\w{1,3}")

_IMPERATIVES = frozenset(
    """add adjust allow apply ask assume avoid bake be begin boil bring build call check choose click clean close
    combine compare complete confirm consider consult contact continue copy create cut decide define delete
    describe discuss divide do download drain draw enable ensure enter examine explain explore fill find
    fold follow gather get give go heat hold identify imagine include insert install join keep learn let
    list locate look make mark measure mix move multiply name note notice observe open pay pick place please
    pour practice prepare preheat press print provide pull push put read recall refer remember remove repeat
    replace review rinse run save scroll search see select send serve set share show sign simmer skip solve
    spread sprinkle start stay stir stop store submit subtract summarize summarise suppose switch take talk
    tap tell test think transfer translate try turn type understand update upload use verify view visit wait
    wash watch wear whisk wipe write""".split()
)
_OBJECTS = (DETERMINERS - {"no"}) | frozenset(
    "it them him me us yourself you sure if whether what how why more".split()
)
_LEADS = frozenset(
    """are is was were be include includes including included following follows below here this that these as example
    namely like says said reads asks answer""".split()
)
_POINTS_ON = re.compile(r"\b(?:following|as follows|below|here (?:is|are)|here's|these (?:are|include))\b", re.I)

_LEAD_IN = re.compile(r"([^:]{1,80}):\s+(\S+\s+\S+\s+\S.*)", re.DOTALL)


def has_claim(sentence: str) -> bool:
    """Whether a sentence of an answer asserts something about the world, so that evidence can speak for or against it.

    False for greetings, questions, headings, instructions to the reader, offers of help, lead-ins, links, code, and for
    refusals to answer. A bare phrase ("Paris", "42 km") is a claim: it answers a question.
    """
    if _FENCE.match(sentence) or _ADDRESS.match(sentence.strip()):
        return False
    said = _plain(sentence)
    lead = _LEAD_IN.match(said)
    if lead and _POINTS_ON.search(lead[1]):
        said = lead[2]
    if not any(character.isalnum() for character in said) or _stammers(said):
        return False
    if _QUESTION.search(said):
        return bool(_TAG.search(said)) and has_finite(said)
    if _HEADING.match(sentence) and (_ASKED.match(said) or not has_finite(said)):
        return False
    return _asserts(said)


def _stammers(said: str) -> bool:
    """Whether it is one or two words again and again."""
    words = said.lower().split()
    return len(words) >= _MANY and len(set(words)) < _DIFFERENT


def _plain(sentence: str) -> str:
    """The sentence without list markers, emphasis and curly apostrophes."""
    said = sentence.strip().replace("’", "'")
    marker = _MARKER.match(said)
    return " ".join(_EMPHASIS.sub("", said[marker.end() :] if marker else said).split())


def _asserts(said: str) -> bool:
    for _ in range(_MOST_OPENERS):
        if _says_nothing(said):
            return False
        opener = OPENER.match(said)
        if not opener or opener.end() == len(said):
            break
        said = said[opener.end() :]
    if _COLON.search(said):
        return not _leads_in(said)
    return not (_ASKED.match(said) and said[-1].isalnum()) and not _instructs(said)


def _says_nothing(said: str) -> bool:
    core = said.strip(" .!:;,*\"'“”()[]-–—…").lower()
    return not core or core in EMPTY or bool(_NUMBERED.fullmatch(core) or TALK.match(said))


def _leads_in(said: str) -> bool:
    """Whether a text with a colon at its end only announces what follows."""
    words = [word.lower() for word in _WORD.findall(said)]
    return not has_finite(said) or words[-1] in _LEADS or bool(_POINTS_ON.search(said)) or _instructs(said)


def _instructs(said: str) -> bool:
    """Whether it begins as an order does: a verb, and no noun of the same spelling ("Use of the drug is banned")."""
    spelled = _WORD.findall(said[:200])
    words = [word.lower() for word in spelled]
    if words[:1] in (["please"], ["don't"]) or words[:2] == ["do", "not"]:
        return True
    if len(words) < 2 or words[0] not in _IMPERATIVES | {"always", "never"}:
        return False
    if words[0] in {"always", "never"}:
        return words[1] in _IMPERATIVES
    if words[1] in _OBJECTS:
        return spelled[1].islower()
    return not has_finite(said) and (words[1] in PREPOSITIONS - {"of"} or said.endswith((".", "!")))
