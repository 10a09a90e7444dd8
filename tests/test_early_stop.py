"""A simulator that stops in mid-run: the bench repeats its reason, and keeps what it recorded."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from base.run_folder.edges import CHANNELS
from base.tell import Tell
from capture.acquisition.observe import Observation, Order, observe
from capture.desk.bench import BoardResource, read_bench
from capture.desk.open_board import VirtualBoard
from firmware.build import boards
from simulator import run as simulator
from simulator.tests import bare_metal

IMAGE = b"records of the run\0"
# The run never waits so long: if it did, the watchdog's sentence would show.
WATCHDOG_S = 60.0


def virtual() -> BoardResource:
    return read_bench().board("virtual")


def observed(elf: Path, board: VirtualBoard, progress: Tell = lambda _: None) -> Observation:
    """A capture in which one sample is one cycle."""
    rate_hz = boards.default().core_hz
    order = Order(virtual().analyzer, None, rate_hz, 10 * rate_hz, elf=elf, image=IMAGE, silence_s=WATCHDOG_S)
    with TemporaryDirectory() as folder:
        return observe(board, order, progress, Path(folder))


def test_the_simulators_own_sentence_comes_first_and_what_was_recorded_stays(tmp_path: Path) -> None:
    elf = bare_metal.build(tmp_path, "TOUCH_UNMODELLED")
    with VirtualBoard(virtual()) as board:
        observation = observed(elf, board)
    first, *others = observation.report.losses
    assert first.startswith("The virtual Nucleo ended with status 3: ") and "TIM2_SMCR" in first
    assert not [loss for loss in others if "sent nothing" in loss]
    changes = observation.edges.sample[1:]
    levels = observation.edges.word >> CHANNELS.index("STIM") & 1
    toggles = changes[np.flatnonzero(np.diff(levels))]
    assert np.diff(toggles).tolist() == [bare_metal.STIMULUS_PERIOD] * 2
    with pytest.raises(simulator.StoppedError) as stopped:
        simulator.run(elf, image=IMAGE, until="2ms")
    assert observation.serial_bytes
    assert observation.serial_bytes == stopped.value.uart


def test_a_simulator_that_is_killed_is_told_from_a_slow_one(tmp_path: Path) -> None:
    with VirtualBoard(virtual()) as board:

        def kill_before_the_capture(step: str) -> None:
            if step == "capturing":
                assert board.served is not None
                board.served.process.kill()

        elf = bare_metal.build(tmp_path, "TOUCH_UNMODELLED")
        observation = observed(elf, board, kill_before_the_capture)
    assert observation.report.losses[0] == "The virtual Nucleo was killed by signal 9; run again."
    assert not [loss for loss in observation.report.losses if "sent nothing" in loss]
