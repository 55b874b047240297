"""Which sentences of an answer claim something, which only address their reader, and the claims of a text."""

import re
from collections.abc import Iterator
from math import ceil

from evenhand.nlp.abstention import abstains
from evenhand.nlp.sentences import CJK, sentences

_CODE = re.compile(r"\s*(?:`{3,}|~{3,})|\s*<?(?:https?://|www\.)\S+>?\s*$", re.I)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:[-*+•‣◦▪·]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,3}[.)]\s+|\(?[a-z][.)]\s+|#{1,6}\s+)")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`+")
_CLOSING = r"[\"'”’)\]]*$"
_QUESTION = re.compile(rf"[?？؟]{_CLOSING}")
_TAG_QUESTION = re.compile(
    rf",\s*(?:right|correct|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)n't \w+)\?{_CLOSING}", re.I
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|be|been|has|have|had|do|does|did|can|could|will|would|should|may|might|must|\w+n't"
    r"|\w{2,}ed)\b", re.I,
)  # fmt: skip
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|do|does|did|can|could|will|would|\w+n't|it's)\b", re.I)
_DEPENDENT = re.compile(r"(?<=\w )(?:who|which|that)\b.*|because\b.*", re.I | re.S)
_ASKED = re.compile(r"(?:what|who|whom|whose|which|when|where|why|how)(?: \w+)? (?:is|are|was|were|do|does|did|to)\b|"
                    r"how (?:it|they|this|we|you) \w+", re.I)  # fmt: skip
_POINTS_ON = re.compile(r"\b(?:following|follows|below|here (?:is|are)|here's|these (?:are|include))\b", re.I)
_LEAD_IN = re.compile(r"([^:]{1,80}):\s+(\S+\s+\S+\s+\S.*)", re.DOTALL)
_LEADS = frozenset("are is was were be include includes including as example namely like note note".split())
_PRONOUN = re.compile(r"(?:i|you|he|she|it|we|they|there|this|that|these|those)\b", re.I)
_YES_NO = re.compile(r"(?:yes|no|true|false)\b", re.I)
_MANY, _DIFFERENT, _BARE, _SENTENCE, _LONGEST = 12, 3, 8, 4, 60  # words
_MOST_OPENERS, _LONGEST_CUT = 8, 1_000  # characters of a sentence, all of which decide about each cut

