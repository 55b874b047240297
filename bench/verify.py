"""The verifier in the box: pairs a second, a long article, memory, and time against the article's length.

    python -m bench verify [--weights FOLDER] [--pairs 256] [--quick]

--weights: a Hugging Face folder with the same network before its weights became 8-bit (BertForSequenceClassification);
with torch and transformers installed its float32 speed is measured in the same run, on the same batches. Articles and
claims are made of seeded sentences; every time is the best of three.
"""

import argparse
import importlib
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding, Tokenizer

from evenhand.verify.evidence import Article
from evenhand.verify.network import FOLDER, LONGEST, Network, shared
from evenhand.verify.reading import Reading
from evenhand.verify.verifier import Reads, conclude, prepare, whole

LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
ARTICLE_TOKENS = 5_000
SENTENCES = 10
ROOM = 4096
"""Tokens in a batch, as the network in the box has them."""

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
    pace = _speed(network, pairs)
    print(f"network in the box, 8-bit    {pace:7.1f} pairs a second")
    _against_torch(options.weights, network, pairs, pace)
    seconds = _best(long_article)
    print(f"{ARTICLE_TOKENS:,} tokens, {SENTENCES} sentences  {seconds:7.2f} s")
    _memory()
    _growth(LENGTHS[:3] if options.quick else LENGTHS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench verify", description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder with the float32 network, for PyTorch")
    parser.add_argument("--pairs", type=int, default=256, help="pairs of evidence and claim that are read")
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
    times: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _speed(network: Network, pairs: Sequence[tuple[str, str]]) -> float:
    network.read(pairs[:4])
    return len(pairs) / _best(lambda: network.read(pairs))


def _against_torch(weights: Path | None, network: Network, pairs: Sequence[tuple[str, str]], pace: float) -> None:
    try:
        torch, transformers = importlib.import_module("torch"), importlib.import_module("transformers")
    except ImportError as missing:
        print(f"PyTorch: not measured ({missing}): pip install torch transformers, and give --weights FOLDER")
        return
    if weights is None:
        print("PyTorch: not measured: give --weights FOLDER, a Hugging Face folder with the float32 network")
        return
    model = transformers.BertForSequenceClassification.from_pretrained(weights).eval()
    batches = list(_batches(pairs))

    def read() -> dict[int, Any]:
        found: dict[int, Any] = {}
        with torch.inference_mode():
            for places, encoded in batches:
                rows = model(**_tensors(torch, encoded)).logits.softmax(-1).tolist()
                found.update(zip(places, rows, strict=True))
        return found

    theirs = len(pairs) / _best(read)
    found, ours = read(), network.read(pairs)
    apart = [abs(one.supported - found[at][0]) for at, one in enumerate(ours)]
    print(f"the same in PyTorch, float32 {theirs:7.1f} pairs a second   {pace / theirs:.2f} times as many in the box")
    print(f"  their probabilities of support differ by {np.mean(apart):.3f} on average, {max(apart):.3f} at most")


def _batches(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[list[int], list[Encoding]]]:
    """Pairs of similar length together, as the network in the box reads them."""
    tokenizer = Tokenizer.from_str((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST, strategy="only_first")  # pyright: ignore[reportUnknownMemberType]
    encoded = tokenizer.encode_batch(list(pairs))
    batch: list[int] = []
    for at in sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids)):
        if batch and len(encoded[at].ids) * (len(batch) + 1) > ROOM:
            yield batch, [encoded[at] for at in batch]
            batch = []
        batch.append(at)
    yield batch, [encoded[at] for at in batch]


def _tensors(torch: Any, encoded: Sequence[Encoding]) -> dict[str, Any]:
    width = max(len(one.ids) for one in encoded)
    columns = {
        "input_ids": [one.ids for one in encoded],
        "attention_mask": [one.attention_mask for one in encoded],
        "token_type_ids": [one.type_ids for one in encoded],
    }
    return {name: torch.tensor([[*row, *([0] * (width - len(row)))] for row in rows]) for name, rows in columns.items()}


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
    code = (
        "import bench.verify as own; own.long_article();"
        # Not `ru_maxrss`, which a child begins with its parent's peak.
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    print(f"  peak memory of a process   {int(printed) * 1024 / 1e6:7.0f} MB")


def _growth(lengths: Sequence[int]) -> None:
    """What the article's length costs: cutting, searching and checks, and what the network reads for ten claims."""
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
