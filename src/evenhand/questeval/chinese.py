"""Names, numbers, dates and noun phrases of a Chinese text, from jieba's words and the word classes of its dictionary.

A word that the dictionary has not is a person where it begins with a family name, a place or an institution where it
ends as those do.
"""

import re
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from typing import BinaryIO, Protocol, cast

from evenhand.nlp.words import words
from evenhand.questeval.english import Kind, Mention

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba  # pyright: ignore[reportMissingTypeStubs]

_DIGITS = "0-9０-９"
_NUMERALS = "一二三四五六七八九十百千万亿两〇零"
_DATE = re.compile(
    rf"""(?:公元前?)?(?:
        (?:[{_DIGITS}]{{2,4}}|[一二三四五六七八九〇零]{{4}})年(?:[{_DIGITS}]{{1,2}}月(?:[{_DIGITS}]{{1,2}}[日号])?|[春夏秋冬]季?|初|底|末)?
      | [{_DIGITS}一二三四五六七八九十]{{1,3}}月(?:[{_DIGITS}一二三四五六七八九十]{{1,3}}[日号])?(?!亮)
      | [{_DIGITS}一二三四五六七八九十]{{1,3}}世纪(?:[{_DIGITS}一二三四五六七八九]{{1,2}}[0０十]年代)?
      | [{_DIGITS}]{{4}}-[{_DIGITS}]{{1,2}}-[{_DIGITS}]{{1,2}}
    )(?:[凌早上中下傍晚][晨午上])?""",
    re.VERBOSE,
)
MEASURES = (
    "平方公里|平方千米|平方米|立方米|万千瓦时|千瓦时|万千瓦|兆瓦|千瓦|公里|千米|厘米|毫米|公斤|千克|公顷|海里|光年|摄氏度|百分点|个百分点"
    "|人民币|美元|欧元|日元|英镑|港元|小时|分钟|秒钟|人次|个月|周年|星期|年|天|周|秒|元|米|吨|克|亩|度|岁|倍|名|位|人|个|家|座|条|项|部|本|件|"
    "辆|艘|架|台|套|场|次|届|种|篇|户|间|所|层|颗|只|头|匹|幅|首|集|排|届|公升|升|兆|毫升|英里|英尺|字|票|枚|株|棵|块|片|张|支|门|期|站"
)
_FIGURE = re.compile(
    rf"""百分之[{_DIGITS}{_NUMERALS}.点]+|(?<![A-Za-z{_DIGITS}.-])[{_DIGITS}]+(?:[,，][{_DIGITS}]{{3}})*(?:\.[{_DIGITS}]+)?
    (?:[%％‰]|[十百千万亿]*?(?:余|多)?(?:{MEASURES})|[十百千万亿]*)(?![{_DIGITS}])|第[{_DIGITS}{_NUMERALS}]+(?:{MEASURES})?
    |[{_NUMERALS}]+(?:余|多)?(?:{MEASURES})""",
    re.VERBOSE,
)
_TITLE = re.compile("《([^《》\n]{1,40})》|“([^“”\n]{2,20})”")
_FAMILY = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林郑谢罗梁宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_PLACES = (
    "省",
    "市",
    "县",
    "区",
    "镇",
    "乡",
    "村",
    "州",
    "岛",
    "山",
    "江",
    "河",
    "湖",
    "湾",
    "路",
    "街",
    "桥",
    "国",
    "寺",
    "塔",
)
_BODIES = (
    "大学",
    "学院",
    "公司",
    "集团",
    "银行",
    "医院",
    "协会",
    "委员会",
    "研究所",
    "研究院",
    "博物馆",
    "图书馆",
    "大使馆",
    "部",
    "局",
    "厅",
    "报社",
    "球队",
)
_NAMES = frozenset(("nr", "ns", "nt", "nz", "nrt", "nrfg"))
_NOUNS = frozenset(("n", "vn", "an", "ng", "nz", "ns", "nt", "b", "j", "l", "eng"))
_HEADS = frozenset(("n", "vn", "an", "nt", "nz"))
_LETTERS = re.compile(r"[A-Za-z][A-Za-z0-9·.&-]*")
_HAN_WORD = re.compile("[㐀-䶿一-鿿·]+")
_LONGEST_PHRASE = 4


