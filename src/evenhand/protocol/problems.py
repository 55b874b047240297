"""pydantic's findings as problems in our words: for protocol files, gen_ai.json, plans and other input."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evenhand.errors import KEPT, Problem
from evenhand.text import did_you_mean

KeyPath = tuple[str | int, ...]
"""The keys and list places that lead to a value."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file, and the line of every value by its path; JSON and Python values have no lines."""

    value: object
    lines: Mapping[KeyPath, int] = field(default_factory=dict[KeyPath, int])

    def problem(self, what: str, path: KeyPath, *within: str | int, fix: str | None = None) -> Problem:
        """A problem with the value at `path`, on the line of the part `within` it.

        Keys that the file does not have are passed over: pydantic's paths also name the branches of unions. In the
        problem's key, the first entry of a list is 1.
        """
        names: list[str] = []
        here, taken, place = self.value, list[str | int](), 0
        for place, key in enumerate((*path, *within)):
            if isinstance(here, Mapping) and key in here:
                names += [str(key)] if place < len(path) else []
                here = cast("Mapping[object, object]", here)[key]
            elif isinstance(here, list | tuple) and isinstance(key, int):
                names += [str(key + 1)] if place < len(path) else []
                here = cast("Sequence[object]", here)[key]
            else:
                continue
            taken.append(key)
        return Problem(what, line=self.lines.get(tuple(taken)), key=".".join(names) or None, fix=fix)


def validation_problems(error: ValidationError, model: type[BaseModel], given: object) -> Sequence[Problem]:
    """One problem for each finding, with its key and, if `given` is a `Content` with lines, its line.

    `model` is what the input was validated against; its JSON Schema says what would be valid. `given` is the input.
    """
    content = given if isinstance(given, Content) else Content(given)
    schema, details = _schema(model), error.errors()
    # A list also counts as too short because its entries are wrong, which are reported themselves.
    wrong = {detail["loc"][:-length] for detail in details for length in range(1, len(detail["loc"]) + 1)}
    told = [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in wrong]
    found = [_problem(detail, content, schema) for detail in told[:KEPT]]
    more = [Problem(f"{len(told) - KEPT:,} more problems of this kind")] if len(told) > KEPT else []
    return [*dict.fromkeys(found), *more]


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _problem(detail: ErrorDetails, content: Content, schema: dict[str, Any]) -> Problem:
    path, kind, context = detail["loc"], detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        key, around = str(path[-1]), _schemas_at(path[:-1], schema)
        valid = sorted({name for found in around for name in found.get("properties", {})})
        # `{anchor: Rude, but aimed at nobody}` has a key "but aimed at nobody" without a value.
        cut = detail["input"] is None and " " in key
        return content.problem(
            f"unknown key {_named(path[-1])}{did_you_mean(key, valid)}; valid here: {', '.join(valid)}",
            path[:-1],
            path[-1],
            fix="within { } a text with a comma must be in quotes" if cut else None,
        )
    if kind == "missing":
        return content.problem(f"the key {path[-1]!r} is missing", path)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        tag = str(context["discriminator"]).strip("'")
        valid = ", ".join(name for found in _schemas_at(path, schema) for name in _tag_values(found))
        if kind == "union_tag_not_found":
            return content.problem(f"the key {tag!r} is missing; it is one of {valid}", path)
        return content.problem(f"{tag} {context['tag']!r} is not one of {valid}", path, tag)
    if kind in ("literal_error", "string_pattern_mismatch"):
        described = [found["description"] for found in _schemas_at(path, schema) if "description" in found]
        valid = context.get("expected") or next(iter(described), None) or context.get("pattern")
        return content.problem(f"{_named(detail['input'])} is not valid here; valid: {valid}", path)
    return content.problem(_message(detail), path)


_NEEDED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "too_short": "at least {min_length}",
    "greater_than": "a number greater than {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than_equal": "a number of at most {le:g}",
    "finite_number": "a number that is not infinite",
    "invalid_key": "a text as key",
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "a mapping of keys"),
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


def _schemas_at(path: KeyPath, whole: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the JSON Schema that describe a place; several if it may be of several kinds."""
    here = _alternatives(whole, whole)
    for part in path:
        below = [child for schema in here for child in _children(schema, part)]
        if below:
            here = [found for schema in below for found in _alternatives(schema, whole)]
        else:
            here = [schema for schema in here if part in _tag_values(schema)] or here
    return here


def _children(schema: Mapping[str, Any], part: str | int) -> list[dict[str, Any]]:
    if isinstance(part, int) and "items" in schema:
        return [schema["items"]]
    if part in schema.get("properties", {}):
        return [schema["properties"][part]]
    others = (*schema.get("patternProperties", {}).values(), schema.get("additionalProperties"))
    return [cast("dict[str, Any]", other) for other in others if isinstance(other, dict)]


def _alternatives(schema: dict[str, Any], whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "$ref" in schema:
        return _alternatives(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    branches = schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf")
    return [found for branch in branches for found in _alternatives(branch, whole)] if branches else [schema]


def _tag_values(schema: Mapping[str, Any]) -> list[str]:
    properties: Mapping[str, dict[str, Any]] = schema.get("properties", {})
    spec = properties.get("type") or properties.get("kind") or {}
    return [spec["const"]] if "const" in spec else list(spec.get("enum", []))
