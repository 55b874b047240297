"""Tries and waits against a real server: limits, patience, and a server that is gone."""

import time
from random import Random

import pytest

from evenhand.llm.base import CallError, Message, Reply, Request, RunError
from evenhand.llm.http import Waits
from tests.chat_server import Answer, Call, ChatServer, fails, hangs_up, resets, says, script, unused_port
from tests.llm.asking import REQUEST, ask


def limited(seconds: str = "0") -> Answer:
    return fails(429, "slow down", headers={"Retry-After": seconds})


def test_waits_are_anywhere_below_a_bound_that_doubles_up_to_the_longest():
    waits = Waits(first=1.0, longest=60.0)

    class Highest(Random):
        def uniform(self, a: float, b: float) -> float:
            assert a == 0.0
            return b

    highest = [waits.after(failures, Highest()) for failures in (1, 2, 3, 6, 7, 8, 5000)]
    assert highest == [1.0, 2.0, 4.0, 32.0, 60.0, 60.0, 60.0]


def test_being_limited_uses_up_no_tries():
    with ChatServer(script(*[limited()] * 9, says("yes"))) as server:
        asked = ask(server.url, tries=1)
        assert len(server.calls) == 10
    assert asked.reply.text == "yes"
    assert asked.kinds() == [("limited", "rate limited (429)")] * 9


def test_being_limited_lasts_only_as_long_as_the_patience():
    waits = Waits(first=0.001, longest=0.001, patience=0.05)
    with ChatServer(limited("0.02")) as server:
        asked = ask(server.url, waits=waits)
        # 0.02 and 0.04 are within 0.05, a third wait would not be.
        assert len(server.calls) == 3
    assert (asked.error.reason, asked.error.limited) == ("rate limited (429)", True)
    assert asked.kinds()[-1] == ("given up", "rate limited (429)")


def test_a_pause_beyond_the_patience_is_waited_for_once_if_the_server_asks_for_it():
    waits = Waits(first=0.001, longest=0.001, patience=0.01, bound=1.0)
    with ChatServer(script(limited("0.05"), says("yes"))) as server:
        assert ask(server.url, waits=waits).reply.text == "yes"
    with ChatServer(limited("0.05")) as server:
        assert ask(server.url, waits=waits).error.reason == "rate limited (429)"
        assert len(server.calls) == 2


def test_what_the_server_asks_for_is_waited_for():
    with ChatServer(script(limited("0.2"), says("yes"))) as server:
        began = time.monotonic()
        asked = ask(server.url)
        assert time.monotonic() - began >= 0.2
    assert [event.wait for event in asked.events] == [0.2]


def test_a_pause_that_is_asked_of_one_holds_for_all():
    moments: dict[int, float] = {}

    def behaviour(call: Call) -> Answer:
        moments[call.number] = time.monotonic()
        return limited("0.3") if call.number == 1 else says("yes", delay=0.1)

    with ChatServer(behaviour) as server:
        ask(server.url, [REQUEST] * 8, places=4)
    # Four were let in before anybody knew; the others and the first one's second try come after the pause.
    assert len(moments) == 9
    assert min(moments[number] for number in range(5, 10)) - moments[1] >= 0.3


