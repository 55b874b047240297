"""The web application of a study."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing

from fastapi import APIRouter, FastAPI
from starlette.staticfiles import StaticFiles

from evenhand.version import __version__
from evenhand.web.config import Config
from evenhand.web.errors import add_error_handlers, error_responses
from evenhand.web.middleware import SecurityMiddleware
from evenhand.web.routes import access, adjudication, data, manage, pages, tasks
from evenhand.web.schemas import AsciiJSONResponse
from evenhand.web.sessions import Services
from evenhand.web.templating import STATIC

ROUTERS = (access.router, tasks.router, manage.router, adjudication.router, data.router)
# Once for all applications: to make the models of all requests and answers takes a third of a second.
API = APIRouter(default_response_class=AsciiJSONResponse)
for router in ROUTERS:
    API.include_router(router, responses=error_responses(401, 403, 408, 413, 422, 429, 503))
API.include_router(pages.router)

DESCRIPTION = """\
Everything that the pages can do, for programs.

Send the token of a named invite, or the owner's password, as `Authorization: Bearer TOKEN`. An error is
`{"error": "what happened and what to do"}`, sometimes with more fields.
"""

TAGS = [
    {"name": "access", "description": "Signing in and out, and invite links."},
    {
        "name": "rating",
        "description": "For raters: the form, the next task, and answers. Tasks are identified by their numbers, units "
        "by their position in the task.",
    },
    {"name": "manage", "description": "For the owner: how work is assigned, how far it is, and who needs help."},
    {
        "name": "adjudication",
        "description": "Disputed units with all of their ratings, and rulings. The owner may read; adjudicators rule.",
    },
    {"name": "data", "description": "For the owner's programs: items, ratings, agreement and measures."},
]


def make_app(config: Config, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> FastAPI:
    """The application of one study. It opens the study when it starts and closes it when it ends.

    `sleep` delays the responses to those who guess credentials.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with closing(Services(config)) as app.state.services:
            yield

    app = FastAPI(
        title="Evenhand",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=AsciiJSONResponse,
        routes=API.routes,
    )
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    add_error_handlers(app, config.location)
    app.add_middleware(SecurityMiddleware, config=config, sleep=sleep)
    return app
