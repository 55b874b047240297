"""Text to sentences, as character ranges, in two passes: lines to blocks, then blocks to sentences.

`blocks` reads the lines: blank lines, fences, headings, table rows, list items and deliberate line breaks split the
text. `sentences` then looks at every full stop, question mark and the like inside a block and asks whether a sentence
ends there. Both passes are linear: patterns match at a known place with bounded repeats, or repeat one class.

Unit ids depend on the ranges: a changed rule changes the units of new studies made from the same items.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

HAN = "㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
KANA = "぀-ヿ"
WIDE = re.compile(f"[{HAN}{KANA}가-힯　-〿＀-￯]")
CJK = re.compile(f"[{HAN}{KANA}]")


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
_BINDING_WORDS = word_set(
    "a an the this that these those my your his her its our their of in on at by to for from with without into onto "
    "over under between through during about against as than and or but nor if when while because although is are was "
    "were be been being has have had do does did will would can could may might must shall should not no which who "
    "whom whose where"
)

# A longer quotation or parenthesis is cut like any prose: nobody can rate half a page as one unit.
MAX_ENCLOSED = 400

_STOP = re.compile(r"\.(?:[ \u00a0]\.)+|[.!?…。！？｡।॥؟۔።։]+")
_WIDE_STOPS = frozenset("。！？｡।॥؟۔።։")
# ‘ and ’ are left out: the second is also the apostrophe.
_OPENING = dict(zip(")]}）】》”」』»", "([{（【《“「『«", strict=True))
_QUOTES = frozenset('“「『«"')
_ENCLOSER = re.compile(r"[*]+|[(\[{（【《“「『«\")\]}）】》”」』»]")
_BACKTICKS = re.compile("`+")
_CLOSERS = frozenset("\"'”’»)]}）】》」』*_~")
_OPENERS = re.compile(r"""[\s"'“‘«(\[{（【「『《*_~¿¡>]*""")
_CITATION = re.compile(
    r"""[ \u00a0]?(?:
        \[\^?(?:[A-Za-z]{1,12}[ ]?)?\d{1,4}(?:[ ]?[,;–-][ ]?\d{1,4}){0,20}\](?:\([^()\s]{0,200}\))?
      | [⁰¹²³⁴-⁹]{1,6}
      | 【\d[^】\n]{0,30}】
      | [（(][^()（）\n]{0,80}(?:1[5-9]|20)\d\d[a-z]?[)）]
    )""",
    re.VERBOSE,
)
_WORD_BEFORE = re.compile(rf"""[^\s()\[\]{{}}（）“”"'‘’—–/,，。：*_{HAN}{KANA}]*\Z""")
_WORD = re.compile(r"[^\W_][\w'’-]{0,30}")
_MIXED_CASE = re.compile(r"[a-z]{1,2}[A-Z]")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_NUMBER_LIKE = re.compile(r"\d|[IVXLC]+\b|[A-Z]\b|[A-Z]\d")
_TAG = re.compile(
    r"(?:[^\W\d_][\w.'’-]{0,30}\s+){1,3}"
    r"(?:said|says|asked|replied|wrote|writes|added|shouted|cried|answered|told|whispered)\b"
)
_TAG_HAN = re.compile(r"[^，。！？；：、\s“”]{0,6}?[说說道问問答喊叫写][道着]?[，。：！,.:]")
_AFTER_QUOTE_GOES_ON = re.compile(r"[的と，、；：,;:)）]|[ぁ-ゟ]")
_AFTER_COLON = re.compile(r"[:：;；]\s*\d{1,2}\Z")

