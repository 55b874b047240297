"""The chat client against a real server: replies, failures, and what it learns."""

import asyncio
import json
import time
import traceback
from random import Random

import pytest

from evenhand.errors import UserError
from evenhand.llm.base import CallError, Message, Reply, Request, RunError, Schema, Usage
from evenhand.llm.dialect import Dialect
from evenhand.llm.endpoints import Endpoint, endpoint_of
from evenhand.llm.http import LARGEST, LEAST_FAILED, MOST_REJECTED, MOST_SUSPECT, HttpChat
from evenhand.llm.rate_limit import RateLimiter
from evenhand.settings import Secret, Settings
from tests.chat_server import (
    Answer,
    Behaviour,
    Call,
    ChatServer,
    as_json,
    completion,
    cut_chunk,
    cut_short,
    drips,
    fails,
    hangs_up,
    resets,
    says,
    script,
    unused_port,
)
from tests.llm.asking import FULL, KEY, QUICK, REQUEST, ask


def test_a_reply_comes_back_as_it_was_given():
    tokens = [("ye", [("ye", -0.1), ("no", -2.5)]), ("s", [("s", 0.0)])]
    with ChatServer(says("yes", usage=(30, 2, 10), model="m-2025", tokens=tokens)) as server:
        reply = ask(server.url, [FULL]).reply
    assert (reply.text, reply.finish, reply.model) == ("yes", "stop", "m-2025")
    assert reply.usage == Usage(30, 2, 10)
    assert [choice.offset for choice in reply.choices] == [0, 2]
    assert reply.seconds is not None
    assert reply.seconds > 0


def test_a_request_goes_to_the_address_with_the_key():
    with ChatServer(says("yes")) as server:
        ask(server.url, key=KEY)
        (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["Authorization"] == f"Bearer {KEY}"
    assert call.headers["Content-Type"] == "application/json"
    assert call.body["model"] == "test-model"
    assert call.prompt == "Is it so?"


def test_no_key_is_sent_where_there_is_none():
    with ChatServer(says("yes")) as server:
        ask(server.url)
        assert "Authorization" not in server.calls[0].headers


def test_a_large_prompt_arrives_whole():
    prompt = "漢字 and more " * 200_000
    with ChatServer(says("yes")) as server:
        ask(server.url, [Request((Message("user", prompt),))])
        assert server.calls[0].prompt == prompt


def test_many_calls_share_connections_and_stay_within_the_places():
    def behaviour(call: Call) -> Answer:
        return says(call.prompt, delay=0.002)

    requests = [Request((Message("user", str(number)),)) for number in range(60)]
    with ChatServer(behaviour) as server:
        asked = ask(server.url, requests, places=4)
        assert max(call.at_once for call in server.calls) <= 4
    assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == [str(n) for n in range(60)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (says("late", delay=5.0), "timed out"),
        (drips("slow", 0.05), "timed out"),
        (resets(), "connection broken"),
        (hangs_up(), "connection broken"),
        (cut_short("yes"), "connection broken"),
        (cut_chunk("yes"), "connection broken"),
        (Answer(wire=b"what is this?\r\n\r\n"), "connection broken"),
        (Answer(b"<html>busy</html>"), "the reply is not a chat completion"),
        (Answer(b""), "the reply is not a chat completion"),
        (as_json({"choices": []}), "the reply is not a chat completion"),
        (fails(500), "server error (500)"),
        (fails(503), "server error (503)"),
        (fails(529), "server error (529)"),
        (fails(408), "not now (408)"),
        (fails(409), "not now (409)"),
        (fails(425), "not now (425)"),
    ],
)
def test_a_passing_failure_is_tried_again_and_a_lasting_one_named(bad: Answer, reason: str):
    # Only what is meant to time out may: a loaded machine is slow.
    timeout = 0.5 if reason == "timed out" else 10.0
    with ChatServer(script(says("first"), bad, says("good"))) as server:
        asked = ask(server.url, [REQUEST, REQUEST], places=1, timeout=timeout)
        assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == ["first", "good"]
        assert asked.kinds() == [("retry", reason)]
        assert len(server.calls) == 3
    with ChatServer(bad) as server:
        asked = ask(server.url, tries=2, timeout=timeout)
        assert (asked.error.reason, asked.error.again) == (reason, True)
        assert not isinstance(asked.error, RunError)
        assert asked.kinds() == [("retry", reason), ("given up", reason)]
        assert len(server.calls) == 2


