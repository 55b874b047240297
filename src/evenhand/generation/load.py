"""Find, read and check generator files: the entry points of the group `evenhand.generators` name the installed ones."""

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

available_generators = GENERATORS.available
load_generator = GENERATORS.load
