"""What belongs to the calibration of a run, and what only lies near it."""

from __future__ import annotations

import pytest

from base.run_folder.edges import MARKED_CHANNELS
from capture.reading.wire import read_wire
from capture.tests.synthetic import BIT, CORE_HZ, SyntheticRun, small_plan


@pytest.mark.parametrize("with_operations", [True, False])
def test_pulses_within_the_start_frame_or_before_it_are_no_sections(with_operations: bool) -> None:
    run = SyntheticRun(small_plan(depth=2))
    sync = sorted(cycle for cycle, bit in run.toggles if bit == BIT["SYNC"])
    for channel in MARKED_CHANNELS:
        run.pulse(channel, sync[0] - 500, 5)
        run.pulse(channel, sync[62] + 100, 5)
    if not with_operations:
        cut = run.truths[0].start - 1000
        run.toggles = [toggle for toggle in run.toggles if toggle[0] < cut]
        run.end_cycle = cut
    calibration = read_wire(run.edges(), CORE_HZ).opening
    for channel in MARKED_CHANNELS:
        assert len(calibration.sections[channel]) == 16
        assert calibration.sections[channel].start[0] > sync[63]
