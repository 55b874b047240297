"""A run that is killed again and again produces everything once."""

import json
import os
import time
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path

from evenhand.cli import main
from evenhand.run import worker
from evenhand.study import Study
from tests.chat_server import Answer, Call, ChatServer, says
from tests.generation.writing import chunks_file, pair
from tests.processes import FORKS

CHUNKS, KILLS, PLACES = 25, 10, 4
LEASE = 1.0


def _generate(arguments: list[str]) -> None:
    """The command, with leases that end soon after it was killed."""
    worker.LEASE_SECONDS = LEASE
    with open(os.devnull, "w", encoding="utf-8") as nothing, redirect_stdout(nothing):
        main(arguments)


def test_killed_ten_times_300_outputs_are_produced_once_each_within_the_cap(tmp_path: Path):
    chunks, output = chunks_file(tmp_path, CHUNKS), tmp_path / "qa.jsonl"

    def behaviour(call: Call) -> Answer:
        return says(pair(call), delay=0.005)

    with ChatServer(behaviour) as server:
        options = ["--model", f"m={server.url}#m", "--concurrency", str(PLACES), "--price", "1/10", "--max-cost", "50"]
        arguments = ["generate", "neureg-qa", "--items", str(chunks), "-o", str(output), *options]
        for kill in range(1, KILLS + 1):
            process = FORKS.Process(target=_generate, args=(arguments,))
            process.start()
            deadline = time.monotonic() + 120
            while len(server.calls) < kill * 27 and process.is_alive():
                assert time.monotonic() < deadline, "the run makes no calls"
                time.sleep(0.005)
            assert process.is_alive()
            process.kill()
            process.join()
        process = FORKS.Process(target=_generate, args=(arguments,))
        process.start()
        process.join(120)
        assert process.exitcode == 0
        prompts = Counter(json.dumps(call.body["messages"]) for call in server.calls)
    # Only calls in flight at a kill are repeated.
    assert len(prompts) == CHUNKS * 12
    assert prompts.total() <= CHUNKS * 12 + KILLS * PLACES
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    cells = Counter((row["input_id"], row["question_type"], row["shot_type"]) for row in rows)
    assert len(cells) == CHUNKS * 12
    assert set(cells.values()) == {1}
    with Study.open(tmp_path / "qa.neureg-qa.db") as study:
        assert Counter(rating.unit for rating in study.store.ratings.all(history=True)).total() == CHUNKS * 12
        assert max(run.spent for run in study.store.work.runs()) <= 50_000_000
