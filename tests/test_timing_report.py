"""The table of predictions in docs/TIMING.md against a fresh one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "TIMING.md"
# A change anywhere in the image moves code among the flash lines, and these figures a little.
TOLERANCE = 0.05


def rows(text: str) -> dict[str, tuple[float, float, float]]:
    """Cycles of the critical section, of the whole call, and measured, by what is predicted."""
    found = re.findall(r"^\| (.+?) \| ([\d,.]+) \| ([\d,.]+) \| ([\d,]+) \| \S+ % \|$", text, re.MULTILINE)
    numbers = ((what, [float(cell.replace(",", "")) for cell in cells]) for what, *cells in found)
    return {what: (critical, call, measured) for what, (critical, call, measured) in numbers}


def test_the_page_tells_what_a_fresh_prediction_gives() -> None:
    command = [sys.executable, "-m", "analysis.studies.timing_report"]
    done = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True, check=True)
    fresh, told = rows(done.stdout), rows(PAGE.read_text(encoding="utf-8"))
    assert len(fresh) == len(done.stdout.splitlines()) - 2
    for what, (*predicted, measured) in fresh.items():
        assert told[what][2] == measured
        assert told[what][:2] == pytest.approx(predicted, rel=TOLERANCE), (
            "Run python -m analysis.studies.timing_report and put its table into docs/TIMING.md."
        )
