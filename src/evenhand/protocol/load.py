"""Find, read and check protocol files.

Protocols are installed through entry points, the built-in ones too: an entry point of the group `evenhand.protocols`
names a package, and every `.yaml` file in it is a protocol under its file name.
"""

from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evenhand.errors import ProtocolError
from evenhand.files import read_text
from evenhand.protocol.check import contradictions
from evenhand.protocol.model import Protocol
from evenhand.protocol.problems import validation_problems
from evenhand.protocol.yaml_tree import parse
from evenhand.text import did_you_mean

LARGEST = 2_000_000
"""Bytes of a protocol file; the longest built-in one has 30,000."""


def available() -> Mapping[str, Traversable]:
    """Every protocol that is installed, by name, in alphabetical order."""
    found: dict[str, Traversable] = {}
    for entry in entry_points(group="evenhand.protocols"):
        for file in files(entry.value).iterdir():
            if file.name.endswith(".yaml"):
                found.setdefault(file.name.removesuffix(".yaml"), file)
    return dict(sorted(found.items()))


def load_protocol(name_or_path: str | Path) -> Protocol:
    """The protocol with that name, or in that file."""
    text, source = protocol_text(name_or_path)
    return read_protocol(text, source)


def protocol_text(name_or_path: str | Path) -> tuple[str, str]:
    """The text of a protocol and what to call it in messages."""
    name = str(name_or_path)
    if isinstance(name_or_path, Path) or name.endswith((".yaml", ".yml", ".json")) or "/" in name or "\\" in name:
        return _text_of(Path(name_or_path)), name
    installed = available()
    if name in installed:
        return installed[name].read_text(encoding="utf-8"), name
    if Path(name).is_file():
        return _text_of(Path(name)), name
    raise ProtocolError(
        name,
        f"there is no protocol of that name{did_you_mean(name, installed)}; choose one of {', '.join(installed)}, "
        "or give a .yaml file",
    )


def read_protocol(text: str, source: str) -> Protocol:
    """A protocol from the text of its file. Raises ProtocolError with every problem in it, each with its line."""
    tree, problems = parse(text, source)
    if not tree.children or 0 in tree.children:
        raise ProtocolError(
            source,
            "a protocol is a mapping of keys such as name, item and criteria, not a "
            f"{'list' if 0 in tree.children else 'single value'}",
        )
    protocol = None
    try:
        protocol = Protocol.model_validate(tree.value)
    except ValidationError as error:
        problems += validation_problems(error, Protocol, tree)
    problems += contradictions(tree, protocol)
    if problems or protocol is None:
        raise ProtocolError(source, sorted(set(problems), key=lambda problem: (problem.line or 0, str(problem))))
    return protocol


def protocol_schema() -> dict[str, Any]:
    """The JSON Schema of a protocol file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Evenhand protocol",
        **Protocol.model_json_schema(),
    }


def _text_of(path: Path) -> str:
    return read_text(path, largest=LARGEST, error=ProtocolError)
