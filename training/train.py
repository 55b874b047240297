"""Train the verifier's network: `python -m training.train DATA START OUT --minutes 90`.

DATA is the folder with the labelled pairs, START a folder that `training.base` or an earlier stage wrote, OUT the
folder for the weights. The learning rate rises for a twentieth of the time and falls to zero at its end, whatever else
the machine is doing, so that every stage ends with weights that could be shipped.
"""

import argparse
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

from training.examples import accepted, examples
from training.pairs import LABELS, Pair, for_training

LONGEST = 256  # tokens of claim and evidence
LONGEST_CLAIM = 120  # tokens: the rest is evidence
_SMOOTHING = 0.02
_WARM = 0.05  # share of the time
_SAVED = 600  # seconds between checkpoints
HALF = torch.backends.cpu.get_cpu_capability() == "AVX512" and torch.ops.mkldnn._is_mkldnn_bf16_supported()
"""Whether the processor multiplies in bfloat16: 3.6 times as fast (AMD Zen 5), with attention written out."""

Batch = tuple[dict[str, torch.Tensor], torch.Tensor]


def batches(pairs: Sequence[Pair], tokenizer: Tokenizer, room: int, random: Random) -> Iterator[Batch]:
    """Pairs of similar length with at most `room` tokens together, in random order, and which labels are right."""
    encoded = tokenizer.encode_batch([(pair.evidence, pair.claim) for pair in pairs])
    claims = [sum(one.type_ids) for one in encoded]
    kept = [at for at, size in enumerate(claims) if size <= LONGEST_CLAIM]
    kept.sort(key=lambda at: (len(encoded[at].ids) // 4, random.random()))
    groups: list[list[int]] = [[]]
    for at in kept:
        if groups[-1] and len(encoded[at].ids) * (len(groups[-1]) + 1) > room:
            groups.append([])
        groups[-1].append(at)
    random.shuffle(groups)
    for group in groups:
        width = max(len(encoded[at].ids) for at in group)

        def padded(rows: list[list[int]], width: int = width) -> torch.Tensor:
            return torch.tensor([row + [0] * (width - len(row)) for row in rows])

        inputs = {
            "input_ids": padded([encoded[at].ids for at in group]),
            "attention_mask": padded([encoded[at].attention_mask for at in group]),
            "token_type_ids": padded([encoded[at].type_ids for at in group]),
        }
        right = [set(accepted(pairs[at].label)) for at in group]
        yield inputs, torch.tensor([[label in labels for label in LABELS] for labels in right])


def passes(data: Path, tokenizer: Tokenizer, room: int, random: Random) -> Iterator[Batch]:
    """Batches without end; each pass draws its examples anew."""
    pairs = for_training(data)
    while True:
        drawn = examples(pairs, random)
        print(f"{len(drawn):,} examples in this pass", flush=True)
        yield from batches(drawn, tokenizer, room, random)


def loss_of(scores: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Minus the logarithm of the probability of the right labels together, slightly smoothed."""
    logs = torch.log_softmax(scores, dim=-1)
    given = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=-1)
    return -((1 - _SMOOTHING) * given + _SMOOTHING * logs.mean(dim=-1)).mean()


def train(model: BertForSequenceClassification, todo: Iterator[Batch], minutes: float, rate: float, out: Path) -> None:
    """Train for so many minutes; the embeddings stay as they are."""
    model.bert.embeddings.requires_grad_(False)
    head = [*model.bert.pooler.parameters(), *model.classifier.parameters()]
    groups = [{"params": list(model.bert.encoder.parameters()), "peak": rate}, {"params": head, "peak": 3 * rate}]
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01, fused=True)
    model.train()
    begun = saved = time.monotonic()
    seen, tokens, step, running = 0, 0, 0, 1.0
    while (done := (time.monotonic() - begun) / (60 * minutes)) < 1:
        inputs, right = next(todo)
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * min(done / _WARM + 0.01, (1 - done) / (1 - _WARM))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=HALF):
            logits = model(**inputs).logits
        loss = loss_of(logits.float(), right)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += len(right)
        tokens += inputs["input_ids"].numel()
        running += (loss.item() - running) * 0.01
        step += 1
        if step % 100 == 0:
            passed = time.monotonic() - begun
            print(f"{done:.1%} step {step} pairs {seen} loss {running:.3f} {seen / passed:.1f} pairs/s "
                  f"{tokens / passed:.0f} tokens/s", flush=True)  # fmt: skip
        if time.monotonic() - saved > _SAVED:
            saved = time.monotonic()
            model.save_pretrained(out)
    model.save_pretrained(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("start", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--rate", type=float, default=1e-4, help="of the body; the head learns three times as fast")
    parser.add_argument("--room", type=int, default=2048, help="tokens in a batch")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    tokenizer = Tokenizer.from_file(str(options.start / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST, strategy="only_first")
    # Without dropout: it costs a third of the speed, and hardly a pair is seen twice.
    attention = "eager" if HALF else "sdpa"
    model = BertForSequenceClassification.from_pretrained(
        options.start, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation=attention
    )
    options.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(options.start / "tokenizer.json", options.out)
    batched = passes(options.data, tokenizer, options.room, Random(options.seed))
    train(model, batched, options.minutes, options.rate, options.out)


if __name__ == "__main__":
    main()
