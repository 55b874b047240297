"""A CSV of 1,000,000 rows becomes a study: time against csv.reader feeding plain sqlite3 in one run, and memory.

Goal: at most 3 times the plain loop, at most 500 MB.
"""

import csv
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = int(os.environ.get("EVENHAND_BENCH_ROWS", "1000000"))
WORDS = ("the", "river", "bridge", "was", "built", "by", "engineers", "and", "its", "main", "span", "is", "long")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "items.csv"
        _make(table)
        print(f"{ROWS:,} rows, {table.stat().st_size / 1e6:.0f} MB of CSV")
        plain = min(_timed(lambda: _plain(table, Path(folder) / "plain.db")) for _ in range(2))
        ours, memory = _ours(table, Path(folder) / "study.db")
        print(f"csv.reader + sqlite3 executemany  {plain:6.2f} s")
        print(f"evenhand new                      {ours:6.2f} s   ratio {ours / plain:.2f} (goal: at most 3)")
        print(f"peak memory of evenhand new       {memory / 1e6:6.0f} MB (goal: at most 500)")
        _size_does_not_matter(Path(folder))


def _make(path: Path) -> None:
    rng = random.Random(1)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "context", "generated_answer", "gold_answer"])
        for n in range(ROWS):
            context = " ".join(rng.choices(WORDS, k=40))
            writer.writerow([f"q{n}", f"How long is span {n}?", context, f"It is {n} metres.", f"{n} metres"])


def _plain(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    connection = sqlite3.connect(target)
    connection.execute("CREATE TABLE items (id, question, context, generated_answer, gold_answer)")
    with source.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        next(reader)
        connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?)", reader)
    connection.commit()
    connection.close()


def _ours(source: Path, target: Path) -> tuple[float, float]:
    command = [
        sys.executable,
        "-m",
        "evenhand",
        "new",
        str(target),
        "--protocol",
        "halo-support",
        "--items",
        str(source),
    ]
    seconds: list[float] = []
    for _ in range(2):
        target.unlink(missing_ok=True)
        seconds.append(_timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)))
    return min(seconds), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def _size_does_not_matter(folder: Path) -> None:
    code = (
        "import sys, time; from evenhand import Study; start = time.perf_counter();"
        "study = Study.open(sys.argv[1]); study.item(sys.argv[2]); print(time.perf_counter() - start)"
    )
    small = folder / "small.csv"
    with (folder / "items.csv").open(encoding="utf-8") as source:
        small.write_text("".join(next(source) for _ in range(1001)), encoding="utf-8")
    command = [sys.executable, "-m", "evenhand", "new", str(folder / "small.db"), "--protocol", "halo-support"]
    subprocess.run([*command, "--items", str(small)], check=True, stdout=subprocess.DEVNULL)
    times = {
        name: min(
            float(subprocess.run([sys.executable, "-c", code, str(folder / file), last], capture_output=True, text=True,
                                 check=True).stdout)
            for _ in range(5)
        )
        for name, file, last in (("1,000", "small.db", "q999"), (f"{ROWS:,}", "study.db", f"q{ROWS - 1}"))
    }  # fmt: skip
    small_time, large_time = times.values()
    print(f"open and fetch the last item      {large_time / small_time:6.2f} times that of a study of 1,000 items")


def _timed(action: object) -> float:
    assert callable(action)
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
