"""The HTML pages. What is on them comes from the JSON routes; here is only who may see which."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from evenhand.web.auth import ConfigOf, DeskOf, present
from evenhand.web.description import description_of
from evenhand.web.doorkeeper import Who
from evenhand.web.html import render
from evenhand.web.markdown import guideline_html

router = APIRouter(include_in_schema=False)

INVITED_ONLY = "It leads to your page here. If you do not have it any more, ask whoever sent it."

Here = Annotated[list[Who], Depends(present)]


@router.get("/")
async def start(here: Here) -> Response:
    """To the page of whoever is signed in."""
    for access, page in (("owner", "/manage"), ("adjudicator", "/adjudicate"), ("rater", "/rate")):
        if any(who.access == access for who in here):
            return RedirectResponse(page, 303)
    return _not_signed_in()


@router.get("/join/{token}")
async def join(token: str, desk: DeskOf) -> Response:
    """The page behind an invite link. Its script sends the token, so that a preview of the link joins nobody."""
    return await _page(desk, "join.html", "Join")


@router.get("/login")
async def login(desk: DeskOf, config: ConfigOf) -> Response:
    """The owner's way in. Never a redirect: browsers take what stands behind the # along, here a token."""
    return await _page(desk, "login.html", "Sign in", password=config.owner_password is not None)


@router.get("/rate")
async def rate(here: Here, desk: DeskOf) -> Response:
    return await _page_for(["rater"], here, desk, "rate.html", "Rate")


@router.get("/adjudicate")
async def adjudicate(here: Here, desk: DeskOf) -> Response:
    return await _page_for(["adjudicator", "owner"], here, desk, "adjudicate.html", "Adjudicate")


@router.get("/guideline")
async def guideline(here: Here, desk: DeskOf) -> Response:
    return await _page_for(["rater", "adjudicator", "owner"], here, desk, "guideline.html", "Guideline")


@router.get("/manage")
async def manage(here: Here, desk: DeskOf) -> Response:
    if not any(who.access == "owner" for who in here):
        return RedirectResponse("/login", 303)
    return await _page(desk, "manage.html", "Manage")


@router.get("/api")
async def api(request: Request, desk: DeskOf) -> Response:
    return await _page(desk, "api.html", "API", description=description_of(request.app.openapi()))


@router.get("/healthz")
async def health(desk: DeskOf) -> dict[str, str]:
    """Whether the study can be read."""
    await desk.read(lambda study: study.store.items_at([0]))
    return {"status": "ok"}


async def _page_for(access: list[str], here: list[Who], desk: DeskOf, template: str, title: str) -> Response:
    who = next((who for wanted in access for who in here if who.access == wanted), None)
    if who is None:
        return _not_signed_in()
    return await _page(desk, template, title, rater=who.rater)


async def _page(desk: DeskOf, template: str, title: str, rater: str | None = None, **more: object) -> Response:
    protocol = await desk.read(lambda study: study.protocol)
    context = {
        "title": title,
        "study": protocol.title,
        "protocol": protocol,
        "rater": rater,
        "guideline": guideline_html(protocol),
    }
    return HTMLResponse(render(template, **context, **more))


def _not_signed_in() -> Response:
    title = "Please open your invite link"
    return HTMLResponse(render("message.html", title=title, text=INVITED_ONLY, owner=True), 401)
