"""Chinese words by jieba's dictionary; dates, titles, numbers and nouns of Chinese sentences.

rjieba is imported when the first Chinese text is met: reading its dictionary takes 0.2 s.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

_DIGIT, _NUMERAL = "0-9０-９", "一二三四五六七八九十百千万亿两〇零"
_SMALL = f"[{_DIGIT}一二三四五六七八九十]{{1,3}}"
DATE = re.compile(
    rf"""(?:公元前?)?(?:
        (?<![{_DIGIT}])(?:[{_DIGIT}]{{2,4}}|[一二三四五六七八九〇零]{{4}})年(?:{_SMALL}月(?:{_SMALL}[日号])?|[春夏秋冬]季?|初|底|末)?
      | {_SMALL}月(?:{_SMALL}[日号])?(?!亮)
      | {_SMALL}世纪(?:[{_DIGIT}一二三四五六七八九]{{1,2}}[0０十]年代)?
      | [{_DIGIT}]{{4}}-[{_DIGIT}]{{1,2}}-[{_DIGIT}]{{1,2}}
    )(?:凌晨|早晨|早上|上午|中午|下午|傍晚|晚上)?""",
    re.VERBOSE,
)
_MEASURE = (
    "平方公里|平方千米|平方米|立方米|万?千瓦时?|兆瓦|公里|千米|厘米|毫米|公斤|千克|公顷|海里|光年|摄氏度|个?百分点|人民币|美元|欧元"
    "|日元|英镑|港元|小时|分钟|秒钟|人次|个月|周年|星期|公升|毫升|英里|英尺"
    "|[年天周秒元米吨克亩度岁倍名位人个家座条项部本件辆艘架台套场次届种篇户间所层颗只头匹幅首集排升兆字票枚株棵块片张支门期站]"
)
NUMBER = re.compile(
    rf"""百分之[{_DIGIT}{_NUMERAL}.点]{{1,20}}
      | 第[{_DIGIT}{_NUMERAL}]{{1,12}}(?:{_MEASURE})?
      | (?<![A-Za-z{_DIGIT}.-])[{_DIGIT}]++(?:[,，][{_DIGIT}]{{3}})*+(?:\.[{_DIGIT}]++)?+
        (?:[%％‰]|[十百千万亿]{{0,3}}?[余多]?(?:{_MEASURE})|[十百千万亿]{{0,3}})
      | (?<![{_NUMERAL}])[{_NUMERAL}]{{1,12}}[余多]?(?:{_MEASURE})""",
    re.VERBOSE,
)
TITLE = re.compile("(?<=《)[^《》\n]{1,40}(?=》)|(?<=“)[^“”\n]{2,20}(?=”)")
_FAMILY = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林郑谢罗梁宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪"
    "范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_PLACES = tuple("省市县区镇乡村州岛山江河湖湾路街桥国寺塔")
_BODIES = tuple(
    "大学 学院 公司 集团 银行 医院 协会 委员会 研究所 研究院 博物馆 图书馆 大使馆 部 局 厅 报社 球队".split()
)
_PERSONS = frozenset(("nr", "nrt", "nrfg"))
_NAMES = frozenset(("ns", "nt", "nz", "eng"))
_HEADS = frozenset(("n", "vn", "an", "nt", "nz"))
_NOUNS = _NAMES | _HEADS | {"ng", "b", "j", "l"}
_PART = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")
_LONGEST = 4
_REMEMBERED = 100_000


@lru_cache(maxsize=_REMEMBERED)
def segmented(text: str) -> tuple[str, ...]:
    """The words of a text and everything between them; joined, they are the text.

    rjieba keeps `Node.js` and `zh-CN` whole; jieba, which the published values of token F1 used, splits them.
    """
    import rjieba

    parts = (
        [word] if word.isalnum() or rjieba.has_word(word) else _PART.split(word)
        for word in rjieba.cut(_encodable(text))
    )
    return tuple(part for some in parts for part in some if part)


def nouns(sentence: str) -> Iterator[tuple[int, int, bool]]:
    """Persons, and runs of nouns: where each begins and ends, and whether it is a name."""
    import rjieba

    run: list[tuple[int, int, str]] = []
    place = 0
    for word, tag in rjieba.tag(_encodable(sentence)):
        here = (place, place + len(word), _class(word, tag))
        place = here[1]
        if here[2] in _NOUNS and len(run) < _LONGEST:
            run.append(here)
            continue
        yield from _phrase(sentence, run)
        run = [here] if here[2] in _NOUNS else []
        if here[2] in _PERSONS and len(word) > 1:
            yield here[0], here[1], True
    yield from _phrase(sentence, run)


def _encodable(text: str) -> str:
    """The text with a question mark for each lone surrogate, which rjieba rejects."""
    return text.encode(errors="replace").decode()


def _class(word: str, tag: str) -> str:
    """The class of a word by jieba's letters. One that is not in the dictionary (x) is told by its ends."""
    if tag != "x" or not word.isalpha() or word.isascii():
        return tag
    if len(word) > 1 and word.endswith((*_BODIES, *_PLACES)):
        return "nt"
    return "nr" if word[0] in _FAMILY and 2 <= len(word) <= 3 else "n" if len(word) > 1 else "x"


def _phrase(sentence: str, run: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, bool]]:
    while run and run[-1][2] in ("b", "l", "ng"):
        run = run[:-1]
    if not run:
        return
    start, end = run[0][0], run[-1][1]
    named = any(tag in _NAMES for _, _, tag in run) or sentence[start:end].endswith(_BODIES)
    if end - start > (1 if named else 2) and (named or run[-1][2] in _HEADS):
        yield start, end, named
