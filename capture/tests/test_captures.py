"""What the steps make of what came: records, pins at rest, clocks, captures that lost something."""

from __future__ import annotations

import numpy as np
import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Serial
from capture.checks.captures import of_rest, of_serial
from capture.checks.findings import Figure

WHOLE = Serial(bytes=5_234, records=175, checksum_failures=0, sequence_gaps=0, end_record=True)


def serial(**changed: int | bool) -> Serial:
    return WHOLE.model_copy(update=changed)


@pytest.mark.parametrize(
    ("came", "state", "says"),
    [
        (WHOLE, "right", "175 records came at 230,400 baud"),
        (serial(bytes=0, records=0), "wrong", "damaged or missing"),
        (serial(checksum_failures=1), "wrong", "damaged or missing"),
    ],
)
def test_records(came: Serial, state: str, says: str) -> None:
    finding = of_serial(came, 230_400)
    assert finding.state == state and says in finding.words


def test_pins_at_rest() -> None:
    """CRIT shows a pulse of one sample and one of three, and all others nothing."""
    quiet = EdgeList(np.array([0]), np.array([128], np.uint8), 24_000_000, 24_000_000)
    assert of_rest(quiet).state == "right"
    rows = np.array([0, 1_000, 1_001, 5_000, 5_003])
    noisy = EdgeList(rows, np.array([0, 1, 0, 1, 0], np.uint8), 24_000_000, 24_000_000)
    finding = of_rest(noisy)
    assert finding.state == "odd" and "CRIT 4 in 1 s" in finding.words
    assert finding.figures == (Figure("edges at rest", 4, n=8),)
