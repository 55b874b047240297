"""Find, read and check generator files: the entry points of the group `evenhand.generators` name the installed ones."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from evenhand.generation.check import contradictions
from evenhand.generation.model import Generator
from evenhand.protocol.definitions import DefinitionFiles

GENERATORS = DefinitionFiles(
    noun="generator",
    keys="name, input and output",
    template="evenhand generator show neureg-qa --yaml > FILE",
    group="evenhand.generators",
    model=Generator,
    check=contradictions,
)


def available_generators() -> Mapping[str, Traversable]:
    """Every generator that is installed, by name, in alphabetical order."""
    return GENERATORS.available()


def load_generator(name_or_path: str | Path) -> Generator:
    """The generator with that name, or in that file."""
    return GENERATORS.load(name_or_path)
