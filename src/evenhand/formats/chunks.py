"""Text, Markdown and PDF files → chunks of whole sentences, with ids made from the content.

A chunk never crosses the heading of a section or the end of a page.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.errors import InputError, UserError, optional_module
from evenhand.files import check_size, read_text, reading
from evenhand.formats.items import content_hash, distinct
from evenhand.nlp.chinese import segmented
from evenhand.nlp.sentences import MOST_MARKS, has_too_many, sentences
from evenhand.nlp.words import is_chinese

SUFFIXES = (".txt", ".text", ".md", ".markdown", ".pdf")

_HEADING = re.compile(
    r"^(?:(?P<fence>`{3,}|~{3,})(?s:.*?)(?:\n(?P=fence)[ \t]*|\Z)"
    r"|#{1,6}[ \t]+(?P<title>\S.*)|(?P<under>[^\n]+)\n(?:=+|-{3,})[ \t]*)$",
    re.MULTILINE,
)
"""A heading; or a block of code, in which a line that begins with # is none."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document: `start` and `end` are its place in the text of the section or page."""

    id: str
    source: str
    document_id: str
    section: str
    start: int
    end: int


def document_ids(paths: Sequence[Path]) -> Mapping[Path, str]:
    """The id of each document: the name of its file, or its path if several files have that name.

    Raises UserError if a file is given twice.
    """
    given = dict[Path, Path]()
    for path in paths:
        first = given.get(path.resolve())
        if first is not None:
            raise UserError(f"{path}: given twice{'' if first == path else f', first as {first}'}")
        given[path.resolve()] = path
    names = Counter(path.name for path in paths)
    return {path: path.name if names[path.name] == 1 else path.as_posix() for path in paths}


def chunks_of(
    path: Path, size: int, overlap: int = 0, language: str = "en", document_id: str | None = None
) -> Sequence[Chunk]:
    """The chunks of a file, of at most `size` words; a longer sentence stays whole.

    The document's id, which the ids of chunks depend on, is the name of the file by default. A chunk begins with the
    last `overlap` sentences of the one before. Raises InputError if the file is not text, or a PDF without text, and
    UserError if the package that reads PDF is missing.
    """
    with reading(path):
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise InputError(str(path), f"the name ends in {suffix!r}; valid are {', '.join(SUFFIXES)}")
        sections = list(_pages(path) if suffix == ".pdf" else _sections(path, suffix))
    document = document_id or path.name
    found = [
        Chunk(content_hash([document, name, text[start:end]], 6), text[start:end], document, name, start, end)
        for name, text in sections
        for start, end in _cuts(text, size, overlap, language)
    ]
    if not found:
        what = "no text in it; if it is scanned, recognise its text first" if suffix == ".pdf" else "no text in it"
        raise InputError(str(path), what)
    return found


def distinct_ids(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks, with a number added to the ids of equal ones."""
    made: dict[object, int] = {}
    for chunk in chunks:
        yield replace(chunk, id=distinct(chunk.id, made))


def _sections(path: Path, suffix: str) -> Iterator[tuple[str, str]]:
    text = read_text(path)
    if "\0" in text:
        raise InputError(str(path), "not a text file: it holds the character \\u0000")
    if has_too_many(text):
        raise InputError(str(path), f"more than {MOST_MARKS:,} lines and sentences, which is the limit; split it")
    name, start = "", 0
    for heading in _HEADING.finditer(text) if suffix in (".md", ".markdown") else ():
        if heading["fence"]:
            continue
        yield name, text[start : heading.start()]
        name, start = (heading["title"] or heading["under"]).strip(" \t#"), heading.end()
    yield name, text[start:]


def _pages(path: Path) -> Iterator[tuple[str, str]]:
    pypdf: Any = optional_module("pypdf", "reading PDF", "pdf")
    check_size(str(path), path.stat().st_size)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is wrong with a file is in our own error
    try:
        for number, page in enumerate(pypdf.PdfReader(path).pages, start=1):
            # A line ends where the page is full, not where a sentence does.
            yield f"page {number}", re.sub(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)", " ", page.extract_text() or "")
    # A broken file may fail anywhere in the parser.
    except Exception as error:
        raise InputError(str(path), f"this PDF cannot be read: {error}") from error


def _cuts(text: str, size: int, overlap: int, language: str) -> Iterator[tuple[int, int]]:
    """Where the chunks of a text begin and end."""
    spans = [(start, end, _words(text[start:end], language)) for start, end in sentences(text, language)]
    first = 0
    while first < len(spans):
        last, words = first, 0
        while last < len(spans) and (last == first or words + spans[last][2] <= size):
            words += spans[last][2]
            last += 1
        yield spans[first][0], spans[last - 1][1]
        first = last if last == len(spans) else max(first + 1, last - overlap)


def _words(text: str, language: str) -> int:
    return len(segmented(text)) if is_chinese(text, language) else sum(1 for _ in re.finditer(r"\S+", text))
