"""The README's picture: the demo's report as it opens on the ramp, nothing hidden.

python -m dashboards.tests.picture build/dashboard.html docs/pictures/dashboard.png
"""

from __future__ import annotations

import sys
from pathlib import Path

from dashboards.printed import browser as chromium
from dashboards.tests.browser import Browser

WIDTH, HEIGHT = 1200, 1225
SHOWN = "#/ramp?scenario=mem_frag"


def picture(report: Path, output: Path) -> None:
    """Write what a window of WIDTH by HEIGHT shows of `report` to `output`, a PNG."""
    if chromium() is None:
        raise SystemExit("The picture needs Chromium: apt-get install chromium.")
    with Browser(WIDTH, HEIGHT) as browser:
        browser.open(report, SHOWN)
        browser.page.screenshot(path=output)


if __name__ == "__main__":
    picture(Path(sys.argv[1]), Path(sys.argv[2]))
