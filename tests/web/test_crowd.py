"""Many raters at once at the real server: every answer is kept once, where it belongs; no item is given too often."""

import asyncio
from pathlib import Path

from bench.page_crowd import Record, crowd, wrong_with
from bench.page_server import Server, make_study
from evenhand.assignment import Plan
from evenhand.study import Study
from tests.processes import fork_evenhand

RATERS, UNITS, OVERLAP = 20, 6, 4


def test_twenty_raters_at_once_lose_nothing_and_get_nothing_twice(store_location: str, tmp_path: Path):
    items = RATERS * UNITS // OVERLAP
    tokens = make_study(store_location, items, RATERS, Plan(overlap=OVERLAP, batch=10, training="off"))

    async def run() -> tuple[Record, str]:
        async with Server(store_location, tmp_path / "log", fork_evenhand) as server:
            return await crowd(server, tokens), server.complaints()

    record, complaints = asyncio.run(run())
    assert not complaints
    assert len(record.finished) == items * OVERLAP
    with Study.open(store_location) as study:
        assert wrong_with(study, record, list(tokens), OVERLAP) == []
