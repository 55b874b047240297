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

from evenhand.cli.support import open_study, program, study_argument
from evenhand.errors import UserError
from evenhand.settings import Secret, Settings
from evenhand.text import counted, masked
from evenhand.web.app import make_app
from evenhand.web.config import PORT, SHORTEST_PASSWORD, Config, check_url, is_loopback

MANY_ITEMS = 50_000
"""Items from which preparing their order takes long enough to be announced."""
SHUTDOWN_SECONDS = 5
"""For open requests, once the server is asked to stop."""


@click.command()
@study_argument
@click.option("--host", default="127.0.0.1", show_default=True,
              help="The address to listen on; 0.0.0.0 for all addresses of this machine.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 picks a free one.")
@click.option("--url", help="The address that people open, such as https://rate.example.org, if a proxy is in front of "
              "this server; or set EVENHAND_URL.")  # fmt: skip
def serve(study: str, host: str, port: int, url: str | None) -> None:
    """Serve the page where people rate STUDY, until Ctrl+C.

    On this machine the owner signs in with the link that is printed. To let others reach the page, set
    EVENHAND_OWNER_PASSWORD, with which the owner then signs in, and give --host.
    """
    settings = Settings.from_environment(os.environ)
    password = _checked_password(host, settings.owner_password)
    url = url or settings.url
    public = check_url(url) if url else None
    with _listening(host, port) as listener:
        with open_study(study) as opened:
            title, items = opened.protocol.title, opened.store.items.count()
            if items >= MANY_ITEMS:
                click.echo(f"Preparing the order of {counted(items, 'item')} …", err=True)
            opened.store.people.tasks.prepare()  # now, so that the first rater does not wait for it
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32) if is_loopback(host) else None
        config = Config(study, host, port, public or _address(host, port), password, token)
        server = _server(config)
        with server.stopping_on_signals():
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


@contextmanager
def _listening(host: str, port: int) -> Generator[socket.socket]:
    """A socket that already accepts connections, so that a link works from the moment it is printed."""
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
            f"port {port} is in use, perhaps by another `evenhand serve`; stop that one, or give another port, such as "
            f"--port {port + 1 if port < 65535 else PORT}, or --port 0 for any free one"
        )
    if error.errno == errno.EACCES:
        return UserError(f"port {port} is not allowed for this user; use one from 1024 on, such as --port {PORT}")
    if error.errno == errno.EADDRNOTAVAIL:
        return UserError(f"--host {host}: this machine does not have that address; 0.0.0.0 means all it has")
    return UserError(f"cannot listen on {host}, port {port}: {error.strerror or error}")


def _address(host: str, port: int) -> str:
    """The address of the page, if none was given."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname().lower()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _print_addresses(config: Config, heading: str) -> None:
    invite = f"{program()} invite {shlex.quote(masked(config.location))} --name NAME"
    if config.url != f"http://127.0.0.1:{PORT}":
        invite += f" --url {config.url}"
    click.echo(f"{heading}\n")
    if config.run_token is not None:
        click.echo(f"  owner's page   {config.url}/login#{config.run_token}")
        click.echo("                 (for you only, until the server stops)")
    else:
        click.echo(f"  owner's page   {config.url}/login")
        click.echo("                 (asks for EVENHAND_OWNER_PASSWORD)")
    click.echo(f"  to invite      {invite}")
    click.echo("  to stop        Ctrl+C\n")
    if not is_loopback(config.host) and not config.https:
        click.echo(
            "note: without https others on the network can read everything; put a proxy with https in front of this "
            "server and give its address with --url", err=True,
        )  # fmt: skip


class _Server(uvicorn.Server):
    """A server for which Ctrl+C and SIGTERM are ordinary ends: they are not raised again afterwards."""

    @contextmanager
    def stopping_on_signals(self) -> Generator[None]:
        """Entered before the server starts, so that it can be stopped as soon as its address is printed."""
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
            # The client's address is that of the connection: a header could claim any other.
            proxy_headers=False,
            lifespan="on",
            ws="none",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
