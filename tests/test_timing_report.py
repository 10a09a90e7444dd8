"""The table of predictions in docs/reference/timing.md against a fresh one."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from base.paths import ROOT

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "reference" / "timing.md"
# A change anywhere in the image moves code among the flash lines, and these figures a little.
TOLERANCE = 0.05


ROW = re.compile(r"^\| (.+?) \| (\d+) \| ([\d,.]+) \| ([\d,.]+) \| ([\d,]+) \| (\S+) % \|$", re.MULTILINE)


def rows(text: str) -> dict[str, list[float]]:
    """By what is predicted: samples, cycles of section and call, measured, deviation in %."""
    return {what: [float(cell.replace(",", "")) for cell in cells] for what, *cells in ROW.findall(text)}


def test_the_page_tells_what_a_fresh_prediction_gives() -> None:
    command = [sys.executable, "-m", "studies.tables.timing_report"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    fresh, page_rows = rows(done.stdout), rows(PAGE.read_text(encoding="utf-8"))
    assert len(fresh) == len(done.stdout.splitlines()) - 2
    for what, (samples, critical, call, measured, _) in fresh.items():
        assert (page_rows[what][0], page_rows[what][3]) == (samples, measured)
        assert page_rows[what][1:3] == pytest.approx([critical, call], rel=TOLERANCE), (
            "Run python -m studies.tables.timing_report and put its table into docs/reference/timing.md."
        )


def test_each_deviation_is_that_of_its_line() -> None:
    for what, (_, _, call, measured, deviation) in rows(PAGE.read_text(encoding="utf-8")).items():
        assert deviation == pytest.approx(100 * (call / measured - 1), abs=0.06), what
