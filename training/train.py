"""Train the network: `python -m training.train DATA OUT --stage broad|grounded|mixed [--start FOLDER]`.

DATA is the folder with the pairs, OUT the folder that the weights are saved to. Seeds are fixed; two runs on the same
machine and versions see the same lessons in the same order.
"""

import argparse
import copy
import time
from pathlib import Path
from random import Random

import torch

from training.bound import bound, misbound, unsaid
from training.lessons import Lesson, broad, grounded, labelled, lesson, tidied
from training.network import base_folder, batches, fresh, tokenizer
from training.sets import Pair, read, split
from training.teaching import taught

SEED = 20_261_116
SMOOTHING = 0.02
EMA = 0.998
EVERY = 8
_DECAYED = 0.01


def lessons_of(stage: str, data: Path, random: Random) -> list[list[Lesson]]:
    """The lessons of each epoch of a stage."""
    facts = split(read(data, "fact_train"))["train"]
    facts_alone = [pair for pair in facts if pair.set != "healthver"]
    health = [pair for pair in facts if pair.set == "healthver"]
    nli = read(data, "nli_train")
    if stage == "broad":
        return [[*broad([*nli, *facts_alone], random), *(lesson(*one) for one in taught(8, random))]]
    near = split(read(data, "grounding_dev"))["train"]
    if stage == "mixed":
        return [mixed(nli, facts_alone, [], random), mixed(nli, facts_alone, [*near, *health], random)]
    rehearsed = broad([*nli, *facts_alone], random)
    fever = [tidied(pair) for pair in facts if pair.set == "fever"]
    texts = [pair.evidence for pair in (*fever, *near, *(pair for pair in facts if pair.set == "covidfact"))]
    return [
        [
            *grounded([*near, *health, *health], copied, random),
            *bound(texts, 4 * copied, random),
            *misbound(fever, 2 * copied, random),
            *unsaid(fever, copied, random),
            *random.sample(rehearsed, 3 * copied),
            *(lesson(*one) for one in taught(copied // 100, random)),
        ]
        for copied in (2000, 1000)
    ]


def mixed(nli: list[Pair], facts: list[Pair], near: list[Pair], random: Random) -> list[Lesson]:
    """All kinds at once: what people labelled is most of it, what is made here a quarter."""
    fever = [tidied(pair) for pair in facts if pair.set == "fever"]
    texts = [pair.evidence for pair in (*fever, *near, *(pair for pair in facts if pair.set == "covidfact"))]
    return [
        *labelled([*nli, *facts], random),
        *(grounded([*near, *near], 2000, random) if near else ()),
        *bound(texts, 4000, random),
        *misbound(fever, 2000, random),
        *unsaid(fever, 1500, random),
        *(lesson(*one) for one in taught(10, random)),
    ]


def loss_of(scores: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Minus the logarithm of what is given to the right labels together, with a little smoothing."""
    logs = torch.log_softmax(scores, dim=-1)
    given = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=-1)
    return -((1 - SMOOTHING) * given + SMOOTHING * logs.mean(dim=-1)).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--stage", choices=("broad", "grounded", "mixed"), required=True)
    parser.add_argument("--start", type=Path, help="weights to start from; MiniLM's own by default")
    parser.add_argument("--rate", type=float, default=1.2e-4)
    parser.add_argument("--seed", type=int, default=SEED, help="another one draws other lessons from the same pairs")
    parser.add_argument("--room", type=int, default=2048, help="tokens in a batch")
    parser.add_argument("--most", type=int, help="steps, to try it out")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    random = Random(options.seed)
    words = tokenizer(base_folder())
    epochs = lessons_of(options.stage, options.data, random)
    todo = [batch for lessons in epochs for batch in batches(lessons, words, options.room, random)][: options.most]
    print(f"{sum(map(len, epochs)):,} lessons, {len(todo):,} steps", flush=True)
    network = fresh(options.start or base_folder())
    if options.stage == "mixed":
        network.bert.embeddings.word_embeddings.weight.requires_grad = False
    train(network, todo, options.rate, options.out)


def train(network: torch.nn.Module, todo: list, rate: float, out: Path) -> None:  # type: ignore[type-arg]
    """One pass over the batches; what is saved is the moving average of the weights."""
    network.train()
    average = copy.deepcopy(network)
    optimizer = torch.optim.AdamW(
        [one for one in network.parameters() if one.requires_grad], lr=rate, weight_decay=_DECAYED, fused=True
    )
    warm = max(1, len(todo) // 16)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, 0.02 + 0.98 * (len(todo) - step) / len(todo))
    )
    begun, seen, running = time.monotonic(), 0, 0.0
    for step, (inputs, right) in enumerate(todo):
        loss = loss_of(network(**inputs).logits, right)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % EVERY == 0:
            keep = min(EMA, (1 + step) / (10 + step)) ** EVERY
            with torch.no_grad():
                for mean, now in zip(average.parameters(), network.parameters(), strict=True):
                    mean.lerp_(now, 1 - keep)
        seen += right.shape[0]
        running += (loss.item() - running) * 0.01
        if step % 100 == 99:
            passed = time.monotonic() - begun
            left = passed / (step + 1) * (len(todo) - step - 1)
            print(
                f"step {step + 1} loss {running:.3f} {seen / passed:.1f} pairs/s, {left / 60:.0f} min left", flush=True
            )
        if step % 500 == 499:
            average.save_pretrained(out)
    average.save_pretrained(out)


if __name__ == "__main__":
    main()
