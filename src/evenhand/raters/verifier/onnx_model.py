"""A network in ONNX format as a reader of claims: any model in `model_catalogue`, or one like them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evenhand.errors import InputError, UserError
from evenhand.files import parse_json, read_text
from evenhand.raters.verifier.model_catalogue import PAIR, known_model
from evenhand.raters.verifier.model_files import VALID, model_files
from evenhand.raters.verifier.support_labels import meaning, outputs_of
from evenhand.verify.network import Pair, Reading

LONGEST = 512
"""Tokens of a window of evidence with its claim, which such models were trained with; fewer if a model has fewer."""
_SPARE = 8
"""Tokens by which a window may grow when it is cut into tokens without its neighbours."""
_TOKENS = 4096
"""Tokens in a batch."""
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""What networks are given, and what tokenizers call it."""


class TokenReading(Reading):
    """The reading of a claim whose tokens were read one by one. `words` names those without support."""

    words: str | None = None


class _Window(NamedTuple):
    """The claim with one window of its evidence. `part`, `start`: in which sequence the claim is, and where in it."""

    pair: int
    claim: str
    encoding: Any
    part: int
    start: int


class OnnxModel:
    """A classifier of texts or of tokens, run on the CPU."""

    def __init__(self, source: str) -> None:
        """Load a short name, a repository of the hub or a folder. Raises UserError, also for labels without meaning."""
        files, known = model_files(source), known_model(source)
        config, names = _configuration(files.config)
        if known is not None and None in map(meaning, names.values() or [""]):
            names = dict(enumerate(known.labels))
        self._outputs = outputs_of(source, names)
        self._parts = known.parts if known else PAIR
        try:
            self._padding = int(config.get("pad_token_id") or 0)
            # RoBERTa counts positions from the number of its padding token.
            before = self._padding + 1 if "roberta" in str(config.get("model_type")) else 0
            self._longest = min(LONGEST, int(config.get("max_position_embeddings") or LONGEST + before) - before)
            self._tokenizer = cast("Any", Tokenizer.from_file(str(files.tokenizer)))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            # Marks such as [SEP] in a text are text, unless the model's own template has them.
            self._tokenizer.encode_special_tokens = "<" not in "".join(self._parts)
            runtime = cast("Any", onnxruntime)
            options = runtime.SessionOptions()
            options.log_severity_level = 4
            # Data outside the folder of the weights is refused.
            self._session = runtime.InferenceSession(files.weights, options, providers=["CPUExecutionProvider"])
            shape = self._logits([self._encoded("a", "b")]).shape
        # Neither tokenizers nor onnxruntime has exceptions of its own.
        except Exception as error:
            raise UserError(f"{source}: this model cannot be loaded: {error}. {VALID}") from error
        if len(shape) not in (2, 3) or sorted(names) != list(range(shape[-1])):
            raise UserError(
                f"{source}: the network has {shape[-1]} outputs, but its labels are {', '.join(names.values())}; valid "
                "is one label in the id2label of config.json for each output, numbered from 0"
            )
        by_token = "TokenClassification" in str(config.get("architectures")) and not (known and known.first_token)
        self._by_token = len(shape) == 3 and by_token
        self.settings: Mapping[str, object] = {
            "model": f"{known.name if known else source}@{files.digest[:16]}",
            "revision": files.revision,
            "outputs": self._outputs,
            "parts": self._parts,
        }

    def read(self, pairs: Sequence[Pair]) -> Sequence[Reading]:
        """A reading of each pair of evidence and claim: of several windows the surest of support or contradiction."""
        windows = [window for place, pair in enumerate(pairs) for window in self._windows(place, *pair)]
        windows.sort(key=lambda window: len(window.encoding))
        found = [list[Reading]() for _ in pairs]
        while windows:
            size = max(1, _TOKENS // len(windows[-1].encoding))
            batch, windows = windows[-size:], windows[:-size]
            for window, shares in zip(batch, self._shares([one.encoding for one in batch]), strict=True):
                found[window.pair].append(self._reading(window, shares))
        return [max(some, key=lambda one: max(one.supported, one.contradicted)) for some in found]

    def _windows(self, pair: int, evidence: str, claim: str) -> Iterator[_Window]:
        # However many characters a vocabulary lacks, they may become one token: forty for each token are read.
        claim = next(self._pieces(claim[: 40 * self._longest], self._longest // 2))
        room = self._longest - len(self._encoded("", claim)) - _SPARE
        part = next(place for place, text in enumerate(self._parts) if "{claim}" in text)
        before = self._parts[part].partition("{claim}")[0]
        for piece in self._pieces(evidence, max(room, _SPARE)):
            encoding = self._encoded(piece, claim)
            encoding.truncate(self._longest)
            yield _Window(pair, claim, encoding, part, len(before.format(evidence=piece)))

    def _encoded(self, evidence: str, claim: str) -> Any:
        return self._tokenizer.encode(*(part.format(evidence=evidence, claim=claim) for part in self._parts))

    def _pieces(self, text: str, most: int) -> Iterator[str]:
        """The text in pieces of at most so many tokens; neighbours share a quarter of them."""
        places: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        overlap = most // 4 if len(places) > most else 0
        for first in range(0, max(len(places) - overlap, 1), most - overlap):
            last = first + most
            yield text[places[first][0] if first else 0 : places[last - 1][1] if last < len(places) else len(text)]

    def _logits(self, encodings: Sequence[Any]) -> NDArray[np.float64]:
        size = (len(encodings), max(map(len, encodings)))
        inputs = {
            one.name: np.full(size, self._padding if one.name == "input_ids" else 0, np.dtype(one.type[7:-1]))
            for one in self._session.get_inputs()
            if one.name in _INPUTS
        }
        for row, one in enumerate(encodings):
            for name, array in inputs.items():
                array[row, : len(one)] = getattr(one, _INPUTS[name])
        return self._session.run(None, inputs)[0].astype(np.float64)

    def _shares(self, encodings: Sequence[Any]) -> NDArray[np.float64]:
        """How likely each text, or each of its tokens, is supported, contradicted or neither."""
        logits = self._logits(encodings)
        odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares = odds / odds.sum(axis=-1, keepdims=True)
        own = np.stack([shares[..., outputs].sum(axis=-1) for outputs in self._outputs], axis=-1)
        return own if own.ndim == 2 or self._by_token else own[:, 0]

    def _reading(self, window: _Window, shares: NDArray[np.float64]) -> Reading:
        if not self._by_token:
            return Reading(*map(float, shares))
        tokens = zip(window.encoding.sequence_ids, window.encoding.offsets, shares.tolist(), strict=False)
        claimed: list[tuple[int, int, Reading]] = [
            (start - window.start, end - window.start, Reading(*row))
            for part, (start, end), row in tokens
            if part == window.part and start >= window.start
        ]
        runs = groupby(claimed, lambda token: token[2].supported < 0.5)
        doubted = [list(run) for doubt, run in runs if doubt]
        spans = ", ".join(f"“{window.claim[run[0][0] : run[-1][1]].strip()}”" for run in doubted)
        least = min(
            (reading for _, _, reading in claimed), key=lambda one: one.supported, default=Reading(0.0, 0.0, 1.0)
        )
        reading = TokenReading(*least)
        reading.words = f"no support for {spans}" if spans else None
        return reading


def _configuration(path: Path) -> tuple[Mapping[str, Any], Mapping[int, str]]:
    """What config.json says, and the labels in it."""
    try:
        config: Any = parse_json(read_text(path))
        names: Any = config.get("id2label") or {}
        return config, {int(place): str(name) for place, name in names.items()}
    except (ValueError, AttributeError) as error:
        raise InputError(str(path), f"not the configuration of a model: {error}") from error
