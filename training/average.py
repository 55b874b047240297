"""The mean of two trained networks: `python -m training.average WEIGHTS OTHER OUT`."""

import argparse
import shutil
from pathlib import Path

from transformers import BertForSequenceClassification


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    network, other = map(BertForSequenceClassification.from_pretrained, (options.weights, options.other))
    theirs = other.state_dict()
    network.load_state_dict({name: (own + theirs[name]) / 2 for name, own in network.state_dict().items()})
    network.save_pretrained(options.out)
    shutil.copy(options.weights / "tokenizer.json", options.out)


if __name__ == "__main__":
    main()
