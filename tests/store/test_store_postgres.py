"""What only a study in PostgreSQL can meet: servers, passwords, other people's tables."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from evenhand.errors import MissingExtraError, NotAStudyError, StudyError
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Unit
from evenhand.store.items import ItemUnits
from evenhand.store.postgres import PostgresDatabase
from evenhand.store.store import create_store, open_store

PROTOCOL = load_protocol("halo-support")
SECRET = "pa55 w0rd"


def work(n: int) -> Iterator[ItemUnits]:
    for number in range(n):
        yield Item(f"i{number}", {"question": "x"}), [Unit(f"i{number}", f"i{number}", 1)]


def _execute(location: str, *statements: str) -> None:
    engine = create_engine(make_url(location).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[postgres\]'"):
        open_store("postgresql://localhost/study")


@pytest.mark.parametrize("url", [f"postgresql://u:{SECRET}@host:port/db", f"postgresql://u:{SECRET}@[::1/db"])
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StudyError, match="USER:PASSWORD@HOST") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("place", ["127.0.0.1:1", "no-such-host.invalid:5432"])
def test_a_server_that_cannot_be_reached(place: str) -> None:
    pytest.importorskip("psycopg")
    for url in (f"postgresql://u:{SECRET}@{place}/db", f"postgresql://u@{place}/db?password={SECRET}"):
        with pytest.raises(StudyError, match="cannot be reached") as opening:
            open_store(url)
        with pytest.raises(StudyError, match="cannot be reached") as creating:
            create_store(url, PROTOCOL, "p", [])
        for caught in (opening, creating):
            assert SECRET not in str(caught.value)
            assert place in str(caught.value)


@pytest.mark.postgres
def test_a_wrong_password_is_said_and_not_shown(postgres_location: str) -> None:
    url = make_url(postgres_location).set(password=SECRET).render_as_string(hide_password=False)
    with pytest.raises(StudyError, match="user name or password") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)


@pytest.mark.postgres
def test_a_database_that_is_not_there(postgres_location: str) -> None:
    url = make_url(postgres_location).set(database="nowhere").render_as_string(hide_password=False)
    with pytest.raises(StudyError, match="no such database"):
        open_store(url)


@pytest.mark.postgres
def test_a_database_without_a_study(postgres_location: str) -> None:
    with pytest.raises(NotAStudyError, match="holds none"):
        open_store(postgres_location)


@pytest.mark.postgres
def test_other_tables_in_the_database_stay_apart(postgres_location: str) -> None:
    _execute(postgres_location, "CREATE TABLE items (mine TEXT)", "INSERT INTO items VALUES ('precious')")
    with create_store(postgres_location, PROTOCOL, "p", work(2)) as study:
        assert study.items.count() == 2
        assert [item.id for item in study.items.all()] == ["i0", "i1"]
        password = make_url(postgres_location).password
        assert password is not None
        assert password not in study.location
        assert study.location.startswith("postgresql://")
    _execute(postgres_location, "SELECT mine FROM public.items", "DROP TABLE public.items")


@pytest.mark.postgres
def test_an_empty_schema_made_by_the_administrator_is_used(postgres_location: str) -> None:
    _execute(postgres_location, "CREATE SCHEMA evenhand")
    with create_store(postgres_location, PROTOCOL, "p", work(1)) as study:
        assert study.items.count() == 1


@pytest.mark.postgres
def test_a_user_without_rights_is_told_which(postgres_location: str) -> None:
    url = make_url(postgres_location)
    role = f"guest_{url.database}"
    _execute(postgres_location, f"CREATE ROLE {role} LOGIN PASSWORD 'guest'")
    guest = url.set(username=role, password="guest").render_as_string(hide_password=False)
    try:
        with pytest.raises(StudyError, match="may not do that"):
            create_store(guest, PROTOCOL, "p", work(1))
        create_store(postgres_location, PROTOCOL, "p", work(1)).close()
        with pytest.raises(StudyError, match="may not do that"):
            open_store(guest)
    finally:
        _execute(postgres_location, f"DROP ROLE {role}")


@pytest.mark.postgres
def test_a_connection_lost_between_calls_is_made_again(postgres_location: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    with create_store(postgres_location, PROTOCOL, "p", work(2)) as study:
        _execute(postgres_location, f"{others} pg_backend_pid()")
        assert study.items.unit("i1") is not None


@pytest.mark.postgres
def test_a_connection_lost_in_the_middle_is_told_with_what_to_do(postgres_location: str) -> None:
    def cut() -> Iterator[Rating]:
        for number in range(1000):
            if number == 600:
                others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                _execute(postgres_location, f"{others} AND pid <> pg_backend_pid()")
            yield sent

    sent = Rating(unit="i0", criterion="support", rater="ann", digest=PROTOCOL.digest, value="SUPPORTED")
    with create_store(postgres_location, PROTOCOL, "p", work(2)) as study:
        study.ratings.add([], raters=[RaterRef("ann", Kind.PERSON)])
        with pytest.raises(StudyError, match="Repeat it"):
            study.ratings.add(cut())
        assert list(study.ratings.all()) == []
        study.ratings.add([sent])
        assert list(study.ratings.all()) == [sent]


@pytest.mark.postgres
def test_a_writer_that_never_lets_go_is_reported_after_a_while(postgres_location: str) -> None:
    create_store(postgres_location, PROTOCOL, "p", work(1)).close()
    first, second = PostgresDatabase(postgres_location), PostgresDatabase(postgres_location, patience=0.05)
    try:
        with first.transaction(), pytest.raises(StudyError, match="busy"), second.transaction():
            pass
    finally:
        first.close()
        second.close()


@pytest.mark.postgres
def test_a_backup_of_a_large_study_keeps_numbers_and_order(postgres_location: str, tmp_path: Path) -> None:
    with create_store(postgres_location, PROTOCOL, "p", work(1300)) as study:
        study.backup(tmp_path / "copy.db")
        with open_store(tmp_path / "copy.db") as copy:
            assert list(copy.items.all()) == list(study.items.all())
            assert copy.items.count_units() == 1300
            assert copy.protocols.versions() == study.protocols.versions()
