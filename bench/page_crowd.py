"""Raters at the page, all at once, through its JSON API; and what the study must hold afterwards."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import aiohttp
from yarl import URL

from bench.page_server import CRITERION, Server
from evenhand.protocol.model import Protocol
from evenhand.records import Rating, Status, new_id
from evenhand.study import Study

LABELS = ("SUPPORTED", "CONTRADICTED", "NO EVIDENCE")
OURS = {"X-Evenhand": "1"}
TRIES = 400

Step = Literal["join", "next", "save", "finish"]


def label_of(rater: str, item: str) -> str:
    """What a rater says of an item; so that an answer that lands elsewhere is seen."""
    return LABELS[(int(rater.rpartition("-")[2]) + int(item[1:])) % len(LABELS)]


@dataclass
class Record:
    """What clients were told: the time each step took, and the id of every answer that was acknowledged."""

    seconds: dict[Step, list[float]] = field(default_factory=lambda: {"join": [], "next": [], "save": [], "finish": []})
    saved: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    finished: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    again: int = 0
    """Requests that were sent again, since the server was gone or asked for patience."""
    stalled: int = 0
    """Requests that a server which was there left without an answer for a minute."""

    def percentile(self, step: Step, share: float) -> float:
        """In milliseconds."""
        found = sorted(self.seconds[step])
        return 1000 * found[min(int(share * len(found)), len(found) - 1)] if found else 0.0


class RaterClient:
    """One rater's browser: signs in, takes what it is given, answers, finishes, until nothing is left."""

    def __init__(self, url: str, rater: str, token: str, record: Record) -> None:
        self._url, self._rater, self._token, self._record = url, rater, token, record
        self._session: aiohttp.ClientSession | None = None
        self._ids: dict[int, str] = {}

    async def work(self, most: int | None = None) -> None:
        jar = aiohttp.CookieJar(unsafe=True)
        patience = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(cookie_jar=jar, headers=OURS, timeout=patience) as session:
            self._session = session
            await self._send("join", "POST", "/api/session", {"token": self._token})
            done = 0
            while (most is None or done < most) and (task := await self._next()) is not None:
                await self._rate(task)
                done += 1

    async def _next(self) -> Mapping[str, Any] | None:
        given = await self._send("next", "POST", "/api/tasks/next", {"holding": []})
        return given["task"] if given["state"] == "task" else None

    async def _rate(self, task: Mapping[str, Any]) -> None:
        number, item = task["number"], item_of(task)
        (unit,) = task["units"]
        place = f"/api/tasks/{number}/units/{unit['position']}"
        # The id is made once: after a lost answer the same is sent again, and is the same rating.
        answer = {"id": self._ids.setdefault(number, new_id()), "status": "rated", "value": label_of(self._rater, item)}
        present = unit["ratings"].get(CRITERION)
        if present is not None and present["id"] != answer["id"]:
            raise AssertionError(f"{self._rater} finds an answer on {item} that is not theirs: {present}")
        saved = await self._send("save", "PUT", f"{place}/ratings/{CRITERION}", answer, {"If-None-Match": "*"})
        self._record.saved[self._rater, item] = saved["rating"]["id"]
        await self._send("finish", "POST", f"{place}/finish")
        self._record.finished.add((self._rater, item))

    async def _send(
        self, step: Step, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The answer to a request, which is sent again while the server is away or busy."""
        assert self._session is not None
        for _ in range(TRIES):
            begun = time.perf_counter()
            try:
                url = URL(self._url + path)
                async with self._session.request(method, url, json=body, headers=headers) as answer:
                    content = await answer.json()
                    if answer.status == 200:
                        self._record.seconds[step].append(time.perf_counter() - begun)
                        return content
                    if answer.status not in (429, 503):
                        raise AssertionError(f"{method} {path} by {self._rater}: {answer.status} {content}")
            except TimeoutError:
                self._record.stalled += 1
            except (aiohttp.ClientError, ConnectionError):
                pass
            self._record.again += 1
            await asyncio.sleep(random.uniform(0.02, 0.2))
        raise AssertionError(f"{method} {path} by {self._rater}: no answer")


def item_of(task: Mapping[str, Any]) -> str:
    """Which item a task shows; it says so in its texts alone."""
    texts = [part["text"] for shown in task["fields"] for part in shown["parts"] if shown["name"] == "question"]
    found = re.search(r"span (\d+)", texts[0])
    assert found is not None, task
    return f"q{found[1]}"


async def crowd(server: Server, tokens: Mapping[str, str], *beside: Callable[[Record], Awaitable[None]]) -> Record:
    """Every rater works to the end, all at once; `beside` runs meanwhile and is ended with them."""
    record = Record()
    others = [asyncio.ensure_future(one(record)) for one in beside]
    try:
        await asyncio.gather(*(RaterClient(server.url, *one, record).work() for one in tokens.items()))
        for other in others:
            if other.done():
                other.result()
    finally:
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    return record


def killing(server: Server, kills: int, every: int) -> Callable[[Record], Awaitable[None]]:
    """Kills the server so many times, each after so many more finished units, and starts it again."""

    async def kill(record: Record) -> None:
        for number in range(1, kills + 1):
            while len(record.finished) < number * every:
                await asyncio.sleep(0.005)
            await asyncio.sleep(random.uniform(0, 0.05))
            server.kill()
            await server.start()

    return kill


def wrong_with(study: Study, record: Record, raters: Sequence[str], overlap: int) -> list[str]:
    """What is lost, doubled, misplaced or handed out too often; nothing where all is well."""
    ratings = list(study.store.ratings.all(history=True))
    there = {(one.rater, one.unit): one for one in ratings}
    wrong = [f"{len(ratings) - len(there)} ratings are there twice"] if len(ratings) > len(there) else []
    wrong += [f"lost: {cell}" for cell, known in record.saved.items() if cell not in there or there[cell].id != known]
    wrong += [f"nobody was told of {cell}" for cell in there if cell not in record.saved]
    wrong += [f"not what was sent: {one}" for one in ratings if not _as_sent(one, study.protocol)]
    held = Counter(one.unit for one in ratings)
    wrong += [f"{unit} has {held[unit]} ratings, not {overlap}" for unit in _units(study) if held[unit] != overlap]
    for rater in raters:
        tasks = study.store.people.tasks.all(rater, limit=10**6)
        wrong += [f"{rater}: gaps in the numbers of tasks"] if [t.number for t in tasks] != _numbers(tasks) else []
        wrong += [f"{rater}: task {t.number} is {t.state}" for t in tasks if t.state != "done"]
        given = [str(task.item) for task in tasks]
        wrong += [f"{rater}: was given an item twice"] if len(set(given)) < len(given) else []
        rated = {unit for who, unit in there if who == rater}
        wrong += [f"{rater}: ratings of items that are not theirs"] if rated != set(given) else []
    return wrong


def _units(study: Study) -> list[str]:
    return [unit.id for unit in study.units()]


def _numbers(tasks: Sequence[object]) -> list[int]:
    return list(range(1, len(tasks) + 1))


def _as_sent(rating: Rating, protocol: Protocol) -> bool:
    return (rating.criterion, rating.status, rating.value, rating.supersedes, rating.digest, rating.visible) == (
        CRITERION, Status.RATED, label_of(rating.rater, rating.unit), None, protocol.digest, (),
    )  # fmt: skip
