"""Models that `verifier(onnx:NAME)` knows by a short name: where their weights are, and how they are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PAIR = ("{evidence}", "{claim}")
"""Two sequences, as in natural language inference."""

_NLI = ("entailment", "neutral", "contradiction")
_CROSS_ENCODER = ("contradiction", "entailment", "neutral")
_CHECKED = ("not supported", "supported")
_DETECTED = ("supported", "hallucinated")
_SUMMARY = ("\nSummarize the following text:\npassage 1: {evidence}\noutput:\n", "{claim}")
_HYPOTHESIS = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {evidence}\n\nHypothesis: {claim}",
)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A published model. `megabytes`: the size of its weights in 32 bits. `labels`: what its outputs mean, in their
    order, if its config.json does not say so. `published`: its authors' figures, from `source`, by default its card.
    `parts`: the one or two sequences that it reads. `first_token`: of its outputs for each token, those of the first
    one are about the whole text. `onnx`: its repository was seen to have ONNX weights.
    """

    name: str
    repository: str
    megabytes: int
    licence: str
    languages: str
    labels: Sequence[str]
    published: str = ""
    source: str = ""
    parts: Sequence[str] = PAIR
    first_token: bool = False
    onnx: bool = True


_MODELS = (
    KnownModel(
        "deberta-xsmall", "cross-encoder/nli-deberta-v3-xsmall", 284, "Apache-2.0", "English", _CROSS_ENCODER,
        "accuracy 0.898 on the development sets of SNLI and MultiNLI",
    ),
    KnownModel(
        "deberta-base", "Xenova/DeBERTa-v3-base-mnli-fever-anli", 739, "MIT", "English", _NLI,
        "accuracy 0.712 on ANLI round 1, 0.495 on round 3", "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli",
    ),
    KnownModel(
        "deberta-large", "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli", 1740, "MIT", "English", _NLI,
        "accuracy 0.912 on MultiNLI, 0.702 on ANLI, 0.77 on WANLI",
    ),
    KnownModel(
        "mdeberta", "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7", 1120, "MIT", "27 languages", _NLI,
        "accuracy 0.857 on MultiNLI, 0.537 on ANLI, 0.761 on FEVER-NLI",
    ),
    KnownModel("roberta-base", "cross-encoder/nli-roberta-base", 499, "Apache-2.0", "English", _CROSS_ENCODER),
    KnownModel("modernbert-base", "tasksource/ModernBERT-base-nli", 599, "Apache-2.0", "English", _NLI, onnx=False),
    KnownModel(
        "minicheck-roberta", "lytang/MiniCheck-RoBERTa-Large", 1420, "MIT", "English", _CHECKED, onnx=False,
        parts=("{evidence}</s>{claim}",),
    ),
    KnownModel(
        "minicheck-deberta", "lytang/MiniCheck-DeBERTa-v3-Large", 1740, "MIT", "English", _CHECKED, onnx=False,
    ),
    KnownModel(
        "hhem", "FamiliarTools/HHEM-2.1-Open-onnx", 419, "Apache-2.0", "English", ("hallucinated", "consistent"),
        "balanced accuracy 0.766 on AggreFact-SOTA, 0.644 on RAGTruth's summaries, 0.743 on its answers",
        "vectara/hallucination_evaluation_model", _HYPOTHESIS, first_token=True,
    ),
    KnownModel(
        "lettucedetect-base", "KRLabsOrg/lettucedect-base-modernbert-en-v1", 599, "MIT", "English", _DETECTED,
        "F1 0.768 on RAGTruth's texts", "krlabsorg.github.io/LettuceDetect", _SUMMARY, onnx=False,
    ),
    KnownModel(
        "lettucedetect-large", "KRLabsOrg/lettucedect-large-modernbert-en-v1", 1580, "MIT", "English", _DETECTED,
        "F1 0.792 on RAGTruth's texts", "krlabsorg.github.io/LettuceDetect", _SUMMARY, onnx=False,
    ),
)  # fmt: skip
MODELS: Mapping[str, KnownModel] = {one.name: one for one in _MODELS}


def known_model(source: str) -> KnownModel | None:
    """The model of a short name, of `NAME=FOLDER`, or of a repository; None if it is not in the catalogue."""
    named = MODELS.get(source.partition("=")[0])
    return named or next(
        (one for one in _MODELS if f"{source}/".startswith((f"{one.repository}/", f"{one.repository}@"))), None
    )
