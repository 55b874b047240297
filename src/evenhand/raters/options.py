"""Options of a rater, which belong to its configuration, and of a run, which do not."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RaterOptions:
    """What changes the ratings: part of the digest of a rater's configuration.

    `shots`: worked examples in the prompt, None for all. `samples`: how many times each question is asked.
    `temperature`: None for 0, or for 1 if there are several samples. `max_tokens`: the longest reply, None for a limit
    that suits the prompt. `logprobs`: ask for the probabilities of the answers. `together`: all sentences of a text in
    one call. `reasons`: a rationale before each answer, quoted evidence and a confidence, even if the protocol does not
    ask people for them.
    """

    shots: int | None = None
    samples: int = 1
    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    together: bool = True
    reasons: bool = False
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What changes only how much is done, and how.

    `limit`: units for each rater. `retry_failed`: rate units whose ratings failed again. `max_cost`: dollars for all
    raters of the run together. `prices`: `IN/OUT` or `SPEC=IN/OUT`, dollars per million tokens. `concurrency`: calls at
    the same time, for each model. `timeout`: seconds for one try of a call. `tries`: attempts of a call if the server
    or the network fails. `patience`: seconds that a call waits in all if the server asks for fewer calls. `device`,
    `dtype` and `batch_size` are for Hugging Face models.
    """

    limit: int | None = None
    retry_failed: bool = False
    max_cost: float | None = None
    prices: Sequence[str] = ()
    concurrency: int = 16
    timeout: float = 120.0
    tries: int = 6
    patience: float = 300.0
    device: str = "auto"
    dtype: str = "auto"
    batch_size: int = 8


RATER_DEFAULTS = RaterOptions()
RUN_DEFAULTS = RunOptions()
