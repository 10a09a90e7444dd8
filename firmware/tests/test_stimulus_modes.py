"""Each mode of the stimulus on the virtual Nucleo: its edges against docs/reference/wire.md."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from base.run_folder.records import FailRecord, StatRecord
from capture.instruments.timers import random_intervals
from firmware.build import image as firmware
from firmware.tests.images import ALLOCATE, CALL, FREE, entry, image
from firmware.tests.test_on_virtual_nucleo import CHURN, Runner, assert_all_answered, runner
from scenarios.stimulus import Stimulus
from tests.tables import table

LEAD_TICKS = 40
SWEEP = range(0, 300, 10)


@pytest.fixture(scope="module")
def run() -> Runner:
    return runner(firmware.build("seglist").elf)


def test_random_intervals_are_those_that_the_judge_expects(run: Runner) -> None:
    """Xorshift (docs/reference/wire.md), written in C for the board and in Python for the judge."""
    seed, period = 7, 6007
    done = run(image(*CHURN, mode=3, stimulus_period=period, parameter=seed))
    intervals = [after - before for (before, _), (after, _) in pairwise(done.stimuli("STIM"))]
    expected = random_intervals(Stimulus("random", period, 0, seed))
    assert len(intervals) > 100
    assert intervals == [*islice(expected, len(intervals))]
    assert_all_answered(done)


def test_bursts_are_pairs_made_in_hardware(run: Runner) -> None:
    done = run(image(*CHURN, mode=4, stimulus_period=5003, parameter=700))
    edges = done.stimuli("STIM")
    assert [level for _, level in edges[:4]] == [1, 0, 1, 0]
    assert {after - before for (before, _), (after, _) in pairwise(edges)} == {700, 5003 - 700}


def test_of_two_edges_under_one_mask_one_is_missed_and_none_is_lost(run: Runner) -> None:
    """Spaced closer than a critical section lasts: some pairs have a single answer."""
    done = run(image(*CHURN, mode=4, stimulus_period=5003, parameter=100))
    stimuli = len(done.stimuli("STIM"))
    assert done.only(StatRecord).isr_entries == len(done.within("ISR")) < stimuli


def test_a_swept_edge_comes_once_per_operation_that_asks(run: Runner) -> None:
    entries = [entry(CALL, 0, 0, offset=LEAD_TICKS + phase) for phase in SWEEP]
    silent = [entry(ALLOCATE, 0, 64), entry(FREE, 0, 0)]
    done = run(image(*entries, *silent, mode=2, stimulus_period=0, control_period=0))
    stimuli = [cycle for cycle, _ in done.stimuli("STIM")]
    windows = [cycle for cycle, _ in done.operation_edges()]
    assert len(stimuli) == len(entries)
    assert all(
        begin < stimulus < end for stimulus, (begin, end) in zip(stimuli, pairwise(windows), strict=False)
    )
    assert_all_answered(done)


@pytest.fixture(scope="module")
def narrow() -> Runner:
    """A board with timers of 16 bits."""
    return runner(firmware.build("tlsf", board="nucleo-f103rb").elf)


@table
def test_a_period_that_16_bits_cannot_count_is_refused(
    narrow: Runner, mode: int, period: int, control: int
) -> None:
    wrong = image(entry(ALLOCATE, 0, 40), mode=mode, stimulus_period=period, control_period=control)
    assert narrow(wrong).only(FailRecord) == FailRecord("period", period)