def test_what_is_not_a_completion_is_kept_up_to_a_bound():
    with ChatServer(Answer(b"x\0" + b"y" * 5000)) as server:
        assert ask(server.url, tries=1).error.raw == "x\ufffd" + "y" * 1998


def test_a_refused_request_is_not_tried_again():
    with ChatServer(fails(400, "your prompt is too long")) as server:
        error = ask(server.url).error
        assert (error.reason, error.again) == ("request refused (400)", False)
        assert "your prompt is too long" in (error.raw or "")
        assert len(server.calls) == 1


def test_a_body_without_end_is_not_read_to_the_end():
    with ChatServer(Answer(b"x" * (LARGEST + 1))) as server:
        assert ask(server.url).error.reason == "the reply is too large"


def test_an_error_inside_a_good_status_counts_as_that_error():
    with ChatServer(script(as_json({"error": {"code": 502, "message": "upstream"}}), says("yes"))) as server:
        asked = ask(server.url)
    assert asked.kinds() == [("retry", "server error (502)")]
    assert asked.reply.text == "yes"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}"), ["EVENHAND_API_KEY", "127.0.0.1", "Incorrect"]),
        (fails(403, "not in your country"), ["denies access", "EVENHAND_API_KEY", "not in your country"]),
        (fails(400, "API key not valid. Please pass one."), ["EVENHAND_API_KEY"]),
        (fails(404, "model 'test-model' not found"), ["test-model", "/v1/chat/completions", "404"]),
        (fails(402, "pay"), ["empty"]),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), ["empty", "exceeded"]),
        (fails(400, "Your credit balance is too low"), ["empty"]),
        (fails(301, headers={"Location": "https://me:hunter2@other/v1?key=k9"}), ["https://me:***@other/v1", "301"]),
    ],
)
def test_what_no_call_can_get_past_stops_the_run(answer: Answer, words: list[str]):
    with ChatServer(answer) as server:
        error = ask(server.url, key=KEY).error
        assert len(server.calls) == 1
    assert isinstance(error, RunError)
    shown = "".join(traceback.format_exception(error)) + repr(error) + (error.raw or "")
    assert [word for word in words if word not in str(error)] == []
    assert [secret for secret in (KEY, "hunter2", "k9", "Bearer") if secret in shown] == []


def test_a_server_that_wants_a_key_says_where_to_put_it():
    with ChatServer(fails(401)) as server:
        error = ask(server.url).error
    assert "(401); set the environment variable EVENHAND_API_KEY" in str(error)


@pytest.mark.parametrize("key", [KEY, "any-text-0815"])
@pytest.mark.parametrize("shape", ["{}", '{{"error": {{"message": "bad header Bearer {}"}}}}'])
@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_key_that_the_server_echoes_is_masked(key: str, shape: str, status: int):
    with ChatServer(Answer(shape.format(key).encode(), status)) as server:
        error = ask(server.url, key=key, tries=1).error
    assert key not in (error.raw or "")
    assert "***" in (error.raw or "")


def test_a_part_of_a_key_that_the_server_echoes_is_masked():
    with ChatServer(fails(401, f"Incorrect API key provided: {KEY[:8]}****{KEY[-4:]}.")) as server:
        error = ask(server.url, key=KEY).error
    assert "Incorrect API key provided: ***" in str(error)
    assert KEY[:8] not in str(error)


def refuses(part: str, message: str, *, param: bool = True, status: int = 400) -> Behaviour:
    """A server that does not take one part of a request."""

    def behaviour(call: Call) -> Answer:
        if part not in json.dumps(dict(call.body)):
            return says("yes")
        return fails(status, message, param=part if param else None)

    return behaviour


