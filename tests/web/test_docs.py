"""The requests in the documentation of the API, sent with curl to a real server."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from evenhand.assignment import Plan
from evenhand.store.people.access import Role, new_invite
from evenhand.study import Study
from evenhand.web.app import make_app
from evenhand.web.config import Config
from tests.web.browsing import RUN_TOKEN
from tests.web.routes.test_adjudication import say

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http-api.md"
BLOCK = re.compile(r"```sh\n(?P<commands>.*?)```\n+(?:```json\n(?P<answer>.*?)```)?", re.DOTALL)


@pytest.fixture
def environment(study: Study) -> Generator[dict[str, str]]:
    """What the examples take for granted: a server, its address, and a token for each role."""
    people = study.store.people
    people.tasks.set_plan(Plan(training="off"))
    tokens: dict[str, str] = {}
    roles: list[tuple[str, str, Role]] = [("RATER", "dora", "rater"), ("JUDGE", "eve", "adjudicator")]
    for variable, name, role in roles:
        invite, tokens[variable] = new_invite(name, role)
        people.access.add_invite(invite, tokens[variable])
    say(study, "ann", "q1", "SUPPORTED")
    say(study, "ben", "q1", "CONTRADICTED")
    config = Config(study.store.location, run_token=RUN_TOKEN)
    server = uvicorn.Server(uvicorn.Config(make_app(config), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield {**os.environ, **tokens, "URL": f"http://127.0.0.1:{port}", "TOKEN": RUN_TOKEN, "ITEM": "q1"}
    server.should_exit = True
    thread.join()


def alike(shown: Any, found: Any) -> bool:
    """Whether what was found has the keys that the page shows, and for entries of lists, too; empty stands for any."""
    match shown:
        case {**keys} if keys:
            return keys.keys() == found.keys() and all(alike(keys[key], found[key]) for key in keys)
        case [first, *_]:
            return bool(found) and all(alike(first, one) for one in found)
        case _:
            return True


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_the_requests_of_the_page_do_what_it_says(environment: dict[str, str]):
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(blocks) >= 8
    for block in blocks:
        told = "set -e\n" + block["commands"].replace("curl -s", "curl -sS --fail-with-body -w '\\n'")
        done = subprocess.run(["bash", "-c", told], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{block['commands']}\n{done.stdout}\n{done.stderr}"
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == block["commands"].count("curl -s")
        if block["answer"]:
            assert alike(json.loads(block["answer"]), answers[-1]), f"{block['answer']}\n{answers[-1]}"


def test_every_status_that_the_page_explains_is_in_the_description(study: Study):
    document = make_app(Config(study.store.location)).openapi()
    used = {status for methods in document["paths"].values() for one in methods.values() for status in one["responses"]}
    explained = set(re.findall(r"\b(4\d\d|503) (?:not|something|more|a |too|the)", PAGE.read_text(encoding="utf-8")))
    assert explained <= used
    assert {status for status in used if status[0] in "45"} <= explained | {"400"}
