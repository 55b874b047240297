"""Find, read and check protocol files.

Protocols are installed through entry points, the built-in ones too: an entry point of the group `evenhand.protocols`
names a package, and every `.yaml` file in it is a protocol under its file name.

Scalars follow YAML 1.2's core schema: `off`, `yes` and `no` are texts (a label may be called `no`), only `true` and
`false` are truth values, and a date stays as it is written.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from evenhand.errors import Problem, ProtocolError
from evenhand.files import read_text
from evenhand.protocol.check import contradictions
from evenhand.protocol.model import Protocol
from evenhand.protocol.problems import Content, KeyPath, validation_problems
from evenhand.text import did_you_mean

LARGEST = 2_000_000
"""Bytes of a protocol file; the longest built-in one has 30,000."""

MOST_VALUES = 50_000
"""Values in a protocol file, once its aliases are written out."""


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
    is_path = isinstance(name_or_path, Path) or name.endswith((".yaml", ".yml", ".json")) or "/" in name or "\\" in name
    installed: Mapping[str, Traversable] = {} if is_path else available()
    if name in installed:
        return installed[name].read_text(encoding="utf-8"), name
    if is_path or Path(name).is_file():
        return read_text(Path(name), largest=LARGEST, error=ProtocolError), name
    raise ProtocolError(
        name,
        f"there is no protocol of that name{did_you_mean(name, installed)}; choose one of {', '.join(installed)}, "
        "or give a .yaml file",
    )


def source_digest(source: str) -> str:
    """The SHA-256 of the text of a protocol's file, or of an installed protocol; empty if there is none."""
    with suppress(ProtocolError):
        return sha256(protocol_text(Path(source) if Path(source).is_absolute() else source)[0].encode()).hexdigest()
    return ""


def changed_source(source: str, digest: str) -> Protocol | None:
    """The protocol at a source whose text had this digest; None if it has not changed, is gone or is invalid."""
    # Gone, or broken in the middle of an edit: a study has its own copy and needs neither.
    with suppress(ProtocolError):
        if source and source_digest(source) != digest:
            return load_protocol(Path(source) if Path(source).is_absolute() else source)
    return None


def read_protocol(text: str, source: str) -> Protocol:
    """A protocol from the text of its file. Raises ProtocolError with every problem in it, each with its line."""
    content, problems = parse(text, source)
    value = content.value
    if not value or not isinstance(value, dict):
        kind = "list" if isinstance(value, list) else "single value"
        raise ProtocolError(source, f"a protocol is a mapping of keys such as name, item and criteria, not a {kind}")
    protocol = None
    try:
        protocol = Protocol.model_validate(value)
    except ValidationError as error:
        problems += validation_problems(error, Protocol, content)
    problems += contradictions(content)
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


class _CoreLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 — PyYAML reads this very attribute


_NULL, _BOOL, _INT, _FLOAT = (f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float"))
for _tag, _pattern, _first in (
    (_NULL, r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    (_BOOL, r"^(true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    (_INT, r"^[-+]?[0-9]{1,18}$", list("-+0123456789")),
    (_FLOAT, r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", list("-+.0123456789")),
):
    _CoreLoader.add_implicit_resolver(_tag, re.compile(_pattern), _first)  # pyright: ignore[reportUnknownMemberType]


def parse(text: str, source: str) -> tuple[Content, list[Problem]]:
    """The values in a YAML text, and problems that leave it readable. Raises ProtocolError if it is not YAML at all."""
    builder = _Builder(source)
    try:
        node = yaml.compose(text, Loader=_CoreLoader)  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        what = error.problem or "not valid YAML"
        raise ProtocolError(source, [Problem(f"not valid YAML: {what}", line=line)]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ProtocolError(source, f"not valid YAML: {' '.join(str(error).split())}") from error
    if node is None:
        raise ProtocolError(
            source, "the file is empty; to start from a built-in one: evenhand protocol show halo-support --yaml > FILE"
        )
    try:
        return Content(builder.value(node, ()), builder.lines), builder.problems
    except RecursionError as error:
        raise ProtocolError(source, "the file is nested too deeply, or an alias contains itself") from error


class _Builder:
    """Makes plain values of YAML nodes and notes the line of each."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.lines: dict[KeyPath, int] = {}

    def value(self, node: yaml.Node, path: KeyPath) -> object:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if len(self.lines) > MOST_VALUES:
            raise ProtocolError(self.source, f"more than {MOST_VALUES:,} values once its aliases are written out")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(child, (*path, index)) for index, child in enumerate(node.value)]
        return self._mapping(node, path) if isinstance(node, yaml.MappingNode) else _scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str | int, object]:
        values: dict[str | int, object] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = _scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str | int) or isinstance(key, bool):
                shown = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
                what = f"{shown} cannot be a key; a key is a text or a whole number"
                self.problems.append(Problem(what, line=line))
            elif key in values:
                what = f"the key {key!r} is given twice (first in line {self.lines[*path, key]})"
                self.problems.append(Problem(what, line=line))
            else:
                self.lines[*path, key] = line
                values[key] = self.value(value_node, (*path, key))
        return values


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""A character beyond the first plane as JSON escapes it: JSON is YAML, but YAML reads two characters there."""


def _scalar(node: yaml.Node) -> object:
    text = _PAIR.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), str(node.value))
    if node.tag == _NULL:
        return None
    if node.tag == _BOOL:
        return text.lower() == "true"
    try:
        return int(text) if node.tag == _INT else float(text) if node.tag == _FLOAT else text
    except ValueError:  # a tag written out, `!!int three`: it stays a text, and the key's own check refuses it
        return text
