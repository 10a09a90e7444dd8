"""What is read of a capture without records, against waveforms that are drawn by hand."""

from __future__ import annotations

import pytest

from base.run_folder.edges import EdgeList
from capture.reading.observed import ObservedWire, read_observed
from capture.tests.waveform import Waveform, frame_edges

HZ = 84_000_000
START_S, END_S = 0.0001, 0.003


def framed(begin: bool = True, end: bool = True, toggled: bool = True) -> EdgeList:
    """Sixteen empty sections of 4 samples, then two of 100 and 300; and the same behind the end."""
    start_frame = frame_edges(START_S, 840, HZ, HZ) if begin else []
    end_frame = frame_edges(END_S, 1260, HZ, HZ) if end else []
    first, last = frame_edges(START_S, 840, HZ, HZ)[-1], frame_edges(END_S, 1260, HZ, HZ)[-1]
    empty = [first + 300 * n for n in range(1, 17)] + [last + 300 * n for n in range(1, 17)]
    own = [(first + 10_000, 100), (first + 20_000, 300)]
    crit = [edge for at, width in [(1000, 50), *((at, 4) for at in empty), *own] for edge in (at, at + width)]
    sync = [first + 6_000, first + 50_000] if toggled else []
    toggles = {"CRIT": crit, "SYNC": [*start_frame, *sync, *end_frame]}
    return Waveform(400_000, HZ, toggles, ("CRIT", "SYNC")).edges()


def widths(observed: ObservedWire) -> list[int]:
    start, end = observed.spans["CRIT, width"]
    result: list[int] = (end - start).tolist()
    return result


def test_between_the_frames_are_the_program_and_its_calibration() -> None:
    observed = read_observed(framed())
    assert widths(observed) == [100, 300]
    assert observed.widths_ns["CRIT"].max == pytest.approx(300 / HZ * 1e9)
    assert observed.intervals_ns["CRIT"].max == pytest.approx(10_000 / HZ * 1e9)
    assert observed.calibration_ns["CRIT"].n == 32
    assert observed.calibration_ns["CRIT"].max == pytest.approx(4 / HZ * 1e9)
    assert observed.clock is not None and observed.clock.ratio == pytest.approx(1, abs=1e-5)


def test_without_frames_all_of_the_capture_is_the_program() -> None:
    for observed in (read_observed(framed(begin=False, end=False)), read_observed(framed(), framed=False)):
        assert len(widths(observed)) == 1 + 16 + 2 + 16
        assert observed.calibration_ns == {} and observed.clock is None


def test_one_frame_bounds_one_side() -> None:
    assert widths(read_observed(framed(end=False))) == [100, 300] + [4] * 16
    assert widths(read_observed(framed(begin=False))) == [50] + [4] * 16 + [100, 300]
