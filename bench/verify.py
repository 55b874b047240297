"""The built-in verifier: pairs a second, a long article, memory, and time against the article's length.

    python -m bench verify [--weights FOLDER] [--pairs 256] [--against CHECKOUT] [--quick]

--weights: a Hugging Face folder with the same network before its weights became 8-bit (BertForSequenceClassification);
with torch and transformers installed its float32 speed is measured in the same run, on the same batches. --against: a
checkout of another version, installed in its .venv, whose verifier reads the same article by turns with this one.
Articles and claims are made of seeded sentences; every time is the best of three, or of five by turns. On a machine
that does other work, `taskset -c 0` gives both sides of a comparison one core each.
"""

import argparse
import importlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evenhand.verify.network import FOLDER, Network, Reading, batches, inputs_of, shared
from evenhand.verify.retrieval import Article
from evenhand.verify.verifier import Reads, conclude, prepare, whole

ROOT = Path(__file__).parents[1]
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
ARTICLE_TOKENS = 5_000
SENTENCES = 10
_ROUNDS = 5
# The peak is not `ru_maxrss`, which a child begins with its parent's peak.
_WORKER = """
import sys, time, bench.verify as own
own.long_article()
for _ in sys.stdin:
    start = time.perf_counter()
    own.long_article()
    print(time.perf_counter() - start, flush=True)
print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))
"""
Rows = Sequence[tuple[list[int], int]]
Way = Callable[[Rows], NDArray[np.float32]]

NAMES = (
    "Marlow Tessin Okafor Brandt Ilves Quiroga Haddon Sorel Nakata Pruett Vashti Lindqvist Amadi Corran Zell".split()
)
PLACES = "Ardmoor Kelby Port-Sand Vessel Hollin Tarnby Oskell Mirefield Lower-Marl Brannock Estuary Skarn Quill".split()
THINGS = "bridge school ferry museum dairy library reservoir tower market station theatre archive hospital mill".split()
WHAT = (
    "The {thing} in {place} was opened by {name} in {year} and cost {number} thousand pounds.",
    "{name} moved to {place} in {year}, where a new {thing} was being planned.",
    "About {number} people worked at the {thing} near {place} before {name} closed it.",
    "A fire destroyed the old {thing} of {place} in {year}; nobody was hurt.",
    "Every {thing} around {place} has at least {number} rooms, according to {name}.",
)


def main() -> None:
    options = _options()
    network = Network()
    pairs = _pairs(32 if options.quick else options.pairs)
    _speed(network, pairs, options.weights)
    seconds = _best(long_article)
    print(f"{ARTICLE_TOKENS:,} tokens, {SENTENCES} sentences  {seconds:7.2f} s")
    _memory()
    if options.against:
        _compare(options.against)
    _growth(LENGTHS[:3] if options.quick else LENGTHS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench verify", description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder with the float32 network, for PyTorch")
    parser.add_argument("--pairs", type=int, default=256, help="pairs of evidence and claim that are read")
    parser.add_argument("--against", type=Path, help="a checkout of another version, installed in its .venv")
    parser.add_argument("--quick", action="store_true", help="small runs that only show that everything works")
    return parser.parse_args()


def _sentences(seed: int) -> Iterator[str]:
    pick = random.Random(seed)
    while True:
        yield pick.choice(WHAT).format(
            thing=pick.choice(THINGS),
            place=pick.choice(PLACES),
            name=pick.choice(NAMES),
            year=pick.randint(1700, 2020),
            number=pick.randint(3, 990),
        )


def _text(characters: int, seed: int = 1) -> str:
    made, length = list[str](), 0
    for sentence in _sentences(seed):
        if length + len(sentence) > characters and made:
            return " ".join(made)
        made.append(sentence)
        length += len(sentence) + 1
    raise AssertionError("sentences do not end")


def _claims(n: int, seed: int = 2) -> list[str]:
    source = _sentences(seed)
    return [next(source) for _ in range(n)]


def _pairs(n: int) -> list[tuple[str, str]]:
    """As a study has them: a passage of some 140 words, and single sentences."""
    article = Article(_text(20_000))
    return [pair for claim in _claims(n) for pair in prepare(claim, article).pairs][:n]


def _best(work: Callable[[], object]) -> float:
    return min(_timed(work) for _ in range(3))


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _speed(network: Network, pairs: Sequence[tuple[str, str]], weights: Path | None) -> None:
    """Tokenized and in batches, as the built-in network reads them, for it and for PyTorch alike."""
    encoded = network.encoded(pairs)
    groups = [[encoded[at] for at in batch] for batch in batches([len(ids) for ids, _ in encoded])]
    ways: dict[str, Way] = {"built-in network, 8-bit": network.run, **_in_torch(weights)}
    paces = dict.fromkeys(ways, (0.0, 0.0))
    # By turns, so that whatever else the machine does slows all of them.
    for _ in range(_ROUNDS):
        for name, run in ways.items():
            by_clock, by_cpu = _paces(len(pairs), lambda run=run: [run(rows) for rows in groups])
            paces[name] = (max(paces[name][0], by_clock), max(paces[name][1], by_cpu))
    for name, (by_clock, by_cpu) in paces.items():
        print(f"{name:28} {by_clock:7.1f} pairs a second {by_cpu:7.1f} a CPU second")
    if len(ways) == 2:
        ours, theirs = paces.values()
        own, other = (np.concatenate([_shares(run(rows)) for rows in groups]) for run in ways.values())
        apart = np.abs(own - other)[:, 0]
        print(f"  {ours[0] / theirs[0]:.2f} and {ours[1] / theirs[1]:.2f} times as many with the built-in network")
        print(f"  their probabilities of support differ by {apart.mean():.3f} on average, {apart.max():.3f} at most")


