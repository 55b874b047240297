"""A causal language model of Hugging Face with its tokenizer and its chat template, loaded into this process."""

import copy
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenhand.errors import UserError, optional_module
from evenhand.llm.base import CallError, Message, RunError
from evenhand.llm.fencing import JOINER

VALID = (
    "Valid is the folder of a causal language model (config.json, its weights as .safetensors, tokenizer.json) or the "
    "id of one on the Hugging Face hub, such as Qwen/Qwen2.5-7B-Instruct"
)
DTYPES = ("auto", "float32", "float16", "bfloat16")
SAMPLED = 32
"""Numbers of each tensor that go into the fingerprint."""

_MARKUP = frozenset("<>[]|｜")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEADINGS = {"system": "### Instructions", "user": "### Case", "assistant": "### Reply"}

Conversation = list[dict[str, str]]


def package(name: str) -> Any:
    """A module of torch, transformers, llguidance and the like, or MissingExtraError."""
    return optional_module(name, "A Hugging Face model", "hf")


@dataclass(frozen=True)
class LoadedModel:
    """A model and its tokenizer. The model is a shallow copy that shares the weights but has its own settings."""

    name: str
    """See `model_name`."""
    model: Any
    tokenizer: Any
    ends: tuple[int, ...]
    """Tokens that end a reply."""
    context: int | None
    """How many tokens prompt and reply may have together, if the model has a limit."""
    padding: int
    """The token that pads short prompts; attention ignores it."""

    @classmethod
    def load(cls, source: str, *, device: str = "auto", dtype: str = "auto") -> "LoadedModel":
        """Load a folder or an id of the hub; UserError if it cannot be. Code that comes with a model is never run.
        `auto`: all available devices, and the precision of the weights."""
        source = source.removeprefix("hf:")
        model, tokenizer = load_pretrained(
            "AutoModelForCausalLM", source, VALID, device=device, dtype=dtype, spread=True
        )
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
            mine = copy.copy((model if device == "auto" else model.to(device)).eval())
        except (RuntimeError, AssertionError, ValueError) as error:
            raise UserError(f"device: {device!r} cannot hold the model: {_first_line(error)}") from error
        ends = _ends(mine, tokenizer)
        called = name or getattr(mine, "name_or_path", "") or type(mine).__name__
        # A model's own defaults (repetition penalties, top-p) would change its ratings.
        padding: int = ends[0] if tokenizer.pad_token_id is None else tokenizer.pad_token_id
        mine.generation_config = transformers.GenerationConfig(pad_token_id=padding, do_sample=False, num_beams=1)
        # Tokenizers without a limit of their own report 10**30.
        own = tokenizer.model_max_length if tokenizer.model_max_length < 10**9 else None
        context = getattr(mine.config.get_text_config(), "max_position_embeddings", None) or own
        return cls(model_name(called, mine, tokenizer), mine, tokenizer, ends, context, padding)

    @cached_property
    def vocabulary(self) -> Any:
        """The tokenizer as llguidance reads it: the bytes that each token stands for."""
        return package("llguidance.hf").from_tokenizer(self.tokenizer, eos_token=list(self.ends))


def load_pretrained(
    auto_class: str,
    source: str,
    valid: str,
    *,
    device: str,
    dtype: str,
    spread: bool = False,
    check: Callable[[Any], object] | None = None,
) -> tuple[Any, Any]:
    """A model of this class of transformers, and its tokenizer. Code that comes with a model is never run.

    `spread` allows accelerate to spread it over all devices. `check` is called with its configuration before anything
    else is loaded. Raises UserError for what cannot be loaded; `valid` describes what could be.
    """
    if dtype not in DTYPES:
        raise UserError(f"dtype: {dtype!r} is not one of {', '.join(DTYPES)}")
    _check_folder(source, valid)
    transformers, torch = package("transformers"), package("torch")
    # None leaves the choice of devices to accelerate.
    place = device
    if device == "auto" and torch.cuda.is_available():
        place = None if spread and find_spec("accelerate") is not None else "cuda"
    elif device == "auto":
        place = "mps" if torch.backends.mps.is_available() else "cpu"
    options: dict[str, Any] = {"trust_remote_code": False}
    where = {"device_map": "auto"} if place is None else {}
    try:
        if check is not None:
            check(transformers.AutoConfig.from_pretrained(source, **options))
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
        model = getattr(transformers, auto_class).from_pretrained(
            source, dtype=dtype if dtype == "auto" else getattr(torch, dtype), **options, **where
        )
        model = model if place is None else model.to(place)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, package("safetensors").SafetensorError) as error:
        raise UserError(f"{source}: this model cannot be loaded: {_first_line(error)}. {valid}") from error
    return model, tokenizer


