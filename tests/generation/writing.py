"""A scripted model that writes for generators, and input for it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from tests.chat_server import CODE, Answer, Behaviour, Call, says

FUNDING = (
    "The Secretary of State for Education provides funding for education provision. The ESFA pays colleges each month."
)


def chunks_file(folder: Path, n: int = 2, name: str = "chunks.jsonl") -> Path:
    """Chunks of text, each with two triples."""
    rows = [
        {"id": f"c{place}", "source": f"{FUNDING} This is chunk {place}.",
         "triples": "Secretary of State for Education → provides_funding → Education Provision\nESFA → pays → colleges"}
        for place in range(1, n + 1)
    ]  # fmt: skip
    (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder / name


def reply(**fields: object) -> str:
    """A reply with these fields; `declined` is null unless it is given."""
    return json.dumps({"code": CODE, "declined": None, **fields})


def system_of(call: Call) -> str:
    return str(call.body["messages"][0]["content"])


def cell_of(call: Call) -> tuple[str, int]:
    """The question type that a prompt asks for, and how many worked examples it has."""
    found = re.search(r"^- question_type: (\w+)\.", system_of(call), re.MULTILINE)
    assert found is not None
    return found[1], len(re.findall(r"^## Example ", system_of(call), re.MULTILINE))


WORDS = "amber basin cedar delta ember fjord grove haven inlet jetty knoll larch marsh north ocean plain ridge".split()


def pair(call: Call, **changed: object) -> str:
    """A good pair: its question differs from cell to cell and from chunk to chunk."""
    kind, shots = cell_of(call)
    place = ("factual", "relational", "comparative", "inferential").index(kind) * 4 + shots
    chunk = re.search(r"This is chunk (\d+)\.", str(call.body["messages"][1]["content"]))
    number = chunk[1] if chunk else "0"
    words = " ".join(f"{WORDS[(place * 5 + step) % len(WORDS)]}{place}" for step in range(7))
    question = f"Which {kind} {words} does chunk {number} mention?"
    answer = " ".join(["The ESFA pays colleges each month on behalf of the Secretary of State for Education,"] * 2)
    return reply(**{"question": question, "answer": answer, **changed})


def writes_pairs(call: Call) -> Answer:
    return says(pair(call))


def writes(fields: Mapping[str, object]) -> Behaviour:
    """Always the same output."""
    return lambda _: says(reply(**fields))
