"""Where the pages of a study are served, at which address, and how the owner signs in."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from evenhand.errors import UserError
from evenhand.settings import Secret

PORT = 8400
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SHORTEST_PASSWORD = 12


@dataclass(frozen=True, slots=True)
class Config:
    """`url` is the address that people open, without a final slash; behind a proxy it differs from host and port.

    The owner signs in with `owner_password`, or with `run_token`, which is made for one run of the server.
    """

    location: str
    host: str = "127.0.0.1"
    port: int = PORT
    url: str = f"http://127.0.0.1:{PORT}"
    owner_password: Secret | None = None
    run_token: str | None = None

    @property
    def https(self) -> bool:
        return self.url.startswith("https://")

    def cookie(self, access: str) -> str:
        """The name of a cookie. Browsers share cookies between the ports of a host, so with one name for all ports two
        studies on one machine would sign each other out."""
        port = urlsplit(self.url).port
        return f"evenhand_{access}" if port in (None, PORT) else f"evenhand_{access}_{port}"

    def serves(self, host: str) -> bool:
        """Whether a request's Host is ours. Another name that resolves to this machine (DNS rebinding) is not."""
        if host.lower() == urlsplit(self.url).netloc.lower():
            return True
        name = _name(host)
        if is_loopback(self.host):
            return name in LOOPBACK_NAMES
        # DNS cannot redirect an address, and which of this machine's addresses is used is not known here.
        return name in LOOPBACK_NAMES or _is_address(name)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def check_url(url: str) -> str:
    """A public URL as scheme and host; UserError if it is not one, or if it contains anything else."""
    try:
        parts = urlsplit(url.strip())
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        plain, parts = False, None
    if parts is None or not plain or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise UserError(
            f"{url!r} cannot be the address of the page; it must look like https://rate.example.org: http or https, a "
            "host, a port if needed, and nothing after that"
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _name(host: str) -> str:
    """The name or address in a Host header, without the port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
