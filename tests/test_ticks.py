"""When SysTick's handler runs, by the virtual board itself, against what the bench reads off wire and
records.
"""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from capture.instruments.ticks import find_ticks
from capture.joining.evidence import Evidence, decode
from capture.reading.vectorised import high_within
from capture.run_folder.edges import CHANNELS, EdgeList
from capture.run_folder.manifest import ToolReport
from capture.run_folder.records import TickRecord
from firmware import build as firmware
from firmware.tests.test_on_virtual_nucleo import PINS
from scenarios import catalogue
from simulator import build as simulator

CORE_HZ = 84_000_000
HANDLER = "xPortSysTickHandler"
# From the pending tick to the handler's first instruction: the exception's entry, after the instruction under
# way (ARM DDI 0439, section 3.9: 12 cycles without wait states).
ENTRY_CYCLES = 40
CONTROL_EXIT_CYCLES = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of mem_frag on seglist, with its STIM pulses and how often the handler ran in each."""
    folder = tmp_path_factory.mktemp("ticks")
    plan = catalogue.load("mem_frag", {"depth": 72}).compile()
    (folder / "operations.bin").write_bytes(plan.image)
    board(folder, "--until", "900ms", "--edges", "edges.csv", "--uart-log", "uart.log",
          "--count", f"ticks={HANDLER}", "--count-window", "STIM", "--windows", "windows.csv")  # fmt: skip
    return folder


def board(folder: Path, *options: str) -> int:
    elf = firmware.build("seglist").elf
    command: list[str | Path] = [simulator.build(), "run", elf, "--image", "operations.bin@0x08040000"]
    return subprocess.run([*command, *options], cwd=folder, capture_output=True).returncode


@pytest.fixture(scope="module")
def evidence(folder: Path) -> Evidence:
    """One sample is one cycle."""
    bits = {PINS[name]: 1 << bit for bit, name in enumerate(CHANNELS)}
    with (folder / "edges.csv").open() as rows:
        toggles = [
            (int(row["cycle"]), bits[row["pin"]]) for row in csv.DictReader(rows) if row["pin"] in bits
        ]
    cycle, bit = np.array(toggles).T
    word = np.bitwise_xor.accumulate(bit)
    last = np.append(np.diff(cycle) > 0, True)
    edges = EdgeList(
        np.append(0, cycle[last]), np.append(0, word[last]).astype(np.uint8), CORE_HZ, int(cycle[-1]) + 1000
    )
    plan = catalogue.load("mem_frag", {"depth": 72}).compile()
    report = ToolReport(asked_samples=edges.total_samples)
    return decode(plan, report, edges, (folder / "uart.log").read_bytes())


def test_the_first_tick_of_the_board_lies_on_the_grid(folder: Path, evidence: Evidence) -> None:
    stopped = board(
        folder, "--stop-on", f"pc:{HANDLER}", "--until", "400ms", "--trace-last", "1", "--trace", "t"
    )
    assert stopped == 4
    entered = json.loads((folder / "t").read_text().splitlines()[-1])["cycle"]
    tick = evidence.log.first(TickRecord)
    ticks = find_ticks(evidence.edges, tick, evidence.joined.counter)
    assert tick is not None and ticks is not None
    assert 0 <= (entered - ticks.due[0]) % tick.period_cycles <= ENTRY_CYCLES


def test_ticks_fall_into_the_stimuli_that_the_board_counts_them_in(folder: Path, evidence: Evidence) -> None:
    tick = evidence.log.first(TickRecord)
    ticks = find_ticks(evidence.edges, tick, evidence.joined.counter)
    assert ticks is not None
    windows = pl.read_csv(folder / "windows.csv")
    start, end = windows["start_cycle"].to_numpy(), windows["end_cycle"].to_numpy()
    # A tick that is due within the last cycles of a window may run its handler after it.
    surely = np.searchsorted(ticks.over, end) - np.searchsorted(ticks.due, start)
    perhaps = np.searchsorted(ticks.due, end) - np.searchsorted(ticks.over, start)
    counted = windows["ticks"].to_numpy()
    assert (surely <= counted).all() and (counted <= perhaps).all()
    assert counted.sum() > 100 and (surely == perhaps).mean() > 0.9


def test_what_no_tick_touched_has_no_outliers(evidence: Evidence) -> None:
    """Outside operations nothing masks but the kernel, and only the control interrupt is more urgent."""
    calm = evidence.joined.interrupts.filter(~pl.col("control") & (pl.col("hit") == "none"))
    cycles = (calm["isr_latency_ns"] * CORE_HZ / 1e9).to_numpy()
    sample, tick = calm["sample"].to_numpy(), calm["tick"].to_numpy()
    # The control interrupt's handler may have just let go when its pin falls.
    begun = sample - CONTROL_EXIT_CYCLES
    controlled = high_within(evidence.edges, "CISR", begun, sample + np.rint(cycles).astype(np.int64))
    touched, free = cycles[tick], cycles[~tick & ~controlled]
    assert len(touched) > 5 and len(free) > 500
    assert np.ptp(free) < 30 < touched.max() - free.min()
