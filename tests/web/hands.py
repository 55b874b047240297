"""A rater at work through the JSON that the page speaks, and studies to work on."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from httpx2 import Response
from starlette.testclient import TestClient

from evenhand.protocol.load import load_protocol
from evenhand.protocol.model import Protocol
from evenhand.records import Item, Rating, new_id
from evenhand.study import Study
from evenhand.web.config import Config
from tests.web.browsing import Browsers

Json = dict[str, Any]


class Hand:
    """Takes tasks and answers them, with the conditions and the header that the page sends."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.form = self._good(client.get("/api/form"))
        self.headers = {"X-Evenhand-Protocol": self.form["study"]["digest"]}

    def next(self, *holding: int) -> Json:
        return self._good(self.client.post("/api/tasks/next", json={"holding": list(holding)}))

    def take(self, *holding: int) -> Json:
        """The next task; there must be one."""
        found = self.next(*holding)
        assert found["state"] == "task", found
        return found["task"]

    def task(self, number: int) -> Json:
        return self._good(self.client.get(f"/api/tasks/{number}"))

    def put(
        self,
        number: int,
        position: int,
        criterion: str,
        body: Mapping[str, Any],
        replaces: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send an answer: `body` without an id gets one; `replaces` is the id of the rating in force."""
        condition = {"If-None-Match": "*"} if replaces is None else {"If-Match": f'"{replaces}"'}
        return self.client.put(
            f"/api/tasks/{number}/units/{position}/ratings/{criterion}",
            content=json.dumps({"id": new_id(), "status": "rated", **body}),
            headers={"Content-Type": "application/json", **(self.headers | condition if headers is None else headers)},
        )

    def save(self, number: int, position: int, criterion: str, value: Any, **more: Any) -> Json:
        """Save an answer in place of the one in force, whatever it is."""
        unit = self.task(number)["units"][position - 1]
        present = unit["ratings"].get(criterion, {}).get("id")
        return self._good(self.put(number, position, criterion, {"value": value, **more}, present))

    def finish(self, number: int, position: int = 1) -> Response:
        return self.client.post(f"/api/tasks/{number}/units/{position}/finish", headers=self.headers)

    def finished(self, number: int, position: int = 1) -> Json:
        return self._good(self.finish(number, position))

    def skip(self, number: int, reason: str | None = None) -> Response:
        return self.client.post(f"/api/tasks/{number}/skip", json={"reason": reason}, headers=self.headers)

    @staticmethod
    def _good(answer: Response) -> Json:
        assert answer.status_code == 200, answer.text
        return cast("Json", answer.json())


def text_of(task: Json, name: str) -> str:
    """The text of a field that has one part."""
    fields: Sequence[Json] = task["fields"]
    return next(field["parts"][0]["text"] for field in fields if field["name"] == name)


@contextmanager
def at_page(study: Study, location: str | None = None) -> Generator[Callable[[str], Hand]]:
    """The page of a study: gives raters by name."""
    config = Config(location or study.store.location, run_token="t" * 43)
    with Browsers(study, config) as browsers:
        yield lambda name: Hand(browsers.rater(name))


def halo(**asked: str) -> Protocol:
    protocol = load_protocol("halo-support")
    return protocol.model_copy(update={"ask": protocol.ask.model_copy(update=asked)})


def one_item(**fields: Any) -> Item:
    return Item(
        "one", {"question": "Where?", "context": ("Oslo.", "Bergen 👩‍🔬."), "generated_answer": "Oslo", **fields}
    )


def stem_item() -> Item:
    return Item("s1", {"question": "What?", "article": "It is so.", "response": "It is so. It is not."})


def ratings_by(study: Study, rater: str, **more: Any) -> list[Rating]:
    return list(study.store.ratings.all(rater=rater, **more))