# Always followed by the rest of the sentence.
_TITLES = word_set(
    "Dr Mr Mrs Ms Mx Prof Gen Lt Col Capt Cpt Sgt Maj Cmdr Adm Sen Rep Gov Pres Rev Fr Hon Messrs Sr Sra Mme Mlle"
)
_LEADING = word_set("e.g i.e eg ie vs cf approx ca viz resp esp incl a.k.a v nr bzw vgl")
# An abbreviation only in front of a number or a letter that stands for one.
_COUNTED = word_set(
    "n° fig figs eq eqs no nos vol vols p pp sec secs sect ch chap ref refs tab art para ver app ex jan feb mar apr "
    "jun jul aug sep sept oct nov dec"
)
# May close a sentence: the next word tells.
_CLOSING = word_set("inc ltd co corp jr sr bros al dept univ assn ave blvd est st mt ltda gmbh")
_STARTERS = word_set(
    "The This That These Those It Its He She They We You His Her Their Our My There Here In On At By For From With "
    "Without After Before During Since Until When While Where If Although Because Though But And Or So Yet However "
    "Then Thus Therefore Moreover Furthermore Nevertheless Meanwhile Instead Some Many Most Few Several All Both Each "
    "Every No None Not Nobody One Two Another Other Others As To What Why How Who Which Is Are Was Were Do Does Did "
    "Has Have Had Can Could Will Would Should May Might Now Today Later Finally Only Even Also Such An A"
)
_AFTER_HOURS = word_set(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August "
    "September October November December Eastern Central Mountain Pacific GMT UTC ET EST EDT CT CST CDT MT MST PT PST "
    "PDT BST CET"
)


MOST_MARKS = 1_000_000
"""Line ends and full stops of one text: the sentences between them take some hundred bytes of memory each."""


def has_too_many(text: str) -> bool:
    """Whether a text has more sentences or lines than are read."""
    return len(text) > MOST_MARKS and sum(map(text.count, "\n.!?。！？")) > MOST_MARKS


def sentences(text: str, language: str = "en") -> list[tuple[int, int]]:
    """The sentences of a text as half-open character ranges: in order, trimmed, never empty, never overlapping.

    Every character is in a range except white space and lines of nothing but markup (a rule, the dashes of a table).
    A blank line always ends a sentence. A fenced code block, a heading and a table row are one sentence each; a list
    item is at least one, marker included. References behind a full stop ("grows.[12]") stay with the sentence before.
    Neither ";" nor "；" ends a sentence: both join clauses, and the Chinese standard GB/T 15834 counts ； among the
    marks inside a sentence. A quotation or parenthesis of at most 400 characters within a sentence is not cut, since
    what it says hangs on who says it; one that stands alone is cut like prose.

    All scripts are read by the same rules whatever the tag, so mixed texts work. The tag only says whether English
    words may tell if an abbreviation ends a sentence ("en", "zh" and their regions); any other tag, known or not,
    goes by the shape of words alone.
    """
    english = re.split("[-_]", language.lower(), maxsplit=1)[0] in ("en", "zh")
    ranges: list[tuple[int, int]] = []
    for block in blocks(text):
        pieces = [(block.start, block.end)] if block.whole else _Reader(text, block, english).cut()
        for start, end in pieces:
            piece = text[start:end]
            ranges.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return [(start, end) for start, end in ranges if start < end]


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
        if stripped or not lines or lines[-1].text:  # of several blank lines, one is enough
            lines.append(_Line(start, start + len(stripped), stripped, len(stripped) + len(WIDE.findall(stripped)), 0))
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