class LimitsFirst:
    """Limits the first call of every prompt; `later` are the calls that were let through."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.later: list[Call] = []

    def __call__(self, call: Call) -> Answer:
        if call.prompt not in self.seen:
            self.seen.add(call.prompt)
            return limited("0.01")
        self.later.append(call)
        return says(call.prompt, delay=0.02)


@pytest.mark.parametrize("places", [8, 32])
def test_a_storm_of_limits_halves_the_width_once_and_all_come_back_within_it(places: int):
    prompts = [str(number) for number in range(places)]
    behaviour = LimitsFirst()
    with ChatServer(behaviour) as server:
        asked = ask(server.url, [Request((Message("user", prompt),)) for prompt in prompts], places=places)
    assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == prompts
    # Halved once; as many good calls as there are places have widened it by at most one on the way.
    assert asked.pace.width in (places // 2, places // 2 + 1)
    assert max(call.at_once for call in behaviour.later) <= places // 2 + 1


def test_a_pause_beyond_the_bound_stops_the_run_instead_of_sleeping():
    with ChatServer(limited("3600")) as server:
        asked = ask(server.url)
        assert len(server.calls) == 1
    assert isinstance(asked.error, RunError)
    assert "60 minutes (rate limited (429)); wait that long" in str(asked.error)


@pytest.mark.parametrize("answer", [fails(503), fails(529), says("late", delay=1.0)])
def test_an_overloaded_server_is_asked_less(answer: Answer):
    with ChatServer(script(answer, says("yes"))) as server:
        asked = ask(server.url, places=8, timeout=0.2)
    assert (asked.reply.text, asked.pace.width) == ("yes", 4)


@pytest.mark.parametrize("answer", [fails(500), resets()])
def test_other_failures_leave_the_width_alone(answer: Answer):
    with ChatServer(script(answer, says("yes"))) as server:
        assert ask(server.url, places=8).pace.width == 8


def test_a_server_that_never_answered_stops_the_run_after_the_first_calls_tries():
    asked = ask(f"http://127.0.0.1:{unused_port()}/v1", tries=3)
    assert isinstance(asked.error, RunError)
    assert "does not answer (connection failed); check that it is running" in str(asked.error)


@pytest.mark.parametrize(
    ("places", "before"),
    # One place: three in a row. Four places: four in a row.
    [(1, 3), (4, 4)],
)
def test_a_server_that_goes_away_stops_the_run_after_so_many_calls_in_a_row(places: int, before: int):
    with ChatServer(script(says("yes"), hangs_up())) as server:
        asked = ask(server.url, [REQUEST] * (before + 1), places=places, tries=2)
    errors = [outcome for outcome in asked.outcomes if isinstance(outcome, CallError)]
    stopping = [isinstance(error, RunError) for error in errors]
    assert sorted(stopping) == [False] * (before - 1) + [True]
    assert {error.reason for error in errors if not isinstance(error, RunError)} == {"connection broken"}


@pytest.mark.parametrize("answer", [fails(502), fails(503), fails(504), limited("0.01")])
def test_a_server_that_lets_nobody_in_counts_as_gone(answer: Answer):
    waits = Waits(first=0.001, longest=0.001, patience=0.005)
    with ChatServer(answer) as server:
        asked = ask(server.url, [REQUEST] * 3, places=1, tries=1, waits=waits)
    assert [isinstance(outcome, RunError) for outcome in asked.outcomes] == [False, False, True]


def test_a_success_in_between_starts_the_count_again():
    with ChatServer(script(says("a"), hangs_up(), hangs_up(), says("b"), hangs_up(), hangs_up(), says("c"))) as server:
        asked = ask(server.url, [REQUEST] * 7, places=1, tries=1)
    assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == ["a", "b", "c"]
    assert not any(isinstance(outcome, RunError) for outcome in asked.outcomes)


@pytest.mark.parametrize("answer", [fails(500), Answer(b"{}"), fails(400)])
def test_failures_that_may_be_the_prompts_never_stop_a_run_that_had_a_reply(answer: Answer):
    with ChatServer(script(says("a"), answer)) as server:
        asked = ask(server.url, [REQUEST] * 8, places=1, tries=1)
    assert not any(isinstance(outcome, RunError) for outcome in asked.outcomes)


@pytest.mark.parametrize("answer", [fails(500), Answer(b"{}")])
def test_a_server_that_never_gave_one_reply_counts_as_gone(answer: Answer):
    with ChatServer(answer) as server:
        asked = ask(server.url, [REQUEST] * 3, places=1, tries=1)
    assert [isinstance(outcome, RunError) for outcome in asked.outcomes] == [False, False, True]
