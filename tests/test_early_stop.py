"""A simulator that stops in mid-run: the bench says so in its words, and keeps what was recorded."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from capture.acquisition.observe import Observation, Order, observe
from capture.desk.bench import IMAGE_ADDRESS, BoardResource, read_bench
from capture.desk.virtual_board import VirtualBoard
from capture.run_folder.edges import CHANNELS
from simulator import build as simulator

FIXTURES = Path(__file__).resolve().parent.parent / "simulator" / "tests" / "fixtures"
CORE_HZ = 84_000_000
IMAGE = b"records of the run\0"
STIMULUS_PERIOD_SAMPLES = 840
# Never reached: waiting for a watchdog would show as its sentence.
WATCHDOG_S = 60.0


def stopping_firmware(folder: Path) -> Path:
    """Firmware whose third interrupt writes TIM2_SMCR, which is not modelled."""
    elf = folder / "stops.elf"
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O1", "-ffreestanding", "-nostdlib"]
    command += ["-DTOUCH_UNMODELLED", "-T", str(FIXTURES / "board.ld"), str(FIXTURES / "board.c")]
    subprocess.run([*command, "-o", str(elf)], check=True)
    return elf


def virtual() -> BoardResource:
    return read_bench().board("virtual")


def observed(elf: Path, board: VirtualBoard) -> Observation:
    order = Order(
        elf=elf,
        image=IMAGE,
        analyzer=virtual().analyzer,
        samplerate_hz=CORE_HZ,
        duration_s=10.0,
        silence_s=WATCHDOG_S,
    )
    return observe(board, order, lambda _: None)


def sent_without_sockets(elf: Path, folder: Path) -> bytes:
    """What the same firmware has sent when it stops, by the simulator's own log."""
    image, log = folder / "image.bin", folder / "uart.log"
    image.write_bytes(IMAGE)
    command: list[str | Path] = [
        simulator.build(),
        "run",
        elf,
        "--image",
        f"{image}@{IMAGE_ADDRESS:#x}",
        "--uart-log",
        log,
    ]
    assert subprocess.run(command, capture_output=True).returncode == 3
    return log.read_bytes()


def test_the_simulators_own_sentence_comes_first_and_what_was_recorded_stays(tmp_path: Path) -> None:
    elf = stopping_firmware(tmp_path)
    with VirtualBoard(virtual(), simulator.build()) as board:
        observation = observed(elf, board)
    first, *others = observation.report.losses
    assert first.startswith("The virtual Nucleo ended with status 3: ") and "TIM2_SMCR" in first
    assert not [loss for loss in others if "sent nothing" in loss]
    changes = observation.edges.sample[1:]
    levels = observation.edges.word >> CHANNELS.index("STIM") & 1
    toggles = changes[np.flatnonzero(np.diff(levels))]
    assert np.diff(toggles).tolist() == [STIMULUS_PERIOD_SAMPLES] * 2
    assert observation.serial_bytes
    assert observation.serial_bytes == sent_without_sockets(elf, tmp_path)


def test_a_simulator_that_is_killed_is_told_from_a_slow_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = VirtualBoard(virtual(), simulator.build())

    def kill() -> None:
        assert board._process is not None
        board._process.send_signal(signal.SIGKILL)

    monkeypatch.setattr(board, "start", lambda _: kill())
    with board:
        observation = observed(stopping_firmware(tmp_path), board)
    assert observation.report.losses[0] == "The virtual Nucleo was killed by signal 9; run again."
    assert not [loss for loss in observation.report.losses if "sent nothing" in loss]
