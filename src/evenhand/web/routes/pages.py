"""The HTML pages. Their content comes from the JSON routes; these routes decide who may see which page."""

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from evenhand.protocol.guideline import guideline
from evenhand.web.config import is_loopback
from evenhand.web.sessions import Services, ServicesOf
from evenhand.web.templating import markdown_html, render

router = APIRouter(include_in_schema=False)

MEMBERS = {
    "rate": ("rater",),
    "adjudicate": ("adjudicator", "owner"),
    "guideline": ("rater", "adjudicator", "owner"),
}
"""Who may see which page."""
INVITED_ONLY = "It leads to your page here. If you no longer have it, ask the person who sent it."


@router.get("/")
def start(request: Request, services: ServicesOf) -> Response:
    """Redirect to the page of the person who is signed in."""
    accounts = services.accounts(request)
    for access, page in (("owner", "/manage"), ("adjudicator", "/adjudicate"), ("rater", "/rate")):
        if any(account.access == access for account in accounts):
            return RedirectResponse(page, 303)
    return _not_signed_in()


@router.get("/join/{token}")
def join(token: str, services: ServicesOf) -> Response:
    """The page of an invite link. Its script sends the token, so that a link preview does not join."""
    return _page(services, "join.html", "Join")


@router.get("/login")
def login(services: ServicesOf) -> Response:
    """The owner's sign-in. Never a redirect: browsers would take the token after the # along."""
    return _page(services, "login.html", "Sign in", password=services.config.owner_password is not None)


@router.get("/rate")
@router.get("/adjudicate")
@router.get("/guideline")
def page_for_members(request: Request, services: ServicesOf) -> Response:
    """One of the pages for people who are signed in."""
    name = request.scope["route"].path.strip("/")
    accounts = services.accounts(request)
    if not any(account.access in MEMBERS[name] for account in accounts):
        return _not_signed_in()
    # The study's owner and adjudicators may always read the worked examples.
    raters = [account.name for account in accounts if account.access == "rater"]
    only_rates = name == "rate" or len(raters) == len(accounts)
    return _page(services, f"{name}.html", name.capitalize(), rater=raters[0] if raters and only_rates else None)


@router.get("/manage")
def manage(request: Request, services: ServicesOf) -> Response:
    if not any(account.access == "owner" for account in services.accounts(request)):
        return RedirectResponse("/login", 303)
    local = is_loopback(urlsplit(services.config.url).hostname or "")
    return _page(services, "manage.html", "Manage", local=local)


@router.get("/api")
def api(request: Request, services: ServicesOf) -> Response:
    return _page(services, "api.html", "API", openapi=request.app.openapi())


@router.get("/healthz")
def health(services: ServicesOf) -> Response:
    """Whether the study can be read and written."""
    if services.is_healthy():
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "failing", "error": "The study cannot be written; the log says why."}, 503)


def _page(services: Services, template: str, title: str, *, rater: str | None = None, **more: object) -> Response:
    """A page. Its guideline has the worked examples, unless `rater` is still going to rate them as training. Only the
    protocol changes while the server runs, so it is rendered once for each."""
    with services.read() as study:
        protocol, people = study.protocol, study.store.people
        member = None if rater is None or people.tasks.plan().training == "off" else people.member(rater)
    examples = member is None or member.training_over

    def rendered() -> str:
        text = markdown_html(guideline(protocol, owner=False, examples=examples))
        return render(template, title=title, study=protocol.title, protocol=protocol, guideline=text, **more)

    return HTMLResponse(services.cache.get(f"{template} {examples}", lambda: protocol.digest, rendered))


def _not_signed_in() -> Response:
    title = "Please open your invite link"
    return HTMLResponse(render("message.html", title=title, text=INVITED_ONLY, owner=True), 401)
