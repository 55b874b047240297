"""The OpenAPI document → what the page about the API shows. Pure.

Shapes that have a name are described once, at the end; everything else says what it is in a few words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any, cast

from markupsafe import Markup

from evenhand.web.markdown import to_html

Schema = Mapping[str, Any]

_TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "null"}
_PLACES = {"path": "in the path", "query": "in the query", "header": "header"}


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a type; `shape` where they name one that is described further down."""

    words: str
    shape: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter, or a key of a shape."""

    name: str
    type: Sequence[Piece]
    about: Markup
    required: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What may come back: its status, when, and what it holds."""

    status: str
    about: str
    type: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of request."""

    id: str
    method: str
    path: str
    summary: str
    about: Markup
    access: str
    parameters: Sequence[Row]
    body: Sequence[Piece]
    example: str
    answers: Sequence[Answer]


@dataclass(frozen=True, slots=True)
class Group:
    """Routes that belong together."""

    name: str
    about: str
    operations: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with a name."""

    name: str
    about: Markup
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Description:
    """The whole page."""

    version: str
    about: Markup
    groups: Sequence[Group]
    shapes: Sequence[Shape]


def description_of(document: Mapping[str, Any]) -> Description:
    """What an OpenAPI document says, for people."""
    operations = [
        (operation.get("tags", [""])[0], _operation(method, path, operation))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    groups = [
        Group(tag["name"], tag["description"], [found for name, found in operations if name == tag["name"]])
        for tag in document.get("tags", [])
    ]
    shapes = [
        Shape(name, to_html(schema.get("description", "")), list(_rows(schema)))
        for name, schema in sorted(document.get("components", {}).get("schemas", {}).items())
    ]
    return Description(document["info"]["version"], to_html(document["info"]["description"]), groups, shapes)


def type_of(schema: Schema) -> Sequence[Piece]:
    """A type in words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return [Piece(name, name)]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _joined([type_of(one) for one in schema[key]], " or ")
    if "const" in schema or "enum" in schema:
        return [Piece(" or ".join(dumps(value) for value in schema.get("enum", [schema.get("const")])))]
    if schema.get("type") == "array":
        return [Piece("list of "), *_items(schema)] if "items" in schema or "prefixItems" in schema else [Piece("list")]
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return (
            [Piece("object of "), *type_of(cast("Schema", values))]
            if isinstance(values, Mapping)
            else [Piece("object")]
        )
    return [Piece(_TYPES.get(str(schema.get("type")), "anything") + _bounds(schema))]


def _items(schema: Schema) -> Sequence[Piece]:
    if "prefixItems" in schema:
        return _joined([type_of(one) for one in schema["prefixItems"]], ", ")
    return type_of(schema["items"])


def _joined(parts: Sequence[Sequence[Piece]], word: str) -> Sequence[Piece]:
    pieces: list[Piece] = []
    for part in parts:
        pieces += [Piece(word), *part] if pieces else part
    return pieces


def _bounds(schema: Schema) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is not None and high is not None:
        return f" from {low:,} to {high:,}"
    if low is not None:
        return f" from {low:,}"
    longest = schema.get("maxLength")
    return f" of at most {longest:,} characters" if longest is not None else ""


def _operation(method: str, path: str, operation: Schema) -> Operation:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    parameters = [parameter for parameter in operation.get("parameters", []) if parameter["in"] in _PLACES]
    return Operation(
        id=str(operation["operationId"]),
        method=method.upper(),
        path=path,
        summary=str(operation.get("summary", path)),
        about=to_html(operation.get("description", "")),
        access=_access(operation),
        parameters=[
            Row(
                parameter["name"],
                type_of(parameter["schema"]),
                to_html(parameter.get("description", "")),
                parameter.get("required", False),
                _PLACES[parameter["in"]],
            )
            for parameter in parameters
        ],
        body=type_of(body["schema"]) if body else [],
        example=dumps(body["example"], ensure_ascii=False, indent=2) if "example" in body else "",
        answers=[_answer(status, response) for status, response in sorted(operation["responses"].items())],
    )


def _answer(status: str, response: Schema) -> Answer:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return Answer(status, str(response["description"]), type_of(schema) if schema else [])


def _access(operation: Schema) -> str:
    schemes = {name for one in operation.get("security", []) for name in one}
    people = [word for name, word in (("rater session", "raters or adjudicators"), ("owner session", "the owner"))
              if name in schemes]  # fmt: skip
    return " and ".join(people)


def _rows(schema: Schema) -> Iterator[Row]:
    required = schema.get("required", ())
    for name, entry in schema.get("properties", {}).items():
        yield Row(name, type_of(entry), to_html(entry.get("description", "")), name in required)