@pytest.mark.parametrize(
    ("part", "message", "dropped", "missing", "left"),
    [
        (
            "json_schema",
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "json_schema (now json_object)",
            "json_schema",
            {"response_format": {"type": "json_object"}},
        ),
        (
            "json_schema",
            "Failed to initialize samplers: failed to parse grammar",
            "json_schema (now json_object)",
            "json_schema",
            {"response_format": {"type": "json_object"}},
        ),
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
            "max_tokens (now max_completion_tokens)",
            "max_tokens",
            {"max_completion_tokens": 2048},
        ),
        (
            "temperature",
            "'temperature' does not support 0.0 with this model.",
            "temperature",
            "temperature",
            {"seed": 7},
        ),
        ("seed", 'Unknown name "seed": Cannot find field.', "seed", "seed", {"temperature": 0.0}),
        ("top_logprobs", "logprobs is not enabled for this model", "logprobs", "logprobs", {"seed": 7}),
    ],
)
@pytest.mark.parametrize("param", [False, True])
def test_a_part_that_is_refused_is_left_out_and_told_once(
    part: str, message: str, dropped: str, missing: str, left: dict[str, object], param: bool
):
    with ChatServer(refuses(part, message, param=param)) as server:
        asked = ask(server.url, [FULL] * 12, places=4, tries=1)
        assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == ["yes"] * 12
        assert asked.kinds() == [("dropped", dropped)]
        last = server.calls[-1].body
        # At most the four that were under way together found out for themselves.
        assert 13 <= len(server.calls) <= 16
    assert missing not in last
    assert {key: last[key] for key in left} == left


@pytest.mark.parametrize("status", [500, 501])
def test_a_part_that_is_rejected_with_an_error_of_the_server_is_left_out_if_it_is_named(status: int):
    behaviour = refuses("json_schema", "failed to parse json_schema", status=status)
    with ChatServer(behaviour) as server:
        assert ask(server.url, [FULL], tries=1).kinds() == [("dropped", "json_schema (now json_object)")]
    with ChatServer(fails(status, "busy")) as server:
        assert ask(server.url, [FULL], tries=1).error.reason == f"server error ({status})"
        assert len(server.calls) == 1
    with ChatServer(script(says("yes"), fails(status, "the json_schema cache is busy"), says("yes"))) as server:
        assert ask(server.url, [FULL] * 2, places=1).kinds() == [("retry", f"server error ({status})")]


def test_a_server_that_takes_no_response_format_at_all_is_asked_without():
    with ChatServer(
        refuses("response_format", "response_format: extra inputs are not permitted", status=422)
    ) as server:
        asked = ask(server.url, [FULL], tries=1)
        assert asked.reply.text == "yes"
        assert asked.kinds() == [("dropped", "json_schema (now json_object)"), ("dropped", "response_format")]
        assert "response_format" not in server.calls[-1].body


def test_a_model_that_forbids_logprobs_is_asked_without():
    with ChatServer(
        refuses("top_logprobs", "You are not allowed to request logprobs", param=False, status=403)
    ) as server:
        assert ask(server.url, [FULL], tries=1).kinds() == [("dropped", "logprobs")]


def test_refusals_of_several_parts_are_all_learned():
    def behaviour(call: Call) -> Answer:
        for part in ("temperature", "seed", "max_tokens", "logprobs"):
            if part in call.body:
                return fails(400, f"Unsupported parameter: '{part}'", param=part)
        return says("yes")

    with ChatServer(behaviour) as server:
        asked = ask(server.url, [FULL], tries=1)
        assert asked.reply.text == "yes"
        assert sorted(server.calls[-1].body) == ["max_completion_tokens", "messages", "model", "response_format"]
    assert len(asked.events) == 4


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("'max_tokens' is too large: 2048. This model's maximum context length is 1024 tokens.", None),
        ("max_tokens is too large: 99999. This model supports at most 16384 completion tokens.", "max_tokens"),
        ("This model's maximum context length is 1024 tokens; reduce max_tokens.", "messages"),
        ("This prompt was flagged by our moderation", None),
    ],
)
def test_a_complaint_about_the_prompt_drops_nothing(message: str, param: str | None):
    with ChatServer(fails(400, message, param=param)) as server:
        asked = ask(server.url, [FULL])
        assert (asked.error.reason, asked.events) == ("request refused (400)", [])
        assert len(server.calls) == 1


BOUNDED = Request(
    REQUEST.messages,
    Schema(
        "rating",
        '{"type":"object","properties":{"maximum":{"type":"string","maxLength":9},"n":{"type":"integer","maximum":5}}}',
    ),
)