def model_name(called: str, model: Any, tokenizer: Any) -> str:
    """The id or folder with a fingerprint of the weights, so that a model trained further has another name.

    It is made from evenly spaced numbers of each tensor, their shapes and precision, and the chat template.
    """
    digest = hashlib.sha256(str(tokenizer.chat_template).encode("utf-8", "replace"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        # Weights that were left on disk for lack of memory have no numbers here.
        if tensor.device.type != "meta" and tensor.numel():
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(1, flat.numel() // SAMPLED)][:SAMPLED]
            digest.update(some.cpu().contiguous().view(package("torch").uint8).numpy().tobytes())
    return f"{called}@{digest.hexdigest()[:12]}"


def _check_folder(source: str, valid: str) -> None:
    """Raise UserError if the source is a path without a model."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UserError(f"{source}: this folder contains no model, because it has no config.json. {valid}")
    elif folder.exists():
        raise UserError(f"{source}: this is a file, not a model. {valid}")
    elif source.startswith((".", "/", "~", "\\")) or source.count("/") > 1 or not source:
        raise UserError(f"{source}: there is no such folder. {valid}")


def _ends(model: Any, tokenizer: Any) -> tuple[int, ...]:
    known: list[int] = []
    for source in (tokenizer, getattr(model, "generation_config", None), model.config):
        given: int | list[int] | None = getattr(source, "eos_token_id", None)
        known += given if isinstance(given, list) else [] if given is None else [given]
    if not known:
        raise UserError("tokenizer: it has no token that ends a text; set its eos_token to the one the model learned")
    return tuple(dict.fromkeys(known))


def _first_line(error: Exception) -> str:
    """The first line of another package's error."""
    text = str(error).strip().partition("\n")[0].strip()
    return (text or type(error).__name__).rstrip(".")


class ChatTemplate:
    """The format of one model's prompts.

    If its template has no system role, the system text goes at the head of the first user message; if there is no
    template, the messages become plain text under headings. No text of a message can become a control token.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._plain = not tokenizer.chat_template
        self._control = _control_tokens(tokenizer)
        longest_first = sorted(self._control, key=len, reverse=True)
        self._whole = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self._skeleton = cache(self._controls_of)
        self._system = self._plain or self._knows_system()

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The prompt, up to where the reply begins."""
        turns = [{"role": message.role, "content": self._harmless(message.content)} for message in messages]
        tokens = self._encoded(turns)
        # The joiner breaks up every control token that is matched literally. A tokenizer may also match after
        # normalising the text, so the control tokens are compared with those that the template writes by itself.
        if self._controls_in(tokens) != self._skeleton(tuple(message.role for message in messages)):
            raise CallError("the text contains control tokens of the model")
        return tokens

    def _harmless(self, content: str) -> str:
        content = _SURROGATE.sub("\ufffd", content)
        while self._whole.search(content):
            content = self._whole.sub(lambda found: found[0][0] + JOINER + found[0][1:], content)
        return content

    def _controls_of(self, roles: tuple[str, ...]) -> list[int]:
        """The control tokens of a conversation in which every message is `x`."""
        return self._controls_in(self._encoded([{"role": role, "content": "x"} for role in roles]))

    def _controls_in(self, tokens: Sequence[int]) -> list[int]:
        known = set(self._control.values())
        return [token for token in tokens if token in known]

    def _encoded(self, turns: Conversation) -> list[int]:
        if not self._system:
            said = [turn["content"] for turn in turns if turn["role"] == "system"]
            rest = [turn for turn in turns if turn["role"] != "system"]
            head = "\n\n".join([*said, *(turn["content"] for turn in rest[:1])])
            turns = [{"role": "user", "content": head}, *rest[1:]]
        try:
            text = self._rendered(turns)
        except Exception as error:
            raise RunError(f"the model's chat template cannot be used: {error}") from error
        return self._tokenizer(text, add_special_tokens=self._plain, truncation=False)["input_ids"]

    def _rendered(self, turns: Conversation) -> str:
        if self._plain:
            parts = [f"{_HEADINGS[turn['role']]}\n\n{turn['content']}\n\n" for turn in turns]
            return "".join([*parts, _HEADINGS["assistant"], "\n\n"])
        # Thinking aloud first would break the schema; templates of models that do so know this name, others ignore it.
        return self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, tokenize=False, enable_thinking=False
        )

    def _knows_system(self) -> bool:
        asked = [{"role": "system", "content": "Evenhand probes."}, {"role": "user", "content": "Nothing."}]
        try:
            return asked[0]["content"] in self._rendered(asked)
        except Exception:  # noqa: BLE001 - a template is a program, and fails in any way it likes
            return False


def _control_tokens(tokenizer: Any) -> dict[str, int]:
    """What only a template may write: special tokens, and added ones that it contains or that look like markup.

    Added tokens that are runs of spaces or words are text. So is the token for unknown characters.
    """
    template = str(tokenizer.chat_template)
    control: dict[str, int] = {}
    for number, token in tokenizer.added_tokens_decoder.items():
        content: str = token.content
        marks = token.special or content in template or not _MARKUP.isdisjoint(content)
        if marks and len(content) > 1 and not content.isspace() and number != tokenizer.unk_token_id:
            control[content] = number
    return control
