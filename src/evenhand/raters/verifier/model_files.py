"""The files of a model in ONNX format: in a folder, or fetched once from the Hugging Face hub into its cache.

Only weights, tokenizer.json and config.json are fetched; none of them is a program. Their SHA-256 checksums are
recorded with them in the cache, in SHA256SUMS, and verified whenever the model is loaded. A folder of yours may have
such a file, too: `sha256sum *.json *.onnx > SHA256SUMS`.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

import huggingface_hub

from evenhand.errors import UserError
from evenhand.files import read_text
from evenhand.raters.verifier.model_catalogue import MODELS, known_model
from evenhand.text import did_you_mean, some_of

VALID = (
    "Valid is a short name that `evenhand models` lists, a repository of the Hugging Face hub with ONNX weights "
    "(ORG/NAME, ORG/NAME@REVISION, ORG/NAME/onnx/model_quantized.onnx), or a folder with model.onnx, tokenizer.json "
    "and config.json, also as NAME=FOLDER if it is a listed model"
)
LARGEST = 4_000_000_000
"""Bytes that are fetched at most for one model: twice the largest one in the catalogue, with a margin."""
CHECKSUMS = "SHA256SUMS"

_WEIGHTS = ("model.onnx", "onnx/model.onnx")
_NAME = r"[A-Za-z0-9](?:[\w-]|\.(?!\.))*"
_ON_HUB = re.compile(rf"({_NAME}/{_NAME})(?:@({_NAME}))?(?:/((?:{_NAME}/)*{_NAME}\.onnx))?")
_CHECKSUM = re.compile(r"^(?P<sum>[0-9a-f]{64}) [ *](?:\./)?(?P<name>.+)$", re.MULTILINE)
_LOCATION = re.compile(rb"\n\x08location\x12(.)", re.DOTALL)
"""How weights refer to data in another file: the key, and the length of the file's name, which follows."""


class ModelFiles(NamedTuple):
    """`digest` is made of the checksums of all files. `revision`: the commit, if they are from the hub."""

    config: Path
    tokenizer: Path
    weights: Path
    digest: str
    revision: str | None


def model_files(source: str) -> ModelFiles:
    """The files of a model, fetched if necessary. Raises UserError if they are missing, damaged or too large."""
    name, _, place = source.partition("=")
    place = place if place and name in MODELS else source
    path = Path(place).expanduser()
    if source not in ("", *MODELS) and path.exists():
        folder = path if path.is_dir() else path.parent
        if folder.name == "onnx" and not (folder / "config.json").is_file():
            folder = folder.parent
        return _verified(source, folder, None if path.is_dir() else path.relative_to(folder).as_posix())
    on_hub = _ON_HUB.fullmatch(MODELS[place].repository if place in MODELS else place)
    if on_hub is None:
        raise UserError(f"{source}: there is no such model or folder{did_you_mean(source, MODELS)}. {VALID}")
    repository, revision, wanted = on_hub.groups()
    cached = huggingface_hub.try_to_load_from_cache(repository, "config.json", revision=revision)
    folder = Path(cached).parent if isinstance(cached, str) else None
    if folder is None or _weights(_names(folder), wanted) is None:
        folder = _fetched(source, repository, revision, wanted)
    return _verified(source, folder, wanted, from_hub=True)


def _names(folder: Path) -> Collection[str]:
    return [one.relative_to(folder).as_posix() for one in (*folder.glob("*"), *folder.glob("*/*")) if one.is_file()]


def _weights(names: Collection[str], wanted: str | None) -> str | None:
    return next((one for one in ([wanted] if wanted else _WEIGHTS) if one in names), None)


