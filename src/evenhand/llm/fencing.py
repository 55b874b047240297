"""Texts enter a prompt as data, between lines that nothing inside them can imitate.

The lines carry a marker that is derived from the texts and occurs in none of them, so no text can close its own fence.
Anything that a server or a chat template might take for the end of a turn is broken up by an invisible character.
A second, shorter code identifies a request: the reply repeats it, so that a reply to another request is recognised.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from evenhand.llm.base import Message, Request

JOINER = "\u2060"
"""Word joiner: has no width and allows no break. Inserted after the first character of a control token."""

REPLACEMENT = "\ufffd"

LONGEST = 4000
"""Characters of an unusable reply that are shown to the model again."""

MARKER_LENGTH = 10
"""Hexadecimal digits of a marker, if no text happens to contain them."""

CODE_LENGTH = 5
"""Characters of a reply code. With nine million codes, neighbouring requests practically never share one."""

CODE_LETTERS = "BCDFGHJKMNPQRTVWXYZ"
CODE_CHARACTERS = CODE_LETTERS + "2346789"
"""No vowels, so that no word appears, and no characters that are easily taken for each other."""

_NAMES = (
    r"s|bos|eos|pad|unk|mask|sop|eop|eot|sep|cls|user|assistant|system|human|bot|"
    r"bos_token|eos_token|pad_token|begin_of_text|end_of_text|start_of_text|"
    r"start_of_turn|end_of_turn|start_of_image|end_of_image|end_of_utterance|"
    r"think|thinking|tool_call|tool_calls|tool_response|tool_responses|tools|function_call|"
    r"fim_prefix|fim_middle|fim_suffix|extra_id_\d+|unused\d+|reserved_\d+|image|image_soft_token|audio"
)
_BRACKETED = (
    r"INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|TOOL_CONTENT|ARGS|CALL_ID|IMG|IMG_BREAK|IMG_END|"
    r"PREFIX|MIDDLE|SUFFIX|THINK|MODEL_SETTINGS|gMASK|sMASK|MASK|CLS|SEP|PAD|UNK|BOS|EOS"
)
_ANGLED_TOKEN = re.compile(rf"<(?=[|｜]|</?SYS>>|(?i:/?(?:{_NAMES})>))")
_BRACKETED_TOKEN = re.compile(rf"\[(?=(?i:/?(?:{_BRACKETED})\]))")
"""The first character of a control token: `<|…|>`, `<｜…｜>`, `<<SYS>>`, `<s>`, `<end_of_turn>`; `[INST]`, …"""

_DEFUSED = re.compile(rf"(?<=[<\[]){JOINER}")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters except tab and line ends, and lone surrogates, which UTF-8 cannot encode."""


def storable(text: str) -> str:
    """The text without control characters and lone surrogates; each becomes the replacement character."""
    if text.replace("\n", " ").isprintable():  # faster than the search, and true of most texts
        return text
    return _CONTROL.sub(REPLACEMENT, text)


def harmless(text: str) -> str:
    """The text as it may appear in a prompt: encodable as UTF-8, and with a joiner inside every control token."""
    text = storable(text)
    if "<" in text:
        text = _ANGLED_TOKEN.sub(f"<{JOINER}", text)
    if "[" in text:
        text = _BRACKETED_TOKEN.sub(f"[{JOINER}", text)
    return text


def restored(text: str) -> str:
    """What a model wrote, without joiners that it copied from a broken-up control token, and storable."""
    return storable(_DEFUSED.sub("", text) if JOINER in text else text)


def marker_of(texts: Iterable[str], others: Iterable[str] = ()) -> str:
    """A marker that occurs in none of the texts; the same texts have the same marker on every machine.

    Nor does it occur in the `others`, on which it depends only if they contain it.
    """
    texts, others = list(texts), list(others)
    # Longer at every attempt: some text would have to contain all of them to keep this going.
    attempts = (_digest(texts, attempt).hex()[: min(MARKER_LENGTH + 2 * attempt, 64)] for attempt in count())
    return next(marker for marker in attempts if not any(marker in text for text in [*texts, *others]))


def reply_codes(identities: Iterable[Sequence[str]], texts: Sequence[str]) -> Sequence[str]:
    """A short code for each request, derived from what identifies it; it occurs in no text, and only once."""
    codes: dict[str, None] = {}
    for identity in identities:
        attempts = (_code(_digest(identity, attempt), min(CODE_LENGTH + attempt, 20)) for attempt in count())
        codes[next(code for code in attempts if code not in codes and not any(code in text for text in texts))] = None
    return list(codes)


def fenced(name: str, text: str, marker: str) -> str:
    """The text between its two lines. It must be harmless, and the marker derived from all texts of the prompt."""
    return f"[begin {name} {marker}]\n{text}\n[end {name} {marker}]"


def blocks(heads: Mapping[str, str], texts: Mapping[str, str], marker: str) -> Iterator[str]:
    """Several texts, each below its head."""
    for name, text in texts.items():
        yield f"{heads[name]}\n{fenced(name, text, marker)}"


def follow_up(request: Request, own: str | None, correction: str, reminder: str) -> Request:
    """A request with a correction of the reply, or, without the reply, with a reminder.

    The reply is shown to the model only if it is its own. Another unit's reply would influence the next one, and came
    over a connection that may be one reply behind: the request is made on a fresh one.
    """
    *before, last = request.messages
    if own is None:
        return replace(request, messages=(*before, Message(last.role, f"{last.content}\n\n{reminder}")), fresh=True)
    text = harmless(own.strip())
    shown = f"{text[:LONGEST]} …" if len(text) > LONGEST else text
    return replace(request, messages=(*request.messages, Message("assistant", shown), Message("user", correction)))


def _digest(texts: Iterable[str], attempt: int) -> bytes:
    contents = [text.encode("utf-8", "surrogatepass") for text in texts]
    return hashlib.sha256(b"".join([b"%d\n%b" % (len(one), one) for one in contents]) + b"again" * attempt).digest()


def _code(digest: bytes, length: int) -> str:
    number, letter = divmod(int.from_bytes(digest), len(CODE_LETTERS))
    code = CODE_LETTERS[letter]
    for _ in range(length - 1):
        number, place = divmod(number, len(CODE_CHARACTERS))
        code += CODE_CHARACTERS[place]
    return code
