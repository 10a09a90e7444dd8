"""The one way to run firmware from Python, on firmware whose every edge and byte is known."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from simulator import run as simulator
from simulator.build import SimulatorError
from simulator.outputs import words
from simulator.tests import bare_metal

MESSAGE = b"what it is given\0"
HANDLER = "on_tim2"
STIM_BIT = 1 << 2


@pytest.fixture(scope="module")
def done(elf: Path) -> simulator.Run:
    return simulator.run(
        elf, image=MESSAGE, until="2ms", edges=True, counts={"entered": HANDLER}, count_window="STIM"
    )


def test_the_image_lies_where_the_firmware_looks(done: simulator.Run) -> None:
    assert done.uart == MESSAGE[:-1]


def test_edges_are_those_of_the_timer(done: simulator.Run) -> None:
    stimuli = done.edges.filter(channel="STIM")
    assert stimuli["cycle"].diff().drop_nulls().unique().to_list() == [bare_metal.STIMULUS_PERIOD]
    assert stimuli["level"].to_list() == [number % 2 == 0 for number in range(stimuli.height)]
    assert set(done.edges["channel"]) == {"STIM", "CRIT"}
    assert stimuli.height > 100


def test_windows_hold_what_was_counted_between_edges(done: simulator.Run) -> None:
    """Each pulse of STIM holds the answer to the edge that begins it."""
    pulses = done.edges.filter(channel="STIM", level=True)["cycle"]
    assert done.windows["start_cycle"].to_list() == pulses[: done.windows.height].to_list()
    assert set(done.windows["entered"]) == {1}


def test_statistics_reach_to_the_end(elf: Path) -> None:
    stats = simulator.run(elf, until=500_000).stats
    assert 500_000 <= stats.cycles < 500_100
    assert 0 < stats.instructions < stats.cycles
    assert stats.host_seconds > 0 and stats.mips > 0


def test_what_was_not_asked_for_is_empty(elf: Path) -> None:
    done = simulator.run(elf, until="1ms")
    assert vars(done)["edges"] is None and vars(done)["windows"] is None
    assert (done.trace, done.states, done.snapshots) == ([], (), ())


def test_the_timing_of_the_manual_is_another(elf: Path) -> None:
    nucleo, ideal = (
        simulator.run(elf, until="2ms", edges=True, timing=timing) for timing in ("nucleo", "ideal")
    )
    assert ideal.edges["cycle"].to_list() != nucleo.edges["cycle"].to_list()


def test_a_run_from_a_snapshot_goes_on_to_the_byte(elf: Path, done: simulator.Run) -> None:
    before = simulator.run(elf, image=MESSAGE, until="1ms", states_at=["1ms"], snapshots_at=["1ms"])
    (state,) = before.states
    assert state.seconds >= Fraction(1, 1000)
    assert state.core_hz == 84_000_000
    (snapshot,) = before.snapshots
    after = simulator.run(snapshot, until="2ms", edges=True)
    assert before.uart + after.uart == done.uart
    assert after.edges.rows() == [row for row in done.edges.rows() if row[0] >= state.cycle]
    # The state's levels are those that the edges before it have left.
    earlier = [word for cycle, word in words(done.edges) if cycle < state.cycle]
    assert state.channels & STIM_BIT == earlier[-1] & STIM_BIT


def test_a_condition_ends_the_run_and_the_trace_ends_with_it(elf: Path) -> None:
    done = simulator.run(elf, until="2ms", stop_on=[f"pc:{HANDLER}"], trace_last=3)
    assert len(done.trace) == 3
    assert done.trace[-1]["mode"] == "handler" or "exception" in done.trace[-1]
    assert done.stats.cycles < 2e-3 * 84e6


def test_a_condition_that_is_never_met_is_an_error(elf: Path) -> None:
    with pytest.raises(SimulatorError, match=r"None of pulse:PA8>3000 came before the end"):
        simulator.run(elf, until="1ms", stop_on=["pulse:PA8>3000"])


def test_firmware_that_does_what_is_not_modelled_is_told_with_what_it_had_sent(tmp_path: Path) -> None:
    stopping = bare_metal.build(tmp_path, "TOUCH_UNMODELLED")
    with pytest.raises(simulator.StoppedError, match=r"stopped: .*TIM2_SMCR") as stopped:
        simulator.run(stopping, image=MESSAGE, until="2ms")
    assert MESSAGE.startswith(stopped.value.uart) and stopped.value.uart


def test_what_the_program_refuses_gets_its_own_words(tmp_path: Path, elf: Path) -> None:
    with pytest.raises(SimulatorError, match="cannot run this: cannot read the firmware"):
        simulator.run(tmp_path / "missing.elf", until="1ms")
    with pytest.raises(SimulatorError, match="no_such_function"):
        simulator.run(elf, until="1ms", counts={"it": "no_such_function"}, count_window="OP")
    with pytest.raises(SimulatorError, match="cannot continue from"):
        simulator.run(simulator.Snapshot(b"nothing"), until="1ms")


def test_without_a_boot_record_the_clock_is_not_known(done: simulator.Run) -> None:
    with pytest.raises(SimulatorError, match="no BOOT record"):
        _ = done.core_hz
