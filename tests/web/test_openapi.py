"""The description of the API is true: whatever is sent, by whomever, the answer is one that it describes."""

import os
import threading
import time
from collections.abc import Generator, Iterator
from importlib import import_module
from typing import Any

import pytest
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings

from evenhand.assignment import Plan
from evenhand.records import Item
from evenhand.store.people.access import Role, new_invite
from evenhand.study import Study
from evenhand.web.app import TAGS, make_app
from evenhand.web.config import Config
from tests.web.browsing import RUN_TOKEN
from tests.web.routes.test_adjudication import say

TRIES = int(os.environ.get("EVENHAND_TEST_TRIES", "6"))
"""Requests of each kind for each operation, each sent by every role and by nobody; more take longer and find more."""

# By name: these packages are typed in part, and one untyped place is enough.
schemathesis: Any = import_module("schemathesis")
jsonschema: Any = import_module("jsonschema")
CHECKS: list[Any] = [
    import_module("schemathesis.checks").not_a_server_error,
    *(
        getattr(import_module("schemathesis.specs.openapi.checks"), f"{name}_conformance")
        for name in ("status_code", "content_type", "response_headers", "response_schema")
    ),
]
DOCUMENT: dict[str, Any] = make_app(Config("study.db")).openapi()
SCHEMA: Any = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, dict[str, dict[str, str]]]]:
    """A server with a study in dispute, and the headers with which each role comes."""
    items = [
        Item(f"q{n}", {"question": f"{n}?", "context": f"{n} \N{SNOWMAN} \ud800", "generated_answer": f"{n}."})
        for n in range(1, 9)
    ]
    path = tmp_path_factory.mktemp("openapi") / "study.db"
    headers = {"owner": {"Authorization": f"Bearer {RUN_TOKEN}"}, "nobody": dict[str, str]()}
    with Study.create(path, "halo-support", items) as study:
        study.store.people.tasks.set_plan(Plan(training="off"))
        for n in range(1, 9):
            say(study, "ann", f"q{n}", "SUPPORTED", notes="half \ud800")
            say(study, "ben", f"q{n}", "CONTRADICTED" if n % 2 else "SUPPORTED")
        members: list[tuple[Role, str]] = [("rater", "cleo"), ("adjudicator", "eve")]
        for role, name in members:
            invite, token = new_invite(name, role)
            study.store.people.access.add_invite(invite, token)
            headers[role] = {"Authorization": f"Bearer {token}"}
    app = make_app(Config(str(path), run_token=RUN_TOKEN), sleep=_no_delay)
    running = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}", headers
    running.should_exit = True
    thread.join()


async def _no_delay(_: float) -> None:
    """Nobody guesses here: requests are made up, with credentials that are wrong."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


REQUESTS = [
    (kind, method, path)
    for method, path, operation in operations()
    # Nothing can be wrong with a request that has no parameters and no body.
    for kind in ("POSITIVE", "NEGATIVE")
    if kind == "POSITIVE" or operation.get("parameters") or "requestBody" in operation
]


@pytest.mark.parametrize(("kind", "method", "path"), REQUESTS)
def test_whatever_is_sent_the_answer_is_one_that_is_described(
    kind: str, method: str, path: str, server: tuple[str, dict[str, dict[str, str]]]
):
    url, roles = server
    requests = SCHEMA[path][method].as_strategy(generation_mode=schemathesis.GenerationMode[kind])

    @settings(
        max_examples=TRIES,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=requests)
    def send(case: Any) -> None:
        for headers in roles.values():
            case.call_and_validate(base_url=url, headers=headers, checks=CHECKS, timeout=30)

    send()


def test_every_route_is_described_in_words_with_its_group_and_its_refusals():
    for method, path, operation in operations():
        place = f"{method} {path}"
        assert operation["summary"], place
        assert set(operation["tags"]) <= {tag["name"] for tag in TAGS}, place
        assert {"413", "422", "429"} <= set(operation["responses"]), place
        if operation.get("security"):
            assert {"401", "403"} <= set(operation["responses"]), place
        for status, response in operation["responses"].items():
            if status not in ("204",):
                assert "schema" in response["content"]["application/json"], f"{place} {status}"


def test_every_body_has_an_example_that_fits_its_schema():
    for method, path, operation in operations():
        if "requestBody" not in operation:
            continue
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        named = DOCUMENT["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        [example] = body.get("examples") or named["examples"]
        assert "400" in operation["responses"], f"{method} {path}"
        jsonschema.Draft202012Validator({**body, "components": DOCUMENT["components"]}).validate(example)


def test_every_way_of_signing_in_is_described():
    assert {"token", "rater session", "owner session"} <= set(DOCUMENT["components"]["securitySchemes"])
