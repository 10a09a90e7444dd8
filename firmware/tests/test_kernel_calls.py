"""The kernel's calls on the virtual Nucleo: their marks, and that no other build has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware import build as firmware
from firmware.tests.images import CALL, entry, image
from firmware.tests.test_on_virtual_nucleo import Run, runner
from simulator import build as simulator

NAMES = 9
CALIBRATION = 16
WITHOUT_STIMULUS = {"mode": 0, "stimulus_period": 0, "control_period": 0}
ROUND = [entry(CALL, 0, number) for number in range(1, NAMES + 1)]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Run:
    elf = firmware.build("seglist", kernel_calls=True).elf
    run = runner(elf, simulator.build(), tmp_path_factory.mktemp("kernel"))
    return run(image(*ROUND * 3, **WITHOUT_STIMULUS))


def test_every_call_is_made_and_recorded(quiet: Run) -> None:
    assert [fields[1:3] for fields in quiet.of("OP")] == [["K", str(n)] for n in range(1, NAMES + 1)] * 3
    assert quiet.of("HEAP")[0][3] == "1"
    assert quiet.of("END") == [[str(3 * NAMES)]]


def test_every_call_masks_and_its_marks_are_what_the_counter_counted(quiet: Run) -> None:
    windows = [cycle for cycle, _ in quiet.operation_edges()]
    sections = quiet.within("CRIT")[CALIBRATION:]
    empty = [fields for fields in quiet.of("CAL") if fields[0] == "CRIT"]
    pulses = [fall - rise for rise, fall in quiet.within("CRIT")[:CALIBRATION]]
    markers = {pulse - int(fields[2]) for pulse, fields in zip(pulses, empty, strict=False)}
    (marker_cycles,) = markers
    for fields, begin, end in zip(quiet.of("OP"), windows, [*windows[1:], quiet.run_span[1]], strict=False):
        inside = [fall - rise for rise, fall in sections if begin < rise < end]
        assert inside
        assert sum(inside) - len(inside) * marker_cycles == int(fields[3])


def test_a_build_without_the_kernels_calls_refuses_them(tmp_path: Path) -> None:
    run = runner(firmware.build("seglist").elf, simulator.build(), tmp_path)
    assert run(image(*ROUND, **WITHOUT_STIMULUS)).of("FAIL") == [["call", "1"]]
