"""The time that a report takes to make and to open, and its size."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from base.files.errors import TailscopeError
from dashboards import printed
from dashboards.report import write_report

_READY = "() => document.body.dataset.shown"
_DRAWN = "() => document.querySelector('section.page:not([hidden]) .plot[data-drawn]')"


class BenchError(TailscopeError):
    """The benchmark cannot be made here."""


def measure(runs: Sequence[Path], folder: Path, repeats: int) -> dict[str, float]:
    """Medians of `repeats` reports on `runs`, written into `folder`.

    `load_s` is from the navigation to the overview in Chromium, `figure_s` from there to the first
    figure of the page "distributions". Raises RunError, CaptureError, WriteError, BenchError.
    """
    built, loaded, drawn = [], [], []
    output = folder / "report.html"
    for _ in range(repeats):
        began = time.perf_counter()
        write_report(runs, output)
        built.append(time.perf_counter() - began)
        load, figure = _opened(output)
        loaded.append(load)
        drawn.append(figure)
    return {
        "runs": len(runs),
        "build_s": round(statistics.median(built), 2),
        "size_mb": round(output.stat().st_size / 1e6, 2),
        "load_s": round(statistics.median(loaded), 2),
        "figure_s": round(statistics.median(drawn), 2),
    }


def _opened(report: Path) -> tuple[float, float]:
    """Seconds to the overview, and from there to a figure."""
    executable = printed.browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BenchError(
            "The load time needs Playwright, which is of the tests; run ./lab test once."
        ) from None
    if executable is None:
        raise BenchError("The load time needs Chromium; apt-get install chromium.")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page()
        began = time.perf_counter()
        page.goto(report.resolve().as_uri())
        page.wait_for_function(_READY)
        loaded = time.perf_counter()
        page.evaluate("() => { location.hash = '#/distributions'; }")
        page.wait_for_function(_DRAWN)
        drawn = time.perf_counter()
        browser.close()
    return loaded - began, drawn - loaded
