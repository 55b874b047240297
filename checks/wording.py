"""Words that make English read as translated, in anything a person reads.

Texts, comments and docstrings of the source, the scripts, the page's templates, the protocols and the documentation are
searched. A text without a blank is a name or a label, not prose.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

INSTEAD = {
    r"(?<!there )is no (?!longer\b|more\b|different\b)\w": "is not a …",
    r"held against|holds? (?:it|them) against": "compared with",
    r"whoever|somebody|everybody": "the rater, no rater, the caller",
    r"stands? (?:nowhere|beside)": "is not found, appears with",
    r"lest": "so that … not",
    r"anew": "again",
    r"at hand": "available",
    r"in force": "current",
    r"puts? right": "correct",
    r"mend(?:s|ed|ing)?": "fix",
    r"reckon(?:s|ed|ing)?": "compute",
    r"comes? by": "obtain",
    r"words in common": "word overlap",
    r"in the box": "built-in",
    r"rater without eyes": "a constant rater",
}
_MARKED = re.compile("|".join(rf"\b(?:{pattern})\b" if pattern[0] != "(" else pattern for pattern in INSTEAD), re.I)


def problems() -> Iterator[str]:
    for path in _sources():
        name = path.relative_to(ROOT)
        for line, text in _prose(path):
            for found in _MARKED.finditer(text):
                before = text.count("\n", 0, found.start())
                yield f"{name}:{line + before}: {found[0]!r}: write {_instead(found[0])!r}"


def _instead(words: str) -> str:
    return next(instead for pattern, instead in INSTEAD.items() if re.match(pattern, words, re.I))


def _sources() -> Iterator[Path]:
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".py", ".js", ".html", ".yaml", ".md"):
            yield path


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a file, each with the number of its first line."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, source
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
