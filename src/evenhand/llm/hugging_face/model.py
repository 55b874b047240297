"""A causal language model of Hugging Face with its tokenizer, loaded into this process."""

import copy
import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenhand.errors import MissingExtraError, UserError

VALID = (
    "Valid is the folder of a causal language model (config.json, its weights as .safetensors, tokenizer.json) or the "
    "id of one on the Hugging Face hub, such as Qwen/Qwen2.5-7B-Instruct"
)
DTYPES = ("auto", "float32", "float16", "bfloat16")
SAMPLED = 32
"""Numbers of each tensor that go into the fingerprint."""

# Tokenizers without a limit of their own report 10**30.
_NO_LIMIT = 10**9


def package(name: str) -> Any:
    """A module of torch, transformers, llguidance and the like, or MissingExtraError."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("A Hugging Face model", "hf") from None


@dataclass(frozen=True)
class LoadedModel:
    """A model and its tokenizer. The model is a shallow copy that shares the weights but has its own settings."""

    name: str
    """The id or folder with a fingerprint of the weights, so that a model trained further has another name."""
    model: Any
    tokenizer: Any
    ends: tuple[int, ...]
    """Tokens that end a reply."""
    context: int | None
    """How many tokens prompt and reply may have together, if the model has a limit."""

    @classmethod
    def load(cls, source: str, *, device: str = "auto", dtype: str = "auto") -> "LoadedModel":
        """Load a folder or a model id of the hub. `auto`: all available devices, and the precision of the weights.

        Code that comes with a model is never run. Raises UserError for a model that cannot be loaded.
        """
        source = source.removeprefix("hf:")
        if dtype not in DTYPES:
            raise UserError(f"dtype: {dtype!r} is not one of {', '.join(DTYPES)}")
        transformers, torch = package("transformers"), package("torch")
        check_folder(source, VALID)
        place = place_for(device)
        options: dict[str, Any] = {"trust_remote_code": False}
        with_map = {"device_map": "auto"} if place is None else {}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                source, dtype=dtype if dtype == "auto" else getattr(torch, dtype), **options, **with_map
            )
            model = model if place is None else model.to(place)
        except (OSError, ValueError, KeyError, RuntimeError, ImportError, unreadable_weights()) as error:
            raise UserError(f"{source}: this model cannot be loaded: {first_line(error)}. {VALID}") from error
        return cls.of(model, tokenizer, name=source)

    @classmethod
    def of(cls, model: Any, tokenizer: Any, *, name: str | None = None, device: str = "auto") -> "LoadedModel":
        """A model that is already loaded. It is put into evaluation mode, and on the device, if one is named."""
        transformers = package("transformers")
        if not isinstance(tokenizer, transformers.PreTrainedTokenizerFast):
            raise UserError(
                f"tokenizer: a {type(tokenizer).__name__} cannot be used, because replies follow their schema token by "
                "token; use a fast one, as AutoTokenizer.from_pretrained returns for models with a tokenizer.json"
            )
        if not callable(getattr(model, "generate", None)):
            raise UserError(f"model: a {type(model).__name__} does not write text; load it with AutoModelForCausalLM")
        try:
            moved = model if device == "auto" else model.to(device)
        except (RuntimeError, AssertionError, ValueError) as error:
            raise UserError(f"device: {device!r} cannot hold the model: {first_line(error)}") from error
        moved.eval()
        ends = _ends(moved, tokenizer)
        called = name or getattr(moved, "name_or_path", "") or type(moved).__name__
        mine = copy.copy(moved)
        # A model's own defaults (repetition penalties, top-p) would change its ratings.
        mine.generation_config = transformers.GenerationConfig(pad_token_id=_padding(tokenizer, ends))
        print_of_it = fingerprint(mine, tokenizer)
        return cls(f"{called}@{print_of_it[:12]}", mine, tokenizer, ends, _context(mine, tokenizer))

    @cached_property
    def vocabulary(self) -> Any:
        """The tokenizer as llguidance reads it: the bytes that each token stands for."""
        return package("llguidance.hf").from_tokenizer(self.tokenizer, eos_token=list(self.ends))

    @property
    def padding(self) -> int:
        """The token that pads short prompts; attention ignores it."""
        return self.model.generation_config.pad_token_id


def fingerprint(model: Any, tokenizer: Any) -> str:
    """SHA-256 of evenly spaced numbers of each tensor, their shapes and precision, and the chat template."""
    digest = hashlib.sha256(str(tokenizer.chat_template).encode("utf-8", "replace"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        # Weights that were left on disk for lack of memory have no numbers here.
        if tensor.device.type != "meta" and tensor.numel():
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(1, flat.numel() // SAMPLED)][:SAMPLED]
            digest.update(some.cpu().contiguous().view(package("torch").uint8).numpy().tobytes())
    return digest.hexdigest()


def check_folder(source: str, valid: str) -> None:
    """Raise UserError if the source is a path without a model; `valid` describes what would be right."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UserError(f"{source}: this folder contains no model, because it has no config.json. {valid}")
    elif folder.exists():
        raise UserError(f"{source}: this is a file, not a model. {valid}")
    elif source.startswith((".", "/", "~", "\\")) or source.count("/") > 1 or not source:
        raise UserError(f"{source}: there is no such folder. {valid}")


def place_for(device: str) -> str | None:
    """The device to load onto; None leaves it to accelerate, which spreads a model over all devices."""
    if device != "auto":
        return device
    torch = package("torch")
    if torch.cuda.is_available():
        return "cuda" if find_spec("accelerate") is None else None
    return "mps" if torch.backends.mps.is_available() else "cpu"


def unreadable_weights() -> type[Exception]:
    """The exception for a damaged file of weights."""
    return package("safetensors").SafetensorError


def _ends(model: Any, tokenizer: Any) -> tuple[int, ...]:
    known: list[int] = []
    for source in (tokenizer, getattr(model, "generation_config", None), model.config):
        given: int | list[int] | None = getattr(source, "eos_token_id", None)
        known += given if isinstance(given, list) else [] if given is None else [given]
    if not known:
        raise UserError("tokenizer: it has no token that ends a text; set its eos_token to the one the model learned")
    return tuple(dict.fromkeys(known))


def _padding(tokenizer: Any, ends: tuple[int, ...]) -> int:
    own: int | None = tokenizer.pad_token_id
    return ends[0] if own is None else own


def _context(model: Any, tokenizer: Any) -> int | None:
    limit: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if limit is None and tokenizer.model_max_length < _NO_LIMIT:
        limit = tokenizer.model_max_length
    return limit


def first_line(error: Exception) -> str:
    """The first line of another package's error."""
    text = str(error).strip().partition("\n")[0].strip()
    return (text or type(error).__name__).rstrip(".")
