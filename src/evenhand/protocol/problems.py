"""pydantic's findings as problems in our words: for protocol files, gen_ai.json, plans and other input."""

from collections.abc import Mapping, Sequence, Sized
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evenhand.errors import Problem
from evenhand.protocol.yaml_tree import Tree, tree_of
from evenhand.text import did_you_mean

Path = tuple[str | int, ...]


def validation_problems(error: ValidationError, model: type[BaseModel], given: object) -> Sequence[Problem]:
    """One problem for each finding, with its key and, if `given` is the tree of a YAML text, its line.

    `model` is what the input was validated against; its JSON Schema says what would be valid. `given` is the input.
    """
    tree = given if isinstance(given, Tree) else tree_of(given)
    schema = model.model_json_schema()
    found = [_problem(detail, tree, schema) for detail in error.errors() if not _is_echo(detail, tree)]
    return list(dict.fromkeys(found))


def _problem(detail: ErrorDetails, tree: Tree, schema: dict[str, Any]) -> Problem:
    path, kind, context = detail["loc"], detail["type"], detail.get("ctx", {})
    here, taken = tree.nearest(path)
    parts = [_counted(tree, taken, index) for index in range(len(taken))]
    key = ".".join(parts) or None
    if kind == "extra_forbidden":
        valid = _valid_keys(path[:-1], schema)
        return Problem(
            f"unknown key {path[-1]!r}{did_you_mean(str(path[-1]), valid)}; valid here: {', '.join(valid)}",
            line=here.line,
            key=".".join(parts[:-1]) or None,
            fix="within { } a text with a comma must be in quotes" if _cut_at_a_comma(path[-1], detail) else None,
        )
    if kind == "missing":
        return Problem(f"the key {path[-1]!r} is missing", line=here.line, key=key)
    if kind == "union_tag_not_found":
        tag = str(context["discriminator"]).strip("'")
        return Problem(f"the key {tag!r} is missing; it is one of {_tags(path, schema)}", line=here.line, key=key)
    if kind == "union_tag_invalid":
        tag = str(context["discriminator"]).strip("'")
        return Problem(
            f"{tag} {context['tag']!r} is not one of {_tags(path, schema)}", line=here.get(tag).line, key=key
        )
    if kind in ("literal_error", "string_pattern_mismatch"):
        valid = str(context.get("expected") or _description(path, schema) or context.get("pattern"))
        return Problem(f"{detail['input']!r} is not valid here; valid: {valid}", line=here.line, key=key)
    return Problem(_message(detail), line=here.line, key=key)


_NEEDED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "tuple_type": "a list",
    "list_type": "a list",
    "too_short": "at least {min_length}",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than_equal": "a number of at most {le:g}",
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


def _is_echo(detail: ErrorDetails, tree: Tree) -> bool:
    """Whether a list counts as too short only because its entries are wrong, which are reported themselves."""
    return detail["type"] == "too_short" and len(tree.get(*detail["loc"]).children) > 0


def _counted(tree: Tree, path: Sequence[str | int], index: int) -> str:
    """One part of a path as people count: the first entry of a list is 1."""
    part = path[index]
    in_list = isinstance(part, int) and isinstance(tree.get(*path[:index]).value, list)
    return str(int(part) + 1 if in_list else part)


def _cut_at_a_comma(key: str | int, detail: ErrorDetails) -> bool:
    """Whether a key is the rest of a text: `{anchor: Rude, but aimed at nobody}` has a key "but aimed at nobody"."""
    return detail["input"] is None and " " in str(key)


def _schemas_at(path: Path, whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the JSON Schema that describe a place; several if it may be of several kinds."""
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


def _valid_keys(path: Path, whole: dict[str, Any]) -> list[str]:
    return sorted({key for schema in _schemas_at(path, whole) for key in schema.get("properties", {})})


def _tags(path: Path, whole: dict[str, Any]) -> str:
    return ", ".join(tag for schema in _schemas_at(path, whole) for tag in _tag_values(schema))


def _description(path: Path, whole: dict[str, Any]) -> str | None:
    return next((schema["description"] for schema in _schemas_at(path, whole) if "description" in schema), None)
