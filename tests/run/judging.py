"""Studies and judges for the tests of a run, against the test server."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat
from evenhand.llm.pace import AdaptivePace
from evenhand.llm.steady import Waits
from evenhand.protocol.load import load_protocol
from evenhand.raters.llm_judge import LlmJudge
from evenhand.raters.options import AS_USUAL, Asking
from evenhand.records import Item
from evenhand.settings import Settings
from evenhand.study import Study
from tests.chat_server import Answer, Behaviour, Call, says

QUICK = Waits(first=0.01, longest=0.05, patience=20.0)
HALO = load_protocol("halo-support")
NEUREG = load_protocol("neureg-qa")


def halo_study(folder: Path, n: int) -> Study:
    items = [
        Item(f"i{number}", {"question": "When?", "context": f"It was {number}.", "generated_answer": f"In {number}."})
        for number in range(n)
    ]
    return Study.create(folder / "study.db", HALO, items, source="halo-support")


def neureg_study(folder: Path, n: int) -> Study:
    items = [
        Item(
            f"i{number}",
            {"question": f"Question {number}?", "answer": f"Answer {number}.", "source": f"Source {number}."},
        )
        for number in range(n)
    ]
    return Study.create(folder / "study.db", NEUREG, items, source="neureg-qa")


def judge_at(url: str, study: Study, asking: Asking = AS_USUAL, *, name: str = "judge", places: int = 32,
             timeout: float = 30.0, tries: int = 3, model: str = "m") -> LlmJudge:  # fmt: skip
    chat = HttpChat(
        endpoint_of(f"{url}#{model}", Settings()), pace=AdaptivePace(places), timeout=timeout, tries=tries, waits=QUICK
    )
    return LlmJudge(name, chat, study.protocol, asking, bounded=True)


def supported(label: str = "SUPPORTED", **rest: Any) -> Answer:
    """A good reply under halo-support."""
    return says(json.dumps({"support": {"answer": label}, "notes": None}), **rest)


def levels(level: object = 4, **changed: object) -> dict[str, object]:
    """A good reply under neureg-qa, as an object; `changed` criteria have that answer instead."""
    answers = {criterion.id: changed.get(criterion.id, level) for criterion in NEUREG.criteria}
    return {name: {"rationale": "Because.", "answer": answer} for name, answer in answers.items()}


def by_number(behave: Callable[[int, int], Answer]) -> Behaviour:
    """Behaviour by the number of the item asked about, and how often it was asked about before."""
    asked: dict[int, int] = {}

    def behaviour(call: Call) -> Answer:
        prompt = str(call.body["messages"][1]["content"])
        found = re.search(r"^Question (\d+)\?$", prompt, re.MULTILINE)
        assert found is not None
        number = int(found[1])
        asked[number] = asked.get(number, 0) + 1
        return behave(number, asked[number])

    return behaviour
