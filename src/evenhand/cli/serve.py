"""`evenhand serve`: the page where people rate."""

import errno
import os
import secrets
import shlex
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager

import click
import uvicorn

from evenhand.cli.opening import open_study
from evenhand.cli.program import program
from evenhand.errors import UserError, counted, masked
from evenhand.settings import Secret, Settings
from evenhand.study import Study
from evenhand.web.app import make_app
from evenhand.web.config import PORT, SHORTEST_PASSWORD, Config, check_url, is_loopback

MANY_ITEMS = 50_000
PATIENCE = 5
"""Seconds for requests in hand once the server is told to end."""


@click.command("serve")
@click.argument("study", metavar="STUDY")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="The address to listen on; 0.0.0.0 for all of this machine's.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 picks a free one.")
@click.option("--url", help="The address that people open, such as https://rate.example.org, where a proxy stands "
              "before this server; or set EVENHAND_URL.")  # fmt: skip
def command(study: str, host: str, port: int, url: str | None) -> None:
    """Serve the page where people rate STUDY, until Ctrl+C.

    On this machine alone the owner comes in by the link that is printed. For others to reach it, set
    EVENHAND_OWNER_PASSWORD, which is then asked for, and give --host.
    """
    settings = Settings.from_environment(os.environ)
    password = _checked_password(host, settings.owner_password)
    url = url or settings.url
    public = check_url(url) if url else None
    with _listening(host, port) as listener:
        with open_study(study) as opened:
            title, items = opened.protocol.title, opened.store.count_items()
            _prepare(opened, items)
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32) if is_loopback(host) else None
        config = Config(study, host, port, public or _address(host, port), password, token)
        server = _server(config)
        with server.ending_when_told():
            _tell(config, f"Serving {title!r}, {counted(items, 'item')}, from {masked(study)}")
            server.run([listener])
    click.echo("Ended; everything that was rated is stored.")


def _checked_password(host: str, password: Secret | None) -> Secret | None:
    if is_loopback(host) and password is None:
        return None
    if password is None:
        raise UserError(
            f"--host {host}: others can reach the page there, so the owner needs a password; set one of at least "
            f"{SHORTEST_PASSWORD} characters in the environment variable EVENHAND_OWNER_PASSWORD, or leave --host "
            "out to serve this machine only"
        )
    if len(password.reveal()) < SHORTEST_PASSWORD:
        raise UserError(f"EVENHAND_OWNER_PASSWORD is too short: give it at least {SHORTEST_PASSWORD} characters")
    return password


@contextmanager
def _listening(host: str, port: int) -> Generator[socket.socket]:
    """A socket that already takes connections, so that a link works from the moment it is printed."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, number)
    except OSError as error:
        raise UserError(f"--host {host}: there is no such address here ({error.strerror or error})") from error
    with listener:
        if os.name == "posix":
            # Elsewhere this option would let two programs listen on one port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(1024)
        except OSError as error:
            raise _not_bound(host, port, error) from error
        yield listener


def _not_bound(host: str, port: int, error: OSError) -> UserError:
    if error.errno == errno.EADDRINUSE:
        return UserError(
            f"port {port} is in use, perhaps by another `evenhand serve`; end that one, or give another port, such as "
            f"--port {port + 1 if port < 65535 else PORT}, or --port 0 for any that is free"
        )
    if error.errno == errno.EACCES:
        return UserError(f"port {port} may not be used by this user; give one from 1024 on, such as --port {PORT}")
    if error.errno == errno.EADDRNOTAVAIL:
        return UserError(f"--host {host}: this machine does not have that address; 0.0.0.0 stands for all it has")
    return UserError(f"cannot listen on {host}, port {port}: {error.strerror or error}")


def _address(host: str, port: int) -> str:
    """The address of the page where none was given."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname().lower()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _prepare(study: Study, items: int) -> None:
    """Put the items in order now, so that the first rater does not wait for it."""
    if items >= MANY_ITEMS:
        click.echo(f"Putting {counted(items, 'item')} in order …", err=True)
    study.store.people.prepare()


def _tell(config: Config, what: str) -> None:
    invite = f"{program()} invite {shlex.quote(masked(config.location))} --name NAME"
    if config.url != f"http://127.0.0.1:{PORT}":
        invite += f" --url {config.url}"
    click.echo(f"{what}\n")
    if config.run_token is not None:
        click.echo(f"  owner's page   {config.url}/login#{config.run_token}")
        click.echo("                 (yours alone, until the server ends)")
    else:
        click.echo(f"  owner's page   {config.url}/login")
        click.echo("                 (asks for EVENHAND_OWNER_PASSWORD)")
    click.echo(f"  to invite      {invite}")
    click.echo("  to end         Ctrl+C\n")
    if not is_loopback(config.host) and not config.https:
        click.echo(
            "note: without https others on the network can read along; put a proxy with https before this server and "
            "give its address with --url", err=True,
        )  # fmt: skip


class _Server(uvicorn.Server):
    """Ctrl+C and SIGTERM are the ways to end it, and so no failure: they are not raised again afterwards."""

    @contextmanager
    def ending_when_told(self) -> Generator[None]:
        """From before the start: whoever is told that it serves may end it at once."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _server(config: Config) -> _Server:
    return _Server(
        uvicorn.Config(
            make_app(config),
            access_log=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            # Who asks is who connects: what a header says about it could be said by anybody.
            proxy_headers=False,
            lifespan="on",
            ws="none",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=PATIENCE,
        )
    )
