"""Find, read and check protocol files: the entry points of the group `evenhand.protocols` name the installed ones."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from evenhand.errors import ProtocolError
from evenhand.protocol.check import contradictions
from evenhand.protocol.definitions import DefinitionFiles
from evenhand.protocol.model import Protocol

PROTOCOLS = DefinitionFiles(
    noun="protocol",
    keys="name, item and criteria",
    template="evenhand protocol show halo-support --yaml > FILE",
    group="evenhand.protocols",
    model=Protocol,
    check=contradictions,
    error=ProtocolError,
)

protocol_schema = PROTOCOLS.schema
protocol_text = PROTOCOLS.text
source_digest = PROTOCOLS.source_digest
changed_source = PROTOCOLS.changed


def available() -> Mapping[str, Traversable]:
    """Every protocol that is installed, by name, in alphabetical order."""
    return PROTOCOLS.available()


def load_protocol(name_or_path: str | Path) -> Protocol:
    """The protocol with that name, or in that file."""
    return PROTOCOLS.load(name_or_path)


def read_protocol(text: str, source: str) -> Protocol:
    """A protocol from the text of its file. Raises ProtocolError with every problem in it, each with its line."""
    return PROTOCOLS.read(text, source)
