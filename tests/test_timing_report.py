"""The predictions of docs/results/timing.csv against fresh ones."""

from __future__ import annotations

import pytest

from base.files import results
from studies.tables.timing_report import rows

pytestmark = pytest.mark.docs

TOLERANCE = 0.05
"""A change anywhere in the image moves code among the flash lines, and these figures a little."""


def test_the_result_is_what_a_fresh_prediction_gives() -> None:
    published = {what: [float(cell) for cell in cells] for what, *cells in results.read("timing")}
    fresh = rows()
    assert list(published) == [row.what for row in fresh]
    for row in fresh:
        samples, critical, call, measured, deviation = published[row.what]
        assert (samples, measured) == (row.samples, row.measured)
        again = "Run python -m studies.tables timing."
        assert [critical, call] == pytest.approx([row.critical, row.call], rel=TOLERANCE), again
        assert deviation == pytest.approx(100 * (call / measured - 1), abs=0.06), row.what
