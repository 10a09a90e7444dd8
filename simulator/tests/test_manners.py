"""What is odd about a program: noted for somebody's own, and a stop for the bench's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator import latency, masks
from simulator import run as simulator
from simulator.outputs import Note, notes_of
from simulator.program import user_program
from simulator.tests import bare_metal

WHAT = "TIM2_SMCR (bits 0x00000007)"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes 7 to TIM2_SMCR in its third interrupt, and goes on."""
    return bare_metal.build(tmp_path_factory.mktemp("odd"), "TOUCH_UNMODELLED")


def test_the_bench_s_own_firmware_stops_and_a_program_s_run_goes_on_with_a_note(odd: Path) -> None:
    with pytest.raises(simulator.StoppedError, match="TIM2_SMCR"):
        simulator.run(odd, until="2ms")
    with pytest.raises(simulator.StoppedError, match="TIM2_SMCR"):
        simulator.run(user_program(odd, strict=True), until="2ms")
    stats = simulator.run(user_program(odd), until="2ms").stats
    (note,) = stats.notes
    assert (note.kind, note.what, note.address) == ("unmodelled_bits", WHAT, 0x4000_0008)
    assert (note.reads, note.writes, note.differs) == (0, 1, True)
    assert note.function.split("+")[0] == "on_tim2"
    assert str(note).startswith(f"{WHAT}: 1 written, first in {note.function} in cycle {note.cycle:,}; ")
    # Its third edge of STIM comes two periods after the first.
    assert note.cycle > 2 * bare_metal.STIMULUS_PERIOD
    assert stats.standstill is None


def test_a_snapshot_goes_on_with_the_manners_of_its_run(odd: Path) -> None:
    polite = simulator.run(user_program(odd), until=1_000, snapshots_at=[1_000])
    assert simulator.run(polite.snapshots[0], until="2ms").stats.notes[0].what == WHAT
    strict = simulator.run(odd, until=1_000, snapshots_at=[1_000])
    with pytest.raises(simulator.StoppedError, match="TIM2_SMCR"):
        simulator.run(strict.snapshots[0], until="2ms")


def test_masks_and_latencies_have_the_notes(odd: Path) -> None:
    program = user_program(odd)
    mask_run = masks.run_masks(program, "2ms")
    assert not mask_run.ended
    assert [note.what for note in mask_run.stats.notes] == [WHAT]
    question = latency.Question(exception=44, until="1ms", random=5)
    answers = latency.ask(program, question)
    assert (answers.ended, [note.what for note in answers.notes]) == ("", [WHAT])


def test_a_note_of_a_file_is_written_as_it_was_read() -> None:
    row = {
        "kind": "clock_off",
        "what": "GPIOH_ODR (its clock is off in RCC)",
        "address": "0x40021c14",
        "differs": False,
        "consequence": "reads 0",
        "pc": None,
        "function": None,
        "cycle": 12,
        "reads": 2,
        "writes": 3,
    }
    (note,) = notes_of([row])
    assert note.as_json() == row
    assert str(Note.of(row)) == (
        "GPIOH_ODR (its clock is off in RCC): 2 read and 3 written, first in cycle 12; reads 0"
    )
    lasting = {**row, "lasted_cycles": 1200}
    assert Note.of(lasting).as_json() == lasting
    assert "first in cycle 12, for 1,200 cycles; reads 0" in str(Note.of(lasting))
