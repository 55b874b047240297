"""Output on a terminal: texts from files, raters and servers are shown there, and never obeyed."""

import io
import re
import sys
from typing import Any, cast

from evenhand.report.markup import visible

_OWN = re.compile(r"\A\r|\r\Z|\x1b\[\?25[lh]")
"""What our progress lines write: back to the beginning of the line, and the cursor off and on again."""


class Terminal(io.TextIOWrapper):
    """A terminal's stream on which control sequences come out as pictures of themselves."""

    def write(self, text: str, /) -> int:
        super().write(_shown(text))
        return len(text)


def _shown(text: str) -> str:
    if text.replace("\n", "").isprintable():  # quicker than the search, and most texts are
        return text
    own = _OWN.findall(text)
    rest = map(visible, _OWN.split(text))
    return "".join(part for pair in zip(rest, [*own, ""], strict=True) for part in pair)


def tame_output() -> None:
    """From here on terminals show what they would otherwise obey, and a stand-in for what they cannot show.

    Files and pipes get every text as it is.
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
