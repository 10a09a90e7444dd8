"""Pages tried in Debian's Chromium by Playwright: what it complains of and asks for, and axe.

with opened() as browser:
    page = browser.new_page()
    with watched(page) as seen: ...
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from dashboards.tests.browser import chromium


@dataclass
class Seen:
    """Errors and warnings of the page, and all addresses that it asked for."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def watch(page: Page) -> Seen:
    """Notes from now on what `page` complains of and asks for."""
    seen = Seen()

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.complaints.append(message.text)

    def asked(request: Request) -> None:
        seen.requests.append(request.url)

    page.on("console", note)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("request", asked)
    return seen


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is, a line for each rule and element."""
    page.evaluate((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
