"""docs/TIMING.md's table of predictions against a fresh one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.studies import timing_report

pytestmark = pytest.mark.docs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "TIMING.md"
# A change anywhere in the image moves code among the flash's lines, and these figures by little.
TOLERANCE = 0.05


def test_the_page_tells_what_a_fresh_prediction_gives() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for row in timing_report.rows():
        told = re.search(
            rf"^\| {re.escape(row.what)} \| ([\d,.]+) \| ([\d,.]+) \| ([\d,]+) \|", page, re.MULTILINE
        )
        assert told is not None, row.what
        critical, call, measured = (float(cell.replace(",", "")) for cell in told.groups())
        assert measured == row.measured
        assert (critical, call) == pytest.approx((row.critical, row.call), rel=TOLERANCE), (
            "Run python -m analysis.studies.timing_report and put its table into docs/TIMING.md."
        )
