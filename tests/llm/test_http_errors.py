"""How servers say what is wrong and how long to wait."""

import json
import time
from email.utils import formatdate

import pytest

from evenhand.llm.dialect import ErrorBody, error_body
from evenhand.llm.wire import pause_asked


def test_a_complaint_is_read_from_the_shape_of_openai():
    error = {"message": "No 'Seed'", "type": "invalid_request_error", "param": "Seed", "code": "unsupported"}
    complaint = error_body(json.dumps({"error": error}))
    assert complaint == ErrorBody("No 'Seed'", "seed", "unsupported invalid_request_error")
    assert complaint.message == "no 'seed'"


def test_a_complaint_is_read_from_the_list_and_the_details_of_google():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    error = {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": details}
    complaint = error_body(json.dumps([{"error": error}]))
    assert (complaint.message, complaint.code) == ("quota exceeded", "resource_exhausted")
    assert (complaint.delay, complaint.status) == (34.5, 429)


def test_a_complaint_is_read_from_the_list_of_fastapi_without_the_input_it_quotes():
    detail = [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": "temperature"}]
    assert error_body(json.dumps({"detail": detail})).message == "body.seed: extra inputs are not permitted"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"error": "Model not loaded"}', "model not loaded"),
        ('{"object": "error", "message": "Bad"}', "bad"),
        ('{"detail": "Not Found"}', "not found"),
        ("<html>502</html>", "<html>502</html>"),
        ("", ""),
        ("[]", ""),
        ("3", ""),
        ('{"error": {"message": {"a": 1}}}', ""),
        ('{"message": {"detail": "Too Hot"}}', "too hot"),
        ('{"message": {"detail": [{"loc": ["body", "seed"], "msg": "Extra"}]}}', "body.seed: extra"),
        ('{"error": {"message": "Provider error", "metadata": {"raw": "No seed"}}}', "provider error: no seed"),
        (json.dumps({"error": {"message": json.dumps({"error": {"message": "Inner"}})}}), "inner"),
        (json.dumps({"error": {"message": "Outer", "metadata": {"raw": '{"cut'}}}), 'outer: {"cut'),
        ('{"error": ' * 50 + '"x"' + "}" * 50, ""),
    ],
)
def test_other_shapes_are_read_as_far_as_they_go(text: str, message: str):
    assert error_body(text).message == message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "7", "retry-after-ms": "1500"}, 1.5),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-reset": "1445412480"}, 0.0),
        ({"Retry-After": "7", "x-ratelimit-reset": "12"}, 7.0),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None):
    assert pause_asked(headers, ErrorBody()) == seconds


def test_a_moment_to_come_is_so_many_seconds_away():
    moment = time.time() + 100
    for headers in (
        {"Retry-After": formatdate(moment, usegmt=True)},
        {"x-ratelimit-reset": str(int(moment))},
        {"x-ratelimit-reset": str(int(moment * 1000))},
    ):
        pause = pause_asked(headers, ErrorBody())
        # The date has whole seconds, and a slow machine may take some between the two looks at the clock.
        assert pause is not None
        assert 60 < pause <= 100


def test_a_delay_in_the_body_counts_where_no_header_says_otherwise():
    assert pause_asked({}, ErrorBody(delay=34.0)) == 34.0
    assert pause_asked({"Retry-After": "2"}, ErrorBody(delay=34.0)) == 2.0
