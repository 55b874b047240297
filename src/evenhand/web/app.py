"""The page of a study as an ASGI application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from evenhand.version import __version__
from evenhand.web import access, adjudicate, api, manage, pages, rate
from evenhand.web.config import Config
from evenhand.web.desk import Desk
from evenhand.web.doorkeeper import Doorkeeper
from evenhand.web.faults import add_handlers, refusals
from evenhand.web.guard import Guard
from evenhand.web.html import STATIC
from evenhand.web.openapi import describe_api

ROUTERS = (access.router, rate.router, manage.router, adjudicate.router, api.router)

DESCRIPTION = """\
Everything that the page does, for programs.

Send the token of an invite with a name, or the owner's password, as `Authorization: Bearer TOKEN`. An error is
`{"error": "what happened and what to do"}`, sometimes with more beside it.
"""


def make_app(config: Config) -> FastAPI:
    """The app of one study; it opens the study when it starts and closes it when it ends."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        desk = Desk(config.location)
        app.state.desk, app.state.doorkeeper = desk, Doorkeeper(config, desk)
        try:
            yield
        finally:
            desk.close()

    app = FastAPI(
        title="Evenhand",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.config = config
    for router in ROUTERS:
        app.include_router(router, responses=refusals(401, 403, 408, 413, 422, 429, 503))
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    describe_api(app)
    add_handlers(app, config.location)
    app.add_middleware(Guard, config=config)
    return app
