"""What every tool is given: a server, items and the prompt that Evenhand sends, word for word."""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

MODEL = "bench"
CONCURRENCY = 32


class Verdict(BaseModel):
    """What the judge replies."""

    rationale: str
    answer: Literal["SUPPORTED", "CONTRADICTED", "NO EVIDENCE"]


@dataclass(frozen=True)
class Work:
    """`url` ends in /v1; `prompt` has the names of fields in double braces where their texts go."""

    url: str
    folder: Path
    system: str
    prompt: str
    items: list[dict[str, str]]
    cache: bool

    def ask(self, item: dict[str, str]) -> str:
        """The user's message about one item."""
        text = self.prompt
        for name, content in item.items():
            text = text.replace("{{" + name + "}}", content)
        return text

    def check(self, labels: Iterable[str]) -> None:
        """Refuse a run that left items without their label."""
        found = list(labels)
        if found != ["SUPPORTED"] * len(self.items):
            raise SystemExit(f"{found.count('SUPPORTED')} labels for {len(self.items)} items")


def given() -> Work:
    """The work named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("items", type=int)
    parser.add_argument("--cache", action="store_true")
    options = parser.parse_args()
    prompt = json.loads((options.folder / "prompt.json").read_text(encoding="utf-8"))
    items = list(_first(options.folder / "items.jsonl", options.items))
    return Work(options.url, options.folder, prompt["system"], prompt["user"], items, options.cache)


def _first(path: Path, n: int) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line, _ in zip(file, range(n), strict=False):
            yield json.loads(line)
