"""An item's text goes into a prompt as data: between lines that nothing inside it can imitate.

The lines carry a code that is made from the texts and stands in none of them, so no text can close its own fence. What
a server or a chat template would take for the end of a turn is broken up by an invisible character.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

JOINER = "\u2060"
"""Word joiner: has no width and allows no break. It stands after the first character of a defused control token."""

REPLACEMENT = "\ufffd"
SHORTEST = 10

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
"""Control characters but tab and line ends, and halves of surrogate pairs, which UTF-8 cannot hold."""


def storable(text: str) -> str:
    """The text without control characters and lone surrogates; each becomes the replacement character."""
    if text.replace("\n", " ").isprintable():  # quicker than the search, and most texts are
        return text
    return _CONTROL.sub(REPLACEMENT, text)


def harmless(text: str) -> str:
    """The text as a prompt may hold it: same length but for joiners, no control token whole, encodable as UTF-8."""
    text = storable(text)
    if "<" in text:
        text = _ANGLED_TOKEN.sub(f"<{JOINER}", text)
    if "[" in text:
        text = _BRACKETED_TOKEN.sub(f"[{JOINER}", text)
    return text


def restored(text: str) -> str:
    """What a model wrote, without the joiners it may have copied from a defused token, and fit to be stored."""
    return storable(_DEFUSED.sub("", text) if JOINER in text else text)


def fence_code(texts: Sequence[str]) -> str:
    """A code that occurs in none of the texts; the same texts have the same code, on every machine."""
    digest = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d\n" % len(content))
        digest.update(content)
    length = SHORTEST
    code = digest.hexdigest()[:length]
    while any(code in text for text in texts):
        # A longer code at every round: some text would have to hold all of them to keep this going.
        digest.update(b"again")
        length = min(length + 2, 64)
        code = digest.hexdigest()[:length]
    return code


def fenced(name: str, text: str, code: str) -> str:
    """The text between its two lines. It must be harmless, and the code made from it and all others in the prompt."""
    return f"[begin {name} {code}]\n{text}\n[end {name} {code}]"


def numbered(name: str, texts: Iterable[tuple[int, str]], code: str) -> str:
    """Several texts in one fence, each under a line of its own with its number and the code."""
    lines = "\n".join(f"[{name} {number} {code}]\n{text}" for number, text in texts)
    return f"[begin {name}s {code}]\n{lines}\n[end {name}s {code}]"
