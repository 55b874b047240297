"""Studies and judges for the tests of a run, against the test server."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evenhand.llm.base import Chat, Request
from evenhand.llm.endpoints import endpoint_of
from evenhand.llm.http import HttpChat, Waits
from evenhand.llm.rate_limit import RateLimiter
from evenhand.protocol.load import load_protocol
from evenhand.raters.llm_judge.rater import LlmRater
from evenhand.raters.options import RATER_DEFAULTS, RaterOptions
from evenhand.raters.registry import RaterContext
from evenhand.records import Item
from evenhand.settings import Settings
from evenhand.study import Study
from tests.chat_server import CODE, Answer, Behaviour, Call, says

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


@dataclass(frozen=True)
class ServerRater:
    """A rater at a test server, built by the run with waits that are short."""

    url: str
    options: RaterOptions = RATER_DEFAULTS
    name: str = "judge"
    places: int = 32
    timeout: float = 30.0
    tries: int = 3
    model: str = "m"

    def __call__(self, context: RaterContext) -> LlmRater:
        chat = HttpChat(
            endpoint_of(self.spec, Settings()),
            pace=RateLimiter(self.places),
            timeout=self.timeout,
            tries=self.tries,
            waits=QUICK,
        )
        return LlmRater(self.name, context.connect(chat), context.protocol, self.options, bounded=True)

    @property
    def spec(self) -> str:
        return f"{self.url}#{self.model}"

    def first_request(self, study: Study) -> Request:
        """What it is asked about the first unit of a study."""
        item, unit = next(iter(study.work()))
        context = RaterContext(study.protocol, lambda target: cast("Chat", target))
        return self(context).request_for(item, [unit])[1]


def judge_at(url: str, options: RaterOptions = RATER_DEFAULTS, **rest: Any) -> ServerRater:
    return ServerRater(url, options, **rest)


def supported(label: str = "SUPPORTED", **rest: Any) -> Answer:
    """A good reply under halo-support."""
    return says(json.dumps({"unit_code": CODE, "support": {"answer": label}, "notes": None}), **rest)


def levels(level: object = 4, **changed: object) -> dict[str, object]:
    """A good reply under neureg-qa, as an object; `changed` criteria have that answer instead."""
    answers = {criterion.id: changed.get(criterion.id, level) for criterion in NEUREG.criteria}
    entries = {name: {"rationale": "Because.", "answer": answer} for name, answer in answers.items()}
    return {"unit_code": CODE, **entries}


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
