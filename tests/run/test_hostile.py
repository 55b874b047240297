"""A server that does everything wrong that servers and models do: every unit ends right, or failed and says why."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from evenhand.records import Status
from evenhand.run.judge import judge
from tests.chat_server import Answer, ChatServer, cut_chunk, cut_short, drips, fails, hangs_up, resets, says
from tests.run.judging import NEUREG, by_number, judge_at, levels, neureg_study

GOOD = json.dumps(levels())
FIRST = NEUREG.criteria[0].id
LAST = NEUREG.criteria[-1].id


def object_with(**changed: object) -> str:
    return json.dumps(levels(**changed))


def without(criterion: str) -> str:
    reply = levels()
    del reply[criterion]
    return json.dumps(reply)


def once(bad: Answer, times: int = 1) -> Callable[[int], Answer]:
    return lambda asked: bad if asked <= times else says(GOOD)


def always(bad: Answer) -> Callable[[int], Answer]:
    return lambda _: bad


LIMITED = fails(429, "slow down", headers={"Retry-After": "0.05"})
RIGHT: list[Callable[[int], Answer]] = [
    always(says(GOOD)),
    always(says(f"Here is my judgement, as you asked.\n\n{GOOD}\n\nI hope it helps!")),
    always(says(f"```json\n{GOOD}\n```")),
    always(says(f"<think>Let me see: {{}} and 5.</think>\n{GOOD}")),
    always(says(GOOD.replace('"answer": 4}', '"answer": 4,}'))),
    once(says("I would say four out of five.")),
    once(says(GOOD[: len(GOOD) // 2], finish="length")),
    once(says("")),
    once(says(GOOD.replace("4", "NaN"))),
    once(says(object_with(**{FIRST: 6}))),
    once(LIMITED),
    once(LIMITED, 3),
    once(fails(429, "slow down"), 2),
    once(fails(500), 2),
    once(fails(503)),
    once(resets()),
    once(hangs_up()),
    once(cut_short(GOOD)),
    once(cut_chunk(GOOD)),
    once(Answer(b"<html>Bad gateway</html>")),
]
"""Behaviours that end in a rating: what is wrong is mended, or passes."""

WRONG: list[tuple[Callable[[int], Answer], str]] = [
    (always(says("I would say four out of five.")), "not JSON"),
    (always(says("{'relevance': 4, accuracy")), "truncated"),
    (always(says(GOOD[: len(GOOD) // 2], finish="length")), "truncated"),
    (always(says("")), "empty reply"),
    (always(says(None)), "empty reply"),
    (always(says("[4, 4, 4, 4, 4]")), "not a JSON object"),
    (always(says(GOOD.replace("4", "NaN"))), f"answer on {FIRST} has the wrong type"),
    (always(says(object_with(**{FIRST: 0}))), f"answer on {FIRST} is not on its scale"),
    (always(says(object_with(**{LAST: 6}))), f"answer on {LAST} is not on its scale"),
    (always(says(object_with(**{FIRST: 4.5}))), f"answer on {FIRST} is not on its scale"),
    (always(says(object_with(**{FIRST: True}))), f"answer on {FIRST} has the wrong type"),
    (always(says(object_with(**{FIRST: [4]}))), f"answer on {FIRST} has the wrong type"),
    (always(says(object_with(**{FIRST: None}))), f"no answer on {FIRST}"),
    (always(says(without(LAST))), f"no answer on {LAST}"),
    (always(says(f"{GOOD}\n{object_with(**{FIRST: 1})}")), "more than one answer"),
    (always(says(None, refusal="I cannot help with that.")), "refused"),
    (always(says("", finish="content_filter")), "refused"),
    (always(fails(500)), "server error (500)"),
    (always(fails(400, "this prompt is not welcome")), "request refused (400)"),
    (always(resets()), "connection broken"),
    (always(cut_short(GOOD)), "connection broken"),
    (always(Answer(b"<html>Hello</html>")), "the reply is not a chat completion"),
    (lambda asked: says("no JSON") if asked == 1 else fails(500), "not JSON; asked again: server error (500)"),
]
"""Behaviours that end in a failure, and its reason."""

N = 2 * (len(RIGHT) + len(WRONG))
SLOW = N // 2
"""One item's reply drips in too slowly; one is enough, since it is waited for."""


def behave(number: int, asked: int) -> Answer:
    if number == SLOW:
        return drips(GOOD, between=0.2)
    kinds = len(RIGHT) + len(WRONG)
    kind = number % kinds
    return RIGHT[kind](asked) if kind < len(RIGHT) else WRONG[kind - len(RIGHT)][0](asked)


def expected(number: int) -> str | None:
    """The reason for which an item's ratings fail; None where they are right."""
    if number == SLOW:
        return "timed out"
    kind = number % (len(RIGHT) + len(WRONG))
    return None if kind < len(RIGHT) else WRONG[kind - len(RIGHT)][1]


def test_every_item_ends_right_or_failed_for_its_true_reason(tmp_path: Path):
    with ChatServer(by_number(behave)) as server, neureg_study(tmp_path, N) as study:
        # Long enough for a busy machine to answer a good call, shorter than the drip takes.
        outcome = judge(study.store, [judge_at(server.url, timeout=6.0)])
        ratings = list(study.ratings())
        report = study.report().report
    wanted = Counter(reason for number in range(N) if (reason := expected(number)) for _ in NEUREG.criteria)
    assert outcome.why is None
    assert outcome.total.units == N
    assert len(ratings) == N * len(NEUREG.criteria)
    for rating in ratings:
        reason = expected(int(rating.unit[1:]))
        if reason is None:
            assert (rating.status, rating.value) == (Status.RATED, 4), rating
        else:
            assert (rating.status, rating.value, rating.reason) == (Status.FAILED, None, reason), rating
    assert Counter(outcome.total.failures) == wanted
    (rater,) = report.raters
    assert Counter(rater.failures) == wanted
