"""What all tests share: a PostgreSQL server for those that need one, and tests that may not be skipped."""

import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres import NoPostgres, empty_database, postgres, remove_study
from tests.processes import start_fork_server

# Machines that run tests are busy: how long an example takes says nothing.
settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")

REQUIRED = os.environ.get("EVENHAND_TEST_REQUIRE", "").split()
"""Markers of tests that may not be skipped, as in CI where what they need was installed."""

SLOW = ("test_real_model.py", "test_shared_runs.py", "test_hostile.py")
"""Files that take a worker long with few tests: begun first, so that none is left with them while the others wait."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` means: on few cores two workers each, because the tests wait half of their time."""
    cores = os.cpu_count() or 1
    return max(cores, min(2 * cores, 4))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in SLOW)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and any(item.get_closest_marker(name) for name in REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but EVENHAND_TEST_REQUIRE allows no skip: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> None:
    """Starts what processes are forked from while the working directory is the one where it finds tests.preload."""
    start_fork_server()


@pytest.fixture
def public_folder() -> Generator[Path, None, None]:
    """A folder that other users reach; pytest's own are private."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[str, None, None]:
    """The URL of a database on a server where databases may be made."""
    pytest.importorskip("psycopg", reason="no psycopg: pip install 'evenhand[postgres]'")
    try:
        with postgres() as url:
            yield url
    except NoPostgres as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Generator[str, None, None]:
    """The URL of a database of this process's own."""
    with empty_database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_location(postgres_database: str) -> Generator[str, None, None]:
    """The URL of a database without a study."""
    yield postgres_database
    remove_study(postgres_database)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no study is yet, on each kind of database in turn."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgres_location")
