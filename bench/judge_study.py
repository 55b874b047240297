"""Studies of any size and `evenhand judge` on them, checked: every item has its ratings, every call was needed."""

import json
import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.judge_cost import Cost, spent
from bench.judge_server import running

CONCURRENCY = 32
WORDS = ("the", "river", "bridge", "was", "built", "by", "engineers", "and", "its", "main", "span", "is", "long")
CRITERIA = {"halo-support": 1, "neureg-qa": 5}


def write_items(path: Path, protocol: str, n: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(item) + "\n" for item in _items(protocol, n))


def _items(protocol: str, n: int) -> Iterator[dict[str, object]]:
    """Items with some 600 characters of evidence, each different: a reply that is known already is not asked for."""
    rng = random.Random(1)
    for number in range(n):
        evidence = f"Span {number} is {number} metres long. {' '.join(rng.choices(WORDS, k=115))}"
        question, answer = f"How long is span {number}?", f"It is {number} metres."
        if protocol == "halo-support":
            yield {"id": f"q{number}", "question": question, "context": evidence, "generated_answer": answer}
        else:
            triples = [[f"Span {number}", "has_length", f"{number} metres"], [f"Span {number}", "is_part_of", "Bridge"]]
            yield {"id": f"q{number}", "question": question, "answer": answer, "source": evidence, "triples": triples}


def judged(folder: Path, protocol: str, n: int, latency: float = 0.0) -> Cost:
    """What `evenhand judge` costs on a new study of this many items; printed with what it left in the study."""
    items, study = folder / "items-of-study.jsonl", folder / "study.db"
    write_items(items, protocol, n)
    for old in folder.glob("study.db*"):
        old.unlink()
    evenhand = (sys.executable, "-m", "evenhand")
    spent((*evenhand, "new", str(study), "--protocol", protocol, "--items", str(items)), n, folder=folder)
    with running(latency) as server:
        rater = ("--rater", f"{server.url}#bench", "--concurrency", str(CONCURRENCY))
        cost = spent((*evenhand, "judge", str(study), *rater), n, folder=folder)
        calls = server.state()["calls"]
    rated = _rated(study)
    wanted = n * CRITERIA[protocol]
    print(
        f"  {protocol}, {n:7,} items: {cost.seconds:6.1f} s, {cost.cpu:6.1f} s of CPU, {cost.memory:4.0f} MB; "
        f"{calls:,} calls, {rated:,} of {wanted:,} ratings",
        flush=True,
    )
    if (calls, rated) != (n, wanted):
        sys.exit("an item was left unrated or asked about twice: no figure stands on that")
    return cost


def _rated(study: Path) -> int:
    """Cells of the study that hold a value."""
    connection = sqlite3.connect(study)
    cells = "SELECT DISTINCT item, position, criterion FROM ratings WHERE status = 'rated' AND value IS NOT NULL"
    [(found,)] = connection.execute(f"SELECT count(*) FROM ({cells})").fetchall()
    connection.close()
    return int(found)


def sent_prompt(folder: Path) -> dict[str, str]:
    """What Evenhand sends about an item of halo-support: the part before, and the last message with fields' names."""
    [item] = _items("halo-support", 1)
    items, study = folder / "one.jsonl", folder / "one.db"
    write_items(items, "halo-support", 1)
    evenhand = (sys.executable, "-m", "evenhand")
    spent((*evenhand, "new", str(study), "--protocol", "halo-support", "--items", str(items)), 1, folder=folder)
    with running() as server:
        spent((*evenhand, "judge", str(study), "--rater", f"{server.url}#bench"), 1, folder=folder)
        *before, last = server.state()["body"]["messages"]
    text = str(last["content"])
    size = sum(len(message["content"]) for message in (*before, last))
    print(f"prompts of {size:,} characters in {1 + len(before)} messages, {CONCURRENCY} calls at once")
    for name in ("context", "generated_answer", "question"):
        if str(item[name]) not in text:
            sys.exit(f"the field {name} is not in the prompt as it stands in the item")
        text = text.replace(str(item[name]), "{{" + name + "}}")
    return {"system": "\n\n".join(str(message["content"]) for message in before), "user": text}
