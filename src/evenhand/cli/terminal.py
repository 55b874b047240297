"""Output on a terminal: control sequences in texts from files, raters and servers are shown, never executed."""

import io
import re
import sys
from typing import Any, cast

from evenhand.text import visible

_OWN = re.compile(r"\A\r|\r\Z")
"""What a progress bar writes to return to the beginning of its line."""


class Terminal(io.TextIOWrapper):
    """A terminal's stream that shows control sequences as symbols."""

    def write(self, text: str, /) -> int:
        super().write(_shown(text))
        return len(text)


def _shown(text: str) -> str:
    if text.replace("\n", "").isprintable():  # faster than the search, and true for most texts
        return text
    own = _OWN.findall(text)
    rest = map(visible, _OWN.split(text))
    return "".join(part for pair in zip(rest, [*own, ""], strict=True) for part in pair)


def tame_output() -> None:
    """Make terminals show control sequences, and replace characters that they cannot show.

    Files and pipes get every text unchanged.
    """
    for name, errors in (("stdout", "replace"), ("stderr", "backslashreplace")):
        given: object = getattr(sys, name)
        if not isinstance(given, io.TextIOWrapper) or isinstance(given, Terminal):
            continue
        stream = cast("io.TextIOWrapper[Any]", given)
        if stream.isatty():
            encoding = stream.encoding
            setattr(sys, name, Terminal(stream.detach(), encoding, errors, line_buffering=True))
        else:
            stream.reconfigure(errors=errors)
