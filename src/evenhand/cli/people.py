"""`evenhand serve`, `invite` and `plan`: the page where people rate, who rates, and how the work is shared."""

import errno
import os
import re
import secrets
import shlex
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

import click
import uvicorn
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from evenhand.assignment import Plan
from evenhand.cli.support import json_option, open_study, program, show_result, study_argument, with_options
from evenhand.errors import InputError, UserError
from evenhand.protocol.model import Protocol
from evenhand.protocol.problems import validation_problems
from evenhand.report.json import plain
from evenhand.settings import Secret, Settings
from evenhand.store.people.access import INVITE_DAYS, MOST_SEATS, Invite, Role, check_name, new_invite, state_of
from evenhand.study import Study
from evenhand.text import counted, masked, sentence, some_of
from evenhand.web.app import make_app
from evenhand.web.config import PORT, SHORTEST_PASSWORD, Config, check_url, is_loopback
from evenhand.web.sessions import Services

LOCAL = f"http://127.0.0.1:{PORT}"
PROLIFIC = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""The query that Prolific fills in, so that the participant's id becomes the rater id."""
MANY_ITEMS = 50_000
"""Items from which preparing their order takes long enough to be announced."""
SHUTDOWN_SECONDS = 5
"""For open requests, once the server is asked to stop."""


@click.command()
@study_argument
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; 0.0.0.0 for all addresses of this machine.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 picks a free one.")
@click.option("--url", help="Address that people open, such as https://rate.example.org, if this server is behind a "
              "proxy; or set EVENHAND_URL.")  # fmt: skip
def serve(study: str, host: str, port: int, url: str | None) -> None:
    """Serve the page where people rate STUDY, until Ctrl+C.

    On this machine, the owner signs in with the link that is printed. To let others reach the page, give --host and set
    EVENHAND_OWNER_PASSWORD; the owner then signs in with that password.
    """
    settings = Settings.from_environment(os.environ)
    password = _checked_password(host, settings.owner_password)
    url = url or settings.url
    public = check_url(url) if url else None
    with listen_on(host, port) as listener:
        with open_study(study) as opened:
            title, items = opened.protocol.title, opened.store.items.count()
            if items >= MANY_ITEMS:
                click.echo(f"Preparing the order of {counted(items, 'item')} …", err=True)
            opened.store.people.tasks.prepare()  # now, so that the first rater does not wait for it
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32) if password is None else None
        config = Config(study, host, port, public or _address(host, port), password, token)
        server = _server(config)
        with server.capture_signals():  # already now, so that it can be stopped as soon as its address is printed
            _print_addresses(config, f"Serving {title!r}, {counted(items, 'item')}, from {masked(study)}")
            server.run([listener])
    click.echo("Stopped; all ratings are stored.")


def _checked_password(host: str, password: Secret | None) -> Secret | None:
    if is_loopback(host) and password is None:
        return None
    if password is None:
        raise UserError(
            f"--host {host}: others can reach the page there, so the owner needs a password; set one of at least "
            f"{SHORTEST_PASSWORD} characters in the environment variable EVENHAND_OWNER_PASSWORD, or omit --host to "
            "serve this machine only"
        )
    if len(password.reveal()) < SHORTEST_PASSWORD:
        raise UserError(f"EVENHAND_OWNER_PASSWORD is too short: use at least {SHORTEST_PASSWORD} characters")
    return password


def listen_on(host: str, port: int) -> socket.socket:
    """A socket that already accepts connections, so that a link works from the moment it is printed."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    except OSError as error:
        raise UserError(f"--host {host}: there is no such address here ({error.strerror or error})") from error
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024, dualstack_ipv6=both)
        # asyncio sets this only on sockets that name their protocol. Connections inherit it; without it, a response
        # waits 40 ms for the client to acknowledge its headers.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        another = port + 1 if port < 65535 else PORT
        reasons = {
            errno.EADDRINUSE: f"port {port} is in use, perhaps by another `evenhand serve`; stop that one, or give "
            f"another port, such as --port {another}, or --port 0 for any free one",
            errno.EACCES: f"port {port} is not allowed for this user; use one from 1024 on, such as --port {PORT}",
            errno.EADDRNOTAVAIL: f"--host {host}: this machine does not have that address; 0.0.0.0 means all it has",
        }
        unknown = f"cannot listen on {host}, port {port}: {error.strerror or error}"
        raise UserError(reasons.get(error.errno or 0, unknown)) from error


def _address(host: str, port: int) -> str:
    """The address of the page, if none was given."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname().lower()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _print_addresses(config: Config, heading: str) -> None:
    page, note = f"{config.url}/login", "asks for EVENHAND_OWNER_PASSWORD"
    if config.run_token is not None:
        page, note = f"{page}#{config.run_token}", "for you only, until the server stops"
    url = "" if config.url == LOCAL else f" --url {config.url}"
    click.echo(f"""{heading}

  owner's page   {page}
                 ({note})
  to invite      {program()} invite {shlex.quote(masked(config.location))} --name NAME{url}
  to stop        Ctrl+C
""")
    if not is_loopback(config.host) and not config.https:
        click.echo(
            "note: without https, others on the network can read everything; put a proxy with https in front of this "
            "server and give its address with --url", err=True,
        )  # fmt: skip


