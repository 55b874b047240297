"""Definition files: protocols, generators and ontologies in YAML, found by name or path, read and checked.

Definitions are installed through entry points, the built-in ones too: an entry point of their group names a package,
and every `.yaml` file in it is a definition under its file name.

Scalars follow YAML 1.2's core schema: `off`, `yes` and `no` are texts (a label may be called `no`), only `true` and
`false` are truth values, and a date stays as it is written.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml
from pydantic import ValidationError

from evenhand.errors import InputError, Problem
from evenhand.files import read_text
from evenhand.protocol.problems import Content, KeyPath, validation_problems
from evenhand.scales import Strict
from evenhand.text import did_you_mean

LARGEST = 2_000_000
"""Bytes of a definition file; the longest built-in one has 30,000."""

MOST_VALUES = 10_000
"""Values in a definition file, once its aliases are written out; the longest built-in one has 600."""

TOO_MANY = (
    f"more than {MOST_VALUES:,} values once its aliases are written out, which is the limit; this cannot be right"
)

_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON writes plainly but YAML folds or refuses."""


class Definition(Strict):
    """The content of a definition file. Its digest identifies it wherever it is used."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content: comments, layout and defaults written out do not change it."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def canonical(self, *, indent: int | None = None) -> str:
        """The content as JSON in one fixed form, which can be read back. The digest is that without `indent`."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        separators = (",", ":") if indent is None else None
        text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
        return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


D = TypeVar("D", bound=Definition)


@dataclass(frozen=True)
class DefinitionFiles(Generic[D]):
    """One kind of definition file: what it is called, what it holds, and how its parts are checked.

    `keys` names some keys for messages; `template` is the command that prints a file to start from. `check` finds the
    parts that do not fit each other. Whatever is wrong is raised as `error`.
    """

    noun: str
    keys: str
    template: str
    group: str | None
    model: type[D]
    check: Callable[[Content], Iterable[Problem]]
    error: type[InputError] = InputError

    def available(self) -> Mapping[str, Traversable]:
        """Every definition that is installed, by name, in alphabetical order."""
        found: dict[str, Traversable] = {}
        for entry in entry_points(group=self.group) if self.group else ():
            for file in files(entry.value).iterdir():
                if file.name.endswith(".yaml"):
                    found.setdefault(file.name.removesuffix(".yaml"), file)
        return dict(sorted(found.items()))

    def load(self, name_or_path: str | Path) -> D:
        """The definition with that name, or in that file. Raises `error` with every problem in it."""
        return self.read(*self.text(name_or_path))

    def text(self, name_or_path: str | Path) -> tuple[str, str]:
        """The text of a definition and what to call it in messages."""
        name = str(name_or_path)
        is_path = isinstance(name_or_path, Path) or name.endswith((".yaml", ".yml", ".json"))
        is_path = is_path or "/" in name or "\\" in name
        installed: Mapping[str, Traversable] = {} if is_path else self.available()
        if name in installed:
            return installed[name].read_text(encoding="utf-8"), name
        if is_path or Path(name).is_file() or not self.group:
            return read_text(Path(name), largest=LARGEST, error=self.error), name
        raise self.error(
            name,
            f"there is no {self.noun} of that name{did_you_mean(name, installed)}; choose one of "
            f"{', '.join(installed)}, or give a .yaml file",
        )

    def source_digest(self, source: str) -> str:
        """The SHA-256 of the text of a definition; empty if there is none."""
        with suppress(self.error):
            return hashlib.sha256(self.text(source)[0].encode()).hexdigest()
        return ""

    def changed(self, source: str, digest: str) -> D | None:
        """The definition at a source whose text had this digest; None if it has not changed, is gone or is invalid."""
        # Gone, or broken in the middle of an edit: a study has its own copy and needs neither.
        with suppress(self.error):
            if source and self.source_digest(source) != digest:
                return self.load(source)
        return None

    def read(self, text: str, source: str) -> D:
        """A definition from the text of its file. Raises `error` with every problem in it, each with its line."""
        content, problems = self.parse(text, source)
        value = content.value
        if not value or not isinstance(value, dict):
            kind = "list" if isinstance(value, list) else "single value"
            article = "an" if self.noun[0] in "aeiou" else "a"
            raise self.error(source, f"{article} {self.noun} is a mapping of keys such as {self.keys}, not a {kind}")
        found = None
        try:
            found = self.model.model_validate(value)
        except ValidationError as error:
            problems += validation_problems(error, self.model, content)
        problems.extend(self.check(content))
        if problems or found is None:
            raise self.error(source, sorted(set(problems), key=lambda problem: (problem.line or 0, str(problem))))
        return found

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a file, for editors."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Evenhand {self.noun}",
            **self.model.model_json_schema(),
        }

    def parse(self, text: str, source: str) -> tuple[Content, list[Problem]]:
        """The values in a YAML text, and problems that leave it readable. Raises `error` if it is not YAML at all."""
        builder = _Builder()
        try:
            node = yaml.compose(text, Loader=_CoreLoader)  # pyright: ignore[reportUnknownMemberType]
            if node is None:
                raise self.error(source, f"the file is empty; to start from an example: {self.template}")
            return Content(builder.value(node, ()), builder.lines), builder.problems
        except _TooManyValues as error:
            raise self.error(source, TOO_MANY) from error
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else None
            what = error.problem or "not valid YAML"
            raise self.error(source, [Problem(f"not valid YAML: {what}", line=line)]) from error
        except yaml.YAMLError as error:
            raise self.error(source, f"not valid YAML: {' '.join(str(error).split())}") from error
        except RecursionError as error:
            raise self.error(source, "the file is nested too deeply, or an alias contains itself") from error


class _TooManyValues(Exception):
    """A file whose aliases multiply."""


class _CoreLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 — PyYAML reads this very attribute
    nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.nodes += 1
        if self.nodes > 2 * MOST_VALUES:  # keys are nodes as well
            raise _TooManyValues
        return super().compose_node(parent, index)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


_NULL, _BOOL, _INT, _FLOAT = (f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float"))
for _tag, _pattern, _first in (
    (_NULL, r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    (_BOOL, r"^(true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    (_INT, r"^[-+]?[0-9]{1,18}$", list("-+0123456789")),
    (_FLOAT, r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", list("-+.0123456789")),
):
    _CoreLoader.add_implicit_resolver(_tag, re.compile(_pattern), _first)  # pyright: ignore[reportUnknownMemberType]


class _Builder:
    """Makes plain values of YAML nodes and notes the line of each."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.lines: dict[KeyPath, int] = {}

    def value(self, node: yaml.Node, path: KeyPath) -> object:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if len(self.lines) > MOST_VALUES:
            raise _TooManyValues
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
