"""The kernel's calls on the virtual Nucleo: their marks, and that no other build has them."""

from __future__ import annotations

import pytest

from base.run_folder.records import EndRecord, FailRecord, HeapRecord
from firmware.build import image as firmware
from firmware.tests.images import CALL, entry, image
from firmware.tests.test_on_virtual_nucleo import Run, runner

NAMES = 9
CALIBRATION = 16
WITHOUT_STIMULUS = {"mode": 0, "stimulus_period": 0, "control_period": 0}
ROUND = [entry(CALL, 0, number) for number in range(1, NAMES + 1)]


@pytest.fixture(scope="module")
def quiet() -> Run:
    run = runner(firmware.build("seglist", extras=("kernel_calls",)).elf)
    return run(image(*ROUND * 3, **WITHOUT_STIMULUS))


def test_every_call_is_made_and_recorded(quiet: Run) -> None:
    assert [(record.kind, record.size) for record in quiet.operations] == [
        ("K", n) for n in range(1, NAMES + 1)
    ] * 3
    assert quiet.only(HeapRecord).invariants_hold == 1
    assert quiet.only(EndRecord).operations == 3 * NAMES


def test_every_call_masks_and_its_marks_are_what_the_counter_counted(quiet: Run) -> None:
    windows = [cycle for cycle, _ in quiet.operation_edges()]
    sections = quiet.within("CRIT")[CALIBRATION:]
    empty = quiet.calibration("CRIT")
    pulses = [fall - rise for rise, fall in quiet.within("CRIT")[:CALIBRATION]]
    markers = {pulse - record.dwt_cycles for pulse, record in zip(pulses, empty, strict=False)}
    (marker_cycles,) = markers
    for record, begin, end in zip(quiet.operations, windows, [*windows[1:], quiet.run_span[1]], strict=False):
        inside = [fall - rise for rise, fall in sections if begin < rise < end]
        assert inside
        assert sum(inside) - len(inside) * marker_cycles == record.critical_cycles


def test_a_build_without_the_kernels_calls_refuses_them() -> None:
    refused = runner(firmware.build("seglist").elf)(image(*ROUND, **WITHOUT_STIMULUS))
    assert refused.only(FailRecord) == FailRecord("call", 1)
