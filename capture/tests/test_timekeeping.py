"""A timer's line on the wire: kept by sound captures, left by every step that is planted in one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.run_folder.edges import EdgeList
from base.run_folder.records import TickRecord
from capture.instruments.calibration import CounterFit
from capture.instruments.timers import RELEASE_CYCLES, find_ticks, steps
from capture.reading.wire import Wire, read_wire
from capture.tests.evidence import evidence_of
from capture.tests.synthetic import CORE_HZ, TICK_HANDLER, TICK_PERIOD, SyntheticRun, small_plan
from capture.tests.waveform import Waveform

RUN = SyntheticRun(small_plan())
STIMULUS = RUN.plan.stimulus
FIRST, LAST = RUN.controls[20][0], RUN.controls[-20][0]
RATES_HZ = [24_000_000, 25_000_000, CORE_HZ, 100_000_000]


def wire_of(edges: EdgeList) -> Wire:
    return read_wire(edges, CORE_HZ)


def with_samples(edges: EdgeList, at: int, count: int) -> EdgeList:
    """The capture with `count` samples more before sample
    `at`; if negative, with as many less after it.
    """
    sample = edges.sample
    if count > 0:
        moved = sample + np.where(sample >= at, count, 0)
    else:
        moved = np.where(sample >= at - count, sample + count, np.minimum(sample, at))
    last = np.append(np.diff(moved) > 0, True)
    moved, word = moved[last], edges.word[last]
    changed = np.append(True, word[1:] != word[:-1])
    return EdgeList(moved[changed], word[changed], edges.samplerate_hz, edges.total_samples + count)


@pytest.mark.parametrize("samplerate_hz", RATES_HZ)
@pytest.mark.parametrize("ppm", [0, -50, 90])
def test_a_sound_capture_keeps_time(samplerate_hz: int, ppm: int) -> None:
    assert not list(steps(wire_of(RUN.edges(samplerate_hz, ppm)), STIMULUS))


@given(
    st.sampled_from(RATES_HZ),
    st.integers(FIRST, LAST),
    st.sampled_from([-1000, -3, -1, 1, 2, 700]),
    st.sampled_from([0, 37]),
)
@settings(max_examples=60)
def test_samples_too_many_or_too_few_are_found_where_they_are(
    samplerate_hz: int, cycle: int, count: int, ppm: int
) -> None:
    at = cycle * samplerate_hz // CORE_HZ
    edges = RUN.edges(samplerate_hz, ppm)
    changed = with_samples(edges, at, count)
    found_steps = {step.channel: step for step in steps(wire_of(changed), STIMULUS)}
    assert set(found_steps) == {"STIM", "CTRL"}
    period = STIMULUS.period_ticks * samplerate_hz / CORE_HZ
    assert abs(found_steps["STIM"].sample - at) <= 600 * period + abs(count)


@given(st.integers(20, len(RUN.stimuli) - 20), st.sampled_from([-4800, -60, -3, 3, 60, 2000]))
@settings(max_examples=40)
def test_one_edge_that_moved_is_found(number: int, cycles: int) -> None:
    moved = SyntheticRun(small_plan())
    moved.move("STIM", RUN.stimuli[number][0], cycles)
    found_steps = list(steps(wire_of(moved.edges()), STIMULUS))
    assert [step.channel for step in found_steps] == ["STIM"]


# When a tick is due, and which answers its handler may have held off.


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
