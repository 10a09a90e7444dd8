"""What the steps make of what came: records, pins at rest, clocks, captures that lost something."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Serial
from capture.checks import captures
from capture.checks.captures import Captures, of_rest, of_serial
from capture.desk.bench import read_bench
from capture.desk.finding import Figure
from firmware.build import image as firmware

WHOLE = Serial(bytes=5_234, records=175, checksum_failures=0, sequence_gaps=0, end_record=True)


def serial(**changed: int | bool) -> Serial:
    return WHOLE.model_copy(update=changed)


@pytest.mark.parametrize(
    ("came", "state", "says"),
    [
        (WHOLE, "right", "175 records came at 230,400 baud"),
        (serial(bytes=0, records=0), "wrong", "Not a byte came"),
        (serial(records=0), "wrong", "5,234 bytes came, and no record"),
        (serial(checksum_failures=1), "wrong", "damaged or missing"),
        (serial(sequence_gaps=1), "wrong", "damaged or missing"),
        (serial(end_record=False), "wrong", "damaged or missing"),
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
    assert finding.figures[:2] == (Figure("edges at rest", 4, n=8), Figure("pulses of a single sample", 1))


@pytest.mark.parametrize(
    ("whole_at", "says"),
    [
        (500_000, "At 500,000 baud they came whole: set baud = 500000 in bench.toml"),
        (115_200, "At 115,200 baud they came whole: set baud = 115200 in bench.toml"),
        (9_600, "At 500,000 and 115,200 baud it is no better: the rate is not at fault."),
    ],
)
def test_a_slower_line_is_tried(
    whole_at: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port that damages a line above a rate."""
    damaged = serial(checksum_failures=3)
    bauds: list[int] = []

    def run(_: Captures, _plan: object, baud: int | None = None) -> Serial:
        bauds.append(baud or 1_000_000)
        return WHOLE if bauds[-1] <= whole_at else damaged

    class Read:
        def __init__(self, serial: Serial) -> None:
            self.serial = serial

    monkeypatch.setattr(Captures, "_run", run)
    monkeypatch.setattr(captures, "_manifest", Read)
    board = read_bench().board("nucleo")
    finding = Captures(board, "nucleo", firmware.build("tlsf"), tmp_path, 1.0).line()
    assert finding.state == "wrong" and finding.remedies[0].startswith(says)
    assert bauds == [1_000_000, 500_000, 115_200][: 2 if whole_at == 500_000 else 3]
