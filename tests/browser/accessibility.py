"""What axe-core finds wrong on a page for people with disabilities."""

from importlib.resources import files

from playwright.sync_api import Page

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RUN = """async () => (await axe.run({resultTypes: ["violations"]})).violations.map(
  ({id, nodes}) => `${id}: ${nodes.map(({html}) => html).join(" ")}`
)"""


def violations(page: Page) -> list[str]:
    """Each broken rule with the elements that break it, as the page is now."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    return list(page.evaluate(RUN))
