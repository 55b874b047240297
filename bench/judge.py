"""`evenhand judge` against a real HTTP server on loopback, and the same work through other tools in the same run.

    python -m bench judge [--items 20000] [--no-peers] [--environment .venv-peers] [--quick]

Goals: with 50 ms latency and 32 at once 90 % of the ideal 640 items a second; flat out 1,000 items a second; 0.8 ms of
CPU an item with prompt, parsing and durable storage; the same memory for 100,000 items as for 1,000. The server runs in
a process of its own, whose CPU is not counted. Rates and CPU are those of one more item: what each program takes to
start is measured with a small run and taken off, and printed beside.
"""

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.judge_cost import Pace
from bench.judge_peers.environment import python_with_peers
from bench.judge_peers.tools import Tool, compared
from bench.judge_server import ROOT
from bench.judge_study import CONCURRENCY, judged, sent_prompt

LATENCY = 0.05
START = 32


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prompt = sent_prompt(folder)
        few = 500 if options.quick else 2000
        with_latency(folder, 1000 if options.quick else options.items // 2)
        flat_out(folder, 2000 if options.quick else options.items)
        five_criteria(folder, 500 if options.quick else options.items // 4)
        memory(folder, (200, 1000, 2000) if options.quick else (1000, 10_000, 100_000))
        if options.peers and (python := python_with_peers(options.environment)):
            against_peers(folder, python, prompt, few)
        else:
            print("other tools: not measured")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench judge", description=__doc__)
    parser.add_argument("--items", type=int, default=20_000, help="items of the flat-out run; half of it with latency")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure other tools too")
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv-peers", help="where they are installed")
    parser.add_argument("--quick", action="store_true", help="small runs that only show that everything works")
    return parser.parse_args()


def with_latency(folder: Path, n: int) -> None:
    print(f"{1000 * LATENCY:.0f} ms latency")
    pace = Pace(judged(folder, "halo-support", START, LATENCY), judged(folder, "halo-support", n, LATENCY))
    ideal = CONCURRENCY / LATENCY
    share, from_start = pace.rate / ideal, pace.rate_from_start / ideal
    print(f"  items a second              {pace.rate:8.0f}   {share:.1%} of the ideal {ideal:.0f} (goal: 90 %)")
    print(f"  start of the program incl.  {pace.rate_from_start:8.0f}   {from_start:.1%}")


def flat_out(folder: Path, n: int) -> None:
    print("flat out")
    pace = Pace(judged(folder, "halo-support", START), judged(folder, "halo-support", n))
    print(f"  items a second              {pace.rate:8.0f}   (goal: 1,000)")
    print(f"  start of the program incl.  {pace.rate_from_start:8.0f}")
    print(f"  CPU an item                 {pace.cpu:8.3f} ms (goal: at most 0.8)")


def five_criteria(folder: Path, n: int) -> None:
    print("five criteria in one reply")
    pace = Pace(judged(folder, "neureg-qa", START), judged(folder, "neureg-qa", n))
    print(f"  CPU an item                 {pace.cpu:8.3f} ms, {pace.cpu / 5:.3f} a rating")


def memory(folder: Path, sizes: tuple[int, ...]) -> None:
    print("memory")
    costs = [judged(folder, "halo-support", n) for n in sizes]
    ratio = costs[-1].memory / costs[0].memory
    print(f"  {sizes[-1]:,} items take         {ratio:8.2f} × the memory of {sizes[0]:,}")


def against_peers(folder: Path, python: Path, prompt: Mapping[str, str], n: int) -> None:
    print("the same items and prompts through other tools, flat out, 32 at once")
    ours = Pace(judged(folder, "halo-support", START), judged(folder, "halo-support", n))
    theirs = compared(python, folder, prompt, START, n)
    keeps = "every reply in SQLite before it is read, ratings by 16"
    rows = [(Tool("evenhand", "", keeps), ours), *theirs.items()]
    print(f"  {'':18} {'items':>6} {'CPU ms':>8} {'× ours':>7} {'items/s':>8} {'ours ×':>7} {'start s':>8}  keeps")
    for tool, pace in rows:
        print(
            f"  {tool.name:18} {pace.whole.items:6,} {pace.cpu:8.2f} {pace.cpu / ours.cpu:7.1f} {pace.rate:8.0f} "
            f"{ours.rate / pace.rate:7.1f} {pace.start.seconds:8.1f}  {tool.keeps}"
        )


if __name__ == "__main__":
    main()