_SOURCE = (
    r"(?:the |this |these |your |any )?(?:(?:provided|given|supplied|above|available|retrieved) )?"
    r"(?:context|passage|text|document|article|source|evidence|information|excerpt|paragraph|data)s?"
    r"(?: (?:provided|given|above|available|you (?:gave|provided)))?"
)
_SAY = (
    r"(?:explicitly |directly |specifically )?(?:say|mention|state|specify|contain|provide|include|give|indicate|tell|"
    r"address|discuss|explain|answer)"
)
_EXPLAIN = (
    r"(?:now |first |briefly )?(?:explain|describe|summari[sz]e|discuss|answer|outline|look|go|list|cover|help|try)"
)
_TALK = re.compile(
    "|".join((
        # courtesies
        r"(?:thanks|thank you)\b(?: (?:so|very) much)?(?: (?:for|in advance)\b.*)?\W*$|you're welcome\b",
        r"(?:dear|hi|hello|hey|greetings|good (?:morning|afternoon|evening))\b(?:,? \w+){0,3}\W*$",
        r"(?:i|we) (?:apologi[sz]e|really hope|hope)\b|(?:best|kind) regards|good luck\b\W*",
        r"(?:what an?|that's an?|that is an?) (?:\w+ )?(?:great|good|excellent|interesting) (?:question|topic)\W*$",
        # offers and lead-ins
        r"(?:please )?(?:let me know|feel free|don't hesitate|do not hesitate|reach out)\b",
        r"if you(?:'d| would| have| need| want)\b.*\b(?:let me know|feel free|ask|happy|glad|help)\b",
        r"(?:i|we)(?:'d| would|'ll| will|'m| am) (?:be )?(?:more than )?(?:happy|glad|pleased) to\b",
        r"(?:i|we) can (?:help|assist|explain|show)\b|(?:do|would) you (?:want|like)\b|you can find (?:more|further)\b",
        rf"let(?:'s| us| me)\b|(?:i|we)(?:'ll| will|'m going to| am going to) {_EXPLAIN}\b",
        rf"in (?:this|the following) (?:article|section|answer|essay|summary),? (?:i|we) (?:will )?{_EXPLAIN}\b",
        r"(?:here|below|the following) (?:is|are)\b.*\b(?:summary|answer|list|overview|points?|examples?|steps?)\b",
        r"here(?:'s| you go)\b|as an? (?:ai|large|language)\b",
        r"(?:i'm|i am) (?:not (?:sure|certain|able)|unable|sorry)\b(?!.*\bbut\b)",
        # nothing known
        r"(?:i|we) (?:don't|do not|can't|cannot|couldn't|could not) (?:know|say|tell|answer|find|determine|provide|"
        r"help|confirm|verify|have (?:any|enough|access))\b",
        rf"{_SOURCE} (?:does not|do not|did not|doesn't|don't|didn't) {_SAY}\b",
        r"there (?:is|are|'s) (?:no|not enough|insufficient) (?:information|mention|details?|answer)\b(?! overload)",
        rf"there(?: is|'s) no (?:evidence|data)\b.*\b(?:in|from) {_SOURCE}\W*$",
        r"no (?:information|mention|answer|details?) (?:is|was|are|were|about|of|on|in)\b",
        r"(?:it|this|that|the answer) (?:is|was) not (?:explicitly )?(?:mentioned|stated|specified|given|provided)\b",
        r"(?:it|that|the answer|the question) (?:cannot|can't) be (?:answered|determined)\b",
        r"(?:it|that) depends\W*$|there are (?:many|several|various) (?:factors|things|ways|reasons|points)"
        r"(?: to (?:consider|note))?\W*$",
    )),
    re.I,
)  # fmt: skip
_OPENER = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|great question|good question|okay|ok|well|hi(?: there)?|hello|"
    r"thanks|so|now|sorry|unfortunately|regrettably|i'm sorry|i'm afraid|in conclusion|in summary|to summari[sz]e|"
    r"overall|finally|however|for example|additionally|furthermore|moreover|also)(?:\s*[,.!:;–—]+\s*|\s+)(?:but\s+)?"
    r"|(?:first|second|third|next|then|great),\s+|(?:please )?(?:note|remember|keep in mind) that "
    r"|it(?: is|'s) (?:important|worth|useful) (?:to (?:note|remember|mention|understand)|noting) that "
    r"|(?:i|we) (?:think|believe|would say)(?: that)?,? |the (?:\w+ )?answer is:? "
    rf"|(?:based on|according to|from) {_SOURCE},\s*",
    re.I,
)
_EMPTY = frozenset(
    """sure|certainly|of course|absolutely|okay|ok|great|great question|good question|understood|no problem|sorry|
    welcome|goodbye|thanks|thank you|in conclusion|in summary|to summarize|to summarise|in short|conclusion|summary|
    introduction|background|overview|answer|final answer|explanation|example|for example|examples|note|notes|references|
    sources|key points|main points|key takeaways|pros|cons|first|second|third|finally|next|also|however|therefore|
    overall|maybe|perhaps|possibly|probably|unknown|not stated|not mentioned|not specified|not given|not enough
    information|unanswerable|no answer|no information|cannot say|n/a|don't know|see below|steps|details|results|methods|
    abstract""".replace("\n    ", " ").replace("| ", "|").split("|")
)  # fmt: skip
_NUMBERED = re.compile(r"(?:step|part|section|chapter|figure|table|question|example|option|note)\s*\w{1,3}")
_IMPERATIVE = re.compile(
    r"(?:please|don't|do not|always \w+|never \w+|remember to|make sure|preheat)\b|(?:add|apply|ask|avoid|boil|bring|"
    r"call|check|choose|click|combine|compare|consider|consult|contact|continue|cut|draw|enter|explain|find|follow|give|"
    r"go|heat|imagine|keep|learn|list|look|mix|note|open|pour|press|put|read|refer|remove|repeat|save|see|select|send|"
    r"set|show|stir|take|tell|try|turn|type|use|visit|wait|wash|watch|write) "
    r"(?:a|an|the|your|this|these|that|it|them|him|her|me|us|yourself|to|if|whether|what|how|more|in|on|at|for)\b"
)  # fmt: skip


def statements(text: str, language: str = "en") -> list[str]:
    """The sentences of a text, long ones in parts. A bare answer stays with the question that the text itself asks."""
    return [part for start, end in _statements(text, language) for part in claim_parts(text[start:end])]


def claim_parts(claim: str) -> list[str]:
    """A claim whole, or in equal parts of at most 60 words if it has more than half as many again."""
    words = claim.split()
    if len(words) <= 1.5 * _LONGEST:
        return [claim]
    size = ceil(len(words) / ceil(len(words) / _LONGEST))
    return [" ".join(words[at : at + size]) for at in range(0, len(words), size)]


