"""Lines to blocks: stretches of text that no sentence crosses."""

import re
from typing import NamedTuple

from evenhand.nlp.scripts import CJK, HAN, WIDE, words

# Nobody wraps English prose narrower than this, so a capital after a shorter line begins something new.
NARROWEST_WRAP = 40

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s|#{2,6}[^#\s])")
_MARKUP_ONLY = re.compile(r"[-=*_~+|:>#\s]+")
_QUOTED_LINE = re.compile(r"\s*>")
_KEY_AND_VALUE = re.compile(r"[^\W\d_][^.:：。]{0,30}[:：]\s*\S")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_]+\1[:：]?")
_MARKER = re.compile(
    rf"""\s*(?:>\s*)*(?:
        (?P<bullet>[-*+•‣⁃◦●○■□▪]\s+(?:\[[ xX]\]\s+)?)
      | (?P<first>1[.)]\s+|1[.．](?=[{HAN}]))
      | (?P<han>[一二三四五六七八九十]{{1,3}}、|（[一二三四五六七八九十\d]{{1,3}}）|[①-⑳]|\d{{1,2}}、)
      | (?P<number>\d{{1,3}}[.)]\s+|\d{{1,3}}[.．](?=[{HAN}])|\((?:\d{{1,3}}|[a-z]|[ivx]{{1,5}})\)\s+)
      | (?P<letter>(?:[A-Za-z]|[ivx]{{1,5}}|[IVX]{{1,5}})[.)]\s+)
      | (?P<dash>[·–—]\s+)
      | (?P<reference>\[\d{{1,3}}\]\s+)
    )""",
    re.VERBOSE,
)
_SURE_MARKERS = {"bullet", "first", "han"}
_LINE_ENDS = re.compile(r"""[.!?…。！？:：;；।؟۔]["'”’»)\]）」』*_]*$""")
_LINE_GOES_ON = re.compile(r"[,，、;；(（\[/&–—-]$")
_OPENS_ANEW = re.compile(r"""["'“‘(（「『\[*_¿¡«]*([^\W\d_])""")
# A line that stops on one of these words has been wrapped, however short it is.
_BINDING_WORDS = words(
    "a an the this that these those my your his her its our their of in on at by to for from with without into onto "
    "over under between through during about against as than and or but nor if when while because although is are was "
    "were be been being has have had do does did will would can could may might must shall should not no which who "
    "whom whose where"
)


class Block(NamedTuple):
    """A stretch of text that no sentence crosses; a `whole` one is a sentence. Prose begins at `body`."""

    start: int
    body: int
    end: int
    whole: bool


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    width: int
    wrap: int


def _width(line: str) -> int:
    return len(line) + sum(1 for _ in WIDE.finditer(line))


def _lines(text: str) -> list[_Line]:
    """Lines with their trimmed range, their width, and the width of the widest line of their paragraph."""
    lines: list[_Line] = []
    paragraph = offset = 0
    for raw in [*text.splitlines(keepends=True), ""]:
        stripped = raw.strip()
        if not stripped:
            widest = max((line.width for line in lines[paragraph:]), default=0)
            lines[paragraph:] = [line._replace(wrap=widest) for line in lines[paragraph:]]
        start = offset + len(raw) - len(raw.lstrip()) if stripped else offset
        lines.append(_Line(start, start + len(stripped), stripped, _width(stripped), 0))
        offset += len(raw)
        if not stripped:
            paragraph = len(lines)
    return lines


def _broken_on_purpose(before: _Line, line: _Line) -> bool:
    """Whether a new thought starts at this line though the one before has no full stop: a title, a record, a verse.

    A hard wrap leaves no room for the next word; where there was room, the writer meant the break.
    """
    if _LINE_GOES_ON.search(before.text):
        return False
    if _BOLD_LINE.fullmatch(before.text) or (_KEY_AND_VALUE.match(before.text) and _KEY_AND_VALUE.match(line.text)):
        return True
    opening = _OPENS_ANEW.match(line.text)
    if opening is None or opening[1].islower() or (_LINE_ENDS.search(before.text) and before.text[-1] not in ":："):
        return False
    if CJK.match(opening[1]):
        return before.width + 6 <= line.wrap
    last_word = before.text.rsplit(maxsplit=1)[-1].lower()
    room = max(line.wrap, NARROWEST_WRAP) - before.width - 1
    return last_word not in _BINDING_WORDS and len(line.text.split(maxsplit=1)[0]) <= room


def _parts(before: _Line, line: _Line, kind: str | None, item: str | None) -> bool:
    """Whether `line`, with a marker of `kind` or none, begins a block; the line before lies in an `item` or prose."""
    if kind in _SURE_MARKERS or bool(_QUOTED_LINE.match(before.text)) != bool(_QUOTED_LINE.match(line.text)):
        return True
    if kind is not None:
        # "12." or "J." at the left margin may be the end or the middle of a wrapped sentence.
        return bool(_LINE_ENDS.search(before.text)) or (kind == item if kind == "letter" else item is not None)
    return _broken_on_purpose(before, line)


def _is_row(line: _Line, following: _Line, in_table: bool) -> bool:
    pipes = line.text.count("|")
    if pipes and (in_table or (line.text[0] == "|" == line.text[-1] and pipes > 1)):
        return True
    if pipes and "|" in following.text and "-" in following.text and _MARKUP_ONLY.fullmatch(following.text):
        return True
    return sum(1 for cell in line.text.split("\t") if cell.strip()) > 2


def blocks(text: str) -> list[Block]:
    """The blocks of a text in order. Lines of nothing but markup (`---`, `|:--|`, a lone `>`) belong to none."""
    found: list[Block] = []
    lines = _lines(text)
    item: str | None = None
    growing = in_table = False
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        fence = _FENCE.match(line.text)
        if fence and (fence[1][0] == "~" or "`" not in line.text[fence.end() :]):
            last = _fence_end(lines, number, fence[1])
            found.append(Block(line.start, line.start, lines[last].end, whole=True))
            growing, number = False, last + 1
        elif not line.text or _MARKUP_ONLY.fullmatch(line.text):
            in_table = "|" in line.text
            growing = False
        elif _HEADING.match(line.text) or _is_row(line, lines[number], in_table):
            found.append(Block(line.start, line.start, line.end, whole=True))
            growing = False
        else:
            marker = _MARKER.match(line.text)
            kind = marker.lastgroup if marker else None
            in_table = False
            if growing and not _parts(lines[number - 2], line, kind, item):
                found[-1] = found[-1]._replace(end=line.end)
                continue
            item = kind
            found.append(Block(line.start, line.start + (marker.end() if marker else 0), line.end, whole=False))
            growing = True
    return found


def _fence_end(lines: list[_Line], number: int, fence: str) -> int:
    """The line that closes a fence. An unclosed one runs to the last line with text: a reply cut short ends in code."""
    last = number - 1
    for place in range(number, len(lines)):
        text = lines[place].text
        if text.startswith(fence) and not text.strip(fence[0]):
            return place
        if text:
            last = place
    return last
