"""What only a study in a file can meet: other files, permissions, full disks, left-overs."""

import os
import resource
import sqlite3
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from evenhand.errors import ConflictError, NotAStudyError, StudyError
from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating, Unit
from evenhand.store.items import ItemUnits
from evenhand.store.sqlite import SqliteDatabase
from evenhand.store.store import create_store, may_be_study, open_store
from tests.processes import FORKS, run_python

PROTOCOL = load_protocol("halo-support")
ANN = RaterRef("ann", Kind.PERSON)


def work(n: int, size: int = 10) -> Iterator[ItemUnits]:
    for number in range(n):
        yield Item(f"i{number}", {"question": "x" * size}), [Unit(f"i{number}", f"i{number}", 1)]


def make(path: Path, n: int = 3) -> Path:
    create_store(path, PROTOCOL, PROTOCOL.name, work(n)).close()
    return path


def rating(unit: str = "i0", rationale: str | None = None) -> Rating:
    value = "SUPPORTED"
    return Rating(unit=unit, criterion="support", rater="ann", digest=PROTOCOL.digest, value=value, rationale=rationale)


def _other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE meta (key, value)")
    connection.commit()
    connection.close()


THINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "csv": (lambda path: path.write_text("id,question\n1,Why?\n"), "other kind of file"),
    "random": (lambda path: path.write_bytes(os.urandom(5000)), "other kind of file"),
    "empty": (lambda path: path.write_bytes(b""), "empty"),
    "folder": (lambda path: path.mkdir(), "folder"),
    "fifo": (lambda path: os.mkfifo(path), "not a file"),
    "other-sqlite": (_other_database, "another program"),
}


@pytest.mark.parametrize("thing", THINGS)
def test_what_is_not_a_study_is_called_so(tmp_path: Path, thing: str) -> None:
    prepare, why = THINGS[thing]
    path = tmp_path / "thing.db"
    prepare(path)
    with pytest.raises(NotAStudyError, match=why) as caught:
        open_store(path)
    assert str(path) in str(caught.value)


def test_opening_what_is_missing_makes_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "study.db", tmp_path / "no" / "study.db"):
        with pytest.raises(StudyError, match="no such study"):
            open_store(path)
    assert list(tmp_path.iterdir()) == []


def test_a_study_is_one_file_in_wal_mode_with_our_mark(tmp_path: Path) -> None:
    path = make(tmp_path / "a b?#%.db")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA application_id").fetchone()[0].to_bytes(4, "big") == b"Even"
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    with open_store(path) as study:
        assert study.location == str(path)


def test_a_study_that_lost_its_wal_mode_gets_it_back(tmp_path: Path) -> None:
    path = make(tmp_path / "study.db")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    with open_store(path) as study:
        study.ratings.add([], raters=[ANN])
        assert path.with_name("study.db-wal").exists()


def test_the_umask_decides_who_may_read_a_new_study(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = make(tmp_path / "study.db")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_broken_off_creation_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> Iterator[ItemUnits]:
        yield from work(700)
        assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create_store(tmp_path / "study.db", PROTOCOL, "p", broken())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_a_taken_name_and_a_left_over_log_are_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"study.db{suffix}").write_bytes(b"precious")
    with pytest.raises(StudyError, match=r"exists already|left over"):
        make(tmp_path / "study.db")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(f"study.db{suffix}", b"precious")]


@pytest.mark.parametrize("location", ["", " "])
def test_a_blank_name_is_not_a_study(location: str) -> None:
    with pytest.raises(StudyError) as caught:
        create_store(location, PROTOCOL, "p", work(1))
    assert caught.value.location is None
    with pytest.raises(StudyError, match="give a path"):
        open_store(location)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder in which nobody can make a file")
def test_a_folder_in_which_nothing_can_be_made_is_not_called_missing() -> None:
    with pytest.raises(StudyError, match="write permission"):
        make(Path("/proc/evenhand.db"))


def test_whoever_comes_second_does_not_overwrite(tmp_path: Path) -> None:
    def slow() -> Iterator[ItemUnits]:
        yield from work(1)
        make(tmp_path / "study.db", n=2)

    with pytest.raises(StudyError, match="in the meantime"):
        create_store(tmp_path / "study.db", PROTOCOL, "p", slow())
    with open_store(tmp_path / "study.db") as study:
        assert study.items.count() == 2


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="create it first"):
        make(tmp_path / "no" / "study.db")


# Permissions. Root may do everything, so these run in a process that has given up its rights.

_UNPRIVILEGED = """
import os
from pathlib import Path
from evenhand.errors import StudyError
from evenhand.store.store import create_store, may_be_study, open_store
from evenhand.protocol.load import load_protocol
protocol = load_protocol("halo-support")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
action, path = arguments[0], Path(arguments[1])
try:
    if action == "create":
        create_store(path, protocol, "p", []).close()
    elif action == "backup":
        with open_store(path) as study:
            study.backup(Path(arguments[2]))
    else:
        open_store(path).close()
except StudyError as error:
    print(error)
"""


def _unprivileged(*arguments: object) -> str:
    code, printed = run_python(Path("/"), f"arguments = {[*map(str, arguments)]!r}\n{_UNPRIVILEGED}")
    assert code == 0, printed
    return printed


def test_a_read_only_folder(public_folder: Path) -> None:
    path = make(public_folder / "study.db")
    path.chmod(0o666)
    public_folder.chmod(0o555)
    for action in ("create", "open"):
        target = path if action == "open" else public_folder / "new.db"
        told = _unprivileged(action, target)
        assert str(target) in told
        assert "read-only" in told
    assert [found.name for found in public_folder.iterdir()] == ["study.db"]


