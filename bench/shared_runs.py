"""Four `evenhand judge` processes share 5,000 units while five of them are killed: SQLite, and PostgreSQL if a server
is given as EVENHAND_TEST_POSTGRES. Run it with `python -m bench.shared_runs [UNITS]`."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.postgres import empty_database
from tests.run.shared_runs import CALL_COST, Shared, share

UNITS, KILLS, PLACES = 5_000, 5, 8
CAP = 4.0
"""Dollars: the calls cost 1.5, and a killed process loses the 0.03 that each of its open calls had reserved."""


def main(units: int = UNITS) -> None:
    with TemporaryDirectory() as folder:
        _share("SQLite", str(Path(folder) / "study.db"), units)
    server = os.environ.get("EVENHAND_TEST_POSTGRES")
    if server:
        with empty_database(server) as location:
            _share("PostgreSQL", location, units)


def _share(name: str, location: str, units: int) -> None:
    _report(name, units, share(location, units, kills=KILLS, concurrency=PLACES, max_cost=CAP, lease=15.0))


def _report(name: str, units: int, done: Shared) -> None:
    twice = sum(1 for count in done.ratings.values() if count > 1)
    print(
        f"{name}: {units:,} units, {len(done.ratings):,} rated, {twice:,} of them twice; "
        f"{len(done.prompts):,} prompts, {done.calls:,} calls, {done.calls - len(done.prompts):,} repeated "
        f"(at most {KILLS * PLACES}); ${done.calls * CALL_COST / 1e6:.4f} paid, ${done.spent / 1e6:.4f} counted, cap "
        f"${CAP:.2f}; exit codes {done.codes}; {done.seconds:,.0f} s"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
