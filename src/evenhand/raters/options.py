"""How a model is asked: what is the rater's own and makes its configuration, and what is only this run's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asking:
    """What changes the ratings: part of a judge's configuration.

    `shots`: worked examples in the prompt, None for all. `samples`: times each question is asked. `temperature`: None
    for 0, or 1 where there are several samples. `together`: all sentences of a text in one call. `reasons`: a rationale
    before each answer, evidence in quotes and a confidence, also where the protocol asks people for none.
    """

    shots: int | None = None
    samples: int = 1
    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    together: bool = True
    reasons: bool = False
    seed: int | None = None


AS_USUAL = Asking()


@dataclass(frozen=True, slots=True)
class Calling:
    """What changes only how the work is done."""

    concurrency: int = 16
    timeout: float = 120.0
    tries: int = 6
    patience: float = 300.0
    device: str = "auto"
    dtype: str = "auto"
    batch_size: int = 8