def test_a_server_that_rejects_limits_in_a_schema_still_gets_the_schema():
    def behaviour(call: Call) -> Answer:
        if '"maxLength"' in call.raw.decode():
            return fails(400, "Invalid schema: For 'string' type, property 'maxLength' is not supported")
        return says("yes")

    with ChatServer(behaviour) as server:
        asked = ask(server.url, [BOUNDED, BOUNDED], places=1)
        assert asked.kinds() == [("dropped", "limits on lengths and numbers in the JSON schema")]
        assert len(server.calls) == 3
        properties = server.calls[-1].body["response_format"]["json_schema"]["schema"]["properties"]
    # A property that is called like a limit stays.
    assert properties == {"maximum": {"type": "string"}, "n": {"type": "integer"}}


WRAPPED = {
    "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"error": "no json_schema"}'}}
}


@pytest.mark.parametrize(
    "body", [WRAPPED, {"message": {"detail": [{"loc": ["body", "response_format"], "msg": "Extra"}]}}]
)
def test_what_is_rejected_is_read_from_an_error_inside_another(body: object):
    def behaviour(call: Call) -> Answer:
        return as_json(body, status=400) if "json_schema" in call.raw.decode() else says("yes")

    with ChatServer(behaviour) as server:
        assert ask(server.url, [FULL]).kinds() == [("dropped", "json_schema (now json_object)")]


def test_a_server_that_does_not_say_what_it_rejects_is_asked_once_without_the_schema():
    def behaviour(call: Call) -> Answer:
        return fails(400, "Bad Request") if "response_format" in call.body else says("yes")

    with ChatServer(behaviour) as server:
        asked = ask(server.url, [FULL] * 3, places=1)
        assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == ["yes"] * 3
        assert asked.kinds() == [("dropped", "response_format")]
        assert ["response_format" in call.body for call in server.calls] == [True, False, False, False]


def test_a_server_that_does_not_say_that_it_rejects_limits_in_a_schema_still_gets_the_schema():
    def behaviour(call: Call) -> Answer:
        return fails(400, "Bad Request") if "maxLength" in call.raw.decode() else says("yes")

    with ChatServer(behaviour) as server:
        asked = ask(server.url, [BOUNDED] * 2, places=1)
        assert asked.kinds() == [("dropped", "limits on lengths and numbers in the JSON schema")]
        assert ["json_schema" in call.raw.decode() for call in server.calls] == [True] * 3


@pytest.mark.parametrize("rejection", [fails(404, "gone"), fails(403, "not for you"), fails(400, "no")])
def test_rejections_before_the_first_good_reply_fail_alone_if_another_call_succeeds(rejection: Answer):
    requests = [Request((Message("user", str(number)),)) for number in range(8)]

    def behaviour(call: Call) -> Answer:
        return rejection if int(call.prompt) < LEAST_FAILED else says("yes", delay=0.1)

    with ChatServer(behaviour) as server:
        outcomes = ask(server.url, requests, places=8).outcomes
    alone = [isinstance(outcome, CallError) and not isinstance(outcome, RunError) for outcome in outcomes]
    assert alone == [number < LEAST_FAILED for number in range(8)]


def test_a_server_that_rejects_all_calls_in_progress_fails_none_of_them_alone():
    with ChatServer(fails(400, "This deployment is paused")) as server:
        outcomes = ask(server.url, [REQUEST] * LEAST_FAILED, places=LEAST_FAILED).outcomes
    assert [type(outcome) for outcome in outcomes] == [RunError] * LEAST_FAILED


def test_a_call_that_backs_off_is_waited_for_before_a_rejection_stops_the_run():
    def behaviour(call: Call) -> Answer:
        limited = fails(429, headers={"Retry-After": "0.05"})
        return fails(404) if call.prompt == "rejected" else limited if call.number <= 2 else says("yes")

    requests = [Request((Message("user", word),)) for word in ("limited", "rejected")]
    with ChatServer(behaviour) as server:
        limited, rejected = ask(server.url, requests, places=2).outcomes
    assert isinstance(limited, Reply)
    assert isinstance(rejected, CallError)
    assert not isinstance(rejected, RunError)


def test_a_server_that_accepts_no_request_stops_the_run_with_its_message():
    with ChatServer(fails(400, "This deployment is paused")) as server:
        asked = ask(server.url, [FULL] * 6, places=1)
        # Each request is tried once without its schema, until nothing is left to try.
        assert len(server.calls) == 12
    errors = [outcome for outcome in asked.outcomes if isinstance(outcome, CallError)]
    assert [isinstance(error, RunError) for error in errors] == [False, False, True, True, True, True]
    assert "This deployment is paused" in str(errors[2])
    assert asked.events == []


