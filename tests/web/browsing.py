"""The page of a study in this process, and as many browsers as a test needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from secrets import token_urlsafe

from starlette.testclient import TestClient

from evenhand.store.people.access import Role, new_invite
from evenhand.study import Study
from evenhand.web.app import make_app
from evenhand.web.config import Config

RUN_TOKEN = token_urlsafe(32)
OURS = {"X-Evenhand": "1"}


class Browsers:
    """`owner()`, `rater("ann")`, `adjudicator("eve")` are browsers that are signed in, `browser()` one that is not.

    Each has cookies of its own and sends what our page sends. Use it as a context manager: the app runs meanwhile.
    """

    def __init__(
        self,
        study: Study,
        config: Config | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.study = study
        self.config = config or Config(study.store.location, run_token=RUN_TOKEN)
        self.app = make_app(self.config, sleep)
        self._first = self._new(OURS)

    def __enter__(self) -> "Browsers":
        self._first.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._first.__exit__()

    def browser(self, headers: Mapping[str, str] = OURS, address: str = "192.0.2.200") -> TestClient:
        """One more browser, without cookies; failures of the app are answers, as they are to real ones."""
        client = self._new(headers, address)
        client.portal = self._first.portal
        return client

    def _new(self, headers: Mapping[str, str], address: str = "192.0.2.200") -> TestClient:
        return TestClient(
            self.app,
            self.config.url,
            raise_server_exceptions=False,
            headers=dict(headers),
            follow_redirects=False,
            client=(address, 50000),
        )

    def owner(self) -> TestClient:
        client = self.browser()
        credential = self.config.run_token or (self.config.owner_password or RUN_TOKEN)
        password = credential if isinstance(credential, str) else credential.reveal()
        answer = client.post("/api/session/owner", json={"password": password})
        assert answer.status_code == 200, answer.text
        return client

    def rater(self, name: str = "ann") -> TestClient:
        return self._joined(name, "rater")

    def adjudicator(self, name: str = "eve") -> TestClient:
        return self._joined(name, "adjudicator")

    def bearer(self, token: str) -> TestClient:
        """A program with a token in place of cookies."""
        return self.browser({"Authorization": f"Bearer {token}"})

    def invite(self, name: str, role: Role = "rater") -> str:
        """The token of an invite, made as `evenhand invite` does."""
        invite, token = new_invite(name, role)
        self.study.store.people.access.add_invite(invite, token)
        return token

    def _joined(self, name: str, role: Role) -> TestClient:
        client = self.browser()
        answer = client.post("/api/session", json={"token": self.invite(name, role)})
        assert answer.status_code == 200, answer.text
        return client
