"""Timers of 16 bits: what they cannot count is refused, and their counter is proven like others."""

import pytest

from base.run_folder.records import FailRecord
from firmware.build import image as firmware
from firmware.tests.images import ALLOCATE, entry, image
from firmware.tests.test_on_virtual_nucleo import Runner, runner
from tests.tables import table

ONE = entry(ALLOCATE, 0, 40)


@pytest.fixture(scope="module")
def run() -> Runner:
    return runner(firmware.build("tlsf", board="nucleo-f103rb").elf)


@table
def test_a_period_that_16_bits_cannot_count_is_refused(
    run: Runner, mode: int, period: int, control: int
) -> None:
    wrong = image(ONE, mode=mode, stimulus_period=period, control_period=control)
    assert run(wrong).only(FailRecord) == FailRecord("period", period)
