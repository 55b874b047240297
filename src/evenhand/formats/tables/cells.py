"""Cells as plain text, lists written into text cells, and text made safe for files and spreadsheet programs."""

import ast
import io
import json
import math
import re
import tokenize
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import cast

from evenhand.text import kind_of

LONGEST_CELL = 16 * 1024 * 1024
"""Characters of a cell, and of a line: each may take four bytes of memory, several times over."""


def text_of(cell: object) -> str | None:
    """A cell as text, None if it is blank. Whole numbers come without `.0`, dates as ISO 8601.

    Raises ValueError for anything but a single value: a list, an object, binary data; and for an endless text.
    """
    if type(cell) is str:
        if len(cell) > LONGEST_CELL:
            raise ValueError(f"a text of {len(cell):,} characters; the limit is {LONGEST_CELL:,}")
        return cell if cell and not cell.isspace() else None
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        return str(cell.date() if (cell.hour, cell.minute, cell.second, cell.microsecond) == (0, 0, 0, 0) else cell)
    if isinstance(cell, str | int | Decimal | date | time | timedelta):
        return str(cell)
    raise ValueError(f"{kind_of(cell)} is not a single text")


def listed(text: str) -> object | None:
    """The list, tuple or object in a text that is JSON or a Python literal; None if it is neither.

    Raises ValueError for a printed NumPy array: Python would read its neighbouring strings as one.
    """
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
        tokens = tokenize.generate_tokens(io.StringIO(text.strip()).readline)
        kinds = [token.type for token in tokens if token.type not in (tokenize.NL, tokenize.NEWLINE)]
        if (tokenize.STRING, tokenize.STRING) in pairwise(kinds):
            raise ValueError("this looks like a printed NumPy array; write the list as JSON") from None
    return cast("object", value) if isinstance(value, list | tuple | dict) else None


_SURROGATE = re.compile("[\ud800-\udfff]")
_RISKY = re.compile(r"'*+[=+\-@\t\r]")
_MADE_SAFE = re.compile(r"'++[=+\-@\t\r]")


def clean(text: str, *, nul: bool = True) -> str:
    """A text as a file can hold it: half of a surrogate pair becomes the replacement character.

    So does a NUL character, unless the format has a notation for it.
    """
    text = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
    return text if nul else text.replace("\0", "\ufffd")


class AsItIs(str):
    """A text whose leading apostrophe was not added by `made_safe`, as the file shows."""

    __slots__ = ()


def looks_risky(text: str) -> bool:
    """Whether a spreadsheet program may take a text for a formula, or strip the apostrophe that keeps it from that."""
    return _RISKY.match(text) is not None


def looks_made_safe(text: str) -> bool:
    return text[:1] == "'" and _MADE_SAFE.match(text) is not None


def made_safe(text: str) -> str:
    """A text that no spreadsheet program takes for a formula; `taken_back` undoes it exactly.

    A text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return, or with apostrophes before one of them,
    gets one more apostrophe.
    """
    return f"'{text}" if looks_risky(text) else text


def taken_back(text: str) -> str:
    """The text that `made_safe` was given; one that comes `AsItIs` it never had."""
    if isinstance(text, AsItIs):
        return str(text)
    return text[1:] if looks_made_safe(text) else text