class _Server(uvicorn.Server):
    """A server for which Ctrl+C and SIGTERM are ordinary ends: they are not raised again afterwards, and requests that
    wait for a locked study do not delay them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        # Before the application has started there are no services, and no requests.
        services: Services | None = getattr(self.config.app.state, "services", None)  # type: ignore[union-attr]
        if services is not None:
            services.stop()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        with ExitStack() as restored:
            for number in (signal.SIGINT, signal.SIGTERM):
                restored.callback(signal.signal, number, signal.signal(number, self.handle_exit))
            yield


def _server(config: Config) -> _Server:
    return _Server(
        uvicorn.Config(
            make_app(config),
            access_log=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            # The client's address is that of the connection: a header could claim any other.
            proxy_headers=False,
            lifespan="on",
            ws="none",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )


@click.command()
@study_argument
@click.option("--name", help="Rater id of the person to invite.")
@click.option("--open", "for_many", is_flag=True, help="Invite a group; each person chooses a rater id.")
@click.option("--seats", type=click.IntRange(1, MOST_SEATS), help="With --open: how many people may join.")
@click.option("--role", type=click.Choice(["rater", "adjudicator"]), default="rater", show_default=True,
              help="An adjudicator decides where raters disagree.")  # fmt: skip
@click.option("--items", "share", type=click.IntRange(min=1), help="Maximum items per person, instead of the plan's.")
@click.option("--days", type=click.IntRange(1, 3650), default=INVITE_DAYS, show_default=True,
              help="How long the link works.")  # fmt: skip
@click.option("--url", help=f"Address of the page, if not {LOCAL}; or set EVENHAND_URL.")
@click.option("--list", "listing", is_flag=True, help="List the invites.")
@click.option("--revoke", metavar="ID-OR-NAME", help="Withdraw an invite and end its sessions; ratings are kept.")
@json_option
def invite(
    study: str, name: str | None, for_many: bool, seats: int | None, role: Role, share: int | None, days: int,
    url: str | None, listing: bool, revoke: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Create a link that lets a person, or a group, rate STUDY.

    The link is shown once. It works on any device until it is withdrawn or expires.
    """
    if sum((name is not None, for_many, listing, revoke is not None)) != 1:
        raise UserError("give one of --name NAME, --open --seats N, --list, --revoke ID-OR-NAME")
    if for_many != (seats is not None):
        raise UserError("a link for a group takes both --open and --seats N")
    with open_study(study) as opened:
        if listing:
            _print_invites(opened.store.people.access.invites(), as_json)
        elif revoke is not None:
            _revoke(opened, revoke, as_json)
        else:
            url = url or Settings.from_environment(os.environ).url
            address = check_url(url) if url else LOCAL
            try:
                name = None if name is None else check_name(name)
            except ValueError as error:
                raise UserError(f"--name {name!r}: {error}") from error
            made, token = new_invite(name, role, share=share, days=days, seats=seats)
            opened.store.people.access.add_invite(made, token)
            _print_invite(made, f"{address}/join/{token}", as_json)
            if is_loopback(urlsplit(address).hostname or ""):
                click.echo(
                    "note: the link works on this machine only; for others, give --url or set EVENHAND_URL to an "
                    "address that they can reach", err=True,
                )  # fmt: skip


def _print_invite(made: Invite, link: str, as_json: bool) -> None:
    if made.name is None:
        seats = counted(made.seats, "person", "people")
        lines = [link, "", f"For up to {seats}, {_validity(made)}. Each person is asked for a rater id."]
        lines += ["On Prolific, append this to the link, and no one is asked:", f"  {PROLIFIC}"]
    else:
        lines = [link, "", f"For {made.name}, {_validity(made)}. Anyone with the link rates under this name."]
    lines.append("It is shown only once: the study keeps only its digest.")
    show_result({"invite": {**plain(made), "state": state_of(made)}, "link": link}, lines, as_json)


def _validity(made: Invite) -> str:
    return "without expiry" if made.expires is None else f"until {made.expires:%Y-%m-%d %H:%M} UTC"


def _print_invites(invites: Sequence[Invite], as_json: bool) -> None:
    lines: list[str] = []
    for one in invites:
        who = one.name if one.name is not None else f"a group, {one.joined} of {one.seats} joined"
        state = state_of(one)
        ends = f", {_validity(one)}" if state in ("open", "full") else ""
        lines.append(f"{one.id}  {one.role}  {who}: {state}{ends}")
    document = {"invites": [{**plain(one), "state": state_of(one)} for one in invites]}
    show_result(document, lines or ["no one has been invited yet"], as_json)


