"""Small pictures of each page, which a test holds new ones against.

After a change that is meant: python -m dashboards.tests.pictures
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dashboards.loaded.runs import find_runs
from dashboards.printed import browser as chromium
from dashboards.report import write_report
from dashboards.tests.browser import Browser, started
from dashboards.tests.synthetic import mem_frag, mem_stress, write_run

FOLDER = Path(__file__).parent / "references"
MADE_WITH = FOLDER / "made-with.txt"
WIDTH, HEIGHT, SCALE = 1280, 800, 0.5
PAGES = {
    "overview": "#/overview",
    "matrix": "#/matrix",
    "comparison": "#/comparison",
    "ramp": "#/ramp",
    "distributions": "#/distributions",
    "agreement": "#/agreement",
    "probes": "#/ramp?scenario=mem_stress",
}
# A pixel differs by more than this in a colour, of 255.
_TOLERANCE = 48
_DIFFERING = """async ([one, other, tolerance]) => {
  const pixels = async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.width !== b.width || a.height !== b.height) return Infinity;
  let count = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    count += [0, 1, 2].some((colour) => Math.abs(a.data[at + colour] - b.data[at + colour]) > tolerance);
  }
  return count;
}"""


def made_with() -> str:
    """The browser and the font that pictures are made with; empty where there is no browser."""
    executable = chromium()
    if executable is None:
        return ""
    program = shutil.which("fc-match")
    command = [program, "--format=%{family}", "system-ui"] if program else []
    font = (
        subprocess.run(command, capture_output=True, text=True, check=False).stdout if command else "unknown"
    )
    return f"Chromium {started(executable).version.partition('.')[0]}, {font}\n"


def pictures(folder: Path) -> Iterator[Path]:
    """Writes a PNG of each page to `folder`: of runs of tests/synthetic, the same each time."""
    for allocator in ("seglist", "tlsf"):
        write_run(folder / "runs", "mem_frag", allocator, mem_frag(allocator))
        write_run(folder / "runs", "mem_stress", allocator, mem_stress(allocator))
    report = write_report(find_runs(folder / "runs"), folder / "report.html")
    with Browser(WIDTH, HEIGHT, scale=SCALE) as browser:
        browser.open(report)
        for name, fragment in PAGES.items():
            browser.go(fragment)
            output = folder / f"{name}.png"
            browser.page.screenshot(path=output)
            yield output


def differing(image: Path, other: Path) -> float:
    """The number of pixels that differ; infinite if the pictures are not of one size."""
    with Browser() as browser:
        images = [base64.b64encode(path.read_bytes()).decode() for path in (image, other)]
        return float(browser.page.evaluate(_DIFFERING, [*images, _TOLERANCE]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for picture in pictures(Path(made)):
            shutil.copy(picture, FOLDER / picture.name)
    MADE_WITH.write_text(made_with(), encoding="utf-8")