@pytest.mark.parametrize("rejection", [fails(403, "not for you"), fails(404, "gone"), fails(405)])
def test_after_a_good_reply_a_rejected_request_fails_alone_and_several_in_a_row_stop_the_run(rejection: Answer):
    good = says("yes")
    with ChatServer(script(good, rejection, good, *[rejection] * 4, good, rejection)) as server:
        asked = ask(server.url, [REQUEST] * 14, places=1)
    kinds = ["reply" if isinstance(one, Reply) else type(one).__name__ for one in asked.outcomes]
    alone = ["reply", "CallError", "reply", *["CallError"] * 4, "reply"]
    assert kinds == [*alone, *["CallError"] * (MOST_SUSPECT - 1), "RunError", "RunError"]


def test_a_prompt_that_is_moderated_never_stops_the_run_alone():
    flagged = fails(403, "Your input was flagged by moderation")
    with ChatServer(script(flagged, says("yes"), flagged)) as server:
        asked = ask(server.url, [REQUEST] * (1 + MOST_REJECTED), places=1)
    assert not any(isinstance(outcome, RunError) for outcome in asked.outcomes)


@pytest.mark.parametrize("rejection", [fails(403, "flagged"), fails(400, "This deployment is paused")])
def test_a_server_that_rejects_everything_after_a_good_reply_stops_the_run(rejection: Answer):
    with ChatServer(script(says("yes"), rejection)) as server:
        asked = ask(server.url, [REQUEST] * (1 + MOST_REJECTED), places=1)
    assert [isinstance(outcome, RunError) for outcome in asked.outcomes].index(True) == MOST_REJECTED


def test_a_wrong_key_stops_the_run_at_once_even_after_a_good_reply():
    with ChatServer(script(says("yes"), fails(401, "expired"))) as server:
        asked = ask(server.url, [REQUEST] * 2, places=1)
    assert isinstance(asked.outcomes[1], RunError)


@pytest.mark.parametrize("text", ["yes", "a long reply, which is read in several steps " * 50_000])
def test_replies_that_arrived_while_the_event_loop_stood_still_are_not_lost(text: str):
    async def body() -> Reply:
        chat = HttpChat(endpoint_of(f"{server.url}#m", Settings()), pace=RateLimiter(1), timeout=0.3, tries=1)
        call = asyncio.create_task(_once(chat, REQUEST))
        while not server.calls:
            await asyncio.sleep(0.005)
        time.sleep(1.0)  # as the store does while another program writes to the study
        return await call

    with ChatServer(says(text, delay=0.1)) as server:
        assert asyncio.run(body()).text == text


class Proxy:
    """Settings with a proxy, and a chat through it with a host that does not exist."""

    def __init__(self, address: str, url: str, **more: str) -> None:
        settings = Settings.from_environment({"HTTP_PROXY": address, "https_proxy": address, **more})
        self.chat = HttpChat(endpoint_of(f"{url}#m", settings), pace=RateLimiter(1), tries=1, waits=QUICK)


def test_requests_go_through_the_proxy_of_the_environment():
    with ChatServer(says("yes")) as proxy:
        address = proxy.url.removesuffix("/v1").replace("http://", "http://me:hunter2@")
        chat = Proxy(address, "http://models.invalid/v1").chat
        assert asyncio.run(_once(chat, REQUEST)).text == "yes"
        (call,) = proxy.calls
    assert (call.headers["Host"], call.path) == ("models.invalid", "/v1/chat/completions")
    assert call.headers["Proxy-Authorization"].startswith("Basic ")
    assert "hunter2" not in repr(chat) + repr(vars(chat))


def test_a_proxy_that_does_not_connect_to_a_server_stops_the_run():
    with ChatServer(fails(403)) as proxy, pytest.raises(RunError, match=r"proxy does not connect to models\.invalid"):
        asyncio.run(_once(Proxy(proxy.url.removesuffix("/v1"), "https://models.invalid/v1").chat, REQUEST))


