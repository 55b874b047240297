"""The other tools on the same items with the same prompts, each in its own process, measured from outside."""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.judge_cost import Cost, Pace, spent
from bench.judge_server import ROOT, running
from bench.judge_study import write_items

ENVIRONMENT = {
    "PYTHONPATH": str(ROOT),
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
}


@dataclass(frozen=True)
class Tool:
    """`keeps` says what is on the disk, and since when."""

    name: str
    module: str
    keeps: str
    options: Sequence[str] = ()
    most: int | None = None
    """No more items than this: the tool's cost for an item grows with their number."""


TOOLS = (
    Tool("pydantic-evals", "with_pydantic_evals", "nothing by itself; here its report as JSON, at the end"),
    Tool("deepeval, no cache", "with_deepeval", "its run as JSON, at the end"),
    Tool("deepeval, cache", "with_deepeval", "a JSON cache, written anew after each item", ("--cache",), most=800),
    Tool("inspect-ai", "with_inspect", "events in SQLite as they come, a log about 20 times a run"),
)


def compared(python: Path, folder: Path, prompt: Mapping[str, str], start: int, n: int) -> dict[Tool, Pace]:
    """What an item costs with each tool, from runs of `start` and of `n` items."""
    write_items(folder / "items.jsonl", "halo-support", n)
    (folder / "prompt.json").write_text(json.dumps(prompt), encoding="utf-8")
    paces: dict[Tool, Pace] = {}
    for tool in TOOLS:
        # Once for nothing: the first start reads the tool's files from the disk, and no later one does.
        _run(python, folder, tool, start)
        paces[tool] = Pace(_run(python, folder, tool, start), _run(python, folder, tool, min(n, tool.most or n)))
    return paces


def _run(python: Path, folder: Path, tool: Tool, n: int) -> Cost:
    shutil.rmtree(folder / ".deepeval", ignore_errors=True)
    with running() as server:
        command = (str(python), "-m", f"bench.judge_peers.{tool.module}", server.url, str(folder), str(n))
        cost = spent((*command, *tool.options), n, folder=folder, environment=ENVIRONMENT)
        calls = server.state()["calls"]
    print(
        f"  {tool.name}, {n:,} items: {cost.seconds:.1f} s, {cost.cpu:.1f} s of CPU, {cost.memory:.0f} MB; "
        f"{calls:,} calls",
        flush=True,
    )
    if calls != n:
        sys.exit(f"{tool.name} made {calls} calls for {n} items")
    return cost