def _paces(pairs: int, work: Callable[[], object]) -> tuple[float, float]:
    """Pairs a second, by the clock and by the time that this process had a processor."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return pairs / (time.perf_counter() - clock), pairs / (time.process_time() - cpu)


def _in_torch(weights: Path | None) -> dict[str, Way]:
    """The same network before its weights became 8-bit, where PyTorch is installed."""
    try:
        torch, transformers = importlib.import_module("torch"), importlib.import_module("transformers")
    except ImportError as missing:
        print(f"PyTorch: not measured ({missing}): pip install torch transformers, and give --weights FOLDER")
        return {}
    if weights is None:
        print("PyTorch: not measured: give --weights FOLDER, a Hugging Face folder with the float32 network")
        return {}
    model = transformers.BertForSequenceClassification.from_pretrained(weights).eval()

    def run(rows: Rows) -> NDArray[np.float32]:
        with torch.inference_mode():
            inputs = {name: torch.from_numpy(values) for name, values in inputs_of(rows).items()}
            return model(**inputs).logits.numpy()

    return {"the same in PyTorch, float32": run}


def _shares(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    return odds / odds.sum(axis=1, keepdims=True)


def _verified(text: str, claims: Sequence[str]) -> None:
    """As the rater does it: the article is cut once, and every pair is read in one go."""
    article = Article(text)
    reads = [prepare(claim, article) for claim in claims]
    readings = shared().read([pair for one in reads for pair in one.pairs])
    whole(_concluded(reads, readings, article))


def _concluded(reads: Sequence[Reads], readings: Sequence[Reading], article: Article) -> list[Any]:
    verdicts, start = list[Any](), 0
    for one in reads:
        own = readings[start : start + len(one.pairs)]
        start += len(one.pairs)
        verdicts.append(conclude(one, own, article, calibrated=True))
    return verdicts


def long_article() -> None:
    _verified(_article_of(ARTICLE_TOKENS), _claims(SENTENCES))


def _article_of(tokens: int) -> str:
    tokenizer = Tokenizer.from_str((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.no_truncation()
    text = _text(6 * tokens)
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    return text[: offsets[tokens - 1][1]]


def _memory() -> None:
    """The peak of a process that verifies the long article and does nothing else."""
    printed = subprocess.run([sys.executable, "-c", _WORKER], input="", check=True, capture_output=True, text=True)
    print(f"  peak memory of a process   {int(printed.stdout) * 1024 / 1e6:7.0f} MB")


def _compare(other: Path) -> None:
    """The long article by turns in a process of this version and in one of another."""
    processes = [_worker(Path(sys.executable), ROOT), _worker(other / ".venv/bin/python", other)]
    seconds = [min(times) for times in zip(*([_asked(one) for one in processes] for _ in range(_ROUNDS)), strict=True)]
    peaks = [int(process.communicate()[0]) * 1024 / 1e6 for process in processes]
    for name, time_taken, peak in zip(("this version", "the other"), seconds, peaks, strict=True):
        print(f"  {name:12} {time_taken:7.2f} s {peak:7.0f} MB")
    print(f"  {seconds[0] / seconds[1]:.2f} times the time, {peaks[0] / peaks[1]:.2f} times the memory")


def _worker(python: Path, checkout: Path) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"}
    pipe, command = subprocess.PIPE, [python, "-c", _WORKER]
    return subprocess.Popen(command, cwd=checkout, env=environment, stdin=pipe, stdout=pipe, text=True)


def _asked(process: "subprocess.Popen[str]") -> float:
    assert process.stdin
    assert process.stdout
    process.stdin.write("again\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def _growth(lengths: Sequence[int]) -> None:
    """What the article's length costs: splitting, searching and features, and what the network reads for ten claims."""
    claims = _claims(SENTENCES)
    print(f"{SENTENCES} claims, characters of the article   without network   with it   growth against the length's")
    before: tuple[int, float] | None = None
    for length in lengths:
        text = _text(length)
        plain = _best(lambda text=text: _without_network(text, claims))
        full = _best(lambda text=text: _verified(text, claims))
        growth = f"{(plain / before[1]) / (length / before[0]):.2f} times linear" if before else ""
        print(f"{length:38,}   {plain:13.3f} s {full:8.3f} s   {growth}")
        before = (length, plain)


def _without_network(text: str, claims: Sequence[str]) -> None:
    article = Article(text)
    reads = [prepare(claim, article) for claim in claims]
    _concluded(reads, [Reading(0.3, 0.3, 0.4)] * sum(len(one.pairs) for one in reads), article)


if __name__ == "__main__":
    main()