def _needed(source: str, names: Collection[str], wanted: str | None) -> Sequence[str]:
    """config.json, tokenizer.json, data that the weights refer to, and last the weights."""
    weights, known = _weights(names, wanted), known_model(source)
    if weights is None:
        others = sorted(one for one in names if one.endswith(".onnx"))
        there = f"; there are {some_of(others)}: name one, as in {source}/{others[0]}" if others else ""
        model, named = (known.repository, f"{known.name}=") if known else (source, "")
        raise UserError(
            f"{source}: there is no {wanted or ' or '.join(_WEIGHTS)} here{there}. A model without ONNX weights can be "
            f"converted with PyTorch (pip install 'optimum-onnx[onnxruntime]'): optimum-cli export onnx --model "
            f"{model} FOLDER; then use verifier(onnx:{named}FOLDER)"
        )
    near = weights.rpartition("/")[0]
    found = [[one for one in (name, f"{near}/{name}") if one in names] for name in ("config.json", "tokenizer.json")]
    if [] in found:
        raise UserError(f"{source}: there is no {'config' if not found[0] else 'tokenizer'}.json here. {VALID}")
    data = [one for one in names if one.startswith((f"{weights}_data", f"{weights}.data"))]
    return [found[0][0], found[1][0], *data, weights]


def _fetched(source: str, repository: str, revision: str | None, wanted: str | None) -> Path:
    """The folder of the cache with the model's files. Shows its progress on stderr."""
    try:
        api: Any = huggingface_hub.HfApi()
        listed: list[Any] = api.model_info(repository, revision=revision, files_metadata=True).siblings or []
        sizes: dict[str, int] = {one.rfilename: one.size or 0 for one in listed}
        needed = _needed(source, sizes, wanted)
        size = sum(sizes[name] for name in needed)
        if size > LARGEST:
            raise UserError(
                f"{source}: its files have {size / 1e9:,.1f} GB, and at most {LARGEST / 1e9:,.0f} GB are fetched; "
                f"download them into a folder (hf download {repository} --local-dir FOLDER): verifier(onnx:FOLDER)"
            )
        # The weights come last, so that a folder of the cache that has them is complete.
        paths: list[str] = [api.hf_hub_download(repository, name, revision=revision) for name in needed]
    except UserError:
        raise
    # The hub's client raises other exceptions in each of its versions, some of them its HTTP library's.
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise UserError(
            f"{source}: this model cannot be fetched: {first}. It is fetched only once, but that needs a network: "
            "check the name, the connection, HF_HUB_OFFLINE and HF_ENDPOINT (a mirror); or download it elsewhere into "
            "a folder, and use verifier(onnx:FOLDER)"
        ) from error
    return Path(paths[-1].removesuffix(needed[-1]))


def _verified(source: str, folder: Path, wanted: str | None, *, from_hub: bool = False) -> ModelFiles:
    """The model's files in this folder, if they are those whose checksums are recorded there."""
    needed = _needed(source, _names(folder), wanted)
    config, tokenizer, *data, weights = (folder / name for name in needed)
    try:
        named, sums = _referenced(weights), {name: _checksum(folder / name) for name in needed}
    except (OSError, ValueError) as error:
        raise UserError(f"{source}: these files cannot be read: {error}") from error
    if not named <= {one.name for one in data}:
        raise UserError(f"{weights}: it refers to {some_of(sorted(named))}; valid is {weights.name}_data in its folder")
    record = folder / CHECKSUMS
    text = read_text(record) if record.is_file() else ""
    recorded = {found["name"]: found["sum"] for found in _CHECKSUM.finditer(text)}
    wrong = [name for name, found in sums.items() if recorded.get(name, found) != found]
    if wrong:
        advice = f"delete {folder.parents[1]} to fetch it again" if from_hub else f"restore it, or delete {CHECKSUMS}"
        raise UserError(
            f"{folder}: {some_of(wrong)}: damaged or replaced, for the SHA-256 checksum is not the one in {CHECKSUMS}; "
            f"{advice}"
        )
    if from_hub and not recorded.keys() >= sums.keys():
        # In a cache that others fill and that is read-only here, nothing can be recorded.
        with suppress(PermissionError):
            lines = [f"{found}  {name}\n" for name, found in (sums | recorded).items()]
            record.write_text("".join(lines), encoding="utf-8")
    digest = hashlib.sha256("".join(f"{name} {found}\n" for name, found in sorted(sums.items())).encode()).hexdigest()
    return ModelFiles(config, tokenizer, weights, digest, folder.name if from_hub else None)


def _referenced(weights: Path) -> set[str]:
    """The files with data that the weights refer to."""
    with weights.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        places = [(found.end(), found.end() + found[1][0]) for found in _LOCATION.finditer(content)]
        return {content[start:end].decode("utf-8", "replace") for start, end in places}


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
