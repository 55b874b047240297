"""Vectors of texts from a sentence model in ONNX form, for comparing texts by meaning."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from tokenizers import Tokenizer

from evenhand.errors import UserError
from evenhand.generation.filters import Embed, Vectors

LONGEST = 256
"""Tokens of a text that are read."""
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""What networks are given, and what tokenizers call it."""


def embedding_model(folder: str | Path) -> Embed:
    """The function that embeds texts with the model in a folder: `tokenizer.json` and `model.onnx`.

    A network that has a vector for each token is averaged over the tokens. Raises UserError if it cannot be loaded.
    """
    weights = next(
        (path for path in (Path(folder) / "model.onnx", Path(folder) / "onnx" / "model.onnx") if path.is_file()), None
    )
    if weights is None or not (Path(folder) / "tokenizer.json").is_file():
        raise UserError(f"{folder}: give a folder with model.onnx and tokenizer.json of a sentence model")
    runtime = cast("Any", onnxruntime)
    try:
        tokenizer = cast("Any", Tokenizer.from_file(str(Path(folder) / "tokenizer.json")))
        tokenizer.enable_truncation(LONGEST)
        tokenizer.enable_padding()
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        session = runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        names = {one.name: np.dtype(one.type[7:-1]) for one in session.get_inputs() if one.name in _INPUTS}

        def embed(texts: Sequence[str]) -> Vectors:
            encodings = tokenizer.encode_batch(list(texts))
            inputs = {
                name: np.array([getattr(one, _INPUTS[name]) for one in encodings], dtype)
                for name, dtype in names.items()
            }
            found: Any = session.run(None, inputs)[0].astype(np.float64)
            if found.ndim == 3:
                mask = np.array([one.attention_mask for one in encodings], np.float64)[..., None]
                found = (found * mask).sum(axis=1) / mask.sum(axis=1)
            return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)

        embed(["a"])
    # Neither tokenizers nor onnxruntime has exceptions of its own.
    except Exception as error:
        raise UserError(f"{folder}: this model cannot be loaded: {error}") from error
    return embed
