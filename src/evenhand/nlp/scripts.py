"""Character classes and word lists that both passes use."""

import re

HAN = "㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
KANA = "぀-ヿ"
WIDE = re.compile(f"[{HAN}{KANA}가-힯　-〿＀-￯]")
CJK = re.compile(f"[{HAN}{KANA}]")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())
