"""A Hugging Face classifier that was taught natural language inference, as a reader of claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evenhand.errors import UserError
from evenhand.llm.hugging_face.model import load_pretrained, model_name, package
from evenhand.raters.verifier.support_labels import meaning
from evenhand.verify.reading import Reading
from evenhand.verify.verifier import Label

VALID = (
    "Valid is the folder of a sequence classification model that was taught natural language inference (config.json, "
    "its weights as .safetensors, tokenizer.json) or the id of one on the Hugging Face hub, such as "
    "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli"
)
LONGEST = 512
"""Tokens of evidence and claim together: what such models were taught with, where they do not say less."""

_OUTCOMES = (Label.SUPPORTED, Label.CONTRADICTED, Label.NO_EVIDENCE)


@dataclass(frozen=True)
class NliModel:
    """A model with its tokenizer. `labels` says what each of its outputs means."""

    name: str
    """The id or folder with a fingerprint of the weights: a model trained further has another name."""
    model: Any
    tokenizer: Any
    labels: Sequence[Label]
    longest: int
    batch_size: int = 8

    @classmethod
    def load(cls, source: str, *, device: str = "auto", dtype: str = "auto", batch_size: int = 8) -> "NliModel":
        """Load a folder, or an id of the hub. Code that comes with a model is never run.

        Raises UserError for what cannot be loaded, and where the model's labels do not say what they mean.
        """
        auto_class, check = "AutoModelForSequenceClassification", partial(_labels, source)
        model, tokenizer = load_pretrained(auto_class, source, VALID, device=device, dtype=dtype, check=check)
        model.eval()
        labels, name = _labels(source, model.config), model_name(source, model, tokenizer)
        return cls(name, model, tokenizer, labels, _longest(model, tokenizer), batch_size)

    def read(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        """A reading for each pair of evidence and claim. Of what is too long together, the longer one loses its end."""
        order = sorted(range(len(pairs)), key=lambda place: sum(map(len, pairs[place])))
        found: dict[int, Reading] = {}
        for start in range(0, len(order), self.batch_size):
            places = order[start : start + self.batch_size]
            found.update(zip(places, self._batch([pairs[place] for place in places]), strict=True))
        return [found[place] for place in range(len(pairs))]

    def _batch(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        torch = package("torch")
        # More characters than the longest pieces of any tokenizer could cover are cut before it sees them.
        first, second = ([text[: 40 * self.longest] for text in texts] for texts in zip(*pairs, strict=True))
        inputs = self.tokenizer(
            first, second, truncation=True, max_length=self.longest, padding=True, return_tensors="pt"
        ).to(self.model.device)
        with torch.inference_mode():
            shares: list[list[float]] = self.model(**inputs).logits.float().softmax(-1).tolist()
        return [self._reading(row) for row in shares]

    def _reading(self, shares: Sequence[float]) -> Reading:
        by_label: dict[Label, float] = dict.fromkeys(_OUTCOMES, 0.0)
        for label, share in zip(self.labels, shares, strict=True):
            by_label[label] += share
        return Reading(*by_label.values())


def _labels(source: str, config: Any) -> Sequence[Label]:
    """What each output means. Two are enough: entailment, and its contrary."""
    kinds: Sequence[str] = getattr(config, "architectures", None) or ()
    # Without its own output layer a model would get one of random numbers, and rate by them.
    if not any("SequenceClassification" in kind for kind in kinds):
        told = ", ".join(kinds) or "nothing known"
        raise UserError(f"{source}: this model is {told}, no sequence classifier. {VALID}")
    names: Mapping[int, str] = config.id2label
    labels = [meaning(str(names[place])) for place in sorted(names)]
    known = [label for label in labels if label is not None and label in _OUTCOMES]
    if len(known) < len(labels) or not {Label.SUPPORTED, Label.NO_EVIDENCE} <= set(known):
        told = ", ".join(str(names[place]) for place in sorted(names))
        raise UserError(
            f"{source}: the labels in its config.json ({told}) do not say what its outputs mean; valid are entailment, "
            "neutral and contradiction, or entailment and not_entailment, in any order: put them into id2label"
        )
    return known


def _longest(model: Any, tokenizer: Any) -> int:
    limits: Sequence[int | None] = (
        getattr(model.config, "max_position_embeddings", None),
        tokenizer.model_max_length,
        LONGEST,
    )
    return min(limit for limit in limits if limit is not None and limit > 0)