class _Reader:
    """One block being cut. The state is what a decision needs of the past: where the sentence began, what is open."""

    def __init__(self, text: str, block: Block, english: bool) -> None:
        self.text, self.block, self.english = text, block, english
        self.lower = text[block.start : block.end].islower()
        self.pairs, self.openings = _enclosures(text, block)
        self.next_pair = 0
        self.held: tuple[int, int] | None = None
        self.begin(block.start, block.body)

    def begin(self, start: int, body: int) -> None:
        self.start = start
        word = _WORD.search(self.text, body, self.block.end)
        self.word = word.start() if word else self.block.end

    def cut(self) -> Iterator[tuple[int, int]]:
        for stop in _STOP.finditer(self.text, self.block.body, self.block.end):
            if stop.start() < self.start:
                continue
            self.hold(stop.start())
            after = stop.end()
            while after < self.block.end and self.text[after] in _CLOSERS and after not in self.openings:
                after += 1
            omission = self.text[stop.start() - 1] == "[" and self.text.startswith("]", stop.end())
            if omission or stop.start() <= self.word or (self.held and after <= self.held[1]):
                continue
            cited = self.after_citations(after)
            if cited < self.block.end and self.ends(stop.start(), stop.end(), after, cited):
                yield self.start, cited
                self.begin(cited, cited)
        yield self.start, self.block.end

    def hold(self, place: int) -> None:
        """Take note of the enclosure that `place` lies in, unless that one stands alone as sentences of its own."""
        if self.held and place > self.held[1]:
            self.held = None
        while self.next_pair < len(self.pairs) and self.pairs[self.next_pair][0] < place:
            opening, closing = self.pairs[self.next_pair]
            self.next_pair += 1
            if closing > place and self.held is None and not self.stands_alone(opening, closing):
                self.held = (opening, closing)

    def stands_alone(self, opening: int, closing: int) -> bool:
        if opening > self.word or self.text[opening] in "`《":
            return False
        inner = closing - 1
        while inner > opening and self.text[inner] in _CLOSERS:
            inner -= 1
        return _STOP.match(self.text[inner]) is not None and not self.speech_goes_on(closing + 1)

    def speech_goes_on(self, place: int) -> bool:
        """Whether what follows a closed quotation belongs to it: a comma, a small letter, or `… said`."""
        following = _OPENERS.match(self.text, place, self.block.end)
        first = following.end() if following else place
        if first >= self.block.end:
            return False
        if self.text[first].islower() or _AFTER_QUOTE_GOES_ON.match(self.text, first):
            return True
        return bool(_TAG.match(self.text, first, self.block.end) or _TAG_HAN.match(self.text, first, self.block.end))

    def after_citations(self, place: int) -> int:
        """Past the references that trail a full stop, unless the next sentence begins with them ("[12] reports …")."""
        end = place
        while (citation := _CITATION.match(self.text, end, self.block.end)) and citation.end() > end:
            end = citation.end()
        following = self.text[end : end + 2].lstrip()
        return place if end > place and following[:1].islower() else end

    def ends(self, start: int, stop: int, after: int, cited: int) -> bool:
        """Whether the stop at `start:stop`, with closers to `after` and citations to `cited`, ends a sentence."""
        mark = self.text[start:stop]
        closed = self.held if self.held and self.held[1] < after else None
        if closed and self.text[closed[0]] not in _QUOTES and (self.text[closed[0]] == "《" or mark[-1] in "!?！？"):
            return False
        opening = _OPENERS.match(self.text, cited, self.block.end)
        first = opening.end() if opening else cited
        if first >= self.block.end:
            return True
        spaced = self.text[cited].isspace()
        if closed and self.text[closed[0]] in _QUOTES and self.quote_goes_on(closed[0], after, spaced):
            return False
        if self.text[first] in ",;:，、；：":
            return False
        if mark[-1] in _WIDE_STOPS:
            return True
        if not spaced:
            return self.ends_unspaced(start, mark, cited, first, cited > after)
        if self.text[first].islower() and not _MIXED_CASE.match(self.text, first):
            return self.lower and not (mark == "." and self.abbreviates(start, first))
        return mark != "." or not self.abbreviates(start, first)

    def quote_goes_on(self, opening: int, after: int, spaced: bool) -> bool:
        if opening <= self.word:
            return self.speech_goes_on(after)
        if _AFTER_QUOTE_GOES_ON.match(self.text, after):
            return True
        # “…！” set into Chinese without a colon is a noun of the sentence around it.
        return not spaced and self.text[opening - 1] not in "：:，, \n" and CJK.match(self.text, after) is not None

    def ends_unspaced(self, start: int, mark: str, cited: int, first: int, has_citation: bool) -> bool:
        if not CJK.match(self.text, first):
            return has_citation and self.text[cited].isupper()
        if "…" in mark or (len(mark) > 1 and set(mark) == {"."}):
            # "我……我" stammers and "桃……都" sums up a list; after a fuller clause the dots trail off and end it.
            return start - self.word > 5 and self.text[first] not in "都等的也就和与"
        if mark != "." or CJK.match(self.text, start - 1):
            return True
        word = self.word_before(start)
        return len(word) > 2 and word.isalpha() and word.islower() and not self.abbreviates(start, first)

    def word_before(self, place: int) -> str:
        word = _WORD_BEFORE.search(self.text[max(self.start, place - 24) : place])
        return word[0] if word else ""

    def abbreviates(self, place: int, first: int) -> bool:
        """Whether the full stop at `place` belongs to its word, seen the text that follows from `first`."""
        word = self.word_before(place)
        low = word.lower()
        following = _WORD.match(self.text, first, self.block.end)
        next_word = following[0].split("'")[0].split("’")[0] if following else ""
        starts = self.english and next_word in _STARTERS
        if word in _TITLES or low in _LEADING:
            return True
        if low in _COUNTED:
            return _NUMBER_LIKE.match(self.text, first) is not None and not starts
        if word.isdigit() and len(word) < 3:
            if self.word == place - len(word) or _AFTER_COLON.search(self.text[max(self.start, place - 8) : place]):
                return True
            return not self.english and next_word[:1].isalpha()
        if low in ("a.m", "p.m"):
            return next_word in _AFTER_HOURS
        if len(word) == 1 and word.isalpha():
            return self.word == place - 1 or (not starts and (word.isupper() or not self.english))
        return (low in _CLOSING or _DOTTED.fullmatch(word) is not None) and not starts


