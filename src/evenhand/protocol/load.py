"""Find, read and check protocol files.

Built-in protocols enter by the door that is open to everybody: an entry point of the group `evenhand.protocols` names
a package, and every `.yaml` file in it is a protocol under its file name.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence, Sized
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from evenhand.errors import InputError, Problem, ProtocolError
from evenhand.protocol.check import contradictions
from evenhand.protocol.model import Protocol
from evenhand.protocol.yaml_tree import Tree, parse

LARGEST = 2_000_000


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
        return _file_text(Path(name_or_path)), name
    installed = available()
    if name in installed:
        return installed[name].read_text(encoding="utf-8"), name
    if Path(name).is_file():
        return _file_text(Path(name)), name
    raise ProtocolError(
        name,
        f"no protocol of that name{_nearest(name, installed)}; there are {', '.join(installed)}, or give a .yaml file",
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
        problems += [_problem(detail, tree) for detail in error.errors() if not _echo(detail, tree)]
    problems += contradictions(tree)
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


def _file_text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise ProtocolError(str(path), f"this is a {'folder' if path.is_dir() else 'device or pipe'}; give a file")
        if path.stat().st_size > LARGEST:
            raise InputError(str(path), f"larger than {LARGEST:,} bytes: this is no protocol file")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ProtocolError(str(path), "no such file") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ProtocolError(str(path), [Problem("not UTF-8 text", line=line, fix="save the file as UTF-8")]) from error
    except OSError as error:
        raise ProtocolError(str(path), f"cannot be read: {error.strerror}") from error


def _problem(detail: ErrorDetails, tree: Tree) -> Problem:
    """One of pydantic's findings in our words, with its line."""
    path, kind, context = detail["loc"], detail["type"], detail.get("ctx", {})
    here, taken = tree.nearest(path)
    parts = [_counted(tree, taken, index) for index in range(len(taken))]
    key = ".".join(parts) or None
    if kind == "extra_forbidden":
        valid = _valid_keys(path[:-1])
        return Problem(
            f"unknown key {path[-1]!r}{_nearest(str(path[-1]), valid)}; valid here: {', '.join(valid)}",
            line=here.line,
            key=".".join(parts[:-1]) or None,
            fix="within { } a text with a comma must be in quotes" if _cut_at_a_comma(path[-1], detail) else None,
        )
    if kind == "missing":
        return Problem(f"the key {path[-1]!r} is missing", line=here.line, key=key)
    if kind == "union_tag_not_found":
        tag = str(context["discriminator"]).strip("'")
        return Problem(f"the key {tag!r} is missing; it is one of {_tags(path)}", line=here.line, key=key)
    if kind == "union_tag_invalid":
        tag = str(context["discriminator"]).strip("'")
        return Problem(f"{tag} {context['tag']!r} is not one of {_tags(path)}", line=here.get(tag).line, key=key)
    if kind in ("literal_error", "string_pattern_mismatch"):
        valid = str(context.get("expected") or _description(path) or context.get("pattern"))
        return Problem(f"{detail['input']!r} is not valid here; valid: {valid}", line=here.line, key=key)
    return Problem(_message(detail), line=here.line, key=key)


_NEEDED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "tuple_type": "a list",
    "too_short": "at least {min_length}",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number that is not infinite",
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "a mapping of keys"),
    "invalid_key": "a text as key",
}
"""What is missing, by the name of pydantic's finding."""


def _message(detail: ErrorDetails) -> str:
    kind, given = detail["type"], detail["input"]
    if detail["loc"] and detail["loc"][-1] in ("int", "float", "str"):  # the branches of a union, one finding each
        return f"a number or a text is needed, not {_named(given)}"
    if kind in _NEEDED:
        needed = _NEEDED[kind].format(**detail.get("ctx", {}))
        quotes = "; put it in quotes" if kind == "string_type" and isinstance(given, int | float) else ""
        return f"{needed} is needed, not {_named(given)}{quotes}"
    message = detail["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _named(given: object) -> str:
    if given is None:
        return "nothing"
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, str | int | float):
        return repr(given) if len(repr(given)) <= 60 else f"{repr(given)[:57]}…"
    size = len(cast("Sized", given)) if isinstance(given, list | tuple | dict) else 1
    return f"{'an empty' if size == 0 else 'a'} {'mapping' if isinstance(given, dict) else 'list'}"


def _echo(detail: ErrorDetails, tree: Tree) -> bool:
    """Whether a list is called too short only because its entries, reported each by itself, are wrong."""
    return detail["type"] == "too_short" and len(tree.get(*detail["loc"]).children) > 0


def _counted(tree: Tree, path: Sequence[str | int], index: int) -> str:
    """One part of a path as people count: the first entry of a list is 1."""
    part = path[index]
    in_list = isinstance(part, int) and isinstance(tree.get(*path[:index]).value, list)
    return str(int(part) + 1 if in_list else part)


def _cut_at_a_comma(key: str | int, detail: ErrorDetails) -> bool:
    """Whether a key is the rest of a text: `{anchor: Rude, but aimed at nobody}` has a key "but aimed at nobody"."""
    return detail["input"] is None and " " in str(key)


def _nearest(word: str, valid: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(valid), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _schemas_at(path: tuple[str | int, ...]) -> list[dict[str, Any]]:
    """The parts of the JSON Schema that describe a place; several where it is one of several kinds."""
    whole = Protocol.model_json_schema()
    here = _alternatives(whole, whole)
    for part in path:
        below = [child for schema in here for child in _children(schema, part)]
        if below:
            here = [found for schema in below for found in _alternatives(schema, whole)]
        else:
            narrowed = [schema for schema in here if part in _tag_values(schema)]
            here = narrowed or here
    return here


def _children(schema: Mapping[str, Any], part: str | int) -> list[dict[str, Any]]:
    if isinstance(part, int) and "items" in schema:
        return [schema["items"]]
    if part in schema.get("properties", {}):
        return [schema["properties"][part]]
    extra = schema.get("additionalProperties")
    patterns = list(schema.get("patternProperties", {}).values())
    return patterns or ([cast("dict[str, Any]", extra)] if isinstance(extra, dict) else [])


def _alternatives(schema: dict[str, Any], whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in schema:
        return _alternatives(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    branches = schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf")
    return [found for branch in branches for found in _alternatives(branch, whole)] if branches else [schema]


def _tag_values(schema: Mapping[str, Any]) -> list[str]:
    for tag in ("type", "kind"):
        if tag in schema.get("properties", {}):
            spec = schema["properties"][tag]
            return [spec["const"]] if "const" in spec else list(spec.get("enum", []))
    return []


def _valid_keys(path: tuple[str | int, ...]) -> list[str]:
    return sorted({key for schema in _schemas_at(path) for key in schema.get("properties", {})})


def _tags(path: tuple[str | int, ...]) -> str:
    return ", ".join(tag for schema in _schemas_at(path) for tag in _tag_values(schema))


def _description(path: tuple[str | int, ...]) -> str | None:
    return next((schema["description"] for schema in _schemas_at(path) if "description" in schema), None)
