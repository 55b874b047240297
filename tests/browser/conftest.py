"""A browser and a served study for the tests of the pages."""

import os
import shutil
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

from evenhand.assignment import Plan
from evenhand.protocol.model import Ask
from tests.browser.serving import UNTRAINED, Serve, Served, make_study, serving

# The first is the same engine without a desktop browser around it: a visit takes half the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
HOW = (
    f"no Chromium: install one (its {', '.join(PROGRAMS[:-1])} or {PROGRAMS[-1]} is looked for on PATH) "
    "or set EVENHAND_TEST_CHROMIUM to its program"
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


expect.set_options(timeout=15_000)  # milliseconds; machines that run tests are busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Generator[Browser]:
    """A Chromium for the tests of this folder. It ends with them: as long as it runs, its event loop is that of the
    process, and tests that start one of their own would fail."""
    named = os.environ.get("EVENHAND_TEST_CHROMIUM")
    program = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(HOW)
    with sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        except Error as error:
            pytest.skip(f"{HOW}: {error.message.splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture
def new_context(browser: Browser) -> Generator[Callable[..., BrowserContext]]:
    """Makes a browser context, which is a person with cookies and storage of their own; closed after the test.

    A script that fails, or that the page's policy forbids, fails the test.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def made(**options: Any) -> BrowserContext:
        options.setdefault("viewport", {"width": 1280, "height": 800})
        options.setdefault("reduced_motion", "reduce")  # nothing here looks at what moves, and drawing it takes time
        context = browser.new_context(**options)
        context.set_default_timeout(20_000)
        context.on("weberror", lambda error: faults.append(str(error.error)))
        context.on("console", lambda message: faults.extend(_forbidden(message)))
        contexts.append(context)
        return context

    yield made
    for context in contexts:
        context.close()
    assert not faults


def _forbidden(message: ConsoleMessage) -> list[str]:
    return [message.text] if message.type == "error" and "Content Security Policy" in message.text else []


@pytest.fixture
def page(new_context: Callable[..., BrowserContext]) -> Page:
    """A page of one person at a desk."""
    return new_context().new_page()


@pytest.fixture
def serve(tmp_path: Path) -> Generator[Serve]:
    """Starts servers that end with the test."""
    with ExitStack() as servers:

        def started(protocol: str = "halo-support", *, plan: Plan | None = UNTRAINED, ask: Ask | None = None) -> Served:
            return servers.enter_context(serving(make_study(tmp_path, protocol, plan, ask)))

        yield started


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Serve]:
    """Starts one server for all tests that want the same study; each of them sends raters of its own."""
    running: dict[str, Served] = {}
    with ExitStack() as servers:

        def started(protocol: str = "halo-support", *, plan: Plan | None = UNTRAINED, ask: Ask | None = None) -> Served:
            wanted = repr((protocol, plan, ask))
            if wanted not in running:
                study = make_study(tmp_path_factory.mktemp("shared"), protocol, plan, ask)
                running[wanted] = servers.enter_context(serving(study))
            return running[wanted]

        yield started


@pytest.fixture
def served(serve: Serve) -> Served:
    """The halo-support sample, without training."""
    return serve()
