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
"""How many numbers of each tensor go into the fingerprint."""

# Tokenizers without a limit of their own say 10**30.
_NO_LIMIT = 10**9


def package(name: str) -> Any:
    """A module of torch, transformers, llguidance and the like, or MissingExtraError."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("A Hugging Face model", "hf") from None


@dataclass(frozen=True)
class LoadedModel:
    """A model and its tokenizer. The model is a shallow copy: it shares the weights, but has settings of its own."""

    name: str
    """The id or folder with a fingerprint of the weights: a model trained further has another name."""
    model: Any
    tokenizer: Any
    ends: tuple[int, ...]
    """Tokens that end a reply."""
    context: int | None
    """How many tokens prompt and reply may have together, where the model has a limit."""

    @classmethod
    def load(cls, source: str, *, device: str = "auto", dtype: str = "auto") -> "LoadedModel":
        """Load a folder, or an id of the hub. `auto`: all devices there are, and the precision of the stored weights.

        Code that comes with a model is never run. Raises UserError for what cannot be loaded.
        """
        source = source.removeprefix("hf:")
        if dtype not in DTYPES:
            raise UserError(f"dtype: {dtype!r} is not known; valid are {', '.join(DTYPES)}")
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
        """A model that is loaded already. It is put into evaluation mode, and on the device, where one is named."""
        transformers = package("transformers")
        if not isinstance(tokenizer, transformers.PreTrainedTokenizerFast):
            raise UserError(
                f"tokenizer: a {type(tokenizer).__name__} cannot be used, since replies are held to their schema token "
                "by token; valid is a fast one, as AutoTokenizer.from_pretrained gives for models with a tokenizer.json"
            )
        if not callable(getattr(model, "generate", None)):
            raise UserError(f"model: a {type(model).__name__} writes no text; load it with AutoModelForCausalLM")
        try:
            moved = model if device == "auto" else model.to(device)
        except (RuntimeError, AssertionError, ValueError) as error:
            raise UserError(f"device: {device!r} cannot hold the model: {first_line(error)}") from error
        moved.eval()
        ends = _ends(moved, tokenizer)
        called = name or getattr(moved, "name_or_path", "") or type(moved).__name__
        mine = copy.copy(moved)
        # What a model brings as defaults (repetition penalties, top-p) would change its judgement unasked.
        mine.generation_config = transformers.GenerationConfig(pad_token_id=_padding(tokenizer, ends))
        print_of_it = fingerprint(mine, tokenizer)
        return cls(f"{called}@{print_of_it[:12]}", mine, tokenizer, ends, _context(mine, tokenizer))

    @cached_property
    def vocabulary(self) -> Any:
        """The tokenizer as llguidance reads it: what bytes each token stands for."""
        return package("llguidance.hf").from_tokenizer(self.tokenizer, eos_token=list(self.ends))

    @property
    def padding(self) -> int:
        """The token that fills up short prompts; attention passes over it."""
        return self.model.generation_config.pad_token_id


def fingerprint(model: Any, tokenizer: Any) -> str:
    """SHA-256 of evenly spaced numbers of each tensor, their shapes and precision, and the chat template."""
    digest = hashlib.sha256(str(tokenizer.chat_template).encode("utf-8", "replace"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        # Weights that are left on the disk for want of memory have no numbers here.
        if tensor.device.type != "meta" and tensor.numel():
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(1, flat.numel() // SAMPLED)][:SAMPLED]
            digest.update(some.cpu().contiguous().view(package("torch").uint8).numpy().tobytes())
    return digest.hexdigest()


def check_folder(source: str, valid: str) -> None:
    """Raise UserError where the source is a path and no model can lie there; `valid` says what would be right."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UserError(f"{source}: this folder holds no model, since it has no config.json. {valid}")
    elif folder.exists():
        raise UserError(f"{source}: this is a file, not a model. {valid}")
    elif source.startswith((".", "/", "~", "\\")) or source.count("/") > 1 or not source:
        raise UserError(f"{source}: there is no such folder. {valid}")


def place_for(device: str) -> str | None:
    """The device to load onto; None leaves it to accelerate, which spreads a model over all there are."""
    if device != "auto":
        return device
    torch = package("torch")
    if torch.cuda.is_available():
        return "cuda" if find_spec("accelerate") is None else None
    return "mps" if torch.backends.mps.is_available() else "cpu"


def unreadable_weights() -> type[Exception]:
    """What is raised for a damaged file of weights."""
    return package("safetensors").SafetensorError


def _ends(model: Any, tokenizer: Any) -> tuple[int, ...]:
    known: list[int] = []
    for source in (tokenizer, getattr(model, "generation_config", None), model.config):
        given: int | list[int] | None = getattr(source, "eos_token_id", None)
        known += given if isinstance(given, list) else [] if given is None else [given]
    if not known:
        raise UserError("tokenizer: it has no token that ends a text; set its eos_token to the one the model learnt")
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
    """What an error of another package says, in short."""
    text = str(error).strip().partition("\n")[0].strip()
    return (text or type(error).__name__).rstrip(".")
