"""Errors as responses: JSON under /api/, a page elsewhere, never a traceback."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from evenhand.errors import ConflictError, StudyError, UserError
from evenhand.text import masked
from evenhand.web.schemas import AsciiJSONResponse, ErrorMessage, InvalidBody
from evenhand.web.templating import render

LOG = logging.getLogger("evenhand.web")

INTERNAL_ERROR = "Something went wrong on our side. Your work so far is saved; try again in a moment."

_DESCRIPTIONS = {
    400: "The request could not be parsed",
    401: "Not signed in",
    403: "Signed in, but not allowed to do this",
    404: "Not found, or not yours",
    408: "The request did not arrive completely in time",
    409: "Something has changed in the meantime",
    413: "More than 1 MB",
    422: "A value is not valid",
    428: "A condition is missing: If-Match or If-None-Match",
    429: "Too many requests; Retry-After gives the seconds to wait",
    503: "The study cannot be reached at the moment; nothing was stored",
}
_RETRY_AFTER = {"Retry-After": {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 0}}}
_MESSAGES = {404: "There is nothing at this address.", 405: "This address does not support that method."}
_TITLES = {401: "Please sign in", 403: "Not allowed", 404: "Not found", 429: "One moment, please"}


def error_responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the documentation of the API."""
    return {
        code: {
            "model": InvalidBody if code == 422 else ErrorMessage,
            "description": _DESCRIPTIONS[code],
            **({"headers": _RETRY_AFTER} if code in (429, 503) else {}),
        }
        for code in codes
    }


def error_response(
    scope: Scope, status: int, message: str, *, more: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """An error in the form that the client can read."""
    if scope["path"].startswith("/api/"):
        return AsciiJSONResponse({"error": message, **(more or {})}, status, headers)
    title = HTTPStatus(status).phrase.capitalize() if status < 500 else "Something went wrong"
    return HTMLResponse(render("message.html", title=_TITLES.get(status, title), text=message), status, headers)


def add_error_handlers(app: FastAPI, location: str) -> None:
    """Turn what the routes raise into responses. `location`, the path or URL of the study, is kept from clients."""

    async def http_error(request: Request, error: Any) -> Response:
        # The detail may be a mapping: `error` and what else the client should know.
        more: dict[str, Any] = {"error": error.detail} if isinstance(error.detail, str) else {**error.detail}
        phrase = HTTPStatus(error.status_code).phrase
        message = str(more.pop("error", phrase))
        message = _MESSAGES.get(error.status_code, message) if message == phrase else message
        return error_response(request.scope, error.status_code, message, more=more, headers=error.headers)

    async def invalid_request(request: Request, error: Any) -> Response:
        problems = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}" for one in error.errors()
        ]
        return error_response(request.scope, 422, "; ".join(problems[:3]), more={"problems": problems})

    async def user_error(request: Request, error: Exception) -> Response:
        message = str(error)
        for place in filter(None, (getattr(error, "location", None), location, masked(location))):
            message = message.removeprefix(f"{place}: ").replace(place, "the study")
        if isinstance(error, ConflictError):
            return error_response(request.scope, 409, message)
        if isinstance(error, StudyError) and error.__cause__ is not None:
            # The database failed, not the request: sending it again may well succeed.
            request.app.state.services.log_failure(error)
            return error_response(request.scope, 503, message, headers={"Retry-After": "5"})
        return error_response(request.scope, 422, message, more={"problems": []})

    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, invalid_request)
    app.add_exception_handler(UserError, user_error)
