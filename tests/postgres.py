"""A PostgreSQL server for tests and benchmarks: the one that is named, or a throwaway one."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy
from sqlalchemy import make_url

HOW = (
    "no PostgreSQL: set EVENHAND_TEST_POSTGRES to the URL of a server where databases may be created, "
    "or install the server (its initdb and postgres are looked for on PATH and in /usr/lib/postgresql)"
)
PASSWORD = "correct horse"


class NoPostgres(Exception):
    """There is no server and none could be started; it says why."""


@contextmanager
def postgres() -> Generator[str]:
    """The URL of a database on a server where databases may be made. Raises NoPostgres."""
    named = os.environ.get("EVENHAND_TEST_POSTGRES")
    if named:
        yield named
        return
    binaries = _binaries()
    if binaries is None:
        raise NoPostgres(HOW)
    folder = Path(tempfile.mkdtemp(prefix="evenhand-postgres-"))
    try:
        with _throwaway_server(binaries, folder) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def empty_database(server: str) -> Generator[str]:
    """The URL of an empty database of its own on a server; it is removed again."""
    name = f"evenhand_test_{secrets.token_hex(6)}"
    _execute(server, f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        _execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def remove_study(url: str) -> None:
    """Make a database as good as new in a tenth of the time that another one takes; nobody may be using it."""
    _execute(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid(); DROP SCHEMA IF EXISTS evenhand CASCADE",
    )


def _binaries() -> Path | None:
    on_path = shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


@contextmanager
def _throwaway_server(binaries: Path, folder: Path) -> Generator[str]:
    # PostgreSQL refuses to run as root; nobody will do.
    user = "nobody" if os.geteuid() == 0 else None
    groups: list[str] | None = [] if user else None
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    if user:
        shutil.chown(home, user)
    password = folder / "password"
    password.write_text(PASSWORD)
    make = [binaries / "initdb", "-D", home / "data", "-U", "tester", "--pwfile", password, "-E", "UTF8", "--locale=C"]
    make += ["-A", "scram-sha-256", "--no-sync"]
    done = subprocess.run(make, user=user, extra_groups=groups, cwd=home, capture_output=True)
    if done.returncode != 0:
        raise NoPostgres(f"initdb failed: {done.stderr.decode(errors='replace').strip()}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The tests kill clients, never the server, so nothing here depends on its disk.
    options = ["-k", home, "-p", str(port), "-c", "listen_addresses=127.0.0.1"]
    options += ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    serve = [binaries / "postgres", "-D", home / "data", *options]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(serve, user=user, extra_groups=groups, cwd=home, stdout=log, stderr=log)
    try:
        url = f"postgresql://tester:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/postgres"
        _wait_for(url, server, folder / "log")
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=30)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        try:
            _execute(url, "SELECT 1")
        except Exception:  # noqa: BLE001 - psycopg is optional, so its errors cannot be named here
            if server.poll() is not None:
                break
            time.sleep(0.1)
        else:
            return
    raise NoPostgres(f"PostgreSQL did not start: {log.read_text(errors='replace').strip()}")


def _execute(url: str, statement: str) -> None:
    import psycopg

    # By its parts: SQLAlchemy writes a password with spaces as psycopg does not read it.
    place = make_url(url).translate_connect_args(username="user", database="dbname")
    with psycopg.connect(**place, autocommit=True) as connection:
        connection.execute(statement.encode())


def engine_of(location: str) -> sqlalchemy.Engine:
    """An engine on a study's database, to look at it without the store."""
    if location.startswith("postgresql:"):
        url = sqlalchemy.make_url(location).set(drivername="postgresql+psycopg")
        return sqlalchemy.create_engine(url, connect_args={"options": "-csearch_path=evenhand"})
    return sqlalchemy.create_engine(f"sqlite:///{location}")
