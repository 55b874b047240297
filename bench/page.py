"""A crowd at the rating page: how much it takes at once, that nothing is lost, and how a study's size tells.

python -m bench page [--raters 100] [--units 100] [--overlap 4] [--kills 5] [--large 1000000]

Three parts, each on SQLite and, where there is one, on PostgreSQL: every rater at work at the same time until nothing
is left; the same while the server is killed and started again; and how long raters wait for the next item in a small
and in a large study, as a ratio within one run. After each crowd the study is checked: a rating that was acknowledged
and is not there, one that is there twice or under another name, and an item that was handed out too often end the run.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.page_crowd import RaterClient, Record, Step, crowd, killing, wrong_with
from bench.page_server import Server, make_study
from evenhand.assignment import Plan
from evenhand.study import Study
from tests.postgres import NoPostgres, empty_database, postgres

SMALL = 1_000
LOOKS = 300
STEPS: tuple[Step, ...] = ("next", "save", "finish")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=100)
    parser.add_argument("--units", type=int, default=100, help="for each rater, on average")
    parser.add_argument("--overlap", type=int, default=4)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--parts", default="crowd,killed,size")
    parser.add_argument("--databases", default="SQLite,PostgreSQL")
    options = parser.parse_args()
    items, raters = options.raters * options.units // options.overlap, options.raters
    parts = options.parts.split(",")
    with ExitStack() as servers, tempfile.TemporaryDirectory() as folder:
        for name, place in places(servers, Path(folder), options.databases.split(",")):
            if "crowd" in parts:
                with place("crowd") as location:
                    asyncio.run(at_once(name, location, Path(folder), items, raters, options.overlap, kills=0))
            if "killed" in parts:
                with place("killed") as location:
                    few = max(items // 4, 1)
                    asyncio.run(at_once(name, location, Path(folder), few, raters, options.overlap, options.kills))
            if "size" in parts:
                with place("small") as small, place("large") as large:
                    asyncio.run(sizes(name, Path(folder), {small: SMALL, large: options.large}))


class Places:
    """Where studies of one kind of database are made."""

    def __init__(self, folder: Path, server: str | None) -> None:
        self._folder, self._server = folder, server

    @contextmanager
    def __call__(self, name: str) -> Generator[str]:
        if self._server is None:
            yield str(self._folder / f"{name}.db")
        else:
            with empty_database(self._server) as url:
                yield url


def places(servers: ExitStack, folder: Path, databases: Sequence[str]) -> Generator[tuple[str, Places]]:
    if "SQLite" in databases:
        yield "SQLite", Places(folder, None)
    if "PostgreSQL" in databases:
        try:
            server = servers.enter_context(postgres())
        except NoPostgres as why:
            print(why)
        else:
            yield "PostgreSQL", Places(folder, server)


async def at_once(name: str, location: str, folder: Path, items: int, raters: int, overlap: int, kills: int) -> None:
    tokens = make_study(location, items, raters, Plan(overlap=overlap, training="off"))
    log = folder / f"{name}-{kills}.log"
    async with Server(location, log) as server:
        begun, before = time.perf_counter(), server.cpu()
        beside = [killing(server, kills, items * overlap // (kills + 1))] if kills else []
        record = await crowd(server, tokens, *beside)
        seconds, after = time.perf_counter() - begun, server.cpu()
    with Study.open(location) as study:
        wrong = wrong_with(study, record, list(tokens), overlap)
    if wrong or server.complaints():
        sys.exit("\n".join([*wrong[:20], server.complaints(), "no figure stands on that"]))
    killed = f", the server killed {kills} times, {record.again:,} requests sent again" if kills else ""
    killed += f", {record.stalled} left without an answer for a minute" if record.stalled else ""
    print(f"{name}: {raters} raters at once, {items:,} items, each for {overlap}{killed}")
    units = len(record.finished)
    print(f"  {units:,} units finished in {seconds:.1f} s: {units / seconds:.0f} units/s, three requests each")
    if not kills:
        if before is not None and after is not None:
            print(f"  {1000 * (after - before) / units:.1f} ms of the server's processor time a unit")
        _latencies(record)
    print("  none lost, none doubled, none under another name, overlap kept", flush=True)


def _latencies(record: Record) -> None:
    for step in STEPS:
        middle, high = record.percentile(step, 0.5), record.percentile(step, 0.95)
        print(f"  {step:7} {middle:7.1f} ms at the median, {high:7.1f} ms for 95 of 100")


async def sizes(name: str, folder: Path, studies: dict[str, int]) -> None:
    """The two studies are served at once and asked in turns."""
    servers: dict[int, Server] = {}
    clients: dict[int, tuple[RaterClient, Record]] = {}
    for location, n in studies.items():
        begun = time.perf_counter()
        tokens = make_study(location, n, 1, Plan(overlap=2, training="off"))
        print(f"{name}: a study of {n:,} items, put in order, made in {time.perf_counter() - begun:.1f} s", flush=True)
        servers[n] = Server(location, folder / f"{name}-size-{n}.log")
        await servers[n].start()
        record = Record()
        clients[n] = RaterClient(servers[n].url, *next(iter(tokens.items())), record), record
    try:
        for client, _ in clients.values():
            await client.work(20)
        for _, record in clients.values():
            record.seconds = Record().seconds
        for _ in range(LOOKS // 20):
            for client, _ in clients.values():
                await client.work(20)
    finally:
        for server in servers.values():
            server.stop()
    for step in STEPS:
        small, large = (record.percentile(step, 0.5) for _, record in clients.values())
        ratio = f"{large / small:.2f} ×"
        print(f"  {step:7} {small:6.2f} ms of {SMALL:,} items, {large:6.2f} ms of {max(servers):,}: {ratio}")


if __name__ == "__main__":
    main()
