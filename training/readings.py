"""What the product reads of the development sets: `python -m training.readings DATA MODEL OUT [--most 600]`.

For each pair, and for sentences of the held-back evidence with one detail changed: the sentences of the claim, each
with its features, through the code that users run. MODEL is a folder with model.onnx and tokenizer.json.
"""

import argparse
import hashlib
import json
from pathlib import Path
from random import Random

from evenhand.verify.claims import statements
from evenhand.verify.features import FEATURES, Comparison
from evenhand.verify.network import Network
from evenhand.verify.retrieval import Article
from evenhand.verify.verifier import prepare
from training.details import detail_pairs
from training.pairs import HELD_BACK, Pair, for_measuring


def sampled(pairs: list[Pair], most: int) -> list[Pair]:
    """At most so many pairs, chosen by their text alone."""
    return sorted(pairs, key=lambda pair: hashlib.sha256((pair.claim + pair.evidence).encode()).hexdigest())[:most]


def features_of(pair: Pair, network: Network) -> list[list[float]]:
    """The features of each part of each sentence of a claim that claims something."""
    article = Article(pair.evidence)
    rows: list[list[float]] = []
    for reads in (prepare(text, article, english=False) for text in statements(pair.claim)):
        readings = network.read(reads.pairs)
        for part in reads.parts:
            own, readings = readings[: len(part.views)], readings[len(part.views) :]
            rows.append(Comparison(part.claim, part.views[0], article, own).features())
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=600, help="pairs of each set")
    options = parser.parse_args()
    network = Network(options.model)
    with options.out.open("w", encoding="utf-8") as lines:
        lines.write(json.dumps({"features": list(FEATURES)}) + "\n")
        sets = for_measuring(options.data)
        texts = sorted({pair.evidence for name in HELD_BACK for pair in sets[name]})
        sets["details"] = list(detail_pairs(texts, options.most // 6, Random(1)))
        for name, pairs in sets.items():
            for pair in sampled(pairs, options.most):
                row = {"set": name, "source": pair.source, "group": pair.group, "label": pair.label}
                lines.write(json.dumps(row | {"parts": features_of(pair, network)}) + "\n")
            print(name, flush=True)


if __name__ == "__main__":
    main()