class _Dictionary(Protocol):
    """What is used of jieba's tokenizer, which has no types."""

    def get_dict_file(self) -> BinaryIO: ...


@cache
def _classes() -> dict[str, str]:
    """The word class of every word of jieba's dictionary, read when first needed."""
    with cast("_Dictionary", jieba.Tokenizer()).get_dict_file() as lines:
        entries = (line.decode().split(" ") for line in lines)
        return {entry[0]: entry[2].strip() for entry in entries if len(entry) == 3}


@cache
def segmenter() -> str:
    """The segmenter with its version."""
    return f"jieba {metadata.version('jieba')}"


def word_class(word: str) -> str:
    """The class of a word by jieba's letters: n… for nouns and names, v for verbs; `x` where it is no word."""
    known = _classes().get(word)
    if known is not None:
        return known
    if _LETTERS.fullmatch(word):
        return "eng"
    if not _HAN_WORD.fullmatch(word):
        return "x"
    if word.endswith(_BODIES) and len(word) > 2:
        return "nt"
    if word.endswith(_PLACES) and len(word) > 1:
        return "ns"
    if word[0] in _FAMILY and 2 <= len(word) <= 3:
        return "nr"
    return "n" if len(word) > 1 else "x"


def mentions(text: str, start: int, end: int) -> list[Mention]:
    """What one sentence of a Chinese text mentions, in order, without overlaps."""
    found: list[Mention] = []
    taken = set[int]()
    sentence = text[start:end]
    for stretch in (_dates(sentence), _titles(sentence), _figures(sentence), _worded(sentence, taken)):
        for first, last, kind in stretch:
            if first < last and taken.isdisjoint(range(first, last)):
                taken.update(range(first, last))
                found.append(Mention(start + first, start + last, kind))
    return sorted(found)


def _dates(sentence: str) -> Iterator[Mention]:
    for date in _DATE.finditer(sentence):
        yield Mention(*date.span(), "date")


def _titles(sentence: str) -> Iterator[Mention]:
    for title in _TITLE.finditer(sentence):
        yield Mention(*title.span(1 if title[1] else 2), "name")


def _figures(sentence: str) -> Iterator[Mention]:
    for figure in _FIGURE.finditer(sentence):
        yield Mention(*figure.span(), "number")


def _worded(sentence: str, taken: set[int]) -> Iterator[Mention]:
    """Names, alone or with the nouns that belong to them, and runs of nouns."""
    run: list[tuple[int, int, str]] = []
    place = 0
    for word in words(sentence, "zh"):
        here = (place, place + len(word), word_class(word))
        place += len(word)
        free = taken.isdisjoint(range(here[0], here[1]))
        if free and (here[2] in _NOUNS or here[2] in _NAMES) and len(run) < _LONGEST_PHRASE and here[2] != "nr":
            run.append(here)
            continue
        yield from _noun(sentence, run)
        run = []
        if free and here[2] in ("nr", "nrt", "nrfg") and here[1] - here[0] > 1:
            yield Mention(here[0], here[1], "name")
    yield from _noun(sentence, run)


def _noun(sentence: str, run: list[tuple[int, int, str]]) -> Iterator[Mention]:
    while run and run[-1][2] in ("b", "l", "ng"):
        run = run[:-1]
    if not run:
        return
    start, end = run[0][0], run[-1][1]
    named = any(kind in _NAMES or kind == "eng" for _, _, kind in run) or sentence[start:end].endswith(_BODIES)
    kind: Kind = "name" if named else "phrase"
    if end - start > (1 if named else 2) and (named or run[-1][2] in _HEADS):
        yield Mention(start, end, kind)
