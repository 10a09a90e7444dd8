"""A page on paper: all of a report as a PDF, by a Chromium that is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from base.files.errors import TailscopeError
from base.processes import children

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WITHIN_S = 300
_BUDGET_MS = 120_000
"""Of the page's own clock: a browser prints when nothing goes on any more."""


class PrintError(TailscopeError):
    """The page cannot be printed here."""


def browser() -> str | None:
    """The path of a browser that needs no screen; None where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: Path, output: Path) -> Path:
    """Prints all pages of the report `page` to `output` and returns it. Raises PrintError."""
    program = browser()
    if program is None:
        raise PrintError("A PDF needs Chromium or Chrome: apt-get install chromium, or print the page.")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        command = [
            *(program, "--headless=new", f"--user-data-dir={profile}", "--no-pdf-header-footer"),
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            *(f"--virtual-time-budget={_BUDGET_MS}", f"--print-to-pdf={output.resolve()}"),
            f"{page.resolve().as_uri()}#/all",
        ]
        try:
            printed = children.run(command, within_s=WITHIN_S)
        except subprocess.TimeoutExpired:
            raise PrintError(f"{program} did not print {page} within {WITHIN_S} s.") from None
    if printed.returncode or not output.is_file():
        raise PrintError(f"{program} did not print {page}: {children.last_words(printed.stderr)[:300]}")
    return output
