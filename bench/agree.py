"""Everything `evenhand agree` prints on 1,000,000 units by 3 raters: time and memory. Goal: under a minute and 2 GB."""

import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

UNITS = int(os.environ.get("EVENHAND_BENCH_UNITS", "1000000"))
LABELS = ("SUPPORTED", "CONTRADICTED", "NO EVIDENCE")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        items, ratings, study = (str(Path(folder) / name) for name in ("items.csv", "ratings.csv", "study.db"))
        _write(items, ratings)
        _evenhand("new", study, "--protocol", "halo-support", "--items", items)
        start = time.perf_counter()
        _evenhand("ratings", "import", study, ratings)
        print(f"import of {3 * UNITS:,} ratings  {time.perf_counter() - start:6.1f} s")
        start = time.perf_counter()
        _evenhand("agree", study)
        seconds = time.perf_counter() - start
        memory = _peak(["agree", study])
        print(f"evenhand agree, {UNITS:,} units by 3 raters  {seconds:6.1f} s (goal: under 60)")
        print(f"its peak memory  {memory:.0f} MB (goal: 2,000)")


def _write(items: str, ratings: str) -> None:
    rng = random.Random(7)
    with open(items, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "question", "context", "generated_answer"])
        rows.writerows([f"q{n}", "Which?", "This one.", "That one."] for n in range(UNITS))
    with open(ratings, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["rater", "item", "criterion", "value", "kind"])
        for n in range(UNITS):
            truth = rng.choices(LABELS, (6, 3, 1))[0]
            for rater, kind in (("ann", "person"), ("ben", "person"), ("auto", "model")):
                value = truth if rng.random() < 0.8 else rng.choice(LABELS)
                rows.writerow([rater, f"q{n}", "support", value, kind])


def _evenhand(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "evenhand", *arguments], check=True, stdout=subprocess.DEVNULL)


def _peak(arguments: list[str]) -> float:
    """The largest memory of one call in MB, measured in a process that starts nothing else."""
    code = (
        "import resource, subprocess, sys;"
        "subprocess.run([sys.executable, '-m', 'evenhand', *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    ).stdout
    return int(printed) * 1024 / 1e6


if __name__ == "__main__":
    main()