def _revoke(study: Study, which: str, as_json: bool) -> None:
    valid = [one for one in study.store.people.access.invites() if one.revoked is None]
    found = [one for one in valid if which in (one.id, one.name)]
    if not found:
        there = some_of([one.name or one.id for one in valid]) or "none"
        raise UserError(f"there is no invite {which!r} to withdraw; there are: {there}")
    for one in found:
        study.store.people.access.revoke_invite(one.id)
    line = f"{counted(len(found), 'invite')} withdrawn; sessions are ended, ratings are kept"
    show_result({"revoked": [one.id for one in found]}, [line], as_json)


_NO_LIMIT = {"overlap": ("N", "all"), "share": ("N", "none"), "gold": ("RATER", "none"), "completion": ("URL", "none")}
"""Plan fields that may be empty: what is given otherwise, and the word for empty."""


def _plan_option(name: str, field: FieldInfo) -> Callable[[Any], Any]:
    """The option for a field of the plan, with the field's description as its help."""
    flag = f"--{name.replace('_', '-')}"
    text = sentence(re.sub(r"; empty: .*", "", field.description or ""))
    if name == "by":
        return click.option(flag, metavar="A,B|none|strata", help=f"{text[:-1]}; strata: those of the protocol.")
    if name in _NO_LIMIT:
        return click.option(flag, metavar="|".join(_NO_LIMIT[name]), help=text)
    if get_origin(field.annotation) is Literal:
        return click.option(flag, type=click.Choice(get_args(field.annotation)), help=text)
    return click.option(flag, type=field.annotation, help=text)


@click.command()
@study_argument
@with_options(*(_plan_option(name, field) for name, field in Plan.model_fields.items() if name != "paused"))
@click.option("--pause", is_flag=True, help="Assign no more items; raters can finish those they have.")
@click.option("--resume", is_flag=True, help="Continue after a pause.")
@json_option
def plan(study: str, pause: bool, resume: bool, as_json: bool, **options: Any) -> None:
    """Print how the items of STUDY are assigned to people; with options, change it.

    --seed, --batch and --by are fixed once the first item is assigned; the rest can change at any time.
    """
    if pause and resume:
        raise click.UsageError("--pause and --resume contradict each other; give one of them")
    changes = {name: _plan_value(name, value) for name, value in options.items() if value is not None}
    if pause or resume:
        changes["paused"] = pause
    with open_study(study) as opened:
        people = opened.store.people
        current = people.tasks.plan()
        if changes:
            current = _changed(current, changes)
            people.tasks.set_plan(current)
        show_result(current.model_dump(mode="json"), _plan_lines(current, opened.protocol), as_json)


def _plan_value(name: str, value: Any) -> Any:
    if name == "by":
        fields = tuple(field.strip() for field in value.split(",") if field.strip())
        return {"strata": None, "none": ()}.get(value, fields)
    return None if name in _NO_LIMIT and value == _NO_LIMIT[name][1] else value


def _changed(current: Plan, changes: dict[str, Any]) -> Plan:
    try:
        return Plan.model_validate({**current.model_dump(), **changes})
    except ValidationError as error:
        found = validation_problems(error, Plan, changes)
        problems = [replace(one, key=f"--{str(one.key).replace('_', '-')}") for one in found]
        raise InputError("plan", problems) from error


_TRAINING = {
    "off": "New raters start with the study's items",
    "offered": "New raters are offered the worked examples first",
    "required": "New raters rate the worked examples first",
}
_REVEAL = {
    "never": "Raters do not see other ratings",
    "models": "Once their own ratings of an item are final, raters see those by models",
    "all": "Once their own ratings of an item are final, raters see all others",
}


def _plan_lines(plan: Plan, protocol: Protocol) -> Sequence[str]:
    by = protocol.strata if plan.by is None else plan.by
    balance = f", balanced by {', '.join(by)}" if by else ""
    people = counted(plan.overlap or 0, "person", "people")
    lines = [
        "Each person rates every item" if plan.overlap is None else f"Each item is rated by {people}",
        "There is no limit on the items per person"
        if plan.share is None
        else f"Each person gets at most {counted(plan.share, 'item')}",
        f"Items are assigned in batches of {plan.batch:,}{balance}, in an order fixed by the seed {plan.seed}",
        f"An item that gets no answer for {plan.claim_minutes:g} minutes is assigned to others",
        _TRAINING[plan.training],
        "No items with known answers are included"
        if plan.gold is None
        else f"One in {plan.gold_every:,} items has a known answer, by {plan.gold}",
        "No item is repeated"
        if not plan.repeat_every
        else f"One in {plan.repeat_every:,} items is repeated, at least {counted(plan.repeat_after, 'item')} later",
        _REVEAL[plan.reveal],
    ]
    lines += [f"Raters who are done are sent to {plan.completion}"] if plan.completion else []
    lines += ["Paused: no more items are assigned (--resume continues)"] if plan.paused else []
    return lines
