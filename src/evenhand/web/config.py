"""Where the pages of a study are served, at which address, and how the owner signs in."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from evenhand.errors import UserError
from evenhand.settings import Secret

PORT = 8400
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


def is_address(name: str) -> bool:
    """Whether this is an IP address rather than a host name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    return host.lower() == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def check_url(url: str) -> str:
    """A public URL as scheme and host; UserError if it is not one, or if it contains anything else."""
    try:
        parts = urlsplit(url.strip())
        rest = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not rest:
            return f"{parts.scheme}://{parts.netloc.lower()}"
    except ValueError:
        pass  # a port that is not a number
    raise UserError(
        f"{url!r} cannot be the address of the page; it must look like https://rate.example.org: http or https, a "
        "host, a port if needed, and nothing after that"
    )
