"""When SysTick's handler runs: by the virtual board itself, and by the bench's wire and records."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from base.run_folder.records import TickRecord
from capture.instruments.timers import find_ticks
from capture.joining.evidence import Evidence, decode
from capture.reading.vectorised import high_within
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator
from simulator.outputs import words

HANDLER = "xPortSysTickHandler"
# The most from the pending tick to the handler's first instruction: the instruction under way, and
# the exception's entry (ARM DDI 0439, section 3.9: 12 cycles without wait states).
ENTRY_CYCLES = 40
CONTROL_EXIT_CYCLES = 60


PLAN = catalogue.load("mem_frag", {"depth": 72}).compile()


@pytest.fixture(scope="module")
def done() -> simulator.Run:
    """A run of mem_frag on seglist. Its windows count the handler's runs in each STIM pulse."""
    return simulator.run(
        firmware.build("seglist").elf,
        image=PLAN.image,
        until="900ms",
        edges=True,
        counts={"ticks": HANDLER},
        count_window="STIM",
    )


@pytest.fixture(scope="module")
def evidence(done: simulator.Run) -> Evidence:
    """The run as a capture in which one sample is one cycle."""
    word_at = {0: 0, **dict(words(done.edges))}
    cycle, word = np.array(list(word_at)), np.array(list(word_at.values()))
    edges = EdgeList(cycle, word, done.core_hz, int(cycle[-1]) + 1000)
    return decode(PLAN, ToolReport(asked_samples=edges.total_samples), edges, done.uart)


def test_the_first_tick_of_the_board_lies_on_the_grid(evidence: Evidence) -> None:
    stopped = simulator.run(
        firmware.build("seglist").elf,
        image=PLAN.image,
        until="400ms",
        stop_on=[f"pc:{HANDLER}"],
        trace_last=1,
    )
    entered = stopped.trace[-1]["cycle"]
    tick = evidence.log.first(TickRecord)
    ticks = find_ticks(evidence.edges, tick, evidence.joined.counter)
    assert tick is not None and ticks is not None
    assert 0 <= (entered - ticks.due[0]) % tick.period_cycles <= ENTRY_CYCLES


def test_ticks_fall_into_the_stimuli_that_the_board_counts_them_in(
    done: simulator.Run, evidence: Evidence
) -> None:
    tick = evidence.log.first(TickRecord)
    ticks = find_ticks(evidence.edges, tick, evidence.joined.counter)
    assert ticks is not None
    start, end = done.windows["start_cycle"].to_numpy(), done.windows["end_cycle"].to_numpy()
    # If a tick is due in the last cycles of a window, its handler may run after the window.
    surely = np.searchsorted(ticks.over, end) - np.searchsorted(ticks.due, start)
    perhaps = np.searchsorted(ticks.due, end) - np.searchsorted(ticks.over, start)
    counted = done.windows["ticks"].to_numpy()
    assert (surely <= counted).all() and (counted <= perhaps).all()
    assert counted.sum() > 100 and (surely == perhaps).mean() > 0.9


def test_what_no_tick_touched_has_no_outliers(evidence: Evidence) -> None:
    """Outside operations only the kernel masks, and only the control interrupt is more urgent."""
    calm = evidence.joined.interrupts.filter(~pl.col("control") & (pl.col("hit") == "none"))
    cycles = (calm["isr_latency_ns"] * evidence.wire.core_hz / 1e9).to_numpy()
    sample, tick = calm["sample"].to_numpy(), calm["tick"].to_numpy()
    # The handler of the control interrupt may still return for a while after its pin falls.
    array = sample - CONTROL_EXIT_CYCLES
    controlled = high_within(evidence.edges, "CISR", array, sample + np.rint(cycles).astype(np.int64))
    touched, free = cycles[tick], cycles[~tick & ~controlled]
    assert len(touched) > 5 and len(free) > 500
    assert np.ptp(free) < 30 < touched.max() - free.min()
