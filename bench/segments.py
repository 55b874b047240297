"""Compare sentence segmenters on tests/nlp/data/segments_hard.jsonl.

    python -m bench.segments [--split test] [--speed]

Libraries that are not installed are skipped with a message. Two figures for each: how many cases come out exactly,
and F1 over the inner boundaries. Libraries differ in the white space they keep, so boundaries are counted in
characters that are not white space; what belongs to no sentence (rules, table dashes) is held against nobody.
A second row, "+ blocks", gives each library our blocks to cut, so that it is judged on prose alone.
"""

import argparse
import importlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from evenhand.nlp.sentences import blocks, sentences

CASES = Path(__file__).parent.parent / "tests" / "nlp" / "data" / "segments_hard.jsonl"
Splitter = Callable[[str, str], list[str]]


class Case(TypedDict):
    id: str
    split: str
    language: str
    about: str
    text: str
    sentences: list[str]


def ours(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


def _primary(language: str) -> str:
    return language.split("-")[0] or "en"


def _pysbd(module: Any) -> Splitter:
    known = set(importlib.import_module("pysbd.languages").LANGUAGE_CODES)

    def split(text: str, language: str) -> list[str]:
        code = _primary(language)
        return module.Segmenter(language=code if code in known else "en", clean=False).segment(text)

    return split


def _sentencex(module: Any) -> Splitter:
    return lambda text, language: list(module.segment(_primary(language), text))


def _nupunkt(module: Any) -> Splitter:
    return lambda text, language: list(module.sent_tokenize(text))


def _syntok(module: Any) -> Splitter:
    def split(text: str, language: str) -> list[str]:
        found: list[str] = []
        for paragraph in module.analyze(text):
            for tokens in paragraph:
                found.append(text[tokens[0].offset : tokens[-1].offset + len(tokens[-1].value)])
        return found

    return split


def _blingfire(module: Any) -> Splitter:
    return lambda text, language: module.text_to_sentences(text).split("\n")


def _spacy(module: Any) -> Splitter:
    pipeline = module.blank("xx")
    pipeline.add_pipe("sentencizer")
    return lambda text, language: [sentence.text for sentence in pipeline(text).sents]


LIBRARIES: dict[str, tuple[str, Callable[[Any], Splitter]]] = {
    "pysbd": ("pysbd", _pysbd),
    "sentencex": ("sentencex", _sentencex),
    "nupunkt": ("nupunkt", _nupunkt),
    "syntok": ("syntok.segmenter", _syntok),
    "blingfire": ("blingfire", _blingfire),
    "spacy sentencizer": ("spacy", _spacy),
}


def within_blocks(split: Splitter) -> Splitter:
    """The library on the prose of our blocks; the list marker goes back to the first sentence of its item."""

    def combined(text: str, language: str) -> list[str]:
        found: list[str] = []
        for block in blocks(text):
            marker, body = text[block.start : block.body], text[block.body : block.end]
            pieces = [body] if block.whole else [piece for piece in split(body, language) if piece.strip()]
            found.extend([marker + (pieces[0] if pieces else ""), *pieces[1:]])
        return found

    return combined


def _squeezed(text: str) -> str:
    return "".join(text.split())


def boundaries(pieces: list[str]) -> set[int]:
    """Where pieces meet, counted in characters that are not white space; the end of the last is no boundary."""
    ends: list[int] = []
    length = 0
    for piece in pieces:
        length += len(_squeezed(piece))
        ends.append(length)
    return set(ends[:-1])


def pieces_of_case(case: Case, found: list[str]) -> list[str]:
    """`found` without the text that belongs to no expected sentence, so that keeping or dropping it costs nothing."""
    wanted = _squeezed("".join(case["sentences"]))
    if _squeezed("".join(found)) == wanted:
        return found
    markup = [line.strip() for line in case["text"].splitlines() if line.strip() and not line.strip(" -=|:*_")]
    cleaned = found
    for line in markup:
        cleaned = [piece.replace(line, "") for piece in cleaned]
    return [piece for piece in cleaned if piece.strip()]


def score(split: Splitter, cases: list[Case]) -> tuple[int, float]:
    exact = hits = proposed = expected = 0
    for case in cases:
        found = boundaries(pieces_of_case(case, split(case["text"], case["language"])))
        wanted = boundaries(case["sentences"])
        exact += found == wanted
        hits += len(found & wanted)
        proposed += len(found)
        expected += len(wanted)
    return exact, 2 * hits / (proposed + expected) if proposed + expected else 1.0


def seconds_per_megabyte(split: Splitter, cases: list[Case]) -> float:
    """One run over about 100 kB of the English cases joined by blank lines."""
    page = "\n\n".join(case["text"] for case in cases if case["language"] == "en")
    text = "\n\n".join([page] * (100_000 // len(page) + 1))
    began = time.perf_counter()
    split(text, "en")
    return (time.perf_counter() - began) * 1_000_000 / len(text)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare sentence segmenters on the hard cases.")
    parser.add_argument("--split", choices=["dev", "test"], default="dev")
    parser.add_argument("--speed", action="store_true", help="also time each on 100 kB")
    options = parser.parse_args()
    lines = CASES.read_text(encoding="utf-8").splitlines()
    cases: list[Case] = [case for case in map(json.loads, lines) if case["split"] == options.split]
    english = [case for case in cases if case["language"] == "en"]
    rest = [case for case in cases if case["language"] != "en"]
    splitters: dict[str, Splitter] = {"evenhand": ours}
    for name, (module, adapt) in LIBRARIES.items():
        try:
            splitters[name] = adapt(importlib.import_module(module))
        except ImportError:
            print(f"{name}: not installed, skipped (pip install {module.split('.')[0]})")
            continue
        splitters[f"{name} + blocks"] = within_blocks(splitters[name])
    print(f"{options.split}: {len(cases)} cases, {len(english)} English, {len(rest)} Chinese and other\n")
    print(f"| segmenter | exact | F1 | exact, English | exact, other |{' s/MB |' if options.speed else ''}")
    print(f"|---|---|---|---|---|{'---|' if options.speed else ''}")
    for name, split in splitters.items():
        exact, f1 = score(split, cases)
        row = f"| {name} | {exact / len(cases):.0%} | {f1:.3f} | {score(split, english)[0]}/{len(english)} | "
        row += f"{score(split, rest)[0]}/{len(rest)} |"
        print(row + (f" {seconds_per_megabyte(split, cases):.1f} |" if options.speed else ""))


if __name__ == "__main__":
    main()
