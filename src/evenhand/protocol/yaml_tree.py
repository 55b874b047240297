"""YAML text → plain values, with the line of every key: so that an error can say where.

Scalars follow YAML 1.2's core schema: `off`, `yes` and `no` are texts (a label may be called `no`), only `true` and
`false` are truth values, and a date stays as it is written.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import yaml

from evenhand.errors import Problem, ProtocolError

MOST_NODES = 50_000


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


@dataclass(frozen=True, slots=True)
class Tree:
    """A value and the trees below it. A child that is not there reads as an empty tree: checks need no guard."""

    value: object
    line: int | None
    children: Mapping[str | int, "Tree"] = field(default_factory=dict[str | int, "Tree"])

    def get(self, *path: str | int) -> "Tree":
        here = self
        for key in path:
            here = here.children.get(key, Tree(None, here.line))
        return here

    @property
    def entries(self) -> Sequence["Tree"]:
        """The trees of a list; none if it is something else."""
        return list(self.children.values()) if isinstance(self.value, list) else []

    def nearest(self, path: tuple[str | int, ...]) -> tuple["Tree", list[str | int]]:
        """The deepest tree on the path and the keys that led there; keys that are not in the file are passed over."""
        here, taken = self, list[str | int]()
        for key in path:
            if key in here.children:
                here = here.children[key]
                taken.append(key)
        return here, taken


def tree_of(value: object) -> Tree:
    """The tree of plain values, such as JSON; it has no lines."""
    children: dict[str | int, Tree] = {}
    if isinstance(value, Mapping):
        children = {str(key): tree_of(one) for key, one in cast("Mapping[object, object]", value).items()}
    elif isinstance(value, list | tuple):
        children = {number: tree_of(one) for number, one in enumerate(cast("Sequence[object]", value))}
    return Tree(cast("object", value), None, children)


def parse(text: str, source: str) -> tuple[Tree, list[Problem]]:
    """The tree of a YAML text, with the problems that leave it readable (a key given twice).

    Raises ProtocolError if the text is not YAML at all.
    """
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
    builder = _Builder(source)
    try:
        return builder.build(node), builder.problems
    except RecursionError as error:
        raise ProtocolError(source, "the file is nested too deeply, or an alias contains itself") from error


class _Builder:
    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.nodes = 0

    def build(self, node: yaml.Node) -> Tree:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise ProtocolError(self.source, f"more than {MOST_NODES:,} values once its aliases are written out")
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, line)
        if isinstance(node, yaml.SequenceNode):
            items: dict[str | int, Tree] = {index: self.build(child) for index, child in enumerate(node.value)}
            return Tree([child.value for child in items.values()], line, items)
        return Tree(_scalar(node), line)

    def _mapping(self, node: yaml.MappingNode, line: int) -> Tree:
        children: dict[str | int, Tree] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            key = _scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str | int) or isinstance(key, bool):
                shown = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
                what = f"{shown} cannot be a key; a key is a text or a whole number"
                self.problems.append(Problem(what, line=key_line))
                continue
            if key in children:
                first = children[key].line
                self.problems.append(Problem(f"the key {key!r} is given twice (first in line {first})", line=key_line))
                continue
            child = self.build(value_node)
            children[key] = Tree(child.value, key_line, child.children)
        return Tree({key: child.value for key, child in children.items()}, line, children)


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""A character beyond the first plane as JSON escapes it: JSON is YAML, but YAML reads two characters there."""


def _scalar(node: yaml.Node) -> object:
    text = _PAIR.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), str(node.value))
    if node.tag == _NULL:
        return None
    if node.tag == _BOOL:
        return text.lower() == "true"
    if node.tag in (_INT, _FLOAT):
        try:
            return int(text) if node.tag == _INT else float(text)
        except ValueError:  # a tag written out, `!!int three`: it stays a text, and the key's own check refuses it
            return text
    return text
