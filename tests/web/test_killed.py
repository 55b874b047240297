"""The server is killed in the middle of the work, again and again: what was acknowledged is there, and there once."""

import asyncio
from pathlib import Path

from bench.page_crowd import Record, crowd, killing, wrong_with
from bench.page_server import Server, make_study
from evenhand.assignment import Plan
from evenhand.study import Study
from tests.processes import fork_evenhand

RATERS, ITEMS, OVERLAP, KILLS = 12, 40, 3, 3


def test_a_server_that_is_killed_three_times_keeps_every_answer_once(store_location: str, tmp_path: Path):
    tokens = make_study(store_location, ITEMS, RATERS, Plan(overlap=OVERLAP, batch=10, training="off"))

    async def run() -> tuple[Record, str]:
        async with Server(store_location, tmp_path / "log", fork_evenhand) as server:
            kill = killing(server, KILLS, ITEMS * OVERLAP // (KILLS + 1))
            return await crowd(server, tokens, kill), server.complaints()

    record, complaints = asyncio.run(run())
    assert not complaints
    assert record.again > 0
    assert len(record.finished) == ITEMS * OVERLAP
    with Study.open(store_location) as study:
        assert wrong_with(study, record, list(tokens), OVERLAP) == []
