"""The description of the API: what FastAPI derives from the routes, and what it cannot know.

Added are a word on each group of routes, an example of each request's body, and the headers of answers.
"""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

TAGS = {
    "access": "Signing in and out, and invite links.",
    "rating": "For a rater: what is asked, the next task, and answers. Tasks are known by their numbers, units by "
    "their place in the task.",
    "manage": "For the owner: how work is shared out, how far it is, and who needs help.",
    "adjudication": "Disputed units with everything that was said of them, and rulings. The owner may read; "
    "adjudicators rule.",
    "data": "For the owner's programs: items, ratings, agreement and measures.",
}

_ANSWER: dict[str, Any] = {
    "id": "019a8b6c0f2a4d5e6f708192a3b4c5d6",
    "status": "rated",
    "value": "SUPPORTED",
    "confidence": 90,
    "seconds": 12.5,
}

EXAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/api/session"): {"token": "the part of an invite link after /join/"},
    ("post", "/api/session/owner"): {"password": "the owner's password"},
    ("post", "/api/session/as"): {"name": "dana", "role": "adjudicator"},
    ("post", "/api/invites"): {"name": "ann", "role": "rater", "days": 30},
    ("post", "/api/tasks/next"): {"holding": []},
    ("put", "/api/tasks/{number}/units/{position}/ratings/{criterion}"): _ANSWER,
    ("post", "/api/tasks/{number}/skip"): {"reason": "the text is cut off"},
    ("put", "/api/plan"): {"overlap": 2, "batch": 20, "training": "offered", "repeat_every": 25},
    ("post", "/api/raters/pause"): {"rater": "ann", "paused": True},
    ("post", "/api/raters/give-back"): {"rater": "ann", "number": 3},
    ("post", "/api/assignments"): {"item": "q7", "rater": "ann"},
    ("put", "/api/rulings"): {"unit": "q7", "criterion": "support", **_ANSWER},
}

PARAMETERS: dict[str, Any] = {
    "number": 1,
    "position": 1,
    "criterion": "support",
    "unit": "q7",
    "id": "q7",
    "item": "q7",
    "rater": "ann",
    "if-none-match": "*",
}
"""Examples of parameters by their names."""

_UNREADABLE = {
    "description": "Not a request that can be read",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
}
_ETAG = {"description": "the id of the rating in force, in double quotes", "schema": {"type": "string"}}
_RETRY_AFTER = {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 0}}


def describe_api(app: FastAPI) -> None:
    """Have an app describe itself in full under its `openapi_url`."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            derived = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            app.openapi_schema = completed(derived)
        return app.openapi_schema

    app.openapi = document


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what its routes cannot say."""
    used: set[str] = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            used.update(operation.get("tags", ()))
            _complete(operation, EXAMPLES.get((method, path)))
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.items() if name in used]
    return document


def _complete(operation: dict[str, Any], example: dict[str, Any] | None) -> None:
    if example is not None and "requestBody" in operation:
        operation["requestBody"]["content"]["application/json"]["example"] = example
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in PARAMETERS:
            parameter["example"] = PARAMETERS[parameter["name"]]
    responses: dict[str, Any] = operation["responses"]
    if "requestBody" in operation:
        responses.setdefault("400", _UNREADABLE)
    for response in responses.values():
        if response["description"] == "Successful Response":
            response["description"] = "Done"
    if "428" in responses:
        responses["200"].setdefault("headers", {})["ETag"] = _ETAG
    for code in ("429", "503"):
        if code in responses:
            responses[code].setdefault("headers", {})["Retry-After"] = _RETRY_AFTER
