"""How probable a model considered each level or label, from the alternatives to the tokens of its reply."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from evenhand.llm.base import Choice
from evenhand.records import Value
from evenhand.scales import Nominal, Ordinal, Scale

LEAST = 0.5
"""The share of the probability at an answer that must belong to values of the scale; below it there is no result."""

_JSON_TOKEN = re.compile(r'[{}\[\]:,]|"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s{}\[\]:,"]+', re.DOTALL)
_SPACE = re.compile(r"\s*")
_TO_STRING = re.compile(r'[^"]*"')
_TO_NUMBER = re.compile(r"[\s:]*")
_STRING_END = re.compile(r'(?<!\\)"')
_NUMBER_END = re.compile(r"[\s,}\]]")


Path = tuple[str | int, ...]
"""The keys and list indexes that lead to a value."""


def value_offsets(text: str, start: int) -> Mapping[Path, int]:
    """The offset of each value of the JSON object that begins at `start`."""
    offsets: dict[Path, int] = {}
    path: list[str | int | None] = []  # of each open object the current key, None before it; of each list the index
    for match in _JSON_TOKEN.finditer(text, start):
        token = match[0]
        if token in ("}", "]"):
            path.pop()
            if not path:
                break
        elif token == ",":
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else None
        elif token != ":" and path and path[-1] is None:
            path[-1] = json.loads(token, strict=False) if "\\" in token else token[1:-1]
        elif token != ":":
            offsets[tuple(key for key in path if key is not None)] = match.start()
            if token in ("{", "["):
                path.append(None if token == "{" else 0)
    return offsets


def odds(scale: Scale, choices: Sequence[Choice], offset: int) -> tuple[tuple[Value, float], ...]:
    """The distribution over the scale's values at `offset`, where the answer begins, with its opening quote if any.

    An alternative counts for a value only if it can begin that value and no other: on a scale up to 10 the digit 1 says
    nothing. Alternatives of the same value add up. The result is in the scale's order and sums to 1; it is empty if
    less than half of the probability was recognised, and for free text and percentages.
    """
    choice, quoted = _choice_at(choices, offset), False
    if choice is not None and choice.text[offset - choice.offset] == '"':
        choice, quoted, offset = _choice_at(choices, offset + 1), True, offset + 1
    if choice is None or not isinstance(scale, Ordinal | Nominal):
        return ()
    opening = _TO_STRING if '"' in choice.text[: offset - choice.offset] else _SPACE if quoted else _TO_NUMBER
    spellings = _spellings(scale, quoted)
    chances: dict[Value, float] = {}
    for text, logprob in choice.alternatives:
        before_value = opening.match(text)
        value = None if before_value is None else _begun(text[before_value.end() :], spellings, quoted)
        if value is not None and not math.isnan(logprob):
            chances[value] = chances.get(value, 0.0) + math.exp(min(logprob, 0.0))
    total = sum(chances.values())
    recognised = scale.values if total >= LEAST else ()
    return tuple((value, chances[value] / total) for value in recognised if value in chances)


def _choice_at(choices: Sequence[Choice], offset: int) -> Choice | None:
    """The choice that the character at `offset` belongs to."""
    place = bisect_right(choices, offset, key=lambda choice: choice.offset) - 1
    return choices[place] if place >= 0 and offset < choices[place].offset + len(choices[place].text) else None


def _spellings(scale: Ordinal | Nominal, quoted: bool) -> Mapping[Value, Sequence[str]]:
    """What each value may be written as at this place."""
    if isinstance(scale, Nominal):
        if not quoted:
            return {}
        return {name: [_inside(name), *map(_inside, label.aliases)] for name, label in scale.labels.items()}
    if not quoted:
        return {level: [str(level)] for level in scale.values}
    return {
        level: [str(level), _inside(anchor.label), _inside(f"{level} {anchor.label}")]
        for level, anchor in scale.levels.items()
    }


def _inside(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].casefold()


def _begun(text: str, spellings: Mapping[Value, Sequence[str]], quoted: bool) -> Value | None:
    """The only value that the text can be the beginning of, or None."""
    end = (_STRING_END if quoted else _NUMBER_END).search(text)
    begun = (text[: end.start()] if end else text).casefold()
    if not begun.strip():
        return None
    fitting = [
        value
        for value, known in spellings.items()
        if any(spelling == begun if end else spelling.startswith(begun) for spelling in known)
    ]
    return fitting[0] if len(fitting) == 1 else None