def _code_spans(text: str, block: Block) -> list[tuple[int, int]]:
    """Inline code, from the first backtick of the opening run to the last of the closing run of the same length."""
    spans: list[tuple[int, int]] = []
    opened: dict[int, int] = {}
    for run in _BACKTICKS.finditer(text, block.body, block.end):
        start = opened.setdefault(len(run[0]), run.start())
        if start < run.start():
            # What opened or closed in between is code.
            opened = {length: place for length, place in opened.items() if place < start}
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, run.end() - 1))
    return spans


def _enclosures(text: str, block: Block) -> tuple[list[tuple[int, int]], set[int]]:
    """Pairs of brackets, quotation marks and backticks (first and last position); where marks that look alike open."""
    code = _code_spans(text, block)
    pairs = list(code)
    openings: set[int] = set()
    waiting: dict[str, list[int]] = {}
    in_code = {place for start, end in code for place in range(start, end)}
    for match in _ENCLOSER.finditer(text, block.body, block.end):
        place, sign = match.start(), match[0]
        if place in in_code:
            continue
        opened = waiting.setdefault(_OPENING.get(sign, sign), [])
        if sign == '"' or sign[0] == "*":
            if opened and not text[place - 1].isspace():
                pairs.append((opened.pop(), place))
            elif _may_open(text, place, match.end(), block):
                opened[:] = [place]
                openings.update(range(place, match.end()))
        elif sign not in _OPENING:
            opened.append(place)
        elif opened:
            pairs.append((opened.pop(), place))
    return sorted(pair for pair in pairs if text[pair[0]] != "*" and pair[1] - pair[0] <= MAX_ENCLOSED), openings


def _may_open(text: str, place: int, end: int, block: Block) -> bool:
    """Whether a mark that looks the same on both sides opens here: 5" does not, nor does the product sign in 2 * 3."""
    if end >= block.end or text[end].isspace():
        return False
    before = text[place - 1] if place > block.body else " "
    return not before.isalnum() or CJK.match(before) is not None
