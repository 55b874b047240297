"""What goes wrong → what the client is told: JSON under /api/, a page elsewhere, and never a traceback."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from evenhand.errors import ConflictError, StudyError, UserError, masked
from evenhand.web.html import render

LOG = logging.getLogger("evenhand.web")

OUR_FAULT = "Something went wrong on our side. What you did until now is kept; try again in a moment."


class Refusal(BaseModel):
    """Why a request was refused, and what to do."""

    error: str = Field(description="what happened and what to do")


class Invalid(Refusal):
    """A request that does not have the shape it needs."""

    problems: list[str] = Field(default=[], description="each thing that is wrong, with its place")


_DESCRIPTIONS = {
    400: "Not a request that can be read",
    401: "Not signed in",
    403: "Signed in, but not allowed to do this",
    404: "There is no such thing, or not for you",
    408: "The request did not arrive whole in time",
    409: "Something else is in force by now",
    413: "More than 1 MB",
    422: "A value that is not valid",
    428: "A condition is missing: If-Match or If-None-Match",
    429: "Too many requests; Retry-After says when to come again",
    503: "The study cannot be reached just now; nothing was stored",
}


def refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Answers other than success, for the documentation of a route."""
    return {code: {"model": Invalid if code == 422 else Refusal, "description": _DESCRIPTIONS[code]} for code in codes}


def answer(
    scope: Scope, status: int, message: str, *, more: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """A refusal as the kind of client that asked can read it."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": message, **(more or {})}, status, headers)
    title = HTTPStatus(status).phrase.capitalize() if status < 500 else "That did not work"
    return HTMLResponse(render("message.html", title=_TITLES.get(status, title), text=message), status, headers)


_TITLES = {401: "Please sign in", 403: "Not for you", 404: "Nothing here", 429: "One moment, please"}


def add_handlers(app: FastAPI, location: str) -> None:
    """Have an app answer with `answer` whatever is raised in its routes; `location` is not to be told to clients."""

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        # Whoever raises it may give a mapping for detail, with `error` and what else the client should know.
        detail: object = error.detail
        more = dict(cast("Mapping[str, Any]", detail)) if isinstance(detail, Mapping) else {"error": str(detail)}
        message = str(more.pop("error", HTTPStatus(error.status_code).phrase))
        if message == HTTPStatus(error.status_code).phrase:
            message = _PLAIN.get(error.status_code, message)
        return answer(request.scope, error.status_code, message, more=more, headers=error.headers)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        problems = [_problem(one) for one in error.errors()]
        return answer(request.scope, 422, "; ".join(problems[:3]), more={"problems": problems})

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, UserError)
        message = without_location(str(error), location)
        if isinstance(error, ConflictError):
            return answer(request.scope, 409, message)
        if isinstance(error, StudyError) and error.__cause__ is not None:
            # The database failed, not the request: whoever sends it again may well succeed.
            LOG.error("the study failed: %s", masked(str(error)))
            return answer(request.scope, 503, message, headers={"Retry-After": "5"})
        return answer(request.scope, 422, message, more={"problems": []})

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(UserError, ours)


_PLAIN = {
    404: "There is nothing under this address.",
    405: "This address does not take that kind of request.",
}


def without_location(message: str, location: str) -> str:
    """A message of ours without the path or URL of the study, which is nobody's business at the page."""
    for place in (location, masked(location)):
        message = message.removeprefix(f"{place}: ").replace(place, "the study")
    return message


def _problem(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {str(error['msg']).removeprefix('Value error, ')}"
