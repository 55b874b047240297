"""What the product reads of the development sets: `python -m training.readings DATA MODEL OUT [--most 600]`.

The sentences of each claim with their features, through the code that users run. Besides the sets that people labelled:
sentences of the held-back evidence with one detail changed, and held-back claims with evidence of other claims.
MODEL is a folder with model.onnx and tokenizer.json.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

from evenhand.verify.claims import statements
from evenhand.verify.features import ClaimComparison
from evenhand.verify.network import Network
from evenhand.verify.retrieval import Article
from evenhand.verify.verifier import prepare
from training.details import detail_pairs
from training.examples import elsewhere
from training.pairs import HELD_BACK, Pair, for_measuring


def sampled(pairs: list[Pair], most: int) -> list[Pair]:
    """At most so many pairs, chosen by their text alone."""
    return sorted(pairs, key=lambda pair: hashlib.sha256((pair.claim + pair.evidence).encode()).hexdigest())[:most]


def features_of(pairs: Sequence[Pair], network: Network) -> list[list[dict[str, float]]]:
    """For each pair the features of each sentence that claims something."""
    articles = [Article(pair.evidence) for pair in pairs]
    reads = [
        [prepare(said, article, english=False) for said in statements(pair.claim)]
        for pair, article in zip(pairs, articles, strict=True)
    ]
    readings = iter(network.read([pair for some in reads for one in some for pair in one.pairs]))
    return [
        [
            ClaimComparison(one.claim, one.views[0], article, [next(readings) for _ in one.views]).features()
            for one in some
            if one.pairs
        ]
        for some, article in zip(reads, articles, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=600, help="pairs of each set")
    parser.add_argument("--sets", nargs="*", help="these alone")
    options = parser.parse_args()
    network = Network(options.model)
    with options.out.open("w", encoding="utf-8") as lines:
        sets = for_measuring(options.data)
        texts = sorted({pair.evidence for name in HELD_BACK for pair in sets[name]})
        random = Random(1)
        sets["details"] = list(detail_pairs(texts, options.most // 6, random))
        sets["elsewhere"] = [pair for name in HELD_BACK for pair in elsewhere(sets[name], options.most // 4, random)]
        for name, pairs in sets.items():
            if options.sets and name not in options.sets:
                continue
            chosen = sampled(pairs, options.most)
            for pair, parts in zip(chosen, features_of(chosen, network), strict=True):
                row = {"set": name, "source": pair.source, "group": pair.group, "label": pair.label, "parts": parts}
                lines.write(json.dumps(row) + "\n")
            print(name, flush=True)


if __name__ == "__main__":
    main()
