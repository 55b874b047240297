"""A study that cannot be written, because it is locked or the disk is full: reading goes on, and the server ends."""

import logging
import resource
import signal
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from evenhand.store.people.access import new_invite
from evenhand.study import Study
from evenhand.web.middleware import STOPPING
from tests.processes import Forked
from tests.web.browsing import Browsers
from tests.web.hands import Hand, one_item

MANY = 45
"""Requests: more than there are threads for."""


@pytest.fixture
def served(store_location: str, tmp_path: Path) -> Generator[tuple[Forked, str]]:
    """`evenhand serve` in a process of its own, and its address."""
    Study.create(store_location, "halo-support", [one_item()]).close()
    process = Forked(tmp_path, ["serve", store_location, "--port", "0"])
    told = ""
    while "Ctrl+C" not in told:
        told += process.stdout.readline()
    yield process, told.partition("/login")[0].rpartition("http://")[2]
    process.kill()


def test_a_locked_study_is_read_and_the_server_ends_with_answers_to_all(
    store_location: str, served: tuple[Forked, str]
):
    process, address = served
    invite, token = new_invite("ann")
    headers = {"Authorization": f"Bearer {token}"}
    client = httpx2.Client(base_url=f"http://{address}", headers=headers, timeout=60, limits=httpx2.Limits())
    with Study.open(store_location) as other, client:
        other.store.people.access.add_invite(invite, token)
        with other.store.transaction():
            with ThreadPoolExecutor(MANY) as pool:
                waiting = [pool.submit(client.post, "/api/tasks/next", json={}) for _ in range(MANY)]
                assert client.get("/healthz").status_code == 503
                for path in ("/api/form", "/api/tasks", "/api/me"):
                    assert client.get(path).status_code == 200
                assert not any(one.done() for one in waiting)
                process.send_signal(signal.SIGTERM)
                answers = [one.result() for one in waiting]
            assert {answer.status_code for answer in answers} == {503}
            assert all(answer.json()["error"] and answer.headers["Retry-After"] for answer in answers)
            # None was given up by the server when its patience with open requests ended.
            assert not any(answer.json()["error"] == STOPPING for answer in answers)
            # Still locked.
            out, err = process.communicate(timeout=30)
    assert process.wait() == 0
    assert out.endswith("Stopped; all ratings are stored.\n")
    assert "Traceback" not in err
    assert err.count("the study failed") <= 2, "once for each reason"


def test_a_full_disk_is_reported_and_stops_nobody_from_reading(client: Browsers, caplog: pytest.LogCaptureFixture):
    ann = Hand(client.rater("ann"))
    number = ann.take()["number"]
    new = client.bearer(client.invite("ben"))
    log = Path(f"{client.study.store.location}-wal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A limit on the size of files stands for the full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        saves = [ann.put(number, 1, "support", {"value": "SUPPORTED"}) for _ in range(5)]
        assert {save.status_code for save in saves} == {503}
        # For ann, it is time to note again that she is active; ben, a program, was never here before.
        client.app.state.services.seen.clear()
        assert [one.get("/api/form").status_code for one in (ann.client, new)] == [200, 200]
        health = client.browser().get("/healthz")
        assert (health.status_code, health.json()["status"]) == (503, "failing")
        assert client.study.store.location not in health.text
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    failures = [entry for entry in caplog.records if entry.levelno >= logging.ERROR]
    assert len(failures) == 1, [entry.getMessage() for entry in failures]
    assert ann.put(number, 1, "support", {"value": "SUPPORTED"}).status_code == 200