def claims(text: str, language: str = "en") -> list[tuple[int, int]]:
    """The claims of a text as character ranges: its sentences that claim something, and their main clauses.

    A bare answer to a question that the text itself asks is one claim with it. A sentence that declines to answer has
    none. List markers are left out.
    """
    found: list[tuple[int, int]] = []
    for start, end in _statements(text, language):
        if has_claim(text[start:end]) and not abstains(text[start:end], language):
            marker = _MARKER.match(text, start, end)
            start = marker.end() if marker else start
            found += [(start + first, start + last) for first, last in _clauses(text[start:end])]
    return found


def _statements(text: str, language: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sentences(text, language):
        if found and _QUESTION.search(text[slice(*found[-1])]) and is_bare(text[start:end]):
            start = found.pop()[0]
        found.append((start, end))
    return found


_JOINT = re.compile(r"(?<!\s)\s*+(?:[;；]\s*|,\s+(?:and|but|whereas|while|yet)\s+)")
_BOUND = re.compile(
    r"\b(?:that|if|unless|whether|when|because|although|though|since|until|either|neither|not only)\b", re.I
)
_SUBJECT = re.compile(
    r"(?:(?:an?|the|its?|their|his|her|he|she|they|we|this|that|these|those|there|some|many|most|all|both|each|no)\b"
    r"|(?:[A-Z0-9]|[^\x00-\x7f]))"
)  # fmt: skip
_ENCLOSED = ("()", "[]", "“”", "«»")


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    """The main clauses of a sentence: cut where both sides have a subject and a verb of their own, and neither depends
    on the other."""
    start = 0
    for joint in _JOINT.finditer(sentence) if len(sentence) <= _LONGEST_CUT else ():
        before, after = sentence[start : joint.start()], sentence[joint.end() :]
        is_open = before.count('"') % 2 or any(before.count(one) != before.count(other) for one, other in _ENCLOSED)
        is_main = joint[0].strip() in (";", "；") or (_SUBJECT.match(after) and not _BOUND.search(before))
        if is_main and not is_open and _stands(before) and _stands(after):
            yield start, joint.start()
            start = joint.end()
    yield start, len(sentence)


def _stands(clause: str) -> bool:
    """Whether a clause has a verb of its own; in Chinese and Japanese, whose clauses only ； parts, it always has."""
    return bool(CJK.search(clause) or _VERB.search(_DEPENDENT.sub("", clause.strip())))


def has_claim(sentence: str) -> bool:
    """Whether a sentence asserts something that evidence can support or contradict.

    Greetings, questions, headings, instructions, offers, lead-ins, links, code and refusals do not. A bare phrase
    ("Paris", "42 km") does: it answers a question.
    """
    if _CODE.match(sentence):
        return False
    said = _plain(sentence)
    lead = _LEAD_IN.match(said)
    if lead and _POINTS_ON.search(lead[1]):
        said = lead[2]
    words = said.lower().split()
    repeats = len(words) >= _MANY and len(set(words)) < _DIFFERENT
    if repeats or not any(character.isalnum() for character in said):
        return False
    if _QUESTION.search(said):
        return bool(_TAG_QUESTION.search(said))
    if _HEADING.match(sentence) and (_ASKED.match(said) or not said.endswith(".")):
        return False
    return _asserts(said)


def is_bare(answer: str) -> bool:
    """Whether an answer is a short phrase, or yes or no, that says something only together with its question."""
    words = len(answer.split())
    if words > _BARE or (words > _SENTENCE and answer.rstrip().endswith(".")):
        return False
    said = _DEPENDENT.sub("", answer.strip())
    return bool(_YES_NO.match(said)) or not (_AUXILIARY.search(said) or _PRONOUN.match(said))


def _plain(sentence: str) -> str:
    """The sentence without list markers, emphasis and curly apostrophes."""
    said = sentence.strip().replace("’", "'")
    marker = _MARKER.match(said)
    return " ".join(_EMPHASIS.sub("", said[marker.end() :] if marker else said).split())


def _asserts(said: str) -> bool:
    for _ in range(_MOST_OPENERS):
        core = said.strip(" .!:;,*\"'“”()[]-–—…").lower()
        if not core or core in _EMPTY or _NUMBERED.fullmatch(core) or _TALK.match(said):
            return False
        opener = _OPENER.match(said)
        if not opener or opener.end() == len(said):
            break
        said = said[opener.end() :]
    if said.endswith((":", "：")):
        last = said.rstrip(": ：").rpartition(" ")[2].lower()
        return bool(_VERB.search(said)) and last not in _LEADS and not _POINTS_ON.search(said)
    # What begins as an order but has a verb of its own later on is a sentence about something.
    instructs = _IMPERATIVE.match(said[:1].lower() + said[1:]) and not re.search(r"\b(?:is|are|was|were)\b", said[:60])
    return not (instructs or (_ASKED.match(said) and said[-1].isalnum()))