@pytest.mark.parametrize("exempt", ["models.invalid", ".invalid", "a, invalid", "*", "models.invalid:80"])
def test_hosts_without_a_proxy_and_this_machine_are_reached_directly(exempt: str):
    assert Proxy("http://p:1", "http://models.invalid:80/v1", NO_PROXY=exempt).chat.endpoint.proxy is None
    assert Proxy("http://p:1", "http://models.invalid:80/v1", NO_PROXY="dels.invalid").chat.endpoint.proxy is not None
    for local in ("localhost:11434", "127.0.0.1:8000", "[::1]:8000"):
        assert Proxy("http://p:1", f"http://{local}/v1").chat.endpoint.proxy is None


@pytest.mark.parametrize(
    "address", ["socks5://me:hunter2@p:1", "http://me:hunter2@", "me:hunter2@p:99999", "http://me:hunter2@p q:1"]
)
def test_what_is_not_the_address_of_an_http_proxy_is_rejected_without_its_password(address: str):
    with pytest.raises(UserError, match="HTTP_PROXY") as raised:
        Proxy(address, "http://models.invalid/v1")
    assert "hunter2" not in str(raised.value)


def test_a_proxy_that_cannot_be_reached_is_named():
    with pytest.raises(RunError, match="connection to the proxy failed"):
        asyncio.run(_once(Proxy(f"http://127.0.0.1:{unused_port()}", "https://models.invalid/v1").chat, REQUEST))


def test_a_part_that_was_not_sent_cannot_be_dropped():
    with ChatServer(fails(400, "seed, logprobs and json_schema are not supported")) as server:
        assert ask(server.url, [REQUEST]).events == []


def test_an_endpoint_that_passes_over_parts_in_silence_is_not_asked_for_them():
    with ChatServer(says("yes")) as server:
        endpoint = Endpoint(
            "a", "m", f"{server.url}/chat/completions", dialect=Dialect("none", seed=False, logprobs=False)
        )
        asyncio.run(_once(HttpChat(endpoint, pace=RateLimiter(1)), FULL))
        assert sorted(server.calls[0].body) == ["max_tokens", "messages", "model", "temperature"]


async def _once(chat: HttpChat, request: Request) -> Reply:
    try:
        async with chat.pace:
            return await chat.complete(request)
    finally:
        await chat.close()


def test_a_chat_is_called_what_its_spec_says_and_shows_no_key():
    endpoint = endpoint_of("openai:gpt-4.1", Settings({"OPENAI_API_KEY": Secret(KEY)}))
    chat = HttpChat(endpoint, pace=RateLimiter(3))
    assert (chat.model, chat.pace.width) == ("openai:gpt-4.1", 3)
    assert KEY not in repr(chat) + repr(vars(chat))


def test_a_cancelled_call_gives_its_place_back_and_the_next_one_goes_well():
    async def body() -> None:
        chat = HttpChat(endpoint_of(f"{server.url}#m", Settings()), pace=RateLimiter(1))
        task = asyncio.create_task(_held(chat))
        while not server.calls:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert chat.pace.in_use == 0
        assert (await _once(chat, REQUEST)).text == "yes"

    async def _held(chat: HttpChat) -> Reply:
        async with chat.pace:
            return await chat.complete(REQUEST)

    with ChatServer(script(says("late", delay=5.0), says("yes"))) as server:
        asyncio.run(body())


def test_nobody_listening_is_a_failed_connection():
    asked = ask(f"http://127.0.0.1:{unused_port()}/v1", tries=2)
    assert asked.kinds() == [("retry", "connection failed"), ("given up", "connection failed")]


def test_one_answer_in_five_goes_wrong_and_every_reply_still_comes():
    troubles = [
        resets(),
        hangs_up(),
        cut_short("x"),
        fails(500),
        Answer(b"{"),
        fails(429, headers={"Retry-After": "0"}),
    ]
    chance = Random(5)
    plan = [chance.choice(troubles) if chance.random() < 0.2 else None for _ in range(2000)]

    def behaviour(call: Call) -> Answer:
        return plan[call.number] or as_json(completion(call.prompt))

    requests = [Request((Message("user", str(number)),)) for number in range(300)]
    with ChatServer(behaviour) as server:
        asked = ask(server.url, requests, places=16, tries=8, waits=QUICK)
    assert [outcome.text for outcome in asked.outcomes if isinstance(outcome, Reply)] == [str(n) for n in range(300)]
    assert asked.pace.in_use == 0
