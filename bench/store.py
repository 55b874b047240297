"""How quickly a study is made, opened, written and read, against plain `sqlite3` on the same rows in the same run.

python -m bench.store [--items 1000000] [--ratings 300000] [--repeat 3]
"""

import argparse
import csv
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from evenhand.protocol.load import load_protocol
from evenhand.records import Item, Kind, RaterRef, Rating
from evenhand.store.items import ItemUnits
from evenhand.store.store import create_store, open_store
from evenhand.units import split

PROTOCOL = load_protocol("halo-support")
FIELDS = ("question", "context", "generated_answer", "gold_answer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--ratings", type=int, default=300_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "items.csv"
        write_csv(source, options.items)
        making(source, Path(folder), options.repeat)
        study = Path(folder) / "study.db"
        opening(study, options.items)
        ratings(study, options.items, options.ratings)


def making(source: Path, folder: Path, repeat: int) -> None:
    def plain() -> None:
        target = folder / "plain.db"
        target.unlink(missing_ok=True)
        connection = sqlite3.connect(target)
        with source.open(newline="", encoding="utf-8") as file, connection:
            rows = csv.reader(file)
            connection.execute(f"CREATE TABLE items ({', '.join(next(rows))})")
            connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?)", rows)
        connection.close()

    def study() -> None:
        target = folder / "study.db"
        target.unlink(missing_ok=True)
        create_store(target, PROTOCOL, PROTOCOL.name, work(source)).close()

    def records() -> None:
        for _ in work(source):
            pass

    # In turns, the best of each: the machine may be doing other things.
    before = peak()
    times = {step.__name__: [timed(step) for _ in range(repeat)] for step in (plain, records, study)}
    best = {name: min(found) for name, found in times.items()}
    print(f"csv.reader and plain sqlite3       {best['plain']:8.2f} s")
    print(f"csv.reader and our records alone   {best['records']:8.2f} s")
    print(f"csv.reader, records and a study    {best['study']:8.2f} s   {best['study'] / best['plain']:.2f} × plain")
    print(f"peak memory                        {peak():8.0f} MB   (before: {before:.0f})")


def opening(study: Path, n: int) -> None:
    small = study.with_name("small.db")
    create_store(small, PROTOCOL, PROTOCOL.name, list(plain_work(1000))).close()
    for path, last in ((small, 999), (study, n - 1)):

        def look(path: Path = path, last: int = last) -> None:
            with open_store(path) as store:
                assert store.items.find(f"item-{last:08}") is not None
                assert store.items.unit(f"item-{last:08}") is not None

        look()
        print(f"open, one item, one unit of {last + 1:9,} {min(timed(look) for _ in range(20)) * 1000:7.2f} ms")


def ratings(study: Path, n_items: int, n: int) -> None:
    criterion = PROTOCOL.criteria[0].id

    def made() -> Iterator[Rating]:
        for number in range(n):
            yield Rating(
                unit=f"item-{number % n_items:08}",
                criterion=criterion,
                rater=f"rater-{number // n_items}",
                digest=PROTOCOL.digest,
                value="SUPPORTED",
                rationale="The second passage says so.",
            )

    raters = [RaterRef(f"rater-{number}", Kind.MODEL) for number in range(n // n_items + 1)]
    with open_store(study) as store:
        report("add ratings", n, lambda: store.ratings.add(made(), raters=raters))
        report("read ratings", n, lambda: sum(1 for _ in store.ratings.all()))
        report("count ratings", n, lambda: store.ratings.count())
        report("read items", n_items, lambda: sum(1 for _ in store.items.all()))
        report("read units", n_items, lambda: sum(1 for _ in store.items.units()))
        report("backup", 1, lambda: store.backup(study.with_name("backup.db")))
        singles = list(islice(made(), 200))
        report("add one rating at a time", 200, lambda: [store.ratings.add([rating_again(r)]) for r in singles])


def rating_again(rating: Rating) -> Rating:
    return Rating(
        unit=rating.unit, criterion=rating.criterion, rater=rating.rater, digest=rating.digest, value="CONTRADICTED"
    )


def report(what: str, n: int, step: Callable[[], object]) -> None:
    seconds = timed(step)
    print(f"{what:34} {seconds:8.2f} s   {seconds / n * 1e6:9.1f} µs each")


def timed(step: Callable[[], object]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def peak() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform != "darwin" else most / 1024**2


def write_csv(path: Path, n: int) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", *FIELDS))
        for number in range(n):
            writer.writerow(
                (
                    f"item-{number:08}",
                    f"Which of the {number % 97} rivers named in the text is the longest, and where does it end?",
                    f"Passage {number}: the river rises in the hills and meets the sea after {number % 1300} km. " * 3,
                    f"It is {number % 1300} kilometres long.",
                    f"{number % 1300} km",
                )
            )


def work(path: Path) -> Iterator[ItemUnits]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)[1:]
        for row in rows:
            item = Item(row[0], dict(zip(names, row[1:], strict=True)))
            yield item, split(PROTOCOL, item)


def plain_work(n: int) -> Iterator[ItemUnits]:
    for number in range(n):
        item = Item(f"item-{number:08}", dict.fromkeys(FIELDS, "text"))
        yield item, split(PROTOCOL, item)


if __name__ == "__main__":
    main()
