import numpy as np
import polars as pl
import pytest

from base.run_folder.records import TickRecord
from capture.instruments.calibration import CounterFit
from capture.instruments.ticks import RELEASE_CYCLES, find_ticks
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import CORE_HZ, TICK_HANDLER, TICK_PERIOD, SyntheticRun, small_plan
from capture.tests.waveform import Waveform


@pytest.mark.parametrize(("samplerate_hz", "ppm"), [(CORE_HZ, 0), (24_000_000, 50), (200_000_000, -20)])
def test_each_stimulus_knows_its_phase_to_the_tick(samplerate_hz: int, ppm: int) -> None:
    run = SyntheticRun(small_plan())
    stimuli = evidence_of(run, samplerate_hz, ppm).joined.interrupts.filter(~pl.col("control"))
    cycles = np.array([stimulus for stimulus, _ in run.stimuli])
    apart = stimuli["tick_phase_cycles"].to_numpy() - (cycles - run.first_tick) % TICK_PERIOD
    apart = (apart + TICK_PERIOD / 2) % TICK_PERIOD - TICK_PERIOD / 2
    assert np.abs(apart).max() <= 2 + 2 * CORE_HZ / samplerate_hz


def test_the_ticks_that_touch_an_answer_are_all_labelled() -> None:
    run = SyntheticRun(small_plan())
    stimuli = evidence_of(run).joined.interrupts.filter(~pl.col("control"))
    ticks = range(run.first_tick, run.end_cycle, TICK_PERIOD)
    surely = [any(s <= tick + TICK_HANDLER and tick <= a for tick in ticks) for s, a in run.stimuli]
    labelled = stimuli["tick"].to_list()
    assert any(surely) and not [1 for sure, label in zip(surely, labelled, strict=True) if sure > label]
    # A handler that waits for a mask and two interrupts runs late, so a few more are labelled.
    assert sum(labelled) < 3 * sum(surely) < len(labelled)
    assert evidence_of(run).joined.interrupts.filter("control")["task_tick"].null_count() == len(run.controls)


def test_a_tick_waits_for_the_mask_and_for_more_urgent_handlers() -> None:
    wave = Waveform(200_000)
    wave.pulse("CRIT", 99_900, 103_000)
    wave.pulse("ISR", 102_990, 103_400)
    wave.pulse("CISR", 103_390, 103_500)
    wave.pulse("ISR", 104_000, 104_100)
    one_to_one = CounterFit(0, 0.0, 1.0, 1.0, 0.0, 0.0)
    ticks = find_ticks(wave.edges(), TickRecord(50_000, 50_000, TICK_PERIOD, 130), one_to_one)
    assert ticks is not None
    assert ticks.due.tolist() == [16_000 - 1, 100_000 - 1, 184_000 - 1]
    handler = 130 + RELEASE_CYCLES + 2
    assert ticks.over.tolist() == [16_000 + handler, 103_500 + handler, 184_000 + handler]
    first = np.array([90_000, 90_000, 103_600, 103_700])
    last = np.array([99_998, 99_999, 103_650, 103_900])
    assert ticks.handler_may_run(first, last).tolist() == [False, True, True, False]
