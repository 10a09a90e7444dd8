"""A page of a headless Chromium, and what it complained of. No test downloads a browser."""

from __future__ import annotations

import atexit
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import playwright.sync_api
import pytest
from playwright.sync_api import ConsoleMessage, Page, sync_playwright

from dashboards.printed import browser as chromium

_DRAW_ALL = """async () => {
  for (const plot of document.querySelectorAll(".plot")) {
    if (!plot.checkVisibility()) continue;
    plot.scrollIntoView({ behavior: "instant" });
    while (!plot.dataset.drawn) await new Promise((done) => setTimeout(done, 10));
  }
  window.scrollTo(0, 0);
}"""
_WAIT = """async (condition) => {
  const began = performance.now();
  while (!condition()) {
    if (performance.now() - began > 60_000) throw new Error(`never: ${condition}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}"""
_FOLLOWED = """() => !document.querySelector("section.page")
  || document.body.dataset.shown === (location.hash || "#/overview")"""
_IN_SIGHT_DRAWN = """() => [...document.querySelectorAll(".plot")].every((plot) => {
  const { top, bottom } = plot.getBoundingClientRect();
  return !plot.checkVisibility() || bottom < 0 || top > innerHeight || plot.dataset.drawn;
})"""


@cache
def started(executable: str) -> playwright.sync_api.Browser:
    """One browser for all tests of a process: to start it takes longer than most of them."""
    driver = sync_playwright().start()
    browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])

    def stop() -> None:
        browser.close()
        driver.stop()

    atexit.register(stop)
    return browser


class Browser:
    """One page. `complaints` has its errors and warnings, `requests` all addresses asked for.

    A test that opens one is skipped where there is no Chromium.
    """

    def __init__(
        self,
        width: int = 1400,
        height: int = 900,
        colours: Literal["light", "dark"] = "light",
        scale: float = 1,
    ) -> None:
        executable = chromium() or pytest.skip("needs Chromium: apt-get install chromium")
        self.page = started(executable).new_page(
            viewport={"width": width, "height": height}, color_scheme=colours, device_scale_factor=scale
        )
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.page.close()

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def open(self, page: Path, fragment: str = "") -> None:
        """Load the page, and wait until what is in sight is drawn."""
        # By way of an empty page: the same page with another fragment would not be loaded anew.
        self.page.goto("about:blank")
        self.page.goto(page.resolve().as_uri() + fragment)
        self.settle()

    def go(self, fragment: str) -> None:
        """Follow an address within the page."""
        self.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        self.settle()

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        return self.page.evaluate(expression)

    def settle(self) -> None:
        """Wait until the address is followed and the figures in sight are drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.wait(_FOLLOWED)
        self.wait(_IN_SIGHT_DRAWN)

    def wait(self, condition: str) -> None:
        """Until the JavaScript function `condition` says yes."""
        wait(self.page, condition)

    def draw_all(self) -> None:
        """Scroll to each figure of the page, so that all are drawn."""
        self.page.evaluate(_DRAW_ALL)

    def click(self, x: float, y: float) -> None:
        """A real click at page coordinates of the viewport."""
        self.page.mouse.move(x, y)
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.page.mouse.click(x, y)
        self.settle()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


def wait(page: Page, condition: str) -> None:
    """Until the JavaScript function `condition` says yes in `page`.

    Playwright's own way asks again by eval, which a page's security policy may forbid.
    """
    page.evaluate(f"({_WAIT})({condition})")


def violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is, a line for each rule and element.

    The insides of figures are Plotly's, and of thousands of elements.
    """
    page.evaluate((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
    result = page.evaluate("axe.run({ exclude: ['.js-plotly-plot'] }, { resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"]
    ]


def assert_draws(output: Path, figures: int) -> None:
    """The page at `output` draws at least so many figures, fits the window and asks for nothing."""
    with Browser() as browser:
        browser.open(output)
        browser.draw_all()
        assert browser.evaluate("document.querySelectorAll('.plot .main-svg').length") >= figures
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert browser.complaints == []
        assert set(browser.requests) <= {output.resolve().as_uri(), "about:blank"}