def test_a_file_that_may_not_be_written_or_read(public_folder: Path) -> None:
    path = make(public_folder / "study.db")
    path.chmod(0o444)
    assert "read-only" in _unprivileged("open", path)
    path.chmod(0o000)
    assert str(path) in _unprivileged("open", path)


def test_a_backup_into_a_read_only_folder(public_folder: Path) -> None:
    path = make(public_folder / "study.db")
    path.chmod(0o666)
    (public_folder / "vault").mkdir(mode=0o555)
    assert "vault" in _unprivileged("backup", path, public_folder / "vault" / "copy.db")
    assert list((public_folder / "vault").iterdir()) == []


# A full disk, by a limit on the size of files that the system itself enforces


@pytest.fixture
def small_files() -> Generator[None, None, None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_while_a_study_is_made(tmp_path: Path, small_files: None) -> None:
    with pytest.raises(StudyError, match="full"):
        create_store(tmp_path / "study.db", PROTOCOL, "p", work(1000, size=2000))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_while_ratings_are_added(tmp_path: Path, small_files: None) -> None:
    with open_store(make(tmp_path / "study.db")) as study:
        study.ratings.add([], raters=[ANN])
        study.ratings.add([rating("i1")])
        with pytest.raises(StudyError, match="full"):
            study.ratings.add(rating(rationale="x" * 50_000) for _ in range(100))
        assert len(list(study.ratings.all(history=True))) == 1
        study.ratings.add([rating("i2")])
        assert len(list(study.ratings.all(history=True))) == 2


def test_sqlites_own_word_for_a_full_disk(tmp_path: Path) -> None:
    backend = SqliteDatabase(str(make(tmp_path / "study.db")))

    def overfill() -> None:
        with backend.transaction() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            connection.exec_driver_sql("INSERT INTO meta VALUES ('x', ?)", ("x" * 100_000,))

    try:
        with pytest.raises(StudyError, match="disk is full"):
            overfill()
        with backend.reading() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM meta WHERE key = 'x'").scalar() == 0
    finally:
        backend.close()


# Other writers


def test_a_program_that_never_lets_go_is_reported_after_a_while(tmp_path: Path) -> None:
    path = make(tmp_path / "study.db")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    backend = SqliteDatabase(str(path), patience=0.05)
    try:
        with backend.reading() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM items").scalar() == 3
        with pytest.raises(StudyError, match="keeps the study locked"), backend.transaction():
            pass
    finally:
        backend.close()
        other.close()


def test_the_unique_key_of_a_cell_is_the_last_guard(tmp_path: Path) -> None:
    path = make(tmp_path / "study.db")
    with open_store(path) as study:
        study.ratings.add([], raters=[ANN])
        study.ratings.add([rating()])
    backend = SqliteDatabase(str(path))
    again = "INSERT INTO ratings SELECT 2, 'x', item, position, criterion, rater, protocol, 0, status, value, at, NULL"
    try:
        with pytest.raises(ConflictError), backend.transaction() as connection:
            connection.exec_driver_sql(f"{again} FROM ratings")
    finally:
        backend.close()


def test_a_damaged_study_is_called_damaged(tmp_path: Path) -> None:
    path = make(tmp_path / "study.db", n=2000)
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + os.urandom(len(whole) - 8192))
    with pytest.raises(StudyError, match="damaged"), open_store(path) as study:
        list(study.items.all())
    path.write_bytes(whole[:100])
    with pytest.raises(StudyError) as caught:
        open_store(path)
    assert str(path) in str(caught.value)


def test_mistakes_of_our_own_are_not_dressed_up() -> None:
    with pytest.raises(sqlite3.ProgrammingError), SqliteDatabase(":memory:").reading():
        raise sqlite3.ProgrammingError("Cannot operate on a closed database.")


def test_an_interruption_is_not_hidden_by_the_connection_that_it_broke(tmp_path: Path) -> None:
    backend = SqliteDatabase(str(make(tmp_path / "study.db")))

    # What SQLAlchemy does when a statement ends in KeyboardInterrupt: the connection refuses the ROLLBACK.
    def interrupted() -> None:
        with backend.reading() as connection:
            connection.invalidate()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    backend.close()


def _add_rater(path: Path, name: str) -> None:
    with open_store(path) as study:
        study.ratings.add([], raters=[RaterRef(name, Kind.PERSON)])


def test_opening_a_study_again_does_not_end_the_locks_of_those_who_have_it_open(tmp_path: Path) -> None:
    """POSIX ends all locks of a process on a file when the process closes any of its openings. Without them another
    process that opens, writes and closes the study takes the journal away in which we would go on writing."""
    path = make(tmp_path / "study.db")
    with open_store(path) as first, open_store(path) as second:
        assert may_be_study(str(path))
        for name in ("ben", "cem"):
            process = FORKS.Process(target=_add_rater, args=(path, name))
            process.start()
            process.join()
            assert process.exitcode == 0
            first.ratings.add([], raters=[RaterRef(f"after {name}", Kind.PERSON)])
            assert Path(f"{path}-wal").exists(), "the journal was taken away while the study was open"
            assert [rater.id for rater in second.ratings.raters()][-2:] == [name, f"after {name}"]
    with open_store(path) as again:
        assert {"ben", "after ben", "cem", "after cem"} <= {rater.id for rater in again.ratings.raters()}
