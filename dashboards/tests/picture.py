"""The README's picture: the top of the demo's dashboard, with the rows that tell its story.

python -m dashboards.tests.picture build/dashboard.html docs/dashboard.png
"""

from __future__ import annotations

import sys
from pathlib import Path

from dashboards.tests.browser import Browser, chromium

WIDTH = 1200
SHOWN = (
    "verdict",
    "critical section on the wire (ns)",
    "interrupt latency, critical section hit (ns)",
    "control interrupt latency (ns)",
)

# Leaves the headline, the rows above of the first scenario's table, and its first figure.
_LEAVE = """
(shown) => {
  const first = document.querySelector("main > section");
  const hide = [
    ...document.querySelectorAll("nav, .modebar, .explanation, .hint, main > section:not(:first-child)"),
    ...first.querySelectorAll("h2, details, figure ~ figure"),
    ...[...first.querySelectorAll("tbody")].filter(
      (rows) => !shown.includes(rows.querySelector("th").textContent)),
  ];
  for (const element of hide) element.style.display = "none";
  // A picture has no scroll bar.
  document.documentElement.style.overflow = "hidden";
  return Math.ceil(first.getBoundingClientRect().bottom + window.scrollY);
}
"""


def picture(report: Path, output: Path) -> None:
    """Write the picture of `report` to `output`, a PNG as wide as WIDTH."""
    executable = chromium()
    if executable is None:
        raise SystemExit("The picture needs Chromium: apt-get install chromium.")
    with Browser(executable, width=WIDTH) as browser:
        browser.open(report)
        browser.settle()
        height = int(browser.evaluate(f"({_LEAVE})({list(SHOWN)})"))
        browser.resize(WIDTH, height)
        browser.settle()
        browser.screenshot(output)


if __name__ == "__main__":
    picture(Path(sys.argv[1]), Path(sys.argv[2]))
