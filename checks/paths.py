"""Count how often a reader who follows one operation has to change files.

`python -m checks.paths` carries out the three operations of CONTRIBUTING.md and prints, for each, the
number of switches between source files: every function with a name counts once, when it is first called, and a
switch is a change of file from one such call to the next. Imports do not count. `--list` prints the calls.
"""

import json
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType

import evenhand
from evenhand.cli import main
from evenhand.study import Study
from tests.chat_server import CODE, ChatServer, says
from tests.web.browsing import Browsers
from tests.web.hands import Hand

PACKAGE = str(Path(evenhand.__file__).parent)
GOALS = {"model's rating": 92, "person's answer": 36, "agree": 60}
"""Half of what was counted so on the code before the redesign: 185, 73 and 120."""

ITEMS = [
    {
        "id": f"i{number}",
        "question": "When?",
        "context": f"It was in {1990 + number}.",
        "generated_answer": f"In {1990 + number}.",
    }
    for number in range(4)
]


class Trace:
    """The functions of the package in the order in which they are first called, in any thread."""

    def __init__(self) -> None:
        self.calls: list[CodeType] = []
        self._seen: set[CodeType] = set()

    @property
    def switches(self) -> int:
        files = [code.co_filename for code in self.calls]
        return sum(before != after for before, after in pairwise(files))

    def restart(self) -> None:
        """Forget the calls so far: what follows is the operation itself."""
        self.calls.clear()
        self._seen.clear()

    @contextmanager
    def record(self) -> Generator[None]:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_name.startswith("<") or _importing(frame):
            return
        self._seen.add(code)
        self.calls.append(code)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def model_rating(study: Path) -> Trace:
    """`evenhand judge` asks an HTTP server about one item."""
    reply = says(json.dumps({"unit_code": CODE, "support": {"answer": "SUPPORTED"}, "notes": None}))
    trace = Trace()
    with ChatServer(lambda call: reply) as server, trace.record():
        _run("judge", str(study), "--rater", f"judge={server.url}#m", "--limit", "1")
    return trace


def person_answer(study: Path) -> Trace:
    """A rater saves one answer at the page."""
    trace = Trace()
    with trace.record(), Study.open(study) as opened, Browsers(opened) as page:
        hand = Hand(page.rater("ann"))
        task = hand.take()
        trace.restart()
        answer = hand.put(task["number"], 1, "support", {"value": "SUPPORTED"})
        assert answer.status_code == 200, answer.text
        sys.setprofile(None)
        calls = list(trace.calls)
    trace.calls = calls
    return trace


def agree(study: Path) -> Trace:
    """`evenhand agree` on two raters."""
    ratings = study.with_name("ratings.csv")
    for rater, labels in (("ben", "SSCN"), ("eve", "SSNN")):
        names = {"S": "SUPPORTED", "C": "CONTRADICTED", "N": "NO EVIDENCE"}
        lines = [f"{item['id']},{names[label]}" for item, label in zip(ITEMS, labels, strict=True)]
        ratings.write_text("\n".join(["id,support", *lines]), encoding="utf-8")
        _run("ratings", "import", str(study), str(ratings), "--rater", rater)
    trace = Trace()
    with trace.record():
        _run("agree", str(study))
    return trace


OPERATIONS: dict[str, Callable[[Path], Trace]] = {
    "model's rating": model_rating,
    "person's answer": person_answer,
    "agree": agree,
}


def _run(*arguments: str) -> None:
    """A command within this process; what it prints is dropped."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as errors:
        try:
            main(list(arguments))
        except SystemExit as end:
            if end.code:
                raise RuntimeError(errors.getvalue()) from end


def traces(folder: Path) -> dict[str, Trace]:
    """Each operation on a study of its own."""
    items = folder / "items.jsonl"
    items.write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    found: dict[str, Trace] = {}
    for number, (name, operation) in enumerate(OPERATIONS.items()):
        study = folder / f"study{number}.db"
        _run("new", str(study), "--protocol", "halo-support", "--items", str(items))
        found[name] = operation(study)
    return found


def report(arguments: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = traces(Path(folder))
    for name, trace in found.items():
        print(f"{name}: {trace.switches} switches between files (goal: {GOALS[name]})")
        if "--list" in arguments:
            for code in trace.calls:
                print(f"  {Path(code.co_filename).relative_to(PACKAGE)}: {code.co_qualname}")


if __name__ == "__main__":
    report(sys.argv[1:])
